"""Judge revisits of pages."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.evidence.comparison import compare, said_against
from sharc_crawler.evidence.headers import REWRITTEN, is_part
from sharc_crawler.evidence.intervals import DATE_PRECISION, FAR, Clocks, on_time, reach
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Comparison, Instant, Judgement, Outcome, Result, Slot, Verdict

VERDICTS = {Change.UNCHANGED: Verdict.COHERENT, Change.CHANGED: Verdict.CHANGED, Change.UNKNOWN: Verdict.UNKNOWN}
_ONLY = Slot.ONLY  # a local name is faster
APEX = Judgement(Verdict.COHERENT, Evidence.INSTANT, Reason.REFERENCE_DOWNLOAD)
ONCE = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.VISITED_ONCE)
NEVER_REVISITED = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.NEVER_REVISITED)
LATE_DOWNLOAD = Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.LATE_DOWNLOAD)


def of_comparison(comparison: Comparison) -> Judgement:
    """Make a judgement of a comparison of visit and revisit."""
    return Judgement(VERDICTS[comparison.change], comparison.evidence, comparison.reason)


def is_apex(slot: Slot, outcome: Outcome) -> bool:
    """Can a download be T itself? Not a copy, a slow answer or a part of a page."""
    if slot is not _ONLY or outcome.age or outcome.ended - outcome.started > DATE_PRECISION:
        return False
    return not is_part(outcome) and outcome.status != REWRITTEN


class Revisits:
    """Judges the revisits of a capture by all downloads so far."""

    def __init__(self) -> None:
        self.clocks = Clocks()
        self._restless = Restless()
        self._away: dict[str, Judgement] = {}  # pages that were missing between their visit and T
        self._dated: dict[tuple[str, str], Instant] = {}  # by kind: first visit with a real Last-Modified
        self._by_clock: dict[tuple[str, str], list[Instant]] = {}  # by kind: first visits with one made on request

    def visited(self, url: str, outcome: Outcome) -> None:
        """Enter a visit; ``url``: as requested."""
        if self._away:
            self._away.pop(url, None)
        self.clocks.add(url, outcome)
        if outcome.validators.last_modified:
            from sharc_crawler.evidence.validators import made_on_request  # many sites send none

            kind = class_of(url)
            if made_on_request(outcome):
                self._by_clock[kind] = sorted((*self._by_clock.get(kind, ()), outcome.started))[:PAIRS]
            else:
                self._dated[kind] = min(outcome.started, self._dated.get(kind, outcome.started))

    def looked(self, url: str, visit: Outcome, outcome: Outcome) -> None:
        """Enter a second look before T: a page that was gone then has changed, even if it comes back."""
        if outcome.result in (Result.GONE, Result.REDIRECTED):
            self._away[url] = of_comparison(compare(visit, outcome))

    def judge(self, url: str, visit: Outcome, revisit: Outcome, reference: Instant | None) -> Judgement:
        """Judge a revisit by its visit.

        >>> from sharc_crawler.model import Outcome, Result
        >>> before = Outcome(Result.OK, 0.0, 1.0, status=200, digest="sha1:A")
        >>> Revisits().judge("http://h/", before, Outcome(Result.FAILED, 9.0, 9.5), 5.0).verdict.value
        'unknown'
        """
        dated = reference is not None and bool(revisit.validators.last_modified) and self._is_dated(url, reference)
        found = compare(visit, revisit, restless=self._restless.known(url), dated=dated)
        self._restless.add(url, visit, revisit)
        if found.change is not Change.UNKNOWN and self._stale(url, visit, revisit, reference):
            return Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.STALE)
        away = self._away.get(url)
        return away if away is not None and found.change is Change.UNCHANGED else of_comparison(found)

    def apex(self, url: str, outcome: Outcome) -> Judgement:
        """Judge a page whose only download is T (Age 0 or none): an old Date does not show T."""
        return ONCE if self._stale(url, None, outcome._replace(age=None), outcome.started) else APEX

    def _is_dated(self, url: str, reference: Instant) -> bool:
        """Had pages of its kind, before T, a Last-Modified not made on request? Assumed for few pages."""
        kind = class_of(url)
        by_clock = sum(started < reference for started in self._by_clock.get(kind, ()))
        return by_clock < PAIRS or self._dated.get(kind, reference) < reference

    def _stale(self, url: str, visit: Outcome | None, revisit: Outcome, reference: Instant | None) -> bool:
        """Does the revisit only show the page before T?"""
        if reference is None:
            return False
        ahead = None if revisit.date is None else self.clocks.ahead(url, reference)
        if ahead is not None and ahead > FAR and on_time(revisit) and self.clocks.set_right(url, reference):
            ahead = 0.0  # copies by the former clock would have to be exactly that old
        return revisit.status == REWRITTEN or reach(revisit, visit, ahead) < reference


#: so many pages downloaded twice within SHORT did not all change and change back; a rollback takes longer than BRIEF
PAIRS = 5
SHORT, BRIEF = 60.0, 3.0


class Restless:
    """Finds classes of URLs whose validators differ at every download of the same content (inode ETags).

    It looks at pairs of downloads that follow each other soon.
    """

    def __init__(self) -> None:
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._brief, self._steady = set[tuple[str, str]](), set[tuple[str, str]]()

    def add(self, url: str, visit: Outcome, revisit: Outcome) -> None:
        """Enter two downloads of a page."""
        if revisit.started - visit.started > SHORT or revisit.result is not Result.OK:
            return
        change = compare(visit, revisit, restless=True).change
        if change is Change.UNCHANGED and said_against(visit, revisit):
            self._pairs[class_of(url)] += 1
            self._brief |= {class_of(url)} if revisit.started - visit.started <= BRIEF else set()
        elif change is not Change.UNKNOWN:
            self._steady.add(class_of(url))

    def known(self, url: str) -> bool:
        """Do the validators of a URL's class differ for unchanged content?"""
        if not self._pairs:  # usual
            return False
        kind = class_of(url)
        return self._pairs[kind] >= PAIRS and kind in self._brief and kind not in self._steady


def class_of(url: str) -> tuple[str, str]:
    """Return host, first folder and extension of a URL."""
    return urlsplit(url).netloc.lower(), url_class(url)
