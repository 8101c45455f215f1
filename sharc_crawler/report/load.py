"""From a capture folder's stored state to the facts of its site captures."""

from __future__ import annotations

import statistics
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.spec import BOUNDS
from sharc_crawler.frontier.store import JudgementRow
from sharc_crawler.model import Evidence, Kind, Result, Slot, Url, Verdict
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.trust import trust
from sharc_crawler.report.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.report.subsites import find_subsites
from sharc_crawler.storage.sqlite import FILE_NAME, SqliteStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from sharc_crawler.frontier.store import Batch, CaptureRow, OutsideRow, PageRow, VisitRow
    from sharc_crawler.model import Instant, PageId

    Truth = Callable[[str, Instant, Instant], Iterable[Instant] | None]

SOFTWARE = ("sharc-crawler", "scrapy", "twisted", "lxml", "warcio", "numpy", "scipy")
REPORTED = (Kind.PAGE, Kind.RESOURCE)


def load_facts(folder: Path, truth: Truth | None = None) -> list[CaptureFacts]:
    """The site captures of a folder, in the order they were begun.

    ``truth(url, start, end)`` gives a page's true change instants, where somebody knows them. Raises
    :class:`~sharc_crawler.errors.UsageError` where the folder holds no capture.
    """
    return capture_facts(load_state(folder), truth)


def load_state(folder: Path) -> Batch:
    """What a capture folder's store holds; raises as :func:`open_state`."""
    with open_state(folder) as store:
        return store.load()


@contextmanager
def open_state(folder: Path) -> Iterator[SqliteStore]:
    """A capture folder's store; raises :class:`~sharc_crawler.errors.UsageError` where there is none."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise UsageError(f"{str(folder)!r} holds no capture ({FILE_NAME} is missing); name a folder given as output=")
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


def capture_facts(state: Batch, truth: Truth | None = None) -> list[CaptureFacts]:
    """The facts of stored state."""
    by_capture: dict[int, list[PageRow]] = defaultdict(list)
    visits: dict[PageId, list[VisitRow]] = defaultdict(list)
    embeds: dict[PageId, list[Url]] = defaultdict(list)
    for row in state.pages:
        by_capture[row.capture].append(row)
    for visit in state.visits:
        visits[visit.page].append(visit)
    for page, resource in state.embeds:
        embeds[page].append(Url(state.pages[resource].key))
    judgements = {row.page: row for row in state.judgements}
    delays = {host.name: host.delay for host in state.hosts.values()}
    facts = []
    for capture in state.captures.values():
        rows = by_capture[capture.capture]
        made = [visit for row in rows for visit in visits[row.page] if visit.attempt]
        span = (capture.started, max([capture.started, *(v.outcome.ended for v in made)]))
        parts, names = find_subsites(state, capture, rows)
        references = {part.name: part.reference for part in parts}
        pages = [
            replace(
                _page(
                    row,
                    visits[row.page],
                    judgements.get(row.page),
                    embeds[row.page],
                    references[names[row.page]],
                    span,
                    truth,
                ),
                subsite=names[row.page],
            )
            for row in rows
            if row.kind in REPORTED
        ]
        step = max((delays.get(row.host, 0.0) for row in rows if row.kind is Kind.PAGE), default=0.0)
        outside = [row for row in state.outside if row.capture == capture.capture]
        whole = _capture(capture, pages, made, step, outside)
        whole = replace(whole, notes=(*_not_believed(capture, rows), *whole.notes))
        instants = set(references.values())
        facts.append(replace(whole, reference=instants.pop() if len(instants) == 1 else None, subsites=parts))
    return facts


def _capture(
    capture: CaptureRow, pages: list[PageFacts], made: list[VisitRow], step: float, outside: list[OutsideRow]
) -> CaptureFacts:
    spec = capture.spec
    return CaptureFacts(
        site=spec.site,
        seeds=spec.seeds,
        strategy=spec.strategy,
        started=capture.started,
        ended=capture.ended,
        reference=capture.reference,
        pages=tuple(pages),
        step=step,
        settings=_settings(capture),
        software={name: version(name) for name in SOFTWARE},
        exchanges=len(made),
        payload_bytes=sum(visit.outcome.length for visit in made),
        warcs=tuple(sorted({visit.outcome.capture.file for visit in made if visit.outcome.capture})),
        interruptions=capture.interruptions,
        notes=(*capture.notes, *(f"links not followed, {why}: {n:,}" for why, n in sorted(capture.skipped.items()))),
        audit=capture.audit,
        skipped=capture.skipped,
        outside=tuple(outside),
        stats=_decision_stats(made),
    )


def _not_believed(capture: CaptureRow, rows: list[PageRow]) -> Iterator[str]:
    """Which lastmods of the sitemaps speak against themselves."""
    said = {row.url: row.hints for row in rows if row.hints and row.hints.lastmod is not None}
    lastmods = {url: (hints.lastmod or 0.0, hints.lastmod_precision) for url, hints in said.items()}
    for found in trust(SiteHistory.empty(capture.spec.site).sitemap_read(capture.started, lastmods)):
        if found.values and found.reason:
            yield f"lastmods of {found.label} not believed ({found.values:,}): {found.reason}"


def _settings(capture: CaptureRow) -> dict[str, object]:
    spec = capture.spec
    sitemaps = "auto" if spec.sitemaps is None else ", ".join(spec.sitemaps) or "off"
    return {
        "scope": spec.scope,
        "include": ", ".join(spec.include),
        "exclude": ", ".join(spec.exclude),
        "sitemap": sitemaps,
        "size": spec.size,
        "limit": spec.limit,
        **({"subsites": spec.subsites} if spec.subsites else {}),
        "hops": spec.hops,
        "traps": int(spec.traps),
        **{name: bound for name in BOUNDS if (bound := getattr(spec, name))},
        **spec.settings,
    }


def _decision_stats(made: list[VisitRow]) -> dict[str, float]:
    """How closely what happened followed what was decided."""
    if not made:
        return {}
    planned = sorted(made, key=lambda visit: visit.lease)
    actual = sorted(made, key=lambda visit: (visit.outcome.started, visit.lease))
    place = {visit.lease: number for number, visit in enumerate(actual)}
    shifts = [abs(number - place[visit.lease]) for number, visit in enumerate(planned)]
    waits = [visit.outcome.started - visit.decided for visit in made]
    return {
        "decisions": float(len(made)),
        "out_of_order": float(sum(shift > 0 for shift in shifts)),
        "largest_shift": float(max(shifts)),
        "decision_to_request_median_seconds": statistics.median(waits),
        "decision_to_request_max_seconds": max(waits),
    }


def _page(
    row: PageRow,
    visits: list[VisitRow],
    judgement: JudgementRow | None,
    embeds: list[Url],
    reference: Instant | None,
    span: tuple[Instant, Instant],
    truth: Truth | None,
) -> PageFacts:
    first = _last([visit for visit in visits if visit.slot is not Slot.SECOND])
    second = _last([visit for visit in visits if visit.slot is Slot.SECOND])
    changes = truth(row.url, *span) if truth and judgement else None
    true_changes = None if changes is None else tuple(float(instant) for instant in changes)
    judgement = judgement or _not_judged_yet(row, first)
    return PageFacts(
        url=Url(row.key),
        kind=row.kind,
        via=row.via,
        depth=row.depth,
        rate=row.rate,
        rate_source=row.source,
        weight=row.weight,
        plan=first.plan if first else None,
        visit=_visit(first, visits),
        revisit=_visit(second, visits),
        verdict=judgement.verdict if judgement else None,
        evidence=judgement.evidence if judgement else None,
        reason=judgement.reason if judgement else _why_not(row, first),
        truth=_stayed(first, second, judgement, reference, true_changes),
        true_changes=true_changes,
        embeds=tuple(embeds),
    )


def _last(visits: list[VisitRow]) -> VisitRow | None:
    """The settled visit, or the last attempt where none is settled."""
    return visits[-1] if visits else None


def _visit(visit: VisitRow | None, visits: list[VisitRow]) -> VisitFacts | None:
    if visit is None or not visit.attempt:
        return None
    outcome = visit.outcome
    fields: dict[str, Any] = {
        name: getattr(outcome, name)
        for name in ("result", "started", "ended", "status", "digest", "fingerprint", "length", "error")
    }
    return VisitFacts(
        slot=visit.slot,
        attempts=sum(other.slot is visit.slot for other in visits),
        decided=visit.decided,
        warc=f"{outcome.capture.file}:{outcome.capture.offset}" if outcome.capture else None,
        **fields,
    )


def _not_judged_yet(row: PageRow, first: VisitRow | None) -> JudgementRow | None:
    """A page that is in the archive, of a capture that is not complete: captured, and unknown."""
    if first is None or first.outcome.result is not Result.OK:
        return None
    return JudgementRow(row.page, Verdict.UNKNOWN, Evidence.NONE, "the capture was stopped before its revisit")


def _why_not(row: PageRow, first: VisitRow | None) -> str:
    """Why a URL is not captured."""
    if row.state == State.LATE:
        return row.reason or "discovered after the reference instant"
    if first is None:
        return "the crawl ended before its visit"
    outcome = first.outcome
    if outcome.result is Result.REDIRECTED:
        if outcome.location in (row.url, f"{row.url}/"):
            return "redirects to itself: it may want a cookie"
        return f"redirects to {outcome.location}"
    if outcome.result is Result.GONE:
        return f"not there (status {outcome.status})"
    return outcome.error or f"status {outcome.status}"


def _stayed(
    first: VisitRow | None,
    second: VisitRow | None,
    judgement: JudgementRow | None,
    reference: Instant | None,
    changes: tuple[Instant, ...] | None,
) -> bool | None:
    """Did the page really stay as it was between its visit and its revisit, or where one was to do: the instant T?"""
    if changes is None or first is None:
        return None
    downloads = [visit.outcome.started for visit in (first, second) if visit]
    attested = judgement is not None and judgement.evidence is Evidence.ATTESTED
    if reference is not None and (attested or (second is None and first.slot is Slot.ONLY)):
        return any(not _between(changes, instant, reference) for instant in downloads)
    return None if second is None else not _between(changes, *downloads)


def _between(changes: tuple[Instant, ...], one: Instant, other: Instant) -> bool:
    return any(min(one, other) < instant <= max(one, other) for instant in changes)
