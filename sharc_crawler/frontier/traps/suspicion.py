"""What waits, and what is left, on a site with pages that look like a trap's: several rules together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.traps import rules
from sharc_crawler.frontier.traps.common_words import CommonWords
from sharc_crawler.known_urls import UNSEEN

if TYPE_CHECKING:
    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.frontier.traps.rules import Traps
    from sharc_crawler.model import PageId


class Suspicion:
    """Asks the rules: what is fresh by the words of its address is taken, whatever those for echoes say."""

    def __init__(self, traps: Traps, pages: PageTable) -> None:
        self._traps, self._pages = traps, pages
        self.words = CommonWords(pages, traps.echoes.echoes)

    def saw(self, page: PageId, *, new: bool) -> None:
        """A page was captured; ``new``: no other had shown the same."""
        self.words.saw(page, new=new, contents=len(self._traps.echoes.first))

    def why_not(self, url: str, parent: PageId, page: PageId = UNSEEN) -> str | None:
        """Why a page that ``parent`` named first is left; ``None``: it is not. ``page``: it waits under this number."""
        self.words.named(url, parent, page)
        fleeting, echoes = self._traps.fleeting, self._traps.echoes
        why = fleeting and ((page != UNSEEN and fleeting.why_not(page, self._pages)) or fleeting.why_not_named(parent))
        why = why or echoes.why_not(url, parent, self._pages)
        return why if why and not self._fresh(url) else None

    def doubts(self, page: PageId) -> int:
        """Is a page to wait until nothing else is left, and how long? 0: it is not."""
        url, echoes = self._pages.urls[page], self._traps.echoes
        if echoes.doubts(page, self._pages):
            found = not self._fresh(url)
        else:
            found = self._traps.idle is not None and self._traps.idle.doubts(url, self.words)
        return rules.LAST if found else int(echoes.barren.doubts(self._pages.parents[page]))

    def nothing_else(self) -> None:
        """All that waits is doubted: the site is as small as it looks."""
        self._traps.echoes.nothing_else()
        if self._traps.idle:
            self._traps.idle.nothing_else(len(self._traps.echoes.first))

    def _fresh(self, url: str) -> bool:
        return self.words.fresh(url, len(self._traps.echoes.first))
