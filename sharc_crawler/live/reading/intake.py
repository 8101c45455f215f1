"""What was read of a response becomes part of its visit; what could not be read is said in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Kind, Result, Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.former.validators import FormerCaptures
    from sharc_crawler.live.lease import Lease
    from sharc_crawler.live.reading.readings import Reading
    from sharc_crawler.model import Fetch


class Intake:
    """Takes readings in."""

    def __init__(self, sites: Sites, former: FormerCaptures | None = None) -> None:
        self._sites = sites
        self._former = former

    def take_in(self, lease: Lease) -> None:
        """The visit with what was read of its response."""
        if lease.reading is None or lease.outcome is None:
            return
        reading, fetch = lease.reading.result(), lease.fetch
        problems = reading.problems
        about: dict[str, Any] = reading.payload._asdict()
        if lease.outcome.result is Result.OK:
            about |= {"document": reading.document, "robots": reading.robots}
        lease.outcome = lease.outcome._replace(**about)
        if lease.outcome.result is Result.OK:
            feeds = reading.feeds if reading.feeds and self._is_front(fetch) else ()
            lease.links = [*reading.links, *(Sighting(url, Kind.PAGE, fetch.url) for url in feeds)]
            if reading.unreadable:  # as good as a robots.txt that cannot be had (RFC 9309, 2.3.1.4)
                lease.outcome = lease.outcome._replace(result=Result.FAILED, error=reading.unreadable)
            elif problems and fetch.kind is Kind.SITEMAP:  # said where sitemaps are
                lease.outcome = lease.outcome._replace(error="; ".join(problems))
                problems = ()
        if problems:
            self._note(fetch, "document", "not read, or not whole", f" ({'; '.join(problems)})")
        if lease.rendering is not None:
            for bound in self._shown(lease, lease.rendering.result()):
                self._note(fetch, "page", bound)
        if self._former is not None and (lie := self._former.check(fetch, lease.outcome)):
            self._sites.of(fetch).note(lie)

    @staticmethod
    def _shown(lease: Lease, shown: Reading) -> Sequence[str]:
        """What a page names, and holds, once its scripts have run; what was not waited for."""
        assert lease.outcome is not None, "noted before it is shown"
        lease.links = [*lease.links, *shown.links]
        if shown.document is not None:
            lease.outcome = lease.outcome._replace(document=shown.document)
        if shown.payload.fingerprint is not None:
            lease.outcome = lease.outcome._replace(fingerprint=shown.payload.fingerprint)
        return shown.problems

    def _note(self, fetch: Fetch, noun: str, what: str, why: str = "") -> None:
        """One note for all documents of a capture that could not be read, and one for each bound that pages met."""
        frontier = self._sites.of(fetch)
        own = (note for note in frontier.capture.notes if note[:1].isdigit() and f" {what}: " in note)
        before = next(own, "")  # a former run's, too
        number, _, first = before.partition(f" {what}: ")
        count = int(number.partition(" ")[0].replace(",", "") or 0) + 1
        frontier.note(f"{so_many(noun, count)} {what}: {first or f'{fetch.url}{why}'}", before)

    def _is_front(self, fetch: Fetch) -> bool:
        """Whether a page is a seed, or where one redirects to.

        Its feeds are the site's, and pages as others are; blogs name one more in the head of each post.
        """
        frontier, page = self._sites.of(fetch), fetch.page
        pages = frontier.pages
        while (parent := pages.parents[page]) != NO_PARENT and pages.states[parent] == State.LOST:
            page = parent
        return pages.urls[page] in frontier.capture.spec.seeds


def so_many(noun: str, count: int) -> str:
    """So many of them were.

    >>> so_many("page", 1), so_many("page", 1200)
    ('1 page was', '1,200 pages were')
    """
    return f"1 {noun} was" if count == 1 else f"{count:,} {noun}s were"
