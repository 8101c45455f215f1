"""Name look-ups for IPv4 and IPv6, each of which ends: with addresses, without any, or after a time limit.

Scrapy's default resolver knows IPv4 only. Its other one uses Twisted's, which never answers where ``getaddrinfo``
raises anything but a ``gaierror``, and has no time limit. Twisted's `HostnameEndpoint` tries several addresses, each a
moment after the one before, and takes the first that answers (RFC 8305 in outline).
"""

from __future__ import annotations

import logging
import socket
from collections import OrderedDict
from ipaddress import IPv6Address as Literal6
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal, Self

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IHostnameResolver, IHostResolution
from twisted.internet.threads import deferToThreadPool
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from sharc_crawler.model import Seconds

logger = logging.getLogger(__name__)

Found = tuple[str, ...]  #: addresses as text, in the system's order of preference


@implementer(IHostResolution)
class Resolution:
    """A look-up; it cannot be cancelled, and ends by itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def cancel(self) -> None:
        """Its answer will not be listened to."""


@implementer(IHostnameResolver)
class DualStackResolver:
    """``TWISTED_DNS_RESOLVER``: looks up A and AAAA within ``DNS_TIMEOUT`` seconds, and caches what is found."""

    def __init__(self, reactor: Any, size: int, timeout: Seconds) -> None:
        self._reactor = reactor
        self._size = size
        self._timeout = timeout
        self._known: OrderedDict[str, Found] = OrderedDict()
        self._asked: dict[str, list[Deferred[Found]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler, reactor: Any) -> Self:
        """A resolver by Scrapy's settings for look-ups."""
        settings = crawler.settings
        size = settings.getint("DNSCACHE_SIZE") if settings.getbool("DNSCACHE_ENABLED") else 0
        return cls(reactor, size, settings.getfloat("DNS_TIMEOUT"))

    def install_on_reactor(self) -> None:
        """Have all connections look names up by this resolver."""
        self._reactor.installNameResolver(self)

    def resolveHostName(  # noqa: N802 - Twisted's name
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Any = None,
        transportSemantics: Literal["TCP", "UDP"] = "TCP",
    ) -> Resolution:
        """Report a host's addresses to the receiver; none: it has none, or they could not be had."""
        resolution = Resolution(hostName)
        resolutionReceiver.resolutionBegan(resolution)

        def tell(found: Found) -> None:
            for address in found:
                kind = IPv6Address if ":" in address else IPv4Address
                if addressTypes is None or kind in addressTypes:
                    resolutionReceiver.addressResolved(kind(transportSemantics, address, portNumber))
            resolutionReceiver.resolutionComplete()

        self.look_up(hostName).addCallback(tell).addErrback(_log)
        return resolution

    def look_up(self, name: str) -> Deferred[Found]:
        """The addresses of a host, which may be a literal; never fails."""
        waiting: Deferred[Found] = Deferred()
        if (found := _literal(name) or self._known.get(name)) is not None:
            waiting.callback(found)
            return waiting
        others = self._asked.setdefault(name, [])
        others.append(waiting)
        if len(others) == 1:
            self._ask(name)
        return waiting

    def _ask(self, name: str) -> None:
        asked = deferToThreadPool(self._reactor, self._reactor.getThreadPool(), _addresses, name)
        asked.addTimeout(self._timeout, self._reactor)
        asked.addCallbacks(self._answered, self._failed, callbackArgs=(name,), errbackArgs=(name,))
        asked.addErrback(_log)

    def _answered(self, found: Found, name: str) -> None:
        if found and self._size:
            self._known[name] = found
            if len(self._known) > self._size:
                self._known.popitem(last=False)
        for waiting in self._asked.pop(name, ()):
            waiting.callback(found)

    def _failed(self, failure: Failure, name: str) -> None:
        """Whatever failed: there are no addresses."""
        logger.debug("%s was not found: %s", name, failure.getErrorMessage())
        self._answered((), name)


def _addresses(name: str) -> Found:
    """The addresses of a name as the system resolves it; runs in a thread."""
    answers = socket.getaddrinfo(name, None, 0, socket.SOCK_STREAM)
    families = socket.AF_INET, socket.AF_INET6
    return tuple(dict.fromkeys(str(answer[4][0]) for answer in answers if answer[0] in families))


def _literal(name: str) -> Found | None:
    """The address that a host is written as, normalised: IPv6 has many spellings.

    >>> _literal("0:0:0:0:0:0:0:1"), _literal("example.org")
    (('::1',), None)
    """
    try:
        address = ip_address(name)
    except ValueError:
        return None
    return (str(address) if isinstance(address, Literal6) else name,)


def _log(failure: Failure) -> None:
    logger.error("A look-up ended badly: %s", failure.getErrorMessage())
