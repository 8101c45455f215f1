"""Which network addresses a crawler may connect to: pure rules, asked with the address of each connection.

Any public page may name any host, and any name may resolve to an address in the operator's own network. So the rules
apply to the resolved address, at every connection, never to the name.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple, Self
from urllib.parse import unquote

from sharc_crawler.errors import SharcError, UsageError

SETTING = "SHARC_ALLOWED_ADDRESSES"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_CARRIER = ip_network("100.64.0.0/10")  # RFC 6598: carrier-grade NAT
_TRANSLATED = ip_network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the IPv4 address
_LOCAL_TRANSLATED = ip_network("64:ff9b:1::/48")  # RFC 8215
_ISATAP = 0x5EFE  # RFC 5214: in an interface identifier, before the IPv4 address; its "universal" bit may be 0 or 1
_TEREDO = ip_network("2001::/32")  # RFC 4380: a server's address, and the client's with all bits inverted
#: networks without sites, which some versions of Python call global
_SPECIAL: dict[str, tuple[Network, ...]] = {
    "6to4 relay": (ip_network("192.88.99.0/24"),),  # RFC 7526
    "6to4": (ip_network("2002::/16"),),  # RFC 7526, too
    "documentation": (ip_network("3fff::/20"),),  # RFC 9637
    "special-purpose": (
        ip_network("192.0.0.0/24"),  # RFC 6890
        ip_network("2001::/23"),  # RFC 2928: Teredo, benchmarks, ORCHID, …
        ip_network("5f00::/16"),  # RFC 9602: segment routing
    ),
}
LOOPBACK = "127.0.0.1", "::1"
_NUMERIC_HOST = re.compile(r"[0-9a-fA-FxX.]+")


class AddressRefusedError(SharcError):
    """A connection is refused: its address is not public, and no setting allows it."""


class Opening(NamedTuple):
    """A private host that a user typed as a seed: open to its site's capture, at this port, by this name."""

    site: str
    host: str
    port: int


class Target(NamedTuple):
    """What to connect to, and for which site capture ("": none)."""

    host: str
    port: int = 0
    site: str = ""


@dataclass(frozen=True, slots=True)
class AddressRules:
    """Allows public addresses, and those that the operator names.

    >>> AddressRules.of(["127.0.0.0/8"]).refusal("127.0.0.1") is None
    True
    >>> AddressRules().refusal("::ffff:10.0.0.1")
    'private'
    """

    allowed: tuple[Network, ...] = ()
    openings: frozenset[Opening] = frozenset()

    @classmethod
    def of(cls, networks: Iterable[str], openings: Iterable[Opening] = ()) -> Self:
        """Rules from the setting's networks, such as ``127.0.0.0/8``, and from typed seeds."""
        return cls(tuple(_network(text) for text in networks), frozenset(openings))

    def refusal(self, address: str) -> str | None:
        """Why an address, or the IPv4 address that it carries, is refused (``private``…); ``None``: it is not."""
        return _refusal(self.allowed, address)

    def check(self, target: Target, address: str) -> None:
        """Raise :class:`AddressRefusedError` if ``target`` must not be connected to at ``address``."""
        reason = self.refusal(address)
        if reason and Opening(target.site, target.host, target.port) not in self.openings:
            raise AddressRefusedError(
                f"host {target.host!r} is at {address}, {a(reason)} address, which is not crawled; "
                f"if that is meant, add its network to {SETTING}"
            )

    def check_literal(self, target: Target) -> None:
        """Like `check`, for a host written as an address (in any spelling) or as localhost; other names pass."""
        addresses = _written(target.host)
        if all(map(self.refusal, addresses)):
            for address in addresses:
                self.check(target, address)


@lru_cache(maxsize=1024)  # asked for every request
def _refusal(allowed: tuple[Network, ...], address: str) -> str | None:
    forms = tuple(_forms(ip_address(address)))
    if any(form in network for network in allowed for form in forms):
        return None
    return next(filter(None, map(_not_public, forms)), None)


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise UsageError(f"{SETTING}={text!r} is not a network: {error}; write it like 127.0.0.0/8") from error


def a(reason: str) -> str:
    """The reason with its article.

    >>> a("unspecified"), a("private"), a("unique local")
    ('an unspecified', 'a private', 'a unique local')
    """
    return f"an {reason}" if reason[0] in "aeio" or reason.startswith("uns") else f"a {reason}"


def _forms(address: Address) -> Iterator[Address]:
    """The addresses that a packet reaches: this one, the IPv4 address that it carries, or both."""
    if isinstance(address, IPv4Address):
        yield address
    elif address in _TRANSLATED:
        yield IPv4Address(int(address) & 0xFFFFFFFF)
    elif address.ipv4_mapped:
        yield address.ipv4_mapped
    else:
        if address.sixtofour:
            yield address.sixtofour
        if (int(address) >> 32 & 0xFFFFFFFF) & ~0x0200_0000 == _ISATAP:
            yield IPv4Address(int(address) & 0xFFFFFFFF)
        if address in _TEREDO:
            yield IPv4Address(~int(address) & 0xFFFFFFFF)
        yield address


def _not_public(address: Address) -> str | None:
    kinds = (
        ("unspecified", address.is_unspecified),
        ("loopback", address.is_loopback),
        ("link-local", address.is_link_local),
        ("multicast", address.is_multicast),
        ("carrier-grade NAT", address in _CARRIER),
        ("site-local", isinstance(address, IPv6Address) and (address.is_site_local or address in _LOCAL_TRANSLATED)),
        *((kind, any(address in network for network in networks)) for kind, networks in _SPECIAL.items()),
        ("reserved", address.is_reserved),
        ("private", address.is_private),
        ("special-purpose", not address.is_global),
    )
    return next((kind for kind, applies in kinds if applies), None)


@lru_cache(maxsize=1024)  # asked for every request
def _written(host: str) -> tuple[str, ...]:
    """The addresses that a host is written as; none for a name."""
    host = unquote(host).lower().rstrip(".")  # a proxy may decode it
    own = LOOPBACK if f".{host}".endswith(".localhost") else filter(None, [literal(host)])  # RFC 6761
    return tuple(map(str, own))


def literal(host: str) -> Address | None:
    """The address that a host is written as, including ``0x7f.1`` and ``2130706433``, which resolvers accept."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        pass
    try:
        return ip_address(socket.inet_aton(host)) if _NUMERIC_HOST.fullmatch(host) else None
    except OSError:
        return None
