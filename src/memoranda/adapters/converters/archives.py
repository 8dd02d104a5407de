"""Zip archives and XML from strangers: names, sizes and entities are looked at before anything is unpacked."""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO

from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.limits import Limits

__all__ = ["RELATION", "Archive", "parse_xml", "read_xml_stream", "refuse_entities"]

#: How an attribute of the relationships' namespace is called after :func:`parse_xml`.
RELATION = "r:"
#: Below this many bytes unpacked, how well a member is packed does not matter: sheets of equal rows are packed well.
_SMALL = 32 << 20
#: XML_ERROR_NO_MEMORY of expat.
_NO_MEMORY = 1
_CHUNK = 1 << 16


class Archive:
    """A zip archive within the limits, its members' names harmless.

    Raises:
        NotConverted: ``corrupt``, ``unsafe`` (names that lead out of it, too much in too little) or ``encrypted``.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        self._left = limits.expanded
        self._limits = limits
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
            members = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, EOFError, OSError, NotImplementedError, OverflowError) as error:
            raise NotConverted("corrupt", "damaged or cut off: a zip archive without a readable directory") from error
        if len(members) > limits.members:
            raise NotConverted("unsafe", f"an archive of {len(members)} files; {limits.members} are allowed")
        for one in members:
            if _leads_out(one.filename) or _is_link(one):
                raise NotConverted("unsafe", f"a file in the archive leads out of it: {_shown(one.filename)}")
        total = sum(one.file_size for one in members)
        if total > limits.expanded:
            raise NotConverted("unsafe", f"unpacks to {total >> 20} MB; {limits.expanded >> 20} MB are allowed")
        for one in members:
            if one.file_size > _SMALL and one.file_size > limits.ratio * max(one.compress_size, 1):
                times = one.file_size // max(one.compress_size, 1)
                raise NotConverted("unsafe", f"{_shown(one.filename)} unpacks to {times} times its size: a zip bomb")
        self._members = {one.filename: one for one in members if not one.is_dir()}
        self._folded: dict[str, str] | None = None

    @property
    def names(self) -> list[str]:
        """The files in it, in the archive's order."""
        return list(self._members)

    @property
    def packings(self) -> set[int]:
        """How its files are packed, by the numbers of the zip format."""
        return {one.compress_type for one in self._members.values()}

    @property
    def encrypted(self) -> bool:
        """Whether a file in it is encrypted."""
        return any(one.flag_bits & 1 for one in self._members.values())

    def find(self, name: str) -> str:
        """The member of that name, ``/`` in front or other case forgiven; empty where there is none."""
        name = name.lstrip("/")
        if name in self._members:
            return name
        if self._folded is None:
            self._folded = {one.casefold().replace("\\", "/"): one for one in self._members}
        return self._folded.get(name.casefold(), "")

    def read(self, name: str) -> bytes:
        """A file's bytes.

        Raises:
            NotConverted: it is not there, damaged, encrypted, or more than it said it would be.
        """
        found = self.find(name)
        if not found:
            raise NotConverted("corrupt", f"damaged: there is no {_shown(name)} in it")
        member = self._members[found]
        if member.flag_bits & 1:
            raise NotConverted("encrypted", f"protected by a password: {_shown(found)}")
        pieces = []
        try:
            with self._zip.open(member) as stream:
                while piece := stream.read(_CHUNK):
                    self._left -= len(piece)
                    if self._left < 0:
                        size = self._limits.expanded >> 20
                        raise NotConverted("unsafe", f"unpacks to more than the {size} MB that are allowed")
                    pieces.append(piece)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
            raise NotConverted("corrupt", f"damaged: {_shown(found)} in it cannot be unpacked") from error
        except (NotImplementedError, RuntimeError) as error:
            raise NotConverted("unsupported", f"{_shown(found)} is packed in a way that cannot be read") from error
        return b"".join(pieces)

    def xml(self, name: str) -> Element:
        """An XML file of it, see :func:`parse_xml`."""
        return parse_xml(self.read(name), name)


def _leads_out(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return name.startswith(("/", "\\")) or name[1:2] == ":" or ".." in parts or "\0" in name


def _is_link(member: zipfile.ZipInfo) -> bool:
    return member.create_system == 3 and (member.external_attr >> 16) & 0o170000 == 0o120000


def _shown(name: str) -> str:
    words = "".join(one if one.isprintable() else "?" for one in name)
    return repr(words if len(words) <= 80 else words[:77] + "...")


class _Begun(Exception):
    """The first element was reached."""


def refuse_entities(data: bytes, name: str = "it") -> None:
    """See that the XML declares no entities: they may stand before the first element only.

    Raises:
        NotConverted: ``unsafe``: it declares some. What is no XML is left for the parser to say.
    """
    from xml.parsers import expat

    def declared(*_: object) -> None:
        raise NotConverted("unsafe", f"{_shown(name)} declares entities: an XML bomb, or a way to other files")

    def begun(*_: object) -> None:
        raise _Begun

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = declared
    parser.UnparsedEntityDeclHandler = declared
    parser.StartElementHandler = begun
    try:
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK], False)
        parser.Parse(b"", True)
    except (_Begun, expat.ExpatError, ValueError):
        return


def _no_xml(name: str, error: Exception) -> Exception:
    """What is raised for what the parser gave up on: want of memory is no fault of the document."""
    if getattr(error, "code", 0) == _NO_MEMORY:
        return MemoryError()
    return NotConverted("corrupt", f"damaged: {_shown(name)} in it is no XML ({error})")


def parse_xml(data: bytes, name: str = "it") -> Element:
    """The root of an XML file, names without namespaces; attributes of the relationships' as :data:`RELATION` ``id``.

    Raises:
        NotConverted: it is no XML, or it declares entities.
    """
    from xml.etree import ElementTree

    refuse_entities(data, name)
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise _no_xml(name, error) from error
    for element in root.iter():
        _plain_names(element)
    return root


def _plain_names(element: Element) -> None:
    if isinstance(element.tag, str):
        element.tag = element.tag.rpartition("}")[2]
    if any("}" in key for key in element.attrib):
        plain = {}
        for key, value in element.attrib.items():
            space, _, local = key.rpartition("}")
            plain[(RELATION if space.endswith("/relationships") else "") + local] = value
        element.attrib.clear()
        element.attrib.update(plain)


def read_xml_stream(data: bytes, tag: str, name: str = "it") -> Iterator[Element]:
    """The elements called ``tag``, one by one, with names as in :func:`parse_xml`; each is gone when the next is asked.

    Raises:
        NotConverted: as :func:`parse_xml`.
    """
    from xml.etree import ElementTree

    refuse_entities(data, name)
    around: list[Element] = []
    try:
        for event, element in ElementTree.iterparse(BytesIO(data), ("start", "end")):
            if event == "start":
                around.append(element)
                continue
            around.pop()
            if element.tag.rpartition("}")[2] == tag:
                for one in element.iter():
                    _plain_names(one)
                yield element
                element.clear()
                if around:
                    around[-1].clear()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise _no_xml(name, error) from error
