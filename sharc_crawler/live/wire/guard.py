"""The rules for addresses, applied where a connection is made: to the very address that is connected to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.interfaces import IReactorPluggableNameResolver
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from twisted.internet.interfaces import IConnector

    from sharc_crawler.live.wire.addresses import AddressRules, Target


@implementer(IReactorPluggableNameResolver)
class GuardedReactor:
    """A reactor that refuses connections to addresses that the rules refuse; everything else is the reactor's.

    Endpoints resolve a name and then connect to one of its addresses through ``connectTCP``. The check is made there,
    so no second look-up can slip in between (DNS rebinding), and of several addresses only refused ones are left out.
    """

    def __init__(self, reactor: Any, rules: AddressRules, target: Target) -> None:
        self._reactor, self._rules, self._target = reactor, rules, target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def connectTCP(self, host: str, *args: Any, **kwargs: Any) -> IConnector:  # noqa: N802 - Twisted's name
        """Connect, unless the address is refused."""
        self._rules.check(self._target, host)
        return self._reactor.connectTCP(host, *args, **kwargs)  # type: ignore[no-any-return]
