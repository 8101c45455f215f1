"""Which network addresses a crawler may connect to: pure rules, asked with the address actually connected to.

A public page may name any host, and any name may resolve to an address inside the operator's own network. So the rule
is applied to the resolved address, at every connection, never to the name.
"""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TYPE_CHECKING, Self

from sharc_crawler.errors import SharcError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

SETTING = "SHARC_ALLOWED_ADDRESSES"

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_CARRIER = ip_network("100.64.0.0/10")  # RFC 6598: carrier-grade NAT
_TRANSLATED = ip_network("64:ff9b::/96")  # RFC 6052: the last 32 bits are the IPv4 address
_LOCAL_TRANSLATED = ip_network("64:ff9b:1::/48")  # RFC 8215
_NUMERIC_HOST = re.compile(r"[0-9a-fA-FxX.]+")


class AddressRefusedError(SharcError):
    """A connection that is not made: its address is not public, and no setting allows it."""


@dataclass(frozen=True, slots=True)
class AddressRules:
    """Public addresses, and what the operator allows besides.

    >>> AddressRules.of(["127.0.0.0/8"]).refusal("127.0.0.1") is None
    True
    >>> AddressRules().refusal("::ffff:10.0.0.1")
    'private'
    """

    allowed: tuple[Network, ...] = ()

    @classmethod
    def of(cls, networks: Iterable[str]) -> Self:
        """Rules from the setting's values, such as ``127.0.0.0/8``."""
        return cls(tuple(_network(text) for text in networks))

    def refusal(self, address: str) -> str | None:
        """Why an address is refused (``loopback``, ``private``…); ``None``: it is not.

        An IPv6 address that carries an IPv4 address is as good as the worse of the two.
        """
        forms = _forms(ip_address(address))
        if any(form in network for network in self.allowed for form in forms):
            return None
        return next(filter(None, map(_not_public, forms)), None)

    def check(self, host: str, address: str) -> None:
        """Raise :class:`AddressRefusedError` if ``host`` must not be connected to at ``address``."""
        reason = self.refusal(address)
        if reason:
            raise AddressRefusedError(
                f"host {host!r} is at {address}, a {reason} address, which is not crawled; "
                f"if that is meant, add its network to {SETTING}"
            )

    def check_literal(self, host: str) -> None:
        """Like `check`, for a host that is written as an address (in any spelling); names pass."""
        address = _literal(host)
        if address is not None:
            self.check(host, str(address))


def _network(text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise UsageError(f"{SETTING}={text!r} is not a network: {error}; write it like 127.0.0.0/8") from error


def _forms(address: Address) -> tuple[Address, ...]:
    """What a packet to the address reaches: itself, or the IPv4 address that it carries, or both."""
    if isinstance(address, IPv4Address):
        return (address,)
    if address in _TRANSLATED:
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    if address.ipv4_mapped:
        return (address.ipv4_mapped,)
    return (address.sixtofour, address) if address.sixtofour else (address,)


def _not_public(address: Address) -> str | None:
    kinds = {
        "unspecified": address.is_unspecified,
        "loopback": address.is_loopback,
        "link-local": address.is_link_local,
        "multicast": address.is_multicast,
        "carrier-grade NAT": address in _CARRIER,
        "site-local": isinstance(address, IPv6Address) and (address.is_site_local or address in _LOCAL_TRANSLATED),
        "reserved": address.is_reserved,
        "private": address.is_private,
        "special-purpose": not address.is_global,
    }
    return next((kind for kind, applies in kinds.items() if applies), None)


def _literal(host: str) -> Address | None:
    """The address that a host is written as: also ``0x7f.1`` and ``2130706433``, which resolvers take for one."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        pass
    try:
        return ip_address(socket.inet_aton(host)) if _NUMERIC_HOST.fullmatch(host) else None
    except OSError:
        return None
