"""Make a page's facts from its stored rows: visits, verdict or why it is missing, and whether it really stayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.facts import LOST, PageFacts, Taught, VisitFacts
from sharc_crawler.evidence.figures import MEANT
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Instant, Kind, Result, Slot, Url, Verdict
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import JudgementRow, PageRow, UrlRow, VisitRow

if TYPE_CHECKING:
    from sharc_crawler.evidence.data import DataState
    from sharc_crawler.report.subsites import SubsiteParts
    from sharc_crawler.state.store import FrontierStore

    Truth = Callable[[str, Instant, Instant], Iterable[Instant] | None]
    Stored: TypeAlias = "FrontierStore | Walked"

FEW = 1_000  #: up to this many pages are kept in memory once read: some megabytes


@dataclass(eq=False, slots=True)
class StoredPages:
    """The pages and resources of a capture, read from its store on each iteration, or once if they are few.

    ``data``: states of data that scripts fetched. ``span``: the time for which true changes are asked.
    """

    store: Stored
    capture: int
    subsites: SubsiteParts
    span: tuple[Instant, Instant]
    truth: Truth | None
    taught: Taught
    data: Mapping[Url, DataState]
    _few: list[PageFacts] = field(default_factory=list, init=False)  #: all pages, if few, once read

    def __iter__(self) -> Iterator[PageFacts]:
        if self._few:
            yield from self._few
            return
        few: list[PageFacts] | None = []
        for url in self.store.urls(self.capture):
            if url.page.kind in MEANT:
                yield (page := self._page(url))
                if few is not None:
                    few.append(page)
                    few = few if len(few) <= FEW else None
        self._few = few or []

    def _page(self, url: UrlRow) -> PageFacts:
        row, visits = url.page, counted(url)
        first, second = _first(visits), last([visit for visit in visits if visit.slot is Slot.SECOND])
        part = self.subsites.of(row.page)
        judgement = url.judgement or not_judged_yet(row, first)
        if first and first.outcome.result in (Result.GONE, Result.REDIRECTED) and second is None:
            judgement = None  # a resource that was requested once
        visit, revisit = _both(first, second, visits)
        page = PageFacts(
            url=Url(row.key),
            archived_as="" if row.url == row.key else row.url,
            kind=row.kind,
            via=row.via,
            depth=row.depth,
            rate=row.rate,
            rate_source=row.source,
            rate_shape=row.shape,
            weight=row.weight,
            plan=first.plan if first else None,
            visit=visit,
            revisit=revisit,
            former=_former(first, visits),
            verdict=judgement.verdict if judgement else None,
            evidence=judgement.evidence if judgement else None,
            reason=judgement.reason if judgement else _why_not(row, first),
            target=_target(row, first),
            subsite=part.name,
            by_script=first.outcome.document.by_script if first and first.outcome.document else None,
            alike=row.key in self.taught.alike,
            embeds=tuple(map(Url, url.embeds)),
            lastmod=max((said.lastmod for said in url.lastmods), default=None),
            **self._in_truth(url, first, second, part.reference),
        )
        if not self.data or row.kind is not Kind.PAGE:
            return page
        from sharc_crawler.report.data_states import with_states  # only where browsers showed pages

        return with_states(page, part.reference, self.data, self.truth, self.span)

    def _in_truth(
        self, url: UrlRow, first: VisitRow | None, second: VisitRow | None, reference: Instant | None
    ) -> dict[str, Any]:
        """The true changes of a judged page, and whether it stayed the same; nothing if they are not known."""
        changes = self.truth(url.page.url, *self.span) if self.truth and url.judgement else None
        if changes is None:
            return {}
        from sharc_crawler.evidence.truth import stayed  # only of demo sites

        true_changes = tuple(map(float, changes))
        downloads = [one.outcome.started for one in (first, second) if one]
        dated = url.judgement is not None and url.judgement.evidence.dated
        once = dated or (second is None and first is not None and first.slot is Slot.ONLY)
        return {"truth": stayed(downloads, true_changes, reference, once=once), "true_changes": true_changes}


def counted(url: UrlRow) -> list[VisitRow]:
    """The visits of a URL that count. Others were withdrawn, because their records are lost."""
    return [
        one for one in url.visits if one.finished or one.outcome.result is Result.FAILED or _was_tested(one, url.visits)
    ]


def _was_tested(visit: VisitRow, visits: Sequence[VisitRow]) -> bool:
    """Was a full download to follow a 304 (as another attempt, or given up), or another try a refusal?"""
    told = visit.outcome.result
    if visit.outcome.error == LOST:
        return False
    if told in (Result.REFUSED, Result.GONE, Result.REDIRECTED):
        return any(one is not visit and one.slot is visit.slot and one.attempt != 1 for one in visits)
    return told is Result.NOT_MODIFIED and any(
        one.slot is visit.slot and one.attempt in (0, visit.attempt + 1) for one in visits
    )


def last(visits: list[VisitRow]) -> VisitRow | None:
    """The finished visit, or the last attempt if none is finished."""
    return visits[-1] if visits else None


def _first(visits: list[VisitRow]) -> VisitRow | None:
    """The visit that counts: the last before T that brought content, else the last attempt."""
    firsts = [visit for visit in visits if visit.slot is not Slot.SECOND]
    return last([visit for visit in firsts if visit.finished and visit.outcome.result is Result.OK]) or last(firsts)


def _asked_for(visit: VisitRow | None, visits: list[VisitRow]) -> VisitRow | None:
    """For a visit that was given up after failed requests, the last of these; else the visit itself."""
    if visit is None or visit.attempt or visit.outcome.result is not Result.REFUSED:
        return visit
    return last([one for one in visits if one.attempt and one.slot is visit.slot]) or visit


def _both(
    first: VisitRow | None, second: VisitRow | None, visits: list[VisitRow]
) -> tuple[VisitFacts | None, VisitFacts | None]:
    """Visit and revisit."""
    visit, revisit = _visit(_asked_for(first, visits), visits), _visit(second, visits)
    if visit and visit.attempts and second and not revisit:  # the revisit was given up after failed requests
        visit = replace(visit, attempts=visit.attempts + sum(one.slot is second.slot for one in visits) - 1)
    return visit, revisit


def _visit(visit: VisitRow | None, visits: list[VisitRow]) -> VisitFacts | None:
    if visit is None:
        return None
    outcome = visit.outcome
    said = None
    if not visit.attempt:
        if outcome.result is not Result.OK or outcome.date is None:
            return None
        said = outcome.date, http_date(outcome.validators.last_modified)
    fields: dict[str, Any] = {
        name: getattr(outcome, name)
        for name in ("result", "started", "ended", "status", "digest", "fingerprint", "length", "error", "age")
    }
    return VisitFacts(
        slot=visit.slot,
        attempts=0 if said else _attempts(visit, visits),
        said=said,
        decided=visit.decided,
        warc=f"{outcome.capture.file}:{outcome.capture.offset}" if outcome.capture else None,
        **fields,
    )


def _former(first: VisitRow | None, visits: list[VisitRow]) -> tuple[VisitFacts, ...]:
    """Finished visits before T that do not count: a later one replaced them, or they brought nothing."""
    made = [visit for visit in visits if visit.slot is not Slot.SECOND and visit.finished and visit is not first]
    facts = (_visit(visit, visits) for visit in made)
    return tuple(replace(one, attempts=1) for one in facts if one)


def _attempts(visit: VisitRow, visits: list[VisitRow]) -> int:
    """The number of attempts of a visit, without other finished visits."""
    same = [other for other in visits if (other.slot is Slot.SECOND) is (visit.slot is Slot.SECOND)]
    return sum(other is visit or not other.finished or other.slot is Slot.SECOND for other in same)


def not_judged_yet(row: PageRow, first: VisitRow | None) -> JudgementRow | None:
    """An unknown verdict for a page that is archived, but not judged, as its capture is not complete."""
    if first is None or first.outcome.result is not Result.OK:
        return None
    return JudgementRow(row.page, Verdict.UNKNOWN, Evidence.NONE, Reason.STOPPED)


def _target(row: PageRow, first: VisitRow | None) -> str | None:
    """The URL that a URL redirects to, if it is another one; also if a project's middlewares followed it."""
    results = (Result.REDIRECTED, Result.OK) if row.via == "spider" else (Result.REDIRECTED,)
    if first is None or first.outcome.result not in results:
        return None
    return None if first.outcome.location == row.url else first.outcome.location


def _why_not(row: PageRow, first: VisitRow | None) -> str:
    """Why a URL is not captured."""
    if row.state == State.LATE:
        return Reason.LEFT_OUT.of(row.reason) if row.reason else Reason.LATE
    if first is None:
        return Reason.UNVISITED
    outcome = first.outcome
    if outcome.result is Result.REDIRECTED:
        target = _target(row, first)
        return Reason.REDIRECTED.of(target) if target else Reason.TO_ITSELF
    if outcome.result is Result.GONE:
        return Reason.GONE.of(outcome.status)
    refused = Reason.REFUSED if outcome.result is Result.REFUSED else Reason.FAILED
    return refused.of(outcome.error or f"status {outcome.status}")


# -- progress ----------------------------------------------------------------------------------------------------------


#: iterations over the URLs of a capture: overview, sums, details, lines of report and of certificate
WALKS = 5
TELL = 1000  #: number of URLs between two calls of ``progress``


class Walked:
    """A store whose reading for report and certificate is reported: ``progress(URLs read, expected in all)``."""

    def __init__(self, store: FrontierStore, progress: Callable[[int, int], None]) -> None:
        self.captures, self.hosts = store.captures, store.hosts
        self.subsites, self.outside = store.subsites, store.outside
        self._store = store
        self._progress = progress
        self._known: dict[int, int] = {}  #: capture → number of its URLs, once they were read
        self._read = 0

    def urls(self, capture: int) -> Iterator[UrlRow]:
        """The URLs of a site capture; reports progress."""
        before = self._read
        for row in self._store.urls(capture):
            self._read += 1
            if capture in self._known and not self._read % TELL:
                self._progress(self._read, max(WALKS * sum(self._known.values()), self._read))
            yield row
        self._known.setdefault(capture, self._read - before)
