"""A survey: robots.txt and sitemaps are read, as before every capture, and no page is visited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sharc_crawler.frontier.modes.by_lastmods import ByLastmods

if TYPE_CHECKING:
    from sharc_crawler.model import Instant, Judgement, PageId, Visit
    from sharc_crawler.strategies.door import Door


class Surveyed(ByLastmods):
    """Ends with the pages that a capture would begin with, and which of them the server's word may stand for."""

    called = "asked for its sitemaps"

    def waits(self, strategy: Door, now: Instant) -> bool:  # noqa: ARG002 - the protocol's
        """Never: all that is wanted has been read."""
        return False

    def next(self, strategy: Door, now: Instant) -> Visit | None:  # noqa: ARG002
        """The strategy is not asked."""
        return None

    def owes_more(self, now: Instant) -> bool:  # noqa: ARG002
        """Nothing was claimed: there is nothing to audit."""
        return False

    def judge(self, pages: Sequence[PageId]) -> Mapping[PageId, Judgement]:  # noqa: ARG002
        """Nothing was visited."""
        return {}
