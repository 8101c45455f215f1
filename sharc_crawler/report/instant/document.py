"""Make an instant crawl's ``report.json``: discovery delays and their basis, requests, hubs (docs/temporal.md)."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from sharc_crawler import __version__
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.intervals import DATE_PRECISION
from sharc_crawler.frontier.modes.instant import PERHAPS_NEW
from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.model import Instant, Kind, Outcome, PageId, Result, Seconds
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.rows import Batch, NoveltyRow, VisitRow

FORMAT = "sharc-instant-report"
VERSION = 2
PUBLISHED, BOUND = "published", "bound"  #: basis of a delay: a publication date, or polls alone
#: a page's date: narrows the bounds of the polls, does not, lies before them, lies after them
BELIEVED, COARSE, EARLY, LATE = "believed", "coarse", "early", "late"
OLDER = "older"  #: its Last-Modified lies before the last poll without it: an old link came back


def document(state: Batch, truth: Mapping[str, Instant] | None = None) -> dict[str, Any]:
    """The report: instants as RFC 3339 text in UTC, durations in seconds.

    ``truth``: URL → publication time, if known; otherwise that of a feed or news sitemap counts.
    """
    made: dict[PageId, list[VisitRow]] = defaultdict(list)
    for visit in state.visits:
        if visit.attempt:
            made[visit.page].append(visit)
    pages = [_page(state, row, made[row.page], truth or {}) for row in state.novelties.values()]
    requests = Counter(str(state.pages[page].kind) for page, visits in made.items() for _ in visits)
    captured = sum(page["captured"] is not None for page in pages)
    total = sum(requests.values())
    first = next(iter(state.captures.values()))
    ended = max([first.started, *(visit.outcome.ended for visit in state.visits)])
    return {
        "format": FORMAT,
        "version": VERSION,
        "generator": {"name": "sharc-crawler", "version": __version__},
        "sites": [row.spec.site for row in state.captures.values()],
        "started": iso(first.started),
        "ended": iso(ended),
        "complete": all(row.ended is not None for row in state.captures.values()),
        "interruptions": [{"from": iso(start), "to": iso(end)} for start, end in first.interruptions],
        "settings": {name: value for name, value in first.spec.settings.items() if name != "run"},
        "delay": {basis: _spread([p["delay"] for p in pages if p["basis"] == basis]) for basis in (PUBLISHED, BOUND)},
        "new_pages": {"found": len(pages), "captured": captured},
        "left": _left(state),
        "dates": dict(Counter(page["date"] for page in pages if page["date"])),
        "requests": {**requests, "total": total, "per_new_page": round(total / captured, 2) if captured else None},
        "hubs": [_hub(state, number, made[number]) for number, row in enumerate(state.pages) if row.kind is Kind.HUB],
        "notes": [note for row in state.captures.values() for note in row.notes],
        "warcs": sorted({v.outcome.capture.file for v in state.visits if v.outcome.capture}),
        "pages": pages,
    }


def _page(state: Batch, row: NoveltyRow, visits: Sequence[VisitRow], truth: Mapping[str, Instant]) -> dict[str, Any]:
    """A new page, with bounds of its delay: from its publication to the start of its capture."""
    page = state.pages[row.page]
    last = visits[-1].outcome if visits else None
    captured = last.started if last and last.result is Result.OK else None
    known = truth.get(page.key)
    born = Bounds(known, known, "") if known is not None else _born(row, last)
    bounded = captured is not None and born.after is not None
    return {
        "url": page.key,
        "site": state.captures[page.capture].spec.site,
        "hub": state.pages[row.hub].url,
        "published": maybe_iso(row.published),
        "date": born.date,
        "not_before": maybe_iso(born.after),
        "not_after": iso(born.before),
        "seen": iso(row.seen),
        "captured": maybe_iso(captured),
        "delay": _lasted(born.after, captured),
        "delay_least": _lasted(born.before, captured) if bounded else None,
        "basis": (PUBLISHED if known is not None or born.date == BELIEVED else BOUND) if bounded else None,
        "result": str(last.result) if last else "not fetched yet",
    }


class Bounds(NamedTuple):
    """Bounds of a page's publication time."""

    after: Instant | None
    before: Instant
    date: str  #: what its date is worth (BELIEVED, …); empty: it has none


def _born(row: NoveltyRow, shown: Outcome | None) -> Bounds:
    """Between the last poll without the page and the first one with it; and within its date if that is compatible."""
    if shown and shown.result is Result.OK and row.since is not None and _modified(shown) < row.since:
        return Bounds(None, row.seen, OLDER)
    if row.earliest is None or row.latest is None:
        return Bounds(row.since, row.seen, "")
    if row.since is not None and row.latest < row.since:
        return Bounds(row.since, row.seen, EARLY)
    if row.earliest > row.seen:
        return Bounds(row.since, row.seen, LATE)
    after = row.earliest if row.since is None else max(row.since, row.earliest)
    before = min(row.seen, row.latest)
    return Bounds(after, before, BELIEVED if (after, before) != (row.since, row.seen) else COARSE)


def _modified(shown: Outcome) -> Instant:
    """The latest time of its last change by Last-Modified, on our clock; inf: not stated."""
    modified = http_date(shown.validators.last_modified)
    if modified is None:
        return math.inf
    ahead = 0.0 if shown.date is None else shown.date + (shown.age or 0.0) - shown.started
    return modified - ahead + DATE_PRECISION


def _lasted(since: Instant | None, captured: Instant | None) -> Seconds | None:
    return None if since is None or captured is None else max(0.0, round(captured - since, 3))


def _left(state: Batch) -> dict[str, Any]:
    """What hubs linked to and was not captured: pages, pages that may be new, and URLs not followed."""
    left = [
        row
        for row in state.pages
        if row.kind is Kind.PAGE and row.state == State.LATE and row.page not in state.novelties
    ]
    known, sightings = {row.url for row in state.pages}, Counter[str]()
    for capture in state.captures.values():
        sightings.update(capture.skipped)
    return {
        "pages": len(left),
        "perhaps_new": [row.url for row in left if row.reason == PERHAPS_NEW],
        "not_followed": {
            "sightings": dict(sorted(sightings.items())),
            "urls": [
                {"url": row.url, "reason": row.reason, "via": row.via} for row in state.outside if row.url not in known
            ],
        },
    }


def _spread(delays: Sequence[float]) -> dict[str, float | int | None]:
    """Number of delays, their median, 95th percentile (nearest rank) and maximum."""
    if not delays:
        return {"pages": 0, "median": None, "high": None, "longest": None}
    ordered = sorted(delays)
    high = ordered[min(len(ordered) - 1, -(-len(ordered) * 95 // 100) - 1)]
    return {"pages": len(ordered), "median": statistics.median(ordered), "high": high, "longest": ordered[-1]}


def _hub(state: Batch, number: PageId, visits: Sequence[VisitRow]) -> dict[str, Any]:
    row = state.pages[number]
    polls = [visit.outcome.started for visit in visits]
    gaps = [after - before for before, after in pairwise(polls)]
    return {
        "url": row.url,
        "via": row.via,
        "polls": len(polls),
        "not_modified": sum(visit.outcome.result is Result.NOT_MODIFIED for visit in visits),
        "failed": sum(visit.outcome.result not in (Result.OK, Result.NOT_MODIFIED) for visit in visits),
        "new_pages": sum(novelty.hub == number for novelty in state.novelties.values()),
        "interval": round(statistics.fmean(gaps), 1) if gaps else None,
        "last_interval": round(gaps[-1], 1) if gaps else None,
        "times": [iso(poll) for poll in polls],
    }
