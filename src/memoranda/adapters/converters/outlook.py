"""Outlook messages (.msg): the properties of [MS-OXMSG] that hold headers, text and attachments."""

from __future__ import annotations

import struct

from memoranda.adapters.converters.compound_file import CompoundFile
from memoranda.adapters.converters.encodings import decode
from memoranda.adapters.converters.html import html_blocks, html_charset
from memoranda.adapters.converters.mail import Letter, is_sealed, letter_blocks
from memoranda.adapters.converters.markdown_text import blocks, clean, one_line, prose
from memoranda.adapters.converters.plain import built
from memoranda.adapters.converters.rtf import rtf_blocks, unpacked_rtf
from memoranda.core.documents import NotConverted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["convert_msg"]

_SUBJECT, _SENDER, _SENDER_ADDRESS, _SENDER_SMTP = "0037", "0C1A", "0C1F", "5D01"
_TO, _CC, _TEXT, _PAGE, _PACKED_RTF = "0E04", "0E03", "1000", "1013", "1009"
_LONG_NAME, _SHORT_NAME, _SHOWN_NAME, _CLASS = "3707", "3704", "3001", "001A"
_RECIPIENT_SMTP, _RECIPIENT_ADDRESS, _RECIPIENT_KIND = "39FE", "3003", 0x0C15
#: When it was sent, when it came, by the numbers of their properties.
_TIMES = (0x0039, 0x0E06)


def convert_msg(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """An Outlook message; its text is the plain one, else the page, else the packed RTF."""
    file = CompoundFile(data)
    attached = [_attachment(file, one) for one in file.storages if one.startswith("__attach") and "/" not in one]
    body = _body(file)
    kind = _text(file, "", _CLASS).lower()
    sealed = is_sealed(body) or any(one.lower().endswith((".pgp", ".p7m")) for one in attached)
    sealed = sealed or "pgp" in " ".join(attached).lower() or (".smime" in kind and "multipartsigned" not in kind)
    if sealed and (not body.strip() or is_sealed(body)):
        raise NotConverted("encrypted", "the message is encrypted")
    headers = (
        ("From", _sender(file)),
        ("To", _recipients(file, 1) or one_line(_text(file, "", _TO))),
        ("Cc", _recipients(file, 2) or one_line(_text(file, "", _CC))),
        ("Date", _sent(file)),
    )
    letter = Letter(headers, one_line(_text(file, "", _SUBJECT)), body, tuple(one for one in attached if one))
    return built(blocks(letter_blocks(letter)), format, title=letter.subject)


def _text(file: CompoundFile, folder: str, number: str) -> str:
    for kind in ("001F", "001E"):
        path = f"{folder}__substg1.0_{number}{kind}"
        if path in file:
            raw = file.read(path)
            text = raw.decode("utf-16-le", "replace") if kind == "001F" else decode(raw).text
            return text.rstrip("\0")
    return ""


def _binary(file: CompoundFile, number: str) -> bytes:
    path = f"__substg1.0_{number}0102"
    return file.read(path) if path in file else b""


def _body(file: CompoundFile) -> str:
    text = clean(_text(file, "", _TEXT))
    if text.strip():
        return prose(text).strip("\n")
    page = _text(file, "", _PAGE)
    if not page and (raw := _binary(file, _PAGE)):
        page = decode(raw, html_charset(raw)).text
    if page.strip():
        return html_blocks(page, whole=True)[0]
    if packed := _binary(file, _PACKED_RTF):
        try:
            return rtf_blocks(unpacked_rtf(packed))
        except NotConverted:
            return ""
    return ""


def _attachment(file: CompoundFile, folder: str) -> str:
    for number in (_LONG_NAME, _SHORT_NAME, _SHOWN_NAME):
        if found := one_line(_text(file, folder + "/", number)):
            return found
    return ""


def _person(shown: str, *addresses: str) -> str:
    shown = one_line(shown)
    address = next((one_line(one) for one in addresses if "@" in one), "")
    if not address or address == shown:
        return shown or address
    return f"{shown} <{address}>" if shown else address


def _sender(file: CompoundFile) -> str:
    return _person(_text(file, "", _SENDER), _text(file, "", _SENDER_SMTP), _text(file, "", _SENDER_ADDRESS))


def _recipients(file: CompoundFile, kind: int) -> str:
    found = []
    for folder in file.storages:
        if not folder.startswith("__recip") or "/" in folder:
            continue
        properties = f"{folder}/__properties_version1.0"
        if properties in file and _property(file.read(properties)[8:], _RECIPIENT_KIND) in (kind, None):
            addresses = _text(file, folder + "/", _RECIPIENT_SMTP), _text(file, folder + "/", _RECIPIENT_ADDRESS)
            found.append(_person(_text(file, folder + "/", _SHOWN_NAME), *addresses))
    return ", ".join(one for one in found if one)


def _property(table: bytes, number: int) -> int | None:
    """The value of a property that has room in the table: eight bytes behind a tag and flags."""
    for at in range(0, len(table) - 15, 16):
        if struct.unpack_from("<H", table, at + 2)[0] == number:
            return int(struct.unpack_from("<Q", table, at + 8)[0])
    return None


def _sent(file: CompoundFile) -> str:
    from datetime import UTC, datetime, timedelta

    path = "__properties_version1.0"
    table = file.read(path)[32:] if path in file else b""
    for number in _TIMES:
        ticks = _property(table, number)
        if ticks:
            try:
                # Tenths of microseconds since 1601.
                when = datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)
            except OverflowError:
                continue
            return f"{when:%Y-%m-%d %H:%M} UTC"
    return ""
