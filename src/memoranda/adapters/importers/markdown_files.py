"""A folder of another program's markdown: which files it holds, and what stands in them."""

from __future__ import annotations

import os

from memoranda.core.errors import NotFound, UsageError
from memoranda.core.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["MARKDOWN", "find_files", "opened_source", "read_text", "source_name"]

#: What the names of markdown files end with.
MARKDOWN = (".md", ".markdown")


def opened_source(path: str, suffixes: tuple[str, ...] = MARKDOWN) -> tuple[str, str | None]:
    """The folder to read, and the one file of it that is meant (``None``: all).

    Raises:
        NotFound: there is nothing at ``path``.
        UsageError: it is neither a folder nor a file of that kind.
    """
    path = os.path.expanduser(path)
    if not os.path.exists(path):
        raise NotFound(f"there is no folder {path}")
    real = os.path.realpath(path)
    if os.path.isdir(real):
        return real, None
    if os.path.isfile(real) and real.lower().endswith(suffixes):
        root, name = os.path.split(real)
        return root, name
    raise UsageError(f"{path} is neither a folder nor a markdown file")


def source_name(root: str, path: str) -> str:
    """A file's path from the folder that holds ``root`` on: what tells one program's folders apart."""
    return f"{os.path.basename(root)}/{path}"


def find_files(
    root: str, *, enters: Callable[[str], bool] | None = None, suffixes: tuple[str, ...] = MARKDOWN
) -> Iterator[str | Problem]:
    """Paths relative to ``root`` (with ``/``) of its files of that kind, sorted; then what could not be entered.

    Hidden files are left out, and hidden folders unless ``enters``, which is
    asked about each folder by its relative path, says otherwise. Linked folders
    are not followed.
    """
    errors: list[OSError] = []
    found: list[str] = []
    linked: list[str] = []
    for folder, folders, files in os.walk(root, onerror=errors.append):
        relative = os.path.relpath(folder, root).replace(os.sep, "/")
        prefix = "" if relative == "." else relative + "/"
        folders[:] = sorted(n for n in folders if (enters(prefix + n) if enters else not n.startswith(".")))
        linked += [prefix + name for name in folders if os.path.islink(os.path.join(folder, name))]
        found += [prefix + name for name in files if name.lower().endswith(suffixes) and not name.startswith(".")]
    yield from sorted(found)
    for path in linked:
        yield Problem(path, 0, "symlink", "a linked folder is not followed")
    for error in errors:
        shown = os.path.relpath(str(error.filename), root).replace(os.sep, "/")
        yield Problem(shown, 0, "unreadable", f"could not be read ({error.strerror})")


def read_text(root: str, path: str) -> str | Problem:
    """The file's text (without a BOM), or why it cannot be had; only files inside ``root`` are opened."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "replace")
        return Problem(shown, 0, "encoding", "the file's name is not UTF-8, so the file is left out")
    full = os.path.join(root, *path.split("/"))
    real = os.path.realpath(full)
    if os.path.islink(full) and not real.startswith(root.rstrip(os.sep) + os.sep):
        return Problem(path, 0, "symlink", "a symbolic link that leads out of the folder is not followed")
    if not os.path.isfile(real):
        return Problem(path, 0, "unreadable", "this is no file")
    try:
        with open(real, "rb") as stream:
            data = stream.read()
    except OSError as error:
        return Problem(path, 0, "unreadable", f"could not be read ({error.strerror})")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem(path, line, "encoding", "not UTF-8 here, so the file is left out")
