"""| Adds what was read of a response to its visit, and notes what could not be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.model import Fetch, Kind, Result, Sighting

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.former.validators import FormerCaptures
    from sharc_crawler.live.requests import Lease


class Intake:
    """Adds what was read of documents to their visits."""

    def __init__(self, sites: Sites, folder: Callable[[str], Path], former: FormerCaptures | None = None) -> None:
        """``folder``: of a site's capture."""
        self._sites, self._folder, self._former = sites, folder, former

    def take_in(self, lease: Lease) -> None:
        """Add what was read of the response to the visit."""
        if lease.reading is None or lease.outcome is None:
            return
        reading, fetch = lease.reading.result(), lease.fetch
        problems = reading.problems
        about = reading.payload._asdict() if not reading.lost else self._recorded(lease)
        if lease.outcome.result is Result.OK:
            about |= {"document": reading.document, "robots": reading.robots}
        lease.outcome = lease.outcome._replace(**about)
        if lease.outcome.result is Result.OK:
            feeds = reading.feeds if reading.feeds and self._is_front(fetch) else ()
            more = [Sighting(url, Kind.PAGE, fetch.url) for url in feeds]
            lease.links = [*reading.links, *more] if more else reading.links
            if reading.unreadable:  # as good as a robots.txt that cannot be had (RFC 9309, 2.3.1.4)
                lease.outcome = lease.outcome._replace(result=Result.FAILED, error=reading.unreadable)
            elif problems and fetch.kind is Kind.SITEMAP:  # reported as the error of its visit
                lease.outcome = lease.outcome._replace(error="; ".join(problems))
                problems = ()
        if problems:
            from sharc_crawler.live.reading.reading_notes import unread

            unread(self._sites.of(fetch), fetch, problems)
        if lease.rendering is not None:
            from sharc_crawler.live.reading.reading_notes import note, shown  # only if browsers show pages

            for bound in shown(lease, lease.rendering.result()):
                note(self._sites.of(fetch), fetch, "page", bound)
        for text in self._former.noted(fetch, lease.outcome) if self._former is not None else ():
            self._sites.of(fetch).note(text)

    def _recorded(self, lease: Lease) -> dict[str, Any]:
        from sharc_crawler.live.reading.reading_notes import recorded_digest  # rarely needed

        return {"digest": recorded_digest(lease.written, self._folder(lease.fetch.site))}

    def _is_front(self, fetch: Fetch) -> bool:
        """Whether a page is a seed, or a seed redirects to it.

        Feeds that it names are the site's own, and pages like others; blogs name a further feed in each post.
        """
        frontier = self._sites.of(fetch)
        return frontier.pages.urls[frontier.pages.named_as(fetch.page)] in frontier.capture.spec.seeds
