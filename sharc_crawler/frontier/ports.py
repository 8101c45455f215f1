"""What a capture is told by others: which URLs are its pages, and how often they change. For types alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from sharc_crawler.model import Instant, RateEstimate, Sighting
from sharc_crawler.rates.swings import Swings


class Admission(Protocol):
    """Which URLs are pages of a capture (:class:`~sharc_crawler.frontier.scope.Scope`)."""

    def why_not(self, url: str) -> str | None:
        """``None``: admitted; else the reason in a few words."""

    def outside(self, urls: Collection[str]) -> dict[str, str]:
        """Which of several URLs are not admitted, each with the reason."""

    def widened(self, seed: str) -> Admission:
        """The same scope with one more seed."""


class Rates(Protocol):
    """Where rates come from; never abstains (a chain that ends in a prior)."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """One estimate per sighting."""

    def weight(self, sighting: Sighting) -> float:
        """How much the page counts in blur and coherence."""

    def swings(self) -> Swings | None:
        """How far the rates given are off together, as a history tells; None: nothing told."""
