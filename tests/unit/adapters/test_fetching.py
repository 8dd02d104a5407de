"""Fetching documents of the web: servers on loopback that behave, and ones that do not."""

from __future__ import annotations

import gzip
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.adapters.fetching import Fetched, FetchLimits, fetch
from memoranda.adapters.public_addresses import is_public
from memoranda.core.documents import NotConverted

Address = IPv4Address | IPv6Address
#: What a server sends, byte for byte: all of it, or piece by piece.
Sent = bytes | Iterator[bytes]

HERE = "127.0.0.1"


def here_only(address: Address) -> bool:
    return address == ip_address(HERE)


def ok(body: bytes = b"hello", *headers: str, length: bool = True) -> bytes:
    lines = ["HTTP/1.1 200 OK", *headers, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def redirect(target: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)  # the same each time: it is part of tests' names


def drip(piece: bytes, before: bytes = b"") -> Iterator[bytes]:
    yield before
    while True:
        yield piece
        time.sleep(0.02)


class Server:
    """Answers each path as it is told, and keeps the requests."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answers: dict[str, Callable[[], Sent]] = {}
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                try:
                    if context is not None:
                        self.request.settimeout(2)
                        self.rfile.close()
                        self.request = context.wrap_socket(self.request, server_side=True)
                        self.rfile = self.request.makefile("rb")
                    path = self.rfile.readline().split(b" ")[1].decode()
                    headers = {}
                    while line := self.rfile.readline().decode("latin-1").strip():
                        name, _, value = line.partition(":")
                        headers[name.lower()] = value.strip()
                    outer.requests.append((path, headers))
                    sent = outer.answers[path]()
                    for piece in [sent] if isinstance(sent, bytes) else sent:
                        self.request.sendall(piece)
                except (OSError, IndexError, UnicodeError):
                    pass  # the other side has had enough
                finally:
                    self.rfile.close()
                    self.request.close()

        class Threads(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Threads((HERE, 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def url(self, path: str, scheme: str = "http", host: str = HERE) -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def put(self, path: str, answer: bytes | Callable[[], Sent]) -> None:
        self.answers[path] = answer if callable(answer) else lambda: answer

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


@pytest.fixture
def server(running: Server) -> Server:
    running.requests.clear()
    running.answers.clear()
    return running


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The places that connections were made to."""
    places: list[tuple[str, int]] = []
    connect = socket.socket.connect

    def noting(self: socket.socket, place: Any) -> None:
        places.append(tuple(place)[:2])
        connect(self, place)

    monkeypatch.setattr(socket.socket, "connect", noting)
    return places


def names(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A resolver that gives one answer after another; what was asked of it."""
    asked: list[str] = []

    def resolve(host: str, port: int, *_: object, **__: object) -> list[Any]:
        asked.append(host)
        found = answers[len(asked) - 1]
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, port, 0, 0))
            if ":" in one
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
            for one in found
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def limits(server: Server, **more: Any) -> FetchLimits:
    options: dict[str, Any] = {"ports": frozenset({server.port}), "seconds": 5.0, **more}
    return FetchLimits(**options)


def get(server: Server, path: str, **more: Any) -> Fetched:
    return fetch(server.url(path), limits=limits(server, **more), is_public=here_only)


def refused(server: Server, path: str, **more: Any) -> NotConverted:
    with pytest.raises(NotConverted) as caught:
        get(server, path, **more)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


# What is fetched


def test_a_document_with_its_name_and_type(server: Server) -> None:
    server.put("/a/Report%201.pdf?key=s3cret", ok(b"%PDF-1.7", "Content-Type: Application/PDF; x=y"))
    got = get(server, "/a/Report%201.pdf?key=s3cret#page=2")
    assert got == Fetched(server.url("/a/Report%201.pdf?key=s3cret"), b"%PDF-1.7", "Report 1.pdf", "application/pdf")


def test_the_request_tells_nothing_of_who_asks(server: Server) -> None:
    server.put("/", ok())
    get(server, "")
    ((path, headers),) = server.requests
    assert path == "/"
    assert headers.pop("user-agent").startswith("memoranda/")
    assert headers == {
        "host": f"{HERE}:{server.port}",
        "accept": "*/*",
        "accept-encoding": "identity",
        "connection": "close",
    }


def test_a_path_in_other_letters_is_encoded(server: Server) -> None:
    server.put("/%E6%96%87/%e4%BB%B6?q=%C3%A9", ok())
    assert get(server, "/文/%e4%BB%B6?q=é").name == "件"


@pytest.mark.parametrize(
    "sent",
    [
        ok(b"hello", "Transfer-Encoding: chunked", length=False)[:-5] + b"2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
        ok(b"hello", length=False),
        b"HTTP/1.0 200 OK\r\n\r\nhello",
        b"HTTP/1.1 100 Continue\r\n\r\n" + ok(b"hello"),
        ok(packed(b"hello"), "Content-Encoding: gzip"),
        ok(packed(b"hel") + packed(b"lo"), "Content-Encoding: x-gzip"),
        ok(zlib.compress(b"hello"), "Content-Encoding: deflate"),
        ok(zlib.compress(b"hello")[2:-4], "Content-Encoding: Deflate"),
        ok(b"hello", "Content-Encoding: identity"),
    ],
)
def test_ways_to_send_a_document(server: Server, sent: bytes) -> None:
    server.put("/x", sent)
    assert get(server, "/x").data == b"hello"


def test_nothing_is_fetched_as_nothing(server: Server) -> None:
    server.put("/x", ok(b"", "Content-Encoding: gzip"))
    assert get(server, "/x").data == b""


def test_proxies_of_the_environment_are_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.2:9")
        monkeypatch.setenv(name.upper(), "http://127.0.0.2:9")
    monkeypatch.delenv("REQUEST_METHOD", raising=False)
    server.put("/x", ok())
    assert get(server, "/x").data == b"hello"
    assert connected == [(HERE, server.port)]


# What is refused before anything is sent


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com/a",
        "gopher://example.com/_x",
        "data:text/html,hello",
        "javascript:alert(1)",
        "example.com/a",
        "//example.com/a",
        "",
        "http:example.com",
        "http:///a",
        "http://",
        "https://:443/a",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com/a b",
        " http://example.com/",
        "http://example.com/a\r\nX: y",
        "http://exam\tple.com/",
        "http://example.com/\x00",
        "http://example.com/\u202e",
        "http://example.com/\ud800",
        "http://example.com/" + "a" * 5000,
        "http://" + "a." * 150 + "com/",
        "http://" + "a" * 64 + ".com/",
        "http://a..com/",
        "http://./",
        "http://exa%6dple.com/",
        "http://example.com%00.org/",
        "http://-x.com/",
        "http://ex\u2100mple.com/",
        "http://example.com:99999/",
        "http://example.com:x/",
        "http://example.com:-80/",
        "http://[::1/",
        "http://[::1]example.com/",
        "http://x[::1]/",
        "http://[v1.x]/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        *(f"http://example.com:{port}/" for port in (0, 1, 22, 25, 79, 81, 3306, 6379, 9200, 65535)),
    ],
)
def test_addresses_that_are_not_read(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("a name was looked up"))
    with pytest.raises(NotConverted) as caught:
        fetch(url)
    assert caught.value.kind == "unsafe"
    assert len(str(caught.value).splitlines()) == 1
    assert "secret" not in str(caught.value)


PRIVATE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
    "168.63.129.16", "169.254.169.254", "172.16.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8", "100::1", "2001::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:10::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "2606:4700::5efe:10.0.0.1", "2606:4700::200:5efe:10.0.0.1", "3fff::1", "4000::1", "5f00::1", "fc00::1",
    "fd00:ec2::254", "fd20:ce::254", "fe80::1", "fe80::1%eth0", "2606:4700::1111%eth0", "fec0::1", "ff02::1", "ff0e::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public(
    address: str, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    assert not is_public(ip_address(address))
    asked = names(monkeypatch, [address], ["93.184.216.34", address])
    for _ in range(2):  # alone, and behind one that is public
        with pytest.raises(NotConverted) as caught:
            fetch("https://documents.test/")
        assert caught.value.kind == "unsafe"
        assert address not in str(caught.value)
    if "%" not in address:
        with pytest.raises(NotConverted) as caught:
            fetch(f"http://[{address}]/" if ":" in address else f"http://{address}/")
        assert caught.value.kind == "unsafe"
    assert asked == ["documents.test"] * 2
    assert connected == []


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "198.17.0.1",
     "2606:4700::1111", "2a00:1450:4001::1", "2400:3200::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"],
)  # fmt: skip
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.1", "0", "127.0.0.1.", "127.0.0.1。", "１２７.0.0.1",
     "localhost", "LOCALHOST", "localhost.", "ｌocalhost", "any.localhost", "a.b.localhost.", "[::1]", "[::]",
     "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]"],
)  # fmt: skip
def test_odd_spellings_of_this_machine(host: str, connected: list[tuple[str, int]]) -> None:
    with pytest.raises(NotConverted) as caught:
        fetch(f"http://{host}:8080/")
    assert caught.value.kind == "unsafe"
    assert connected == []


V4 = st.one_of(
    st.ip_addresses(v=4), *(st.ip_addresses(v=4, network=one) for one in ("10.0.0.0/8", "100.64.0.0/10", "224.0.0.0/3"))
)
V6 = st.one_of(
    st.ip_addresses(v=6), *(st.ip_addresses(v=6, network=one) for one in ("2000::/3", "2001::/23", "fc00::/6"))
)


@given(st.one_of(V4, V6))
def test_what_is_not_global_is_never_public(address: Address) -> None:
    if not address.is_global or address.is_multicast or address.is_private or address.is_link_local:
        assert not is_public(address)
    if isinstance(address, IPv6Address) and address not in ip_network("64:ff9b::/96") and not address.ipv4_mapped:
        assert not is_public(address) or address in ip_network("2000::/3")


@given(V4, st.integers(0, 2**80 - 1))
def test_what_carries_an_address_is_no_better_than_it(inner: IPv4Address, rest: int) -> None:
    four = int(inner)
    carriers = [
        IPv6Address((0xFFFF << 32) | four),
        IPv6Address((0x64FF9B << 96) | four),
        IPv6Address((0x2002 << 112) | (four << 80) | rest),
        IPv6Address((0x20010000 << 96) | (four << 64) | (rest & (2**64 - 1))),
        IPv6Address((0x20010000 << 96) | ((rest & (2**64 - 1)) << 32) | (four ^ 0xFFFFFFFF)),
        IPv6Address((0x26064700 << 96) | (0x5EFE << 32) | four),
    ]
    for one in carriers:
        assert is_public(inner) or not is_public(one), one
    assert is_public(carriers[0]) == is_public(carriers[1]) == is_public(inner)


# Names and where they lead


def test_a_name_is_looked_up_once_and_gone_to_where_it_was_judged(
    server: Server, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    asked = names(monkeypatch, [HERE], ["127.0.0.2"])
    server.put("/x", ok())
    got = fetch(server.url("/x", host="documents.test."), limits=limits(server), is_public=here_only)
    assert got.data == b"hello"
    assert asked == ["documents.test"]
    assert connected == [(HERE, server.port)]
    assert server.requests[0][1]["host"] == f"documents.test:{server.port}"


def test_a_name_that_leads_elsewhere_at_the_second_step_is_judged_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, connected: list[tuple[str, int]]
) -> None:
    names(monkeypatch, [HERE], ["127.0.0.2"])
    server.put("/x", redirect("/y"))
    with pytest.raises(NotConverted) as caught:
        fetch(server.url("/x", host="documents.test"), limits=limits(server), is_public=here_only)
    assert caught.value.kind == "unsafe"
    assert connected == [(HERE, server.port)]


def test_the_next_place_of_a_name_is_tried(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, ["127.0.0.3", HERE])  # nobody listens at the first
    server.put("/x", ok())
    got = fetch(server.url("/x", host="documents.test"), limits=limits(server), is_public=lambda _: True)
    assert got.data == b"hello"


def test_names_in_other_letters(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = names(monkeypatch, [HERE])
    server.put("/x", ok())
    got = fetch(server.url("/x", host="Bücher.test"), limits=limits(server), is_public=here_only)
    assert asked == ["xn--bcher-kva.test"]
    assert got.url == server.url("/x", host="xn--bcher-kva.test")


def test_a_name_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(*_: object, **__: object) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(NotConverted, match=r"documents\.test") as caught:
        fetch("https://documents.test/a?key=s3cret")
    assert caught.value.kind == "unsupported"
    assert "s3cret" not in str(caught.value)


def test_a_name_without_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    names(monkeypatch, [])
    with pytest.raises(NotConverted) as caught:
        fetch("https://documents.test/")
    assert caught.value.kind == "unsupported"


def test_a_slow_resolver_is_given_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    awake = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: awake.wait(5) and [])
    started = time.monotonic()
    with pytest.raises(NotConverted) as caught:
        fetch("https://documents.test/", limits=FetchLimits(seconds=0.2))
    awake.set()
    assert caught.value.kind == "too_slow"
    assert time.monotonic() - started < 2


def test_nobody_listens() -> None:
    with socket.socket() as held:
        held.bind((HERE, 0))
        port = held.getsockname()[1]
        with pytest.raises(NotConverted, match="refused the connection") as caught:
            fetch(f"http://{HERE}:{port}/", limits=FetchLimits(ports=frozenset({port})), is_public=here_only)
    assert caught.value.kind == "unsupported"


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(server: Server, status: int) -> None:
    server.put("/x", redirect("../y/Été 1.txt?a=b", status))
    server.put("/y/%C3%89t%C3%A9%201.txt?a=b", ok())
    got = get(server, "/x")
    assert got.url == server.url("/y/%C3%89t%C3%A9%201.txt?a=b")
    assert got.name == "Été 1.txt"


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2:{port}/y",
        "//127.0.0.2:{port}/y",
        "http://[::1]:{port}/y",
        "http://[::ffff:127.0.0.2]:{port}/y",
        "http://169.254.169.254:{port}/latest/meta-data/",
        "http://user:secret@127.0.0.1:{port}/y",
        "http://127.0.0.1:22/y",
        "http://127.0.0.1/y",
        "file:///etc/passwd",
        "ftp://127.0.0.1/y",
        "data:text/plain,hello",
        "http://[/y",
        "http://127.0.0.1 .test:{port}/y",
        "/" + "a" * 5000,
    ],
)
def test_redirects_that_are_refused(server: Server, target: str, connected: list[tuple[str, int]]) -> None:
    server.put("/x", redirect(target.format(port=server.port)))
    server.put("/y", ok())
    fault = refused(server, "/x")
    assert fault.kind == "unsafe"
    assert "secret" not in str(fault)
    assert connected == [(HERE, server.port)]


@pytest.mark.parametrize("steps", [5, 6])
def test_five_redirects_are_followed(server: Server, steps: int) -> None:
    for at in range(steps):
        server.put(f"/{at}", redirect(f"/{at + 1}"))
    server.put(f"/{steps}", ok())
    if steps == 5:
        assert get(server, "/0").data == b"hello"
    else:
        assert refused(server, "/0").kind == "unsupported"


def test_a_loop_of_redirects_ends(server: Server) -> None:
    server.put("/x", redirect("/y"))
    server.put("/y", redirect("/x"))
    fault = refused(server, "/x")
    assert fault.kind == "unsupported"
    assert [path for path, _ in server.requests] == ["/x", "/y"] * 3


def test_slow_redirects_share_the_time(server: Server) -> None:
    def slowly() -> bytes:
        time.sleep(0.15)
        return redirect("/x")

    server.put("/x", slowly)
    started = time.monotonic()
    assert refused(server, "/x", seconds=0.4).kind == "too_slow"
    assert time.monotonic() - started < 2


# What the answer may be


@pytest.mark.parametrize("status", [201, 204, 206, 300, 304, 401, 403, 404, 410, 429, 500, 503, 599])
def test_other_statuses(server: Server, status: int) -> None:
    server.put("/x?key=s3cret", f"HTTP/1.1 {status} \x1b[31mEvil\r\nContent-Length: 0\r\n\r\n".encode())
    fault = refused(server, "/x?key=s3cret")
    assert fault.kind == "unsupported"
    assert f"status {status}" in str(fault)
    assert "s3cret" not in str(fault)
    assert "Evil" not in str(fault)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\nhello",
        redirect("").replace(b"Location: \r\n", b""),
        ok(b"", *(f"X-{at}: y" for at in range(150))),
        ok(b"hello", "Content-Encoding: br"),
        ok(packed(packed(b"hello")), "Content-Encoding: gzip, gzip"),
        ok(packed(packed(b"hello")), "Content-Encoding: gzip", "Content-Encoding: gzip"),
        ok(b"hello", "Content-Encoding: gzip"),
        ok(packed(b"hello")[:-3], "Content-Encoding: gzip"),
        ok(packed(b"hello") + b"rest", "Content-Encoding: gzip"),
        ok(b"hello", "Transfer-Encoding: gzip, chunked", length=False),
        ok(b"hello").replace(b"Length: 5", b"Length: 6"),
        ok(b"5\r\nhel", "Transfer-Encoding: chunked", length=False),
        ok(b"zz\r\nhello", "Transfer-Encoding: chunked", length=False),
    ],
)
def test_answers_that_cannot_be_used(server: Server, sent: bytes) -> None:
    server.put("/x", sent)
    assert refused(server, "/x").kind == "unsupported"


def test_a_size_that_is_told_is_refused_before_it_is_sent(server: Server) -> None:
    server.put("/x", lambda: drip(b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"))
    started = time.monotonic()
    assert refused(server, "/x").kind == "too_large"
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("headers", [(), ("Content-Length: many",), ("Content-Length: -1",)])
def test_a_size_that_is_not_told_is_found_while_reading(server: Server, headers: tuple[str, ...]) -> None:
    server.put("/x", lambda: iter([ok(b"", *headers, length=False), *[b"x" * 1000] * 101]))
    assert refused(server, "/x", size=100_000).kind == "too_large"
    assert len(get(server, "/x", size=101_000).data) == 101_000


def test_chunks_are_counted(server: Server) -> None:
    def sent() -> Iterator[bytes]:
        yield ok(b"", "Transfer-Encoding: chunked", length=False)
        while True:
            yield b"3e8\r\n" + b"x" * 1000 + b"\r\n"

    server.put("/x", sent)
    assert refused(server, "/x", size=100_000).kind == "too_large"


def test_a_chunk_of_negative_size_is_not_read_to_the_end(server: Server) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield ok(b"-1\r\n", "Transfer-Encoding: chunked", length=False)
        while True:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    server.put("/x", endless)
    assert refused(server, "/x", size=100_000).kind in ("too_large", "unsupported")
    assert sent < 20 << 20  # what is on its way in the system's buffers counts too


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_headers_without_end(server: Server, start: bytes) -> None:
    line = b"X-Filling: " + b"x" * 1000 + b"\r\n" if start.endswith(b"\n") else b"x" * 1000

    def sent() -> Iterator[bytes]:
        yield start
        while True:
            yield line

    server.put("/x", sent)
    assert refused(server, "/x", headers=20_000).kind in ("too_large", "unsupported")


def test_going_on_without_end_is_ended(server: Server) -> None:
    def sent() -> Iterator[bytes]:
        while True:
            yield b"HTTP/1.1 100 Continue\r\n\r\n" * 100

    server.put("/x", sent)
    assert refused(server, "/x").kind == "too_large"


def test_headers_as_long_as_allowed_and_a_body(server: Server) -> None:
    server.put("/x", ok(b"y" * 3000, "X: " + "x" * 100))
    assert len(get(server, "/x", headers=200, size=3000).data) == 3000


@pytest.mark.parametrize(
    ("before", "piece"),
    [
        (b"", b""),
        (b"HTTP/1.1 ", b"2"),
        (b"HTTP/1.1 200 OK\r\n", b"X"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
    ],
)
def test_a_slow_drip_ends_in_time(server: Server, before: bytes, piece: bytes) -> None:
    server.put("/x", lambda: drip(piece, before))
    started = time.monotonic()
    assert refused(server, "/x", seconds=0.2).kind == "too_slow"
    assert time.monotonic() - started < 1.5


def test_bombs_are_not_unpacked(server: Server) -> None:
    member = packed(bytes(8 << 20))
    server.put("/x", ok(member, "Content-Encoding: gzip"))
    server.put("/many", ok(packed(bytes(1000)) * 1001, "Content-Encoding: gzip"))
    server.put("/deflate", ok(zlib.compress(bytes(8 << 20)), "Content-Encoding: deflate"))
    for path in ("/x", "/many", "/deflate"):
        assert refused(server, path, size=1_000_000).kind == "too_large"
    assert len(get(server, "/x").data) == 8 << 20
    assert len(get(server, "/many", size=1_001_000).data) == 1_001_000


# TLS


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for ``documents.test`` and 127.0.0.1, signed by itself."""
    if not (program := shutil.which("openssl")):
        pytest.skip("there is no openssl")
    folder = tmp_path_factory.mktemp("certificate")
    made, key = folder / "made.pem", folder / "key.pem"
    subprocess.run(
        [program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=documents.test",
         "-addext", "subjectAltName=DNS:documents.test,IP:127.0.0.1", "-keyout", str(key), "-out", str(made)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return made, key


@pytest.fixture
def secure(certificate: tuple[Path, Path]) -> Iterator[tuple[Server, list[str | None]]]:
    """A server that speaks TLS, and the names that it was asked for."""
    asked: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    context.sni_callback = lambda _, name, __: asked.append(name)
    made = Server(context)
    yield made, asked
    made.close()


@pytest.fixture
def trusted(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    make = ssl.create_default_context
    monkeypatch.setattr(ssl, "create_default_context", lambda: make(cafile=str(certificate[0])))


def fetch_securely(server: Server, host: str) -> Fetched:
    return fetch(server.url("/x", "https", host), limits=limits(server), is_public=here_only)


@pytest.mark.usefixtures("trusted")
def test_tls_under_the_name_that_was_given(
    secure: tuple[Server, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, asked = secure
    looked_up = names(monkeypatch, [HERE])
    server.put("/x", ok())
    assert fetch_securely(server, "documents.test").data == b"hello"
    assert looked_up == asked == ["documents.test"]
    assert server.requests[0][1]["host"] == f"documents.test:{server.port}"
    assert fetch_securely(server, HERE).data == b"hello"


@pytest.mark.usefixtures("trusted")
def test_the_certificate_of_another_name(
    secure: tuple[Server, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    names(monkeypatch, [HERE])
    with pytest.raises(NotConverted, match="certificate") as caught:
        fetch_securely(secure[0], "other.test")
    assert caught.value.kind == "unsupported"
    assert secure[0].requests == []


def test_a_certificate_that_nobody_vouches_for(secure: tuple[Server, list[str | None]]) -> None:
    with pytest.raises(NotConverted, match="certificate") as caught:
        fetch_securely(secure[0], HERE)
    assert caught.value.kind == "unsupported"
    assert secure[0].requests == []


@pytest.mark.usefixtures("trusted")
def test_from_https_to_http_is_refused(secure: tuple[Server, list[str | None]]) -> None:
    server = secure[0]
    server.put("/x", redirect(server.url("/y")))
    with pytest.raises(NotConverted, match="from https to http") as caught:
        fetch_securely(server, HERE)
    assert caught.value.kind == "unsafe"


def test_no_tls_where_it_was_promised(server: Server) -> None:
    with pytest.raises(NotConverted, match="TLS") as caught:
        fetch_securely(server, HERE)
    assert caught.value.kind == "unsupported"


def test_a_handshake_that_never_ends() -> None:
    with socket.create_server((HERE, 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(NotConverted) as caught:
            fetch(
                f"https://{HERE}:{port}/",
                limits=FetchLimits(seconds=0.2, ports=frozenset({port})),
                is_public=here_only,
            )
    assert caught.value.kind == "too_slow"


# Names of files


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/a/report.pdf", ["Content-Type: application/pdf"], "report.pdf"),
        ("/a/report.PDF", ["Content-Type: application/pdf"], "report.PDF"),
        ("/a/report", ["Content-Type: application/pdf"], "report.pdf"),
        ("/pdf/2301.12345", ["Content-Type: application/pdf"], "2301.12345.pdf"),
        ("/pdf/2301.12345v2", ["Content-Type: application/pdf"], "2301.12345v2.pdf"),
        ("/wiki/Node.js", ["Content-Type: text/html; charset=utf-8"], "Node.js.html"),
        ("/blob/README.md", ["Content-Type: text/html"], "README.md.html"),
        ("/raw/README.md", ["Content-Type: text/plain"], "README.md"),
        ("/raw/main.py", ["Content-Type: text/plain"], "main.py"),
        ("/raw/notes", ["Content-Type: text/plain"], "notes.txt"),
        ("/v1.2", ["Content-Type: text/plain"], "v1.2.txt"),
        ("/a", ["Content-Type: text/markdown"], "a.md"),
        ("/a", ["Content-Type: application/json"], "a.json"),
        ("/a", ["Content-Type: text/csv"], "a.csv"),
        ("/a", ["Content-Type: application/vnd.openxmlformats-officedocument.wordprocessingml.document"], "a.docx"),
        ("/a", ["Content-Type: application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"], "a.xlsx"),
        ("/a", ["Content-Type: application/vnd.openxmlformats-officedocument.presentationml.presentation"], "a.pptx"),
        ("/a", ["Content-Type: application/octet-stream"], "a"),
        ("/a", ["Content-Type: nonsense"], "a"),
        ("/a", [], "a"),
        ("/guide/", ["Content-Type: text/html"], "guide.html"),
        ("/", ["Content-Type: text/html"], "127-0-0-1.html"),
        ("/..", [], "127-0-0-1"),
        ("/..%2f..%2fetc%2fpasswd", [], "passwd"),
        ("/a%5Cb%00%0a%1b%E2%80%AEc.txt", [], "bc.txt"),
        ("/.bashrc", [], "bashrc"),
        ("/%20..%20.%20x%20.", [], "x"),
        ("/a:b%3F.txt", [], "a_b_.txt"),
        ("/" + "n" * 300 + ".txt", [], "n" * 96 + ".txt"),
        ("/" + "n" * 300, ["Content-Type: application/pdf"], "n" * 96 + ".pdf"),
        ("/x", ['Content-Disposition: attachment; filename="Q1 report.docx"'], "Q1 report.docx"),
        ("/x", ["Content-Disposition: attachment;filename=plain.csv; size=5", "Content-Type: text/html"], "plain.csv"),
        ("/x", ["Content-Disposition: inline; filename=\"a.txt\"; filename*=UTF-8''%E6%96%87.txt"], "文.txt"),
        ("/x", ["Content-Disposition: inline; filename*=iso-8859-1'en'%E9.txt"], "é.txt"),
        ("/x", ["Content-Disposition: inline; filename*=evil'en'%E9.txt"], "x"),
        ("/x", ["Content-Disposition: inline; filename=\"" + "文.txt".encode().decode("latin-1") + '"'], "文.txt"),
        ("/x", ['Content-Disposition: inline; filename="%E6%96%87.txt"'], "文.txt"),
        ("/x", ['Content-Disposition: inline; filename="\xe9t\xe9.txt"'], "été.txt"),
        ("/x", ['Content-Disposition: inline; filename="a\\"b.txt"'], "a_b.txt"),
        ("/x", ['Content-Disposition: attachment; filename="../../etc/passwd"'], "passwd"),
        ("/x", ['Content-Disposition: attachment; filename="..\\\\..\\\\evil.txt"'], "evil.txt"),
        ("/x", ["Content-Disposition: attachment; filename*=UTF-8''..%2F..%2F.evil.txt"], "evil.txt"),
        ("/x", ['Content-Disposition: attachment; filename=""'], "x"),
        ("/x", ['Content-Disposition: attachment; filename=".."'], "x"),
        ("/x", ['Content-Disposition: attachment; filename="report"', "Content-Type: application/pdf"], "report.pdf"),
        ("/x", ["Content-Disposition: attachment; " + 'filename="' * 3000], "filename="),
    ],
)  # fmt: skip
def test_names_of_files(server: Server, path: str, headers: list[str], name: str) -> None:
    server.put(path, ok(b"hello", *headers))
    assert get(server, path).name == name


def test_a_name_is_always_harmless(server: Server) -> None:
    @settings(deadline=None, max_examples=50)
    @given(st.text(st.characters(codec="utf-8"), max_size=300))
    def check(text: str) -> None:
        encoded = quote(text, safe="")
        server.put(f"/{encoded}", ok(b"", "Content-Type: application/pdf"))
        server.put("/?told", ok(b"", f"Content-Disposition: attachment; filename*=utf-8''{encoded}"))
        for name in (get(server, f"/{encoded}").name, get(server, "/?told").name):
            assert 0 < len(name) <= 100
            assert name.isprintable()
            assert not set(name) & set('/\\<>:"|?*')
            assert not name.startswith((".", " "))
            assert not name.endswith((".", " "))

    check()
