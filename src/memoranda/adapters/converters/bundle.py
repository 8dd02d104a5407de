"""A zip archive of documents as one document: each member under a heading of its name."""

from __future__ import annotations

from memoranda.adapters.converters.archives import Archive
from memoranda.adapters.converters.formats import recognise
from memoranda.adapters.converters.markdown_text import blocks, heading, one_line
from memoranda.adapters.converters.plain import BUILT_IN, built
from memoranda.core.documents import NotConverted
from memoranda.core.records import replace
from memoranda.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted
    from memoranda.core.ports import Converter

__all__ = ["BundleConverter"]

_SIDE_FILES = ("__MACOSX/", "Thumbs.db", ".DS_Store", "desktop.ini")

_LONGEST_NAME = 150


class BundleConverter:
    """Reads what is in an archive by ``find``, which names the converter of a format."""

    name = BUILT_IN
    version = __version__
    formats = ("zip",)

    def __init__(self, limits: Limits, find: Callable[[str, Limits], Converter]) -> None:
        self._limits = limits
        self._find = find

    def convert(self, data: bytes, format: str, name: str) -> Converted:
        """See :class:`memoranda.core.ports.Converter`. One unsafe member makes it all unsafe."""
        archive = Archive(data, self._limits)
        if archive.encrypted:
            raise NotConverted("encrypted", "protected by a password")
        inner = replace(self._limits, depth=self._limits.depth - 1)
        parts: list[str] = []
        notes: list[str] = []
        why: NotConverted | None = None
        size = 0
        for member in archive.names:
            if member.startswith(_SIDE_FILES) or member.endswith(_SIDE_FILES):
                continue
            content = archive.read(member)
            shown = one_line(member)
            try:
                found = self._member(content, member, inner)
            except NotConverted as fault:
                if fault.kind == "unsafe":
                    raise NotConverted("unsafe", f"{shown} in it: {fault}") from fault
                why = why or fault
                notes.append(f"{shown}: {fault}")
                continue
            except RecursionError as error:
                raise NotConverted("unsafe", f"{shown} in it is nested too deeply") from error
            except MemoryError:
                raise
            except Exception as error:  # parsers fail in every way, and the other members can be read
                why = why or NotConverted("corrupt", f"damaged: it cannot be read ({type(error).__name__})")
                notes.append(f"{shown}: damaged, it cannot be read ({type(error).__name__})")
                continue
            size += len(found.markdown)
            if size > self._limits.markdown:
                raise NotConverted("too_large", f"makes more than {self._limits.markdown >> 20} MB of markdown")
            # Pages and sheets of one file are none of the next.
            parts += [f"<!-- file {shown.replace('>', '')[:_LONGEST_NAME]} -->", heading(1, shown), found.markdown]
            notes += [f"{shown}: {note}" for note in found.notes]
        if not parts and why is not None:
            raise NotConverted(why.kind, f"nothing in the archive can be read; {notes[0]}")
        if not parts:
            raise NotConverted("empty", "there are no files in the archive")
        return built(blocks(parts), format, notes=tuple(notes))

    def _member(self, data: bytes, name: str, limits: Limits) -> Converted:
        kind = recognise(data, name, limits).format
        if kind == "zip" and limits.depth < 0:
            raise NotConverted("unsafe", "archives in archives, too deep")
        return self._find(kind, limits).convert(data, kind, name)
