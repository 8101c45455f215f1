"""The replaceable parts of a frontier."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sharc_crawler.addresses.urls import canonical, host_of
from sharc_crawler.frontier.scope import Scope
from sharc_crawler.model import NO_VALIDATORS, Instant, Outcome, RateEstimate, Sighting, Validators
from sharc_crawler.strategies.make import make_strategy

if TYPE_CHECKING:
    Aside = Callable[[Callable[[], Any], int], Future[Any]]

    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.strategies.base import Setting, Strategy


class Admission(Protocol):
    """Decides which URLs are pages of a capture (:class:`~sharc_crawler.frontier.scope.Scope`)."""

    def why_not(self, url: str) -> str | None:
        """Return why a URL is not admitted, in a few words, else ``None``."""

    def outside(self, urls: Collection[str]) -> dict[str, str]:
        """Return the URLs that are not admitted, each with the reason."""

    def widened(self, seed: str) -> Admission:
        """Return the scope with one more seed."""


class Rates(Protocol):
    """A source of rates that never abstains (a chain that ends in a prior)."""

    def rates(self, sightings: Sequence[Sighting], now: Instant) -> Sequence[RateEstimate]:
        """Return one estimate per sighting."""

    def weight(self, sighting: Sighting) -> float:
        """Return the page's weight in blur and coherence."""

    def swings(self) -> Swings | None:
        """Return how far these rates vary together, from the history; ``None``: not known."""


class LastSeen(NamedTuple):
    """What the archive last saw at a URL."""

    time: Instant
    digest: str  #: of the decoded content
    fingerprint: str | None = None

    def shows(self, outcome: Outcome) -> bool:
        """Has the outcome the same content?"""
        same = self.digest == (outcome.decoded or outcome.digest)
        return same or (self.fingerprint is not None and self.fingerprint == outcome.fingerprint)


def named_strategy(spec: CaptureSpec, setting: Setting) -> Strategy:
    """Make the strategy that a spec names, by entry point or dotted path."""
    return make_strategy(spec.strategy, setting)


def no_history(spec: CaptureSpec) -> SiteHistory:
    """Return the history of a site never captured."""
    from sharc_crawler.rates.history import SiteHistory  # only if a mode needs it

    return SiteHistory.empty(spec.site)


def at_once(work: Callable[[], Any], _: int) -> Future[Any]:
    """Do the work in the caller's thread."""
    done = Future[Any]()
    done.set_result(work())
    return done


def default_rates(_: CaptureSpec) -> Rates:
    """Make the rates of a first capture: from sitemaps, else the mean of the known pages."""
    from sharc_crawler.rates.chain import default_chain  # many sites state nothing

    return default_chain()


@dataclass(frozen=True, slots=True)
class Parts:
    """Factories, one per port; the defaults are what a live crawl uses."""

    strategy: Callable[[CaptureSpec, Setting], Strategy] = named_strategy
    scope: Callable[[CaptureSpec], Admission] = lambda spec: Scope(spec.seeds, spec.scope, spec.include, spec.exclude)
    rates: Callable[[CaptureSpec], Rates] = default_rates
    history: Callable[[CaptureSpec], SiteHistory] = no_history  #: the base of trust in lastmods
    links: Callable[[CaptureSpec], Iterable[tuple[str, str]]] = lambda _: ()  #: former captures' links, by URL
    #: validators of a URL's answer in a former capture
    former: Callable[[CaptureSpec, str], Validators] = lambda _spec, _url: NO_VALIDATORS
    believed: Callable[[], bool] = lambda: True  #: are this server's 304s trusted?
    #: a URL's answer in a former capture, as an outcome: it may stand for a visit if nothing has changed since
    taken: Callable[[CaptureSpec, str], Outcome | None] = lambda _spec, _url: None
    seen: Callable[[CaptureSpec, str, Instant], LastSeen | None] | None = None  #: last seen before an instant
    canonical: Callable[[str], str | None] = canonical  #: None: not a URL to crawl
    host_of: Callable[[str], str] = host_of
    aside: Aside = at_once  #: runs slow work (a callable, its number of pages), perhaps in another thread
