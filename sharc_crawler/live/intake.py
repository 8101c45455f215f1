"""What was read of a response becomes part of its visit; what could not be read is said in the report."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.model import Kind, Result, Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.live.lease import Lease
    from sharc_crawler.model import Fetch


class Intake:
    """Takes readings in."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._unread: Counter[str] = Counter()  # documents of each site
        self._notes: dict[str, str] = {}

    def take_in(self, lease: Lease) -> None:
        """The visit with what was read of its response."""
        if lease.reading is None or lease.outcome is None:
            return
        reading, fetch = lease.reading.result(), lease.fetch
        lease.outcome = replace(lease.outcome, **reading.payload._asdict())
        problems = reading.problems
        if lease.outcome.result is Result.OK:
            lease.outcome = replace(lease.outcome, document=reading.document, robots=reading.robots)
            feeds = reading.feeds if reading.feeds and self._is_front(fetch) else ()
            lease.links = [*reading.links, *(Sighting(url, Kind.PAGE, fetch.url) for url in feeds)]
            if reading.unreadable:  # as good as a robots.txt that cannot be had (RFC 9309, 2.3.1.4)
                lease.outcome = replace(lease.outcome, result=Result.FAILED, error=reading.unreadable)
            elif problems and fetch.kind is Kind.SITEMAP:  # said where sitemaps are
                lease.outcome = replace(lease.outcome, error="; ".join(problems))
                problems = ()
        if problems:
            self._note(fetch, problems)

    def _note(self, fetch: Fetch, problems: Sequence[str]) -> None:
        """One note for all documents of a capture that could not be read, or not whole."""
        self._unread[fetch.site] += 1
        count = self._unread[fetch.site]
        before = self._notes.get(fetch.site, "")
        first = before.partition("whole: ")[2] or f"{fetch.url} ({'; '.join(problems)})"
        documents = "1 document was" if count == 1 else f"{count:,} documents were"
        note = f"{documents} not read, or not whole: {first}"
        self._sites.of(fetch).note(note, before)
        self._notes[fetch.site] = note

    def _is_front(self, fetch: Fetch) -> bool:
        """Whether a page is a seed, or where one redirects to.

        Its feeds are the site's, and pages as others are; blogs name one more in the head of each post.
        """
        frontier, page = self._sites.of(fetch), fetch.page
        pages = frontier.pages
        while (parent := pages.parents[page]) != NO_PARENT and pages.states[parent] == State.LOST:
            page = parent
        return pages.urls[page] in frontier.capture.spec.seeds
