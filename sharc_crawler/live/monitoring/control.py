"""| Obeys the orders in the crawl's folder (:mod:`sharc_crawler.control`), which it reads once a second."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.control import ORDERS, STATUS, Orders, read_orders, write
from sharc_crawler.errors import DataError
from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.model import HowMade, Instant, Seconds

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites

SITES_A_SECOND = 100  #: whose progress is written: of few sites each second, of many less often
SELDOM: Seconds = 10.0

logger = logging.getLogger(__name__)


class Control:
    """The orders that a crawl was given, and its answers."""

    def __init__(self, folder: Path, sites: Sites) -> None:
        self._folder = folder
        self._sites = sites
        self._given = sites.politeness.delay
        self._orders = Orders()
        self._refused = ""
        self._due: Instant = 0.0  #: when the status is to be written again
        self._began = ""  #: number of a stop order that was given to a former process

    @property
    def paused(self) -> bool:
        """Whether nothing is to be fetched now."""
        return self._orders.paused

    def begin(self, now: Instant) -> None:
        """Begin to obey orders; earlier ones still hold."""
        orders = self._read() if (self._folder / ORDERS).exists() else Orders()
        if orders is not None:
            self._began = orders.stop
            with suppress(OSError):  # the disk may be full: the crawl goes on
                write(self._folder, ORDERS, self._started(orders, now))
        self.obey(now)

    def _started(self, orders: Orders, now: Instant) -> Orders:
        """The orders without a delay that was ordered before the crawl was restarted with another one."""
        if orders.delay is not None and orders.started not in (None, self._given):
            self._note(
                now, f"{orders.delay:g} s between two requests no longer hold: started again with delay={self._given:g}"
            )
            orders = replace(orders, delay=None)
        return replace(orders, started=self._given)

    def obey(self, now: Instant, progress: Callable[[Instant], str] = lambda _: "") -> bool:
        """Read and carry out new orders, and write the status (with ``progress``). ``True``: the crawl is to stop."""
        orders = self._read() or self._orders
        before, self._orders = self._orders, orders
        if orders.paused != before.paused:
            self._note(now, "paused" if orders.paused else "goes on")
        if orders.delay != before.delay:
            delay = self._given if orders.delay is None else orders.delay
            self._sites.change_delay(delay)
            instead = f", not the {self._given:g} s that it was started with" if delay != self._given else ""
            self._note(now, f"{delay:g} s between two requests to a host{instead}, or what robots.txt asks for")
        if orders.number != before.number or now >= self._due:
            self._due = now + min(SELDOM, len(self._sites) / SITES_A_SECOND)
            with suppress(OSError):  # the disk may be full: the order is obeyed all the same
                write(self._folder, STATUS, self._status(now, progress(now)))
        return bool(orders.stop) and orders.stop != self._began

    def end(self, now: Instant, why: str) -> None:
        """Write a last status that says why the crawl ended."""
        with suppress(OSError):
            write(self._folder, STATUS, {**self._status(now, ""), "ended": why})

    def _read(self) -> Orders | None:
        try:
            orders = read_orders(self._folder)
        except DataError as error:
            if str(error) != self._refused:
                logger.warning("%s", error)
            self._refused = str(error)
            return None
        self._refused = ""
        return orders

    def _note(self, now: Instant, what: str) -> None:
        logger.warning("sharc control: %s.", what)
        self._sites.note(HowMade(f"by order at {iso(now)}: {what}"))

    def _status(self, now: Instant, progress: str) -> dict[str, Any]:
        return {
            "progress": progress,
            "order": self._orders.number,
            "time": iso(now),
            "paused": self._orders.paused,
            "delay": self._sites.politeness.delay,
            "longest": max(self._sites.politeness.max_delay, self._given),  # longest delay that may be ordered
            "captures": [
                {
                    "site": capture.spec.site,
                    "phase": capture.mode.called or capture.phase.value,
                    "reference": maybe_iso(capture.life.reference),
                    "pages": capture.counts.pages - capture.counts.late,
                    "visits": capture.counts.visits,
                    "revisits": capture.counts.revisits,
                }
                for capture in (frontier.capture for frontier in self._sites)
            ],
        }
