"""Books (.epub): the chapters in the order in which they are read."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from memoranda.adapters.converters.archives import Archive
from memoranda.adapters.converters.encodings import decode
from memoranda.adapters.converters.html import html_blocks, html_charset
from memoranda.adapters.converters.markdown_text import blocks, one_line
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_epub"]

_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
#: Ways to disguise fonts, which hide no text.
_FONT_DISGUISES = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def convert_epub(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A book: title and authors, then its chapters."""
    archive = Archive(data, limits)
    _refuse_protected(archive)
    part = _package(archive)
    package = archive.xml(part)
    title = one_line(_said(package, "title")[0] if _said(package, "title") else "")
    authors = ", ".join(_said(package, "creator"))
    parts = [f"Title: {title}" if title else "", f"Author: {authors}" if authors else ""]
    notes: list[str] = []
    read = False
    for path in _chapters(package, part):
        if not archive.find(path):
            notes.append(f"chapter {path} is missing")
            continue
        raw = archive.read(path)
        text, _ = html_blocks(decode(raw, html_charset(raw) or "utf-8").text, whole=True)
        read = read or bool(text.strip())
        parts.append(text)
    return built(blocks(parts) if read else "", format, title=title, notes=tuple(notes))


def _refuse_protected(archive: Archive) -> None:
    if not archive.find("META-INF/encryption.xml"):
        return
    for one in archive.xml("META-INF/encryption.xml").iter("EncryptionMethod"):
        if one.get("Algorithm", "") not in _FONT_DISGUISES:
            raise NotConverted("encrypted", "protected against copying (DRM)")


def _package(archive: Archive) -> str:
    for one in archive.xml("META-INF/container.xml").iter("rootfile"):
        if found := archive.find(one.get("full-path", "")):
            return found
    raise NotConverted("corrupt", "damaged: a book without a package file")


def _said(package: Element, tag: str) -> list[str]:
    return [words for one in package.iter(tag) if (words := one_line(one.text or ""))]


def _chapters(package: Element, part: str) -> list[str]:
    """The members with the text, as the spine lists them; its navigation left out."""
    folder = posixpath.dirname(part)
    items = {one.get("id", ""): one for one in package.iter("item")}
    found: dict[str, None] = {}
    for one in package.iter("itemref"):
        listed = items.get(one.get("idref", ""))
        if listed is None or listed.get("media-type") not in _PAGES or "nav" in listed.get("properties", "").split():
            continue
        href = unquote(listed.get("href", "").partition("#")[0])
        found[posixpath.normpath(posixpath.join(folder, href))] = None
    return list(found)
