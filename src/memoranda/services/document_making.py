"""A document made of what a converter gave: its id, its front matter, and whether it holds a secret."""

from __future__ import annotations

import os
import re
from hashlib import sha256

from memoranda.core.errors import BadName
from memoranda.core.names import check_identifier, is_conflict_copy
from memoranda.services.redaction import redact
from memoranda.storage.clock import written_moment
from memoranda.storage.document_files import DocumentHead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from memoranda.core.documents import Converted
    from memoranda.storage.store import Storage

__all__ = ["ending_of", "find_secret", "head_of", "id_of", "is_id_of"]

_LONGEST_NAME, _LONGEST_BYTES, _LONGEST_ENDING, _LONGEST_TITLE = 60, 150, 20, 300
#: Formats whose originals are text and may hold what the markdown does not: comments, scripts, other columns.
_TEXTUAL = frozenset({"html", "csv", "json", "jsonl", "ipynb", "source", "eml", "rtf"})


def id_of(name: str, source: str, taken: Container[str] = ()) -> str:
    """An id that sorts by the file's name, stays the same for the same source, and is not ``taken``."""
    stem = re.sub(r"[^\w.-]+", "-", os.path.splitext(redact(name)[0])[0]).strip("-.")[:_LONGEST_NAME] or "document"
    while len(stem.encode("utf-8")) > _LONGEST_BYTES:
        stem = stem[:-1]
    mark = sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    for length in (8, 16, 64):
        for made in (f"{stem}-{mark[:length]}", f"document-{mark[:length]}"):
            try:
                found = check_identifier(made, "a document")
            except BadName:  # names of devices, say
                continue
            if found not in taken and not is_conflict_copy(f"{found}.md"):
                return found
    raise BadName(f"no id can be made of {name!r}")


def is_id_of(document: str, source: str) -> bool:
    """Whether an id was made for a source: who copies a document by hand gives the copy another."""
    return document.endswith(f"-{sha256(source.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}")


def ending_of(name: str) -> str:
    """The ending that an original is kept with."""
    ending = os.path.splitext(name)[1].lower()
    return ending if len(ending.encode("utf-8", "replace")) <= _LONGEST_ENDING else ""


def head_of(made: Converted, source: str, digest: str, storage: Storage) -> DocumentHead:
    """The front matter of a document that was converted just now."""
    return DocumentHead(
        title=redact(made.title)[0][:_LONGEST_TITLE],
        source=redact(source)[0],
        hash=digest,
        format=made.format,
        encoding=made.encoding,
        converter=f"{made.converter} {made.version}".strip(),
        converted_at=written_moment(storage.clock.now().replace(microsecond=0)),
    )


def find_secret(made: Converted, source: str, original: bytes) -> tuple[str, str]:
    """The markdown without secrets, and, where there is one anywhere, which kind and where."""
    markdown, found = redact(made.markdown)
    where = f"in line {_first_change(made.markdown, markdown)} of its text" if found else ""
    if not found:
        found, where = redact(made.title)[1], "in its title"
    if not found:
        found, where = redact(source)[1], "in its name"
    if not found and made.format in _TEXTUAL:
        text = original.decode(made.encoding or "utf-8", "replace")
        found, where = redact(text)[1], "outside of its text"
    if not found:
        return markdown, ""
    return markdown, f"({', '.join(sorted({one.kind for one in found}))}) {where}"


def _first_change(before: str, after: str) -> int:
    """The number of the first line that differs."""
    pairs = zip(before.split("\n"), after.split("\n"), strict=False)
    return next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 1)
