"""An instant crawl in virtual time: the frontier of the live crawl, over a site that is a function of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin, urlsplit

from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.links import document
from sharc_crawler.model import Done, Kind, Outcome, Result, Sighting, Slot, Validators, Wait
from sharc_crawler.polling.reading import hub_sightings, sitemap_sightings
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sharc_crawler.frontier.hosts import Politeness
    from sharc_crawler.model import Fetch, Instant, Seconds
    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.state.rows import Batch

LATENCY: Seconds = 0.05  #: between a request and its answer
RESULTS = {200: Result.OK, 304: Result.NOT_MODIFIED, 301: Result.REDIRECTED, 302: Result.REDIRECTED, 404: Result.GONE}
LATER = (408, 425, 429)  #: status codes that ask to come again


class HubAnswer(Protocol):
    """The answer of a simulated site to a poll."""

    @property
    def status(self) -> int:
        """The status code."""

    @property
    def body(self) -> bytes:
        """The payload."""

    def header(self, name: str) -> str | None:
        """The value of a header."""


class NewsSite(Protocol):
    """A site as a function of time (the living site is one)."""

    def respond(self, method: str, target: str, headers: Mapping[str, str], now: Instant) -> HubAnswer:
        """The answer to a request that arrives at ``now``."""


def crawl(
    world: NewsSite, seeds: Sequence[str], terms: Terms, politeness: Politeness, start: Instant, sitemaps: bool = True
) -> Batch:
    """Crawl a site for the duration of ``terms``; what a store would hold at the end.

    ``seeds``: URLs of one host. ``sitemaps=False``: news sitemaps are not looked for.
    """
    store = MemoryStore()
    frontier = Frontier(politeness, store, terms=terms)
    site = urlsplit(seeds[0]).netloc
    spec = CaptureSpec(
        site, tuple(seeds), "bfs:revisits=none", sitemaps=None if sitemaps else (), resources=False, mode="instant"
    )
    frontier.open(spec, start)
    now = start
    while not isinstance(what := frontier.next(now), Done):
        if isinstance(what, Wait):
            now = what.until
            continue
        outcome, links = _exchange(world, what, now)
        now = outcome.ended
        frontier.finished(what, outcome, links)
    return store.load()


def _exchange(world: NewsSite, fetch: Fetch, now: Instant) -> tuple[Outcome, list[Sighting]]:
    """Make a request as the live crawl would, and read the answer as it would."""
    parts = urlsplit(fetch.url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    answer = world.respond("GET", target, {"Host": parts.netloc, **_conditions(fetch)}, now)
    result = RESULTS.get(
        answer.status, Result.FAILED if answer.status >= 500 or answer.status in LATER else Result.REFUSED
    )
    location = answer.header("Location")
    outcome = Outcome(
        result,
        now,
        now + LATENCY,
        answer.status,
        digest=labelled_digest(answer.body),
        validators=Validators(answer.header("ETag"), answer.header("Last-Modified")),
        location=urljoin(fetch.url, location) if location else None,
        robots=answer.body.decode() if fetch.kind is Kind.ROBOTS and result is Result.OK else None,
    )
    return outcome, _links(fetch, answer) if result is Result.OK else []


def _conditions(fetch: Fetch) -> dict[str, str]:
    return {"If-None-Match": fetch.validators.etag} if fetch.slot is Slot.SECOND and fetch.validators.etag else {}


def _links(fetch: Fetch, answer: HubAnswer) -> list[Sighting]:
    kind = answer.header("Content-Type")
    if fetch.kind is Kind.HUB:
        return hub_sightings(answer.body, fetch.url, kind)
    if fetch.kind is Kind.SITEMAP:
        return sitemap_sightings(answer.body, fetch.url)
    if fetch.kind is not Kind.PAGE:
        return []
    found = document.extract(answer.body, fetch.url, kind)
    resources = [Sighting(url, Kind.RESOURCE, fetch.url) for url in found.resources]
    return [*resources, *(Sighting(url, Kind.PAGE, fetch.url) for url in found.links)]
