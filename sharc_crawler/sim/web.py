"""A simulated site as the frontier meets it: links and outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.model import Outcome, Result, Sighting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import Instant, Seconds
    from sharc_crawler.sim.site import Site


class Everything:
    """The scope of a simulated capture: every page that a link names."""

    def why_not(self, url: str) -> str | None:  # noqa: ARG002 - the port's signature
        """Nothing is against it."""
        return None

    def widened(self, seed: str) -> Everything:  # noqa: ARG002
        """The same."""
        return self


class Web:
    """The site as the frontier meets it: sightings in, outcomes and links out."""

    def __init__(self, site: Site, frozen: bool) -> None:
        self._site = site
        self._frozen = frozen  # links are those of the start
        self._sightings: list[Sighting | None] = [None] * len(site.urls)

    def sightings(self, pages: Sequence[int]) -> list[Sighting]:
        """Links to pages; each object is made once."""
        made = self._sightings
        for page in pages:
            if made[page] is None:
                made[page] = Sighting(self._site.urls[page])
        return [made[page] for page in pages]  # type: ignore[misc]

    def download(self, page: int, now: Instant, step: Seconds) -> Outcome:
        """What a request at ``now`` brings."""
        if not self._site.lives.alive(page, now):
            return Outcome(Result.GONE, now, now + step, 404)
        return Outcome(Result.OK, now, now + step, 200, str(self._site.changes.version(page, now)))

    def links(self, page: int, now: Instant) -> list[Sighting]:
        """What the page of ``now`` links to; where the graph of the start is frozen, it holds even for pages gone."""
        site, alive = self._site, self._site.lives.alive
        if self._frozen:
            return self.sightings([p for p in site.graph.links(page, site.start) if alive(p, site.start)])
        return self.sightings(site.graph.links(page, now)) if alive(page, now) else []
