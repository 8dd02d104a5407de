"""One document of the web, by the address that a person gave: fetched from public places only, within limits.

Each step of the way is looked up once, judged (:mod:`memoranda.adapters.public_addresses`)
and gone to at exactly the address that was judged, under the name that was given.
Proxies of the environment play no part, nothing is sent that tells who asks,
and an answer is taken whole or not at all.
"""

from __future__ import annotations

import io
import re
import socket
import ssl
import zlib
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import cast
from urllib.parse import unquote, urljoin

from memoranda.adapters.public_addresses import WebAddress, connect, is_public, read_address
from memoranda.core.documents import NotConverted
from memoranda.core.records import dataclass
from memoranda.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from ipaddress import IPv4Address, IPv6Address

    Address = IPv4Address | IPv6Address

__all__ = ["FetchLimits", "Fetched", "fetch"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PIECE = 1 << 16
_LONGEST_NAME = 100
_LONGEST_DISPOSITION = 4096
_EXTENSIONS = {
    **{"text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf", "text/plain": ".txt"},
    **{"text/markdown": ".md", "text/x-markdown": ".md", "application/json": ".json", "application/x-ndjson": ".jsonl"},
    **{"text/csv": ".csv", "text/tab-separated-values": ".tsv", "text/xml": ".xml", "application/xml": ".xml"},
    **{"application/rtf": ".rtf", "text/rtf": ".rtf", "application/epub+zip": ".epub", "message/rfc822": ".eml"},
    **{"application/msword": ".doc", "application/vnd.ms-excel": ".xls", "application/vnd.ms-powerpoint": ".ppt"},
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/vnd.oasis.opendocument.spreadsheet": ".ods",
    "application/vnd.oasis.opendocument.presentation": ".odp",
}


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a document may cost: bytes (packed and unpacked), seconds in all, bytes of headers, redirects; and ports."""

    size: int = 50 << 20
    seconds: float = 30.0
    headers: int = 64 << 10
    redirects: int = 5
    ports: frozenset[int] = frozenset({80, 443, 8080, 8443})


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document: where it was in the end (query and all), its bytes, a harmless name, its type without parameters."""

    url: str
    data: bytes
    name: str
    content_type: str = ""


_USUAL = FetchLimits()


def fetch(
    url: str,
    *,
    limits: FetchLimits = _USUAL,
    is_public: Callable[[Address], bool] = is_public,
) -> Fetched:
    """Fetch a document. ``is_public`` says which addresses may be gone to; tests allow their own machine with it.

    Raises:
        NotConverted: ``unsafe``: the address, or one it redirects to, is refused; ``too_large``, ``too_slow``; or
            ``unsupported``: it cannot be had.
    """
    deadline = _Deadline(limits.seconds)
    address = read_address(url, limits.ports)
    for _ in range(limits.redirects + 1):
        answer = _ask(address, is_public, limits, deadline)
        if isinstance(answer, Fetched):
            return answer
        address = answer
    raise NotConverted("unsupported", f"redirected more than {limits.redirects} times")


class _Deadline:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left, some at least. Raises NotConverted: none are."""
        left = self._until - monotonic()
        if left <= 0:
            raise NotConverted("too_slow", f"took more than {self._seconds:g} seconds")
        return left


class _Incoming(io.RawIOBase):
    """What comes in from a socket, each read within what is left of the time and of the bytes allowed."""

    def __init__(self, source: socket.socket, deadline: _Deadline, allowed: int) -> None:
        self._source = source
        self._deadline = deadline
        self._allowed = allowed

    def makefile(self, mode: str) -> io.BufferedReader:
        """As of a socket: all that :class:`HTTPResponse` asks of one."""
        return io.BufferedReader(self)

    def allow(self, more: int) -> None:
        self._allowed += more

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._allowed <= 0:
            raise NotConverted("too_large", "the server sends more around the document than is allowed")
        self._source.settimeout(self._deadline.left())
        got = self._source.recv_into(buffer[: self._allowed])
        self._allowed -= got
        return got


def _ask(
    address: WebAddress, judge: Callable[[Address], bool], limits: FetchLimits, deadline: _Deadline
) -> Fetched | WebAddress:
    """Make one request: the document, or where to go on."""
    host = address.host
    try:
        with connect(address, judge, deadline.left) as connection:
            connection.settimeout(deadline.left())
            connection.sendall(_request(address))
            incoming = _Incoming(connection, deadline, limits.headers)
            with HTTPResponse(cast("socket.socket", incoming), method="GET") as response:
                response.begin()
                # Some for the framing of chunks: http.client would read one of size -1 to the end, however far.
                incoming.allow(2 * limits.size + limits.headers)
                return _answer(response, address, limits, deadline)
    except TimeoutError as error:
        raise NotConverted("too_slow", f"{host} did not answer in time") from error
    except ssl.SSLCertVerificationError as error:
        raise NotConverted("unsupported", f"the certificate of {host} is not valid: {error.verify_message}") from error
    except ssl.SSLError as error:
        raise NotConverted("unsupported", f"no secure connection to {host}: TLS failed") from error
    except ConnectionRefusedError as error:
        raise NotConverted("unsupported", f"{host} refused the connection") from error
    except OSError as error:
        raise NotConverted("unsupported", f"{host} cannot be reached, or the connection broke off") from error
    except (HTTPException, ValueError) as error:
        raise NotConverted("unsupported", f"{host} does not answer as a web server should") from error


def _request(address: WebAddress) -> bytes:
    # Written here: http.client would connect by name, and the parts of an address are ASCII without spaces.
    lines = (
        f"GET {address.target} HTTP/1.1",
        f"Host: {address.authority}",
        f"User-Agent: memoranda/{__version__}",
        "Accept: */*",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _answer(
    response: HTTPResponse, address: WebAddress, limits: FetchLimits, deadline: _Deadline
) -> Fetched | WebAddress:
    status = response.status
    if status in _REDIRECTS and (location := response.headers.get("Location", "").strip()):
        return _redirected(address, _text(location), limits)
    if status != 200:
        known = f" ({HTTPStatus(status).phrase})" if status in set(HTTPStatus) else ""
        raise NotConverted("unsupported", f"{address.host} answered with status {status}{known}")
    data = _body(response, limits, deadline)
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if not re.fullmatch(r"[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}", kind):
        kind = ""
    return Fetched(address.url, data, _name(response.headers.get("Content-Disposition", ""), address, kind), kind)


def _redirected(address: WebAddress, location: str, limits: FetchLimits) -> WebAddress:
    try:
        target = read_address(urljoin(address.url, location.replace(" ", "%20")), limits.ports)
    except NotConverted as fault:
        raise NotConverted(fault.kind, f"in a redirect of {address.host}: {fault}") from fault
    except ValueError as error:
        raise NotConverted("unsafe", f"{address.host} redirects to an address that cannot be read") from error
    if address.scheme == "https" and target.scheme == "http":
        raise NotConverted("unsafe", f"{address.host} redirects from https to http")
    return target


def _body(response: HTTPResponse, limits: FetchLimits, deadline: _Deadline) -> bytes:
    framing = response.headers.get("Transfer-Encoding", "").strip().lower()
    if framing not in ("", "identity", "chunked"):
        raise NotConverted("unsupported", "sent in a transfer encoding that cannot be read")
    packings = ",".join(response.headers.get_all("Content-Encoding", [])).lower().split(",")
    packings = [one for word in packings if (one := word.strip()) not in ("", "identity")]
    pieces = _pieces(response, limits.size)
    if not packings:
        return b"".join(pieces)
    if packings not in (["gzip"], ["x-gzip"], ["deflate"]):
        raise NotConverted("unsupported", "sent in a content encoding that cannot be read")
    try:
        return _unpack(pieces, packings == ["deflate"], limits.size, deadline)
    except zlib.error as error:
        raise NotConverted("unsupported", "what was sent is damaged: it cannot be unpacked") from error


def _too_large(most: int) -> NotConverted:
    return NotConverted("too_large", f"larger than the {most / (1 << 20):.3g} MB that are allowed")


def _pieces(response: HTTPResponse, most: int) -> Iterator[bytes]:
    length, got = response.length, 0
    if length is not None and length > most:
        raise _too_large(most)
    while piece := response.read(_PIECE):
        got += len(piece)
        if got > most:
            raise _too_large(most)
        yield piece
    if length is not None and got < length:
        raise NotConverted("unsupported", "the connection ended before the document did")


def _unpack(pieces: Iterable[bytes], deflate: bool, most: int, deadline: _Deadline) -> bytes:
    """What gzip (of several members, too) or deflate packed, no more than ``most`` bytes of it."""
    unpacked, left = [], most
    unpacker = None
    for piece in pieces:
        while piece:
            deadline.left()
            if unpacker is None:
                unpacker = zlib.decompressobj(_window(piece) if deflate else 31)
            out = unpacker.decompress(piece, left + 1)
            left -= len(out)
            if left < 0:
                raise _too_large(most)
            unpacked.append(out)
            piece = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if unpacker.eof:
                unpacker = None
    if unpacker is not None:
        raise NotConverted("unsupported", "the connection ended before the document did")
    return b"".join(unpacked)


def _window(start: bytes) -> int:
    """Deflate is meant to come in a frame of zlib's, and comes without one from some servers."""
    return 15 if start[0] & 15 == 8 and int.from_bytes(start[:2]) % 31 == 0 else -15


def _text(header: str) -> str:
    """A header's text: most servers mean UTF-8, whatever http.client makes of it."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return header


def _name(disposition: str, address: WebAddress, kind: str) -> str:
    name = _harmless(_disposed(disposition[:_LONGEST_DISPOSITION]))
    given = bool(name)
    if not given:
        path = address.target.partition("?")[0].rstrip("/")
        name = _harmless(unquote(path.rpartition("/")[2]))
    name = name or _harmless(address.host.replace(".", "-")) or "document"
    known = re.search(r"(?<=.)\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{1,10}$", name)
    end = known.group() if known else ""
    wanted = _EXTENSIONS.get(kind, "")
    # The path of a page or a PDF ends in anything: /wiki/Node.js, /index.php, /abs/2301.v2
    sure = wanted in (".html", ".pdf") and not given and end.lower() not in (wanted, ".htm", ".xhtml")
    if wanted and (not end or sure):
        name, end = name + wanted, wanted
    stem = name[: len(name) - len(end)]
    return stem[: _LONGEST_NAME - len(end)].rstrip(" .") + end


def _disposed(disposition: str) -> str:
    """The file's name in a header ``Content-Disposition``; its encoded form goes before the plain one."""
    if found := re.search(r"(?i)(?:^|[;\s])filename\*\s*=\s*\"?(utf-8|iso-8859-1)'[^']*'([^\s;\"]+)", disposition):
        return unquote(found[2], encoding=found[1])
    if found := re.search(r"(?i)(?:^|[;\s])filename\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^;\"]+))", disposition):
        return unquote(_text(re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2].strip()))
    return ""


def _harmless(name: str) -> str:
    """The last part of a path as the name of a file: nothing in it that a file system or a terminal would act on."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join("_" if one in '<>:"|?*' else one for one in last if one.isprintable())
    return shown.strip(" ").lstrip(". ").rstrip(". ")
