"""What a frontier is assembled from; each part can be another's."""

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

    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.rates.swings import Swings
    from sharc_crawler.strategies.base import Setting, Strategy


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


class LastSeen(NamedTuple):
    """What a URL showed when the archive last saw its content."""

    time: Instant
    digest: str  #: once unpacked
    fingerprint: str | None = None

    def shows(self, outcome: Outcome) -> bool:
        """Is it the same content still?"""
        same = self.digest == (outcome.decoded or outcome.digest)
        return same or (self.fingerprint is not None and self.fingerprint == outcome.fingerprint)


def named_strategy(spec: CaptureSpec, setting: Setting) -> Strategy:
    """The strategy a spec names, by entry point or dotted path, with its options."""
    return make_strategy(spec.strategy, setting)


def no_history(spec: CaptureSpec) -> SiteHistory:
    """The site was never captured."""
    from sharc_crawler.rates.history import SiteHistory  # only where a mode asks for it

    return SiteHistory.empty(spec.site)


def at_once(work: Callable[[], Any], _: int) -> Future[Any]:
    """Whoever asks waits for it."""
    done = Future[Any]()
    done.set_result(work())
    return done


def default_rates(_: CaptureSpec) -> Rates:
    """The rates of a first capture: what sitemaps say, then the mean of the known pages."""
    from sharc_crawler.rates.chain import default_chain  # a site may state nothing

    return default_chain()


@dataclass(frozen=True, slots=True)
class Parts:
    """Factories, one per port; the defaults are what a live crawl uses."""

    strategy: Callable[[CaptureSpec, Setting], Strategy] = named_strategy
    scope: Callable[[CaptureSpec], Admission] = lambda one: Scope(one.seeds, one.scope, one.include, one.exclude)
    rates: Callable[[CaptureSpec], Rates] = default_rates
    history: Callable[[CaptureSpec], SiteHistory] = no_history  #: what the trust in a server's word rests on
    links: Callable[[CaptureSpec], Iterable[tuple[str, str]]] = lambda _: ()  #: source and target, by former captures
    #: what a URL's answer in a former capture had
    former: Callable[[CaptureSpec, str], Validators] = lambda _spec, _url: NO_VALIDATORS
    believed: Callable[[], bool] = lambda: True  #: do 304s of this server show that nothing has changed?
    #: a URL's answer in a former capture, as the outcome of a visit: it may stand for one where nothing has changed
    taken: Callable[[CaptureSpec, str], Outcome | None] = lambda _spec, _url: None
    seen: Callable[[CaptureSpec, str, Instant], LastSeen | None] | None = None  #: by the archive, before an instant
    canonical: Callable[[str], str | None] = canonical  #: None: not a URL we crawl
    host_of: Callable[[str], str] = host_of
    aside: Aside = at_once  #: how work is done that takes long for so many pages
