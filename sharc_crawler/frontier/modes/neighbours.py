"""Pages that are edited together: visits, and looks at one page of a folder, tell which others have changed since.

The archive shows which pages had changed by their visit: those visited before the folder was edited are out of date. Of
a folder that was perhaps edited after its last visit, one page is looked at once more, its *probe*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sharc_crawler.rates.neighbours import LEAST, Together, calm, edited_together, folders, stale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sharc_crawler.frontier.pages import PageTable
    from sharc_crawler.model import Instant, PageId, Seconds
    from sharc_crawler.rates.history import SiteHistory

    Compared = Mapping[PageId, tuple[Seconds, bool]]  #: by page: time since the archive saw it, and had it changed?

SURE = 0.9  #: that a page has been edited since its visit: it is taken for out of date
LIKELY = 0.5  #: the same, where its probe has changed
GROWN = 1.02  #: times as many pages compared as before: ask again
WORTH = 1.0  #: pages that a probe is expected to find out of date, at least


class Edited(NamedTuple):
    """What is known of pages edited together."""

    stale: dict[PageId, Instant]  #: pages edited since their visit, and when at the latest
    probes: dict[
        PageId, float
    ]  #: to be looked at again: how many pages each is expected to find out of date, the most first


class _Folder(NamedTuple):
    """Pages that are out of date if their probe is."""

    worth: float  #: how many are expected to be
    probe: PageId
    pages: list[PageId]
    edited: float  #: probability that the folder was, since the visit of the probe


NOTHING = Edited({}, {})


class Neighbours:
    """What visits held against the archive say of pages visited before them.

    ``history`` is asked for once: were pages of one folder edited together before?
    """

    def __init__(self, pages: PageTable, history: Callable[[], SiteHistory]) -> None:
        self._pages = pages
        self._history = history
        self._learned = False
        self._together: Together | None = None
        self._asked = 0  # pages compared when last asked
        self._probed: dict[PageId, _Folder] = {}

    def edited(self, compared: Compared, now: Instant) -> Edited:
        """What visits say by now; nothing, where it is what they said before."""
        if len(compared) <= GROWN * self._asked or not any(changed for _, changed in compared.values()):
            return NOTHING
        self._asked = len(compared)
        if not self._learned:
            self._learned, self._together = True, edited_together(self._history())
        if self._together is None:
            return NOTHING
        found: dict[PageId, Instant] = {}
        asked: list[_Folder] = []
        for pages, rates, chances in self._by_folder(self._together, compared, now):
            sure = chances >= SURE
            found |= dict.fromkeys(_numbers(pages[sure]), now)
            perhaps = ~sure & (chances >= LIKELY * np.max(chances[~sure], initial=0.0))
            if (worth := float(chances[perhaps].sum())) >= WORTH:
                calmest = int(rates[perhaps].argmin())
                edited = float(chances[perhaps][calmest]) / self._together.share
                some = _numbers(pages[perhaps])
                asked.append(_Folder(worth, some[calmest], some, edited))
        self._probed |= {one.probe: one for one in asked}
        return Edited(found, {one.probe: one.worth for one in sorted(asked, reverse=True)})

    def looked(self, probe: PageId, since: Instant, now: Instant) -> dict[PageId, Instant]:
        """A probe has changed since its visit: pages that have changed with it, most likely."""
        folder, together, table = self._probed.pop(probe, None), self._together, self._pages
        if folder is None or together is None:
            return {}
        own = np.array([table.rates[probe]]), np.array([table.shapes[probe]]), np.array([now - since])
        alone = 1.0 - float(calm(together.own, *own)[0])
        touched = folder.edited * (1.0 - (1.0 - together.share) * (1.0 - alone))
        likely = touched / (touched + (1.0 - folder.edited) * alone + 1e-12)
        return dict.fromkeys(folder.pages, now) if likely * together.share >= LIKELY else {}

    def _by_folder(
        self, together: Together, compared: Compared, now: Instant
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]]:
        """The pages of each, their rates, and how likely each is out of date."""
        table = self._pages
        pages = np.array(list(compared), np.int64)
        rates, shapes, visits = (
            np.array([column[page] for page in compared], np.float64)
            for column in (table.rates, table.shapes, table.started)
        )
        said = np.array(list(compared.values()), np.float64)
        begins, changed = visits - said[:, 0], said[:, 1] > 0
        owners = folders([table.urls[page] for page in compared])
        order = np.lexsort((visits, owners))
        for one in np.split(order, np.flatnonzero(np.diff(owners[order])) + 1):
            if len(one) >= LEAST:
                seen = begins[one], visits[one], changed[one], rates[one], shapes[one]
                yield pages[one], rates[one], stale(together, *seen, now)


def _numbers(pages: NDArray[np.int64]) -> list[PageId]:
    found: list[PageId] = pages.tolist()
    return found
