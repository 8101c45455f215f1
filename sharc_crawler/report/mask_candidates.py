"""Choose the pages from which masks are learned, and read the file of learned masks.

The learned masks do not affect the capture's certificate, which compares bytes. They are offered (``LEARNED`` in the
folder) for inspection, and for the next capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sharc_crawler.changes.masks import Mask
from sharc_crawler.evidence.facts import LEARNED, CaptureFacts, PageFacts, Taught
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import Content, content
from sharc_crawler.model import Kind, Result, Seconds, Verdict

WITHIN = 60.0  #: most seconds between two downloads from which differences are learned; equal ones may be further apart
PAIRS = 200  #: most pairs learned from, those closest in time
LOOKED = 500  #: most changed pages that are compared again with the masks


class Teachers:
    """The pages to learn from, chosen in one walk over all."""

    def __init__(self, captures: Sequence[CaptureFacts], within: Seconds = WITHIN) -> None:
        self.close, self.looked, self.same, self.unmodified = map(_Closest, (PAIRS, LOOKED, PAIRS, PAIRS))
        self.lost = 0
        for page in (page for facts in captures if not _ended(facts) for page in facts.pages if page.kind is Kind.PAGE):
            lost = content(page) is Content.CHANGED
            self.lost += lost
            if _fetched_twice(page):
                if _gap(page) > within and not lost:
                    self.same.add(page)
                elif _gap(page) <= within:
                    self.close.add(page)
                if lost and page.evidence is Evidence.BYTES:
                    self.looked.add(page)
            elif page.visit and page.revisit and page.revisit.result is Result.NOT_MODIFIED:
                self.unmodified.add(page)


class _Closest:
    """Keeps the pages whose two downloads were closest in time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[PageFacts] = []

    def add(self, page: PageFacts) -> None:
        """Add a page."""
        self._kept.append(page)
        if len(self._kept) >= 4 * self._most:
            self._kept = self.items()

    def items(self) -> list[PageFacts]:
        """The kept pages, closest first."""
        return sorted(self._kept, key=_gap)[: self._most]


def read_taught(folder: Path) -> Taught:
    """The masks learned at the end of a folder's captures."""
    path = folder / LEARNED
    if not path.exists():
        return Taught()
    from sharc_crawler.report.mask_learning import read  # only where there are some

    return read(path)


def _ended(facts: CaptureFacts) -> bool:
    """May pages differ because the session ended?"""
    if "session_ends" not in facts.settings:
        return False
    from sharc_crawler.report.sessions import ended  # only where one is logged in

    return bool(ended(facts))


def _fetched_twice(page: PageFacts) -> bool:
    fetched = [visit for visit in (page.visit, page.revisit) if visit and visit.result is Result.OK and visit.warc]
    return len(fetched) == 2 and page.verdict in (Verdict.COHERENT, Verdict.CHANGED)


def _gap(page: PageFacts) -> Seconds:
    assert page.visit and page.revisit
    return abs(page.revisit.started - page.visit.started)


def teach(captures: Sequence[CaptureFacts], folder: Path, known: Sequence[Mask] = ()) -> Taught:
    """Learn from the pages of a folder's captures, and write the masks into the folder.

    Bodies are read only if pages changed their content. Raises :class:`OSError` if the folder cannot be written to.
    """
    from sharc_crawler.report.mask_learning import learned  # what reads bodies

    return learned(Teachers(captures), folder, known)
