"""Addresses on the web: how one is read, and where it leads, which has to be a public place.

What a person or a model pastes may lead into the machine itself, the network
around it or the service that hands out a cloud machine's keys. A name tells
nothing of that, so it is looked up once, every address found is judged, and the
connection is made to one of these, with no name looked up again.
"""

from __future__ import annotations

import re
import socket
import ssl
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, quote, urlsplit

from memoranda.adapters.time_limits import OutOfTime, TimeLimit
from memoranda.core.documents import NotConverted
from memoranda.core.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    Address = IPv4Address | IPv6Address

__all__ = ["WebAddress", "connect", "is_public", "read_address"]

_STANDARD_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 4096
_LONGEST_HOST = 253
#: What may stand in a path or query as it is; ``%`` because what is encoded already stays so.
_KEPT = "/?%:@!$&'()*+,;=~[]"

#: Not public, though :mod:`ipaddress` (of one version or another) finds nothing wrong with them.
_REFUSED = tuple(
    ip_network(one)
    for one in (
        "100.64.0.0/10",  # shared by a carrier's customers
        "168.63.129.16/32",  # Azure's service for the machines in it
        "192.0.0.0/24",  # protocols; Oracle's metadata service
        "192.88.99.0/24",  # relays of 6to4
        "198.18.0.0/15",  # measuring
        "2001::/23",  # protocols, Teredo among them
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
#: The only part of IPv6 from which public addresses are given out.
_GIVEN_OUT = ip_network("2000::/3")
_NAT64 = ip_network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


@dataclass(frozen=True, slots=True)
class WebAddress:
    """A URL that was read; ``host`` is in ASCII, an IPv6 address without its brackets; ``target`` path and query."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Host and port as a URL and the header ``Host`` have them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _STANDARD_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The whole of it."""
        return f"{self.scheme}://{self.authority}{self.target}"


def read_address(url: str, ports: Collection[int]) -> WebAddress:
    """The parts of a URL; its fragment is dropped.

    Raises:
        NotConverted: ``unsafe``: it is no URL of http or https that two programs would read alike, or leads to another
            port than one of ``ports``.
    """
    if len(url) > _LONGEST_URL:
        raise NotConverted("unsafe", f"an address of {len(url)} characters; {_LONGEST_URL} are allowed")
    if any(one.isspace() or not one.isprintable() or one == "\\" for one in url):
        raise NotConverted("unsafe", "an address with spaces, backslashes or control characters in it")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise NotConverted("unsafe", "an address that cannot be read: its host or port is malformed") from error
    if parts.scheme not in _STANDARD_PORTS:
        raise NotConverted("unsafe", "only addresses that begin with http:// or https:// are fetched")
    if "@" in parts.netloc:
        raise NotConverted("unsafe", "an address with a user's name or password in it")
    host = _host(parts)
    if port is None:
        port = _STANDARD_PORTS[parts.scheme]
    if port not in ports:
        allowed = ", ".join(map(str, sorted(ports)))
        raise NotConverted("unsafe", f"an address with port {port}; allowed are {allowed}")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return WebAddress(parts.scheme, host, port, quote(target, safe=_KEPT))


def _host(parts: SplitResult) -> str:
    name = parts.hostname or ""
    if not name:
        raise NotConverted("unsafe", "an address that names no host")
    try:
        if "[" in parts.netloc:
            if not re.fullmatch(r"\[[0-9A-Fa-f:.]+\](:[0-9]*)?", parts.netloc):
                raise ValueError
            return str(IPv6Address(name))
        if len(name) > _LONGEST_HOST:
            raise ValueError
        host = name.encode("idna").decode("ascii").lower().removesuffix(".")
        if not re.fullmatch(r"[a-z0-9_][a-z0-9_.-]*", host):
            raise ValueError
    except ValueError as error:  # UnicodeError is one
        raise NotConverted("unsafe", "an address whose host is malformed") from error
    return host


def is_public(address: Address) -> bool:
    """Whether an address is one of the public internet; one that carries another within has to be so twice."""
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        if not all(is_public(one) for one in _carried(address)):
            return False
        if address.ipv4_mapped is not None or address in _NAT64:
            return True
        if address not in _GIVEN_OUT:
            return False
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address in one for one in _REFUSED)


def _carried(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses within an IPv6 address, to which it may be translated on its way."""
    last = IPv4Address(int(address) & 0xFFFF_FFFF)
    found = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or int(address) >> 32 & 0xFFFF_FFFF in _ISATAP:
        found.append(last)
    return [one for one in found if one is not None]


def connect(address: WebAddress, judge: Callable[[Address], bool], left: Callable[[], float]) -> socket.socket:
    """A connection to where an address leads, every place found good by ``judge``; over TLS where it says https.

    ``left`` tells the seconds that are left. The connection's certificate is one for the address's own name.

    Raises:
        NotConverted: ``unsafe``: a place is not good; ``too_slow``; or ``unsupported``: the name leads nowhere.
        OSError: nothing can be connected to; TLS failed (``ssl.SSLError``).
    """
    places = _places(address, left())
    if not all(map(judge, places)):
        raise NotConverted("unsafe", f"{address.host} leads to a place that is not on the public internet")
    fault = OSError("there is no place to go to")
    for at, place in enumerate(places):
        try:
            connection = _reach(place, address.port, left() / (len(places) - at))  # time left for the others
        except OSError as error:
            fault = error
            continue
        if address.scheme == "http":
            return connection
        with connection:  # TLS takes over what is beneath, or fails
            connection.settimeout(left())
            context = ssl.create_default_context()
            context.set_alpn_protocols(["http/1.1"])
            return context.wrap_socket(connection, server_hostname=address.host)
    raise fault


def _reach(place: Address, port: int, seconds: float) -> socket.socket:
    connection = socket.socket(socket.AF_INET if place.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect((str(place), port))
    except BaseException:
        connection.close()
        raise
    return connection


_LOOKING_UP = TimeLimit()


def _places(address: WebAddress, seconds: float) -> list[Address]:
    host = address.host
    if host == "localhost" or host.endswith(".localhost"):  # not every resolver knows what they mean
        return [IPv4Address("127.0.0.1")]
    try:
        return [ip_address(host)]
    except ValueError:
        pass

    def ask() -> list[tuple[int, str]]:
        found = socket.getaddrinfo(host, address.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        return [(family, str(place[0])) for family, _, _, _, place in found]

    try:
        found = _LOOKING_UP.call(seconds, ask)
        places = [ip_address(place) for family, place in found if family in (socket.AF_INET, socket.AF_INET6)]
    except OutOfTime:
        raise NotConverted("too_slow", f"the name {host} was not found in {seconds:.3g} seconds") from None
    except (OSError, ValueError) as error:
        raise NotConverted("unsupported", f"the name {host} cannot be found") from error
    if not places:
        raise NotConverted("unsupported", f"the name {host} leads to no address")
    return list(dict.fromkeys(places))
