"""Pages of a worker's sites that are decided, and wait until the journal has what they rest on: one a site."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sharc_crawler.model import Fetch


class Gate:
    """Between what frontiers decide and what is sent; ``may_send`` says whether a site's server may be asked now.

    >>> from sharc_crawler.model import NO_VALIDATORS, Fetch, Kind, Plan, Slot
    >>> gate = Gate(lambda site: True)
    >>> what = 0, "a.example", "http://a.example/", Kind.PAGE, Slot.FIRST, Plan.HOPEFUL
    >>> gate.keep(Fetch(1, *what, "a.example", 1, NO_VALIDATORS, 0.0))
    >>> gate.sendable() is None, gate.open("a.example"), gate.open("b.example")
    (True, True, False)
    >>> gate.sendable().site, gate.sendable()
    ('a.example', None)
    """

    def __init__(self, may_send: Callable[[str], bool]) -> None:
        self._may_send = may_send
        self._kept: dict[str, Fetch] = {}
        self._sendable: dict[str, Fetch] = {}

    def keep(self, fetch: Fetch) -> None:
        """Hold a request back: it is not to be sent yet."""
        self._kept[fetch.site] = fetch

    def open(self, site: str) -> bool:
        """The journal has all that the site did: what was kept of it may be sent. Was there anything?"""
        fetch = self._kept.pop(site, None)
        if fetch is not None:
            self._sendable[site] = fetch
        return fetch is not None

    def sendable(self) -> Fetch | None:
        """One that may be sent now."""
        for site in self._sendable:
            if self._may_send(site):
                return self._sendable.pop(site)
        return None

    def taken_back(self, site: str) -> Iterator[Fetch]:
        """What is not to be sent any more."""
        for kept in (self._kept, self._sendable):
            if fetch := kept.pop(site, None):
                yield fetch
