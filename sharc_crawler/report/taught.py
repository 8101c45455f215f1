"""What a capture teaches of its site's noise: which pages teach, whether they do, and the file of what
they taught.

Bytes, and so the certificate, know nothing of it. Masks are offered (``LEARNED`` in the folder) to look at, and for
the next capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sharc_crawler.changes.masks import Mask
from sharc_crawler.evidence.facts import LEARNED, CaptureFacts, PageFacts, Taught
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import Content, content
from sharc_crawler.model import Kind, Result, Seconds, Verdict

WITHIN = 60.0  #: seconds between two fetches of a page that teach what differs; equal ones may lie apart
PAIRS = 200  #: that are learned from, those closest together
LOOKED = 500  #: changed pages that are looked at again with the masks


class Teachers:
    """The pages that teach, in one walk over all; only so many are kept."""

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
    """The pages whose two downloads were closest together, of any number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[PageFacts] = []

    def add(self, page: PageFacts) -> None:
        """Keep a page, if it may be among them."""
        self._kept.append(page)
        if len(self._kept) >= 4 * self._most:
            self._kept = self.items()

    def items(self) -> list[PageFacts]:
        """The pages that are kept, closest first."""
        return sorted(self._kept, key=_gap)[: self._most]


def read_taught(folder: Path) -> Taught:
    """What the captures of a folder taught when they ended."""
    path = folder / LEARNED
    if not path.exists():
        return Taught()
    from sharc_crawler.report.lesson import read  # only where there are some

    return read(path)


def _ended(facts: CaptureFacts) -> bool:
    """Whether what differs may differ for a session that ended."""
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
    """Learn from the pairs of a folder's captures, and write what was learned into it.

    Bodies are read only where pages changed their content. Raises :class:`OSError` where the folder cannot be
    written to.
    """
    from sharc_crawler.report.lesson import learned  # what reads bodies

    return learned(Teachers(captures), folder, known)
