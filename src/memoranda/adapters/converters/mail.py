"""E-mail (.eml, .mht): the headers that matter, the text once, attachments by name."""

from __future__ import annotations

import re
from binascii import a2b_base64, a2b_qp
from email import message_from_bytes
from functools import cache

from memoranda.adapters.converters.encodings import decode
from memoranda.adapters.converters.html import html_blocks
from memoranda.adapters.converters.markdown_text import blocks, clean, heading, item, one_line, prose
from memoranda.adapters.converters.plain import built
from memoranda.core.documents import NotConverted
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from email.message import Message

    from memoranda.adapters.converters.limits import Limits
    from memoranda.core.documents import Converted

__all__ = ["Letter", "convert_mail", "is_sealed", "letter_blocks"]

_HEADERS = ("From", "To", "Cc", "Date")
_SEALED_TYPES = ("multipart/encrypted", "application/pgp-encrypted")
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class Letter:
    """A message: its headers by name, its text as markdown, the names of what is attached, messages within it."""

    headers: tuple[tuple[str, str], ...]
    subject: str
    body: str
    attachments: tuple[str, ...] = ()
    within: tuple[Letter, ...] = ()


def letter_blocks(letter: Letter, level: int = 1) -> list[str]:
    """A message as markdown: its subject as the heading, then headers, text and attachments."""
    lines = [f"- {name}: {words}" for name, words in letter.headers if words]
    attached = [item(prose(name)) for name in letter.attachments]
    return [
        heading(level, letter.subject),
        "\n".join(lines).replace("<!--", "&lt;!--"),
        letter.body,
        *(("Attachments:", "\n".join(attached)) if attached else ()),
        *(part for one in letter.within for part in letter_blocks(one, level + 1)),
    ]


def is_sealed(text: str) -> bool:
    """Whether a text is nothing but an encrypted PGP message."""
    return text.lstrip().startswith("-----BEGIN PGP MESSAGE-----")


def convert_mail(data: bytes, format: str, name: str, limits: Limits) -> Converted:
    """A message. Of a text in two forms the plain one is taken, unless it is empty."""
    reader = _Reader()
    letter = reader.read(message_from_bytes(data), 0)
    if reader.sealed and not letter.body.strip():
        raise NotConverted("encrypted", "the message is encrypted")
    if not (letter.body.strip() or letter.subject or letter.attachments or letter.within or letter.headers):
        raise NotConverted("empty", "a message without headers and without a text")
    return built(
        blocks(letter_blocks(letter)), format, title=letter.subject, encoding=reader.encoding, notes=tuple(reader.notes)
    )


class _Reader:
    def __init__(self) -> None:
        self.sealed = False
        self.encoding = ""
        self.notes: list[str] = []

    def read(self, message: Message, depth: int) -> Letter:
        plain: list[str] = []
        pages: list[str] = []
        attached: list[str] = []
        within: list[Letter] = []
        todo: list[tuple[Message, bool]] = [(message, True)]
        while todo:
            part, top = todo.pop()
            kind = part.get_content_type()
            name = _words(part.get_filename() or "")
            smime = kind.endswith("pkcs7-mime") and "signed" not in str(part.get_param("smime-type"))
            if kind in _SEALED_TYPES or smime:
                self.sealed = True
            elif kind == "message/rfc822" and not top:
                inner = part.get_payload(0) if part.is_multipart() else None
                if inner is not None and depth < _DEEPEST and not isinstance(inner, str):
                    within.append(self.read(inner, depth + 1))
            elif part.is_multipart():
                todo += [(one, False) for one in reversed(_parts(part))]
            elif name or part.get_content_disposition() == "attachment":
                if not name.lower().endswith((".asc", ".p7m")):
                    attached.append(name or kind)
                self.sealed = self.sealed or name.lower().endswith((".p7m", ".pgp"))
            elif kind == "text/html":
                pages.append(self._text(part))
            elif kind.startswith("text/"):
                plain.append(self._text(part))
        return Letter(
            tuple((one, _header(message, one)) for one in _HEADERS if _header(message, one)),
            _header(message, "Subject"),
            self._body(plain, pages),
            tuple(attached),
            tuple(within),
        )

    def _body(self, plain: Sequence[str], pages: Sequence[str]) -> str:
        if any(map(is_sealed, plain)):
            self.sealed = True
        kept = [clean(one).strip("\n") for one in plain if one.strip() and not is_sealed(one)]
        if kept:
            return blocks(map(prose, kept))
        return blocks(html_blocks(page, whole=True)[0] for page in pages)

    def _text(self, part: Message) -> str:
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            return ""
        declared = part.get_param("charset", "")
        decoded = decode(payload, declared if isinstance(declared, str) else declared[2])
        self.encoding = self.encoding or decoded.encoding
        if decoded.unreadable:
            self.notes.append(f"{decoded.unreadable} places could not be read as {decoded.encoding}")
        return decoded.text


def _parts(message: Message) -> list[Message]:
    payload = message.get_payload()
    return [one for one in payload if not isinstance(one, str)] if isinstance(payload, list) else []


def _header(message: Message, name: str) -> str:
    return next((_words(value) for key, value in message.raw_items() if key.lower() == name.lower()), "")


@cache
def _encoded_word() -> re.Pattern[str]:
    return re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]{0,4000})\?=")


def _words(raw: object) -> str:
    """A header's words, encoded ones (RFC 2047) decoded; bytes that were not encoded at all too.

    A character may be cut in two between encoded words: neighbours of one
    encoding are decoded together.
    """
    text = decode(str(raw).encode("utf-8", "surrogateescape")).text
    words: list[str] = []
    charset, held, last = "", b"", 0
    for match in _encoded_word().finditer(text):
        between = text[last : match.start()]
        if between.strip() or match[1].lower() != charset or not held:
            words += [decode(held, charset).text if held else "", between if between.strip() or not held else ""]
            held = b""
        charset, last = match[1].lower(), match.end()
        held += _unpacked(match[2].lower(), match[3])
    words += [decode(held, charset).text if held else "", text[last:]]
    return one_line("".join(words))


def _unpacked(way: str, text: str) -> bytes:
    raw = text.encode("ascii", "ignore")
    if way == "q":
        return a2b_qp(raw, header=True)
    try:
        return a2b_base64(raw + b"=" * (-len(raw) % 4))
    except ValueError:
        return raw
