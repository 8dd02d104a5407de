"""Which project a folder belongs to: told by an id file or by git's own, never by where the folder lies.

All worktrees and clones of a repository are one project. git is not run and
need not be there: ``.git``, ``commondir`` and ``config`` are read as it does
(:mod:`.git_remotes`).
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from memoranda.core.errors import BadName, NotFound, UsageError
from memoranda.core.names import check_identifier
from memoranda.core.records import dataclass
from memoranda.services.git_remotes import common_folder, found_folder, local_path, origin_of, plain_url, read_small
from memoranda.storage.files import create_only, write_temporary, writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ID_FILE", "ProjectIdentity", "identify"]

#: The id file of a folder, and the one in a repository's own ``.git``.
ID_FILE = ".memoranda-project"
_GIT_ID_FILE = "memoranda-project"
_LONGEST_NAME = 40
#: A clone of a clone of a clone is followed so far.
_FARTHEST = 5


@dataclass(frozen=True, slots=True)
class ProjectIdentity:
    """A project: its id, the folder that it begins in, and ``how`` it is known.

    ``how`` is ``id-file`` (``.memoranda-project``), ``git-remote`` (the URL of
    ``origin``) or ``git-id-file`` (a file in the repository's ``.git``).
    """

    id: str
    root: str
    how: str


def identify(folder: str | os.PathLike[str], *, create: bool = False) -> ProjectIdentity:
    """The project that a folder belongs to: by the nearest id file in it or above, else by its git repository.

    With ``create`` one that has neither is given an id file.

    Raises:
        NotFound: nothing tells it; the message says how to change that.
        UsageError, BadName: there is no such folder, or an id file or git's files hold what cannot be.
        VaultUnreadable, VaultReadOnly, VaultFull: such a file cannot be read, or written.
    """
    path = os.fspath(folder)
    if not path or "\0" in path:
        raise UsageError(f"a project is a folder, not {path!r}")
    start = os.path.realpath(path)
    if not os.path.isdir(start):
        raise UsageError(f"{path} is no folder")
    above = list(_and_above(start))
    for place in above:
        file = os.path.join(place, ID_FILE)
        if _is_trusted(file) and (known := _id_in(file)) is not None:
            return ProjectIdentity(known, place, "id-file")
    for place in above:
        marker = os.path.join(place, ".git")
        if _is_trusted(marker) and (git := found_folder(marker)) is not None:
            return _of_repository(git, place, create)
    if create:
        return ProjectIdentity(_created(os.path.join(start, ID_FILE), start), start, "id-file")
    raise NotFound(
        f"nothing tells which project {start} is: `memoranda project --create` there gives it an id,"
        " --project names one"
    )


def _and_above(folder: str) -> Iterator[str]:
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _is_trusted(path: str) -> bool:
    """Whether something is there and may say whose project this is: in a folder open to all only what is one's own."""
    if not os.path.lexists(path):
        return False
    if sys.platform == "win32":  # pragma: no cover - only Windows, which has no such bits
        return True
    open_to_all = os.stat(os.path.dirname(path)).st_mode & 0o002
    return not open_to_all or os.lstat(path).st_uid == os.geteuid()


def _of_repository(git: str, root: str, create: bool) -> ProjectIdentity:
    common = common_folder(git)
    url = origin_of(common)
    if url:
        return ProjectIdentity(_id_of_remote(url, common, root), root, "git-remote")
    file = os.path.join(common, _GIT_ID_FILE)
    known = _id_in(file)
    if known is None:
        if not create:
            raise NotFound(
                f"the repository at {root} has no remote called origin: `memoranda project --create` there gives it an"
                " id, --project names one"
            )
        known = _created(file, root)
    return ProjectIdentity(known, root, "git-id-file")


def _id_of_remote(url: str, common: str, root: str) -> str:
    """The id of a repository by where it comes from. One that lies on this machine is asked what it is itself."""
    for _ in range(_FARTHEST):
        path = local_path(url, root)
        if path is None:
            break
        url = os.path.normpath(path)
        git = found_folder(os.path.join(url, ".git")) if os.path.isdir(url) else None
        if git is None and os.path.isfile(os.path.join(url, "HEAD")):
            git = url  # one without files of its own
        if git is None or (further := common_folder(git)) == common:
            break
        root, common = url, further
        if not (next_url := origin_of(common)):
            if (known := _id_in(os.path.join(common, _GIT_ID_FILE))) is not None:
                return known
            break
        url = next_url
    from hashlib import blake2b

    plain = plain_url(url)
    digest = blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return _named(plain.rpartition("/")[2], digest)


def _named(name: str, suffix: str) -> str:
    """An id that begins with what a person calls the project, as far as that can be a folder's name."""
    kept = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)[:_LONGEST_NAME].strip("-.")
    if kept:
        from memoranda.services.redaction import redact

        with suppress(BadName):
            if not redact(name)[1]:
                return check_identifier(f"{kept}-{suffix}", "a project's id")
    return f"project-{suffix}"


def _id_in(path: str) -> str | None:
    """The id in the first line of a file; ``None`` if it is not there. Raises BadName, VaultUnreadable."""
    data = read_small(path)
    if data is None:
        return None
    try:
        text = data.decode("utf-8-sig").strip().split("\n", 1)[0].strip()
        return check_identifier(text, "a project's id")
    except (UnicodeDecodeError, BadName):
        raise BadName(f"the first line of {path} is no project's id: that is a name such as shop-1a2b3c4d") from None


def _created(path: str, folder: str) -> str:
    """A new id, written down; the one that somebody else wrote at the same time."""
    project = _named(os.path.basename(folder), os.urandom(4).hex())
    with writing(path):
        temporary = write_temporary(os.path.dirname(path), f"{project}\n".encode())
        try:
            create_only(temporary, path)
        except FileExistsError:
            return _id_in(path) or project
        finally:
            with suppress(OSError):
                os.unlink(temporary)
    return project
