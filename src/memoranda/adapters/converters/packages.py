"""What Office's packages (.docx, .xlsx, .pptx) have in common: parts that point at each other by relationships."""

from __future__ import annotations

import posixpath

from memoranda.adapters.converters.markdown_text import one_line
from memoranda.core.documents import NotConverted
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.archives import Archive

__all__ = ["Relation", "main_part", "package_title", "relations", "without_fallbacks"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part points at: ``kind`` is the last word of its type; ``target`` a member, or outside an address."""

    kind: str
    target: str
    outside: bool


def relations(archive: Archive, part: str) -> dict[str, Relation]:
    """What a part points at, by id; nothing where that cannot be read."""
    folder, _, name = part.rpartition("/")
    path = archive.find(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
    if not path:
        return {}
    found = {}
    for one in archive.xml(path).iter("Relationship"):
        target = one.get("Target", "")
        outside = one.get("TargetMode") == "External"
        if not outside:
            target = posixpath.normpath(posixpath.join("/" + folder, target)).lstrip("/")
        found[one.get("Id", "")] = Relation(one.get("Type", "").rpartition("/")[2], target, outside)
    return found


def main_part(archive: Archive, usual: str) -> str:
    """The part that everything begins with. Raises NotConverted: there is none."""
    for one in relations(archive, "").values():
        if one.kind == "officeDocument" and archive.find(one.target):
            return archive.find(one.target)
    if found := archive.find(usual):
        return found
    raise NotConverted("corrupt", f"damaged: there is no {usual} in it")


def package_title(archive: Archive) -> str:
    """The title among the document's properties; empty where none was given, or one that says nothing."""
    path = archive.find("docProps/core.xml")
    if not path:
        return ""
    try:
        found = one_line(archive.xml(path).findtext("title") or "")
    except NotConverted:
        return ""
    return "" if found.casefold() in ("powerpoint presentation", "word document", "untitled") else found


def without_fallbacks(root: Element) -> None:
    """Leave of alternate contents the first choice only: the others say the same again."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag == "AlternateContent":
                kept = child.find("Choice")
                if kept is None:
                    kept = child.find("Fallback")
                for one in list(child):
                    if one is not kept:
                        child.remove(one)
