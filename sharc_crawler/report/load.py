"""From a capture folder's stored state to the facts of its site captures."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from sharc_crawler.evidence.facts import CaptureFacts, Outside
from sharc_crawler.frontier.spec import BOUNDS
from sharc_crawler.model import Kind
from sharc_crawler.report.pages import Stored
from sharc_crawler.report.subsites import find_subsites
from sharc_crawler.report.words import counted, span
from sharc_crawler.storage.opening import load_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.frontier.store import Batch, CaptureRow, PageRow, VisitRow
    from sharc_crawler.model import Seconds
    from sharc_crawler.report.pages import Truth

SOFTWARE = ("sharc-crawler", "scrapy", "twisted", "lxml", "warcio", "numpy", "scipy")
REPORTED = (Kind.PAGE, Kind.RESOURCE)


def load_facts(folder: Path, truth: Truth | None = None) -> list[CaptureFacts]:
    """The site captures of a folder, in the order they were begun.

    ``truth(url, start, end)`` gives a page's true change instants, where somebody knows them. Raises
    :class:`~sharc_crawler.errors.UsageError` where the folder holds no capture.
    """
    return capture_facts(load_state(folder), truth)


def is_instant(state: Batch) -> bool:
    """Is this the state of an instant crawl?"""
    return any(row.spec.mode == "instant" for row in state.captures.values())


def capture_facts(state: Batch, truth: Truth | None = None) -> list[CaptureFacts]:
    """The facts of stored state."""
    stored = Stored(state)
    by_capture: dict[int, list[PageRow]] = defaultdict(list)
    for row in state.pages:
        by_capture[row.capture].append(row)
    return [_capture(state, stored, capture, by_capture[capture.capture], truth) for capture in state.captures.values()]


def _capture(
    state: Batch, stored: Stored, capture: CaptureRow, rows: list[PageRow], truth: Truth | None
) -> CaptureFacts:
    made = [visit for row in rows for visit in stored.visits[row.page] if visit.attempt]
    during = (capture.started, max([capture.started, *(visit.outcome.ended for visit in made)]))
    parts, names = find_subsites(state, capture, rows)
    references = {part.name: part.reference for part in parts}
    instants = set(references.values())
    delays = {host.name: host.delay for host in state.hosts.values()}
    spec = capture.spec
    return CaptureFacts(
        site=spec.site,
        seeds=spec.seeds,
        strategy=spec.strategy,
        started=capture.started,
        ended=capture.ended,
        reference=instants.pop() if len(instants) == 1 else None,
        subsites=parts,
        pages=tuple(
            replace(stored.page(row, references[names[row.page]], during, truth), subsite=names[row.page])
            for row in rows
            if row.kind in REPORTED
        ),
        step=max((delays.get(row.host, 0.0) for row in rows if row.kind is Kind.PAGE), default=0.0),
        settings=_settings(capture),
        software={name: version(name) for name in SOFTWARE},
        exchanges=len(made),
        payload_bytes=sum(visit.outcome.length for visit in made),
        warcs=tuple(sorted({visit.outcome.capture.file for visit in made if visit.outcome.capture})),
        interruptions=capture.interruptions,
        notes=(*_asked_to_wait(rows, stored), *_notes(capture, rows)),
        audit=capture.audit,
        skipped=capture.skipped,
        outside=tuple(Outside(row.url, row.reason, row.via) for row in state.outside if row.capture == capture.capture),
        stats=_decision_stats(made),
    )


def _notes(capture: CaptureRow, rows: list[PageRow]) -> Iterator[str]:
    yield from _not_believed(capture, rows)
    yield from capture.notes
    for why, number in sorted(capture.skipped.items()):
        yield f"links not followed, {why}: named {counted(number, 'time')}"


def _asked_to_wait(rows: list[PageRow], stored: Stored) -> Iterator[str]:
    """Which hosts asked to be left alone for a while."""
    waits: dict[str, list[Seconds]] = defaultdict(list)
    for row in rows:
        waits[row.host] += [wait for one in stored.visits[row.page] if (wait := one.outcome.retry_after) is not None]
    for host, asked in waits.items():
        if asked:
            times = f"{counted(len(asked), 'time')}, for {span(sum(asked))} in all"
            yield f"{host} asked to be left alone (Retry-After with 429, 503 or the like): {times}"


def _not_believed(capture: CaptureRow, rows: list[PageRow]) -> Iterator[str]:
    """Which lastmods of the sitemaps speak against themselves, or were caught lying before; see also the audit."""
    if capture.audit:
        for one in capture.audit["classes"]:
            if one["reason"]:
                words = f"lastmods of {one['label']} not believed ({one['values']:,}): {one['reason']}"
                yield f"{words}. Their pages are visited twice"
        return
    said = {row.url: row.hints for row in rows if row.hints and row.hints.lastmod is not None}
    if not said:
        return
    from sharc_crawler.rates.history import SiteHistory  # only where sitemaps told of changes
    from sharc_crawler.rates.trust import trust

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
