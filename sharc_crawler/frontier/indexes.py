"""Which sitemaps are read that others name: indexes may lead in circles, to other sites, and without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.frontier.admission import Admitter
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.ports import Admission
    from sharc_crawler.model import PageId

MAX_SITEMAP_DEPTH = 5  #: index files within index files
MAX_NESTED_SITEMAPS = 1_000  #: that these name, in one run: sitemaps.org allows none
TOO_DEEP = f"more than {MAX_SITEMAP_DEPTH} sitemap indexes within each other"
TOO_NESTED = f"more than {MAX_NESTED_SITEMAPS:,} sitemaps of indexes within indexes"
ELSEWHERE = "a sitemap index names another site's sitemap"


def why_not(admitter: Admitter, pages: PageTable, scope: Admission, key: str, parent: PageId, depth: int) -> str | None:
    """Why a sitemap is not read that ``parent`` names; ``None``: it is.

    An index names sitemaps of its own host or of the site; robots.txt and people may name any.
    """
    if depth > MAX_SITEMAP_DEPTH:
        return TOO_DEEP
    if admitter.host_of(key) != admitter.host_of(pages.urls[parent]) and scope.why_not(key) is not None:
        return ELSEWHERE
    if depth > 1:  # an index within an index
        admitter.nested += 1
        if admitter.nested > MAX_NESTED_SITEMAPS:
            return TOO_NESTED
    return None
