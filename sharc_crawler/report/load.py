"""Make the facts of site captures from a folder's stored state. Pages stay in the store; only numbers are in memory."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.evidence.facts import NOTHING_TAUGHT, CaptureFacts, Outside, Taught
from sharc_crawler.evidence.intervals import FAR
from sharc_crawler.model import Instant, Kind, Result, Seconds
from sharc_crawler.report.marks import TILED
from sharc_crawler.report.pages import StoredPages
from sharc_crawler.report.pages import counted as visits_that_count
from sharc_crawler.report.subsites import SubsiteParts
from sharc_crawler.seeds import SELECTION
from sharc_crawler.state.spec import BOUNDS

if TYPE_CHECKING:
    from sharc_crawler.rates.trust import FirstAccess
    from sharc_crawler.report.pages import Stored, Truth
    from sharc_crawler.seeds.hacs.selection import Selection
    from sharc_crawler.state.rows import CaptureRow, HostRow, UrlRow, VisitRow

SOFTWARE = ("sharc-crawler", "scrapy", "twisted", "lxml", "warcio", "numpy", "scipy")


def read_selection(folder: Path) -> Selection | None:
    """The selection that a capture folder holds."""
    path = folder / SELECTION
    if not path.exists():
        return None
    from sharc_crawler.seeds.hacs.selection import Selection  # only where seeds were ranked

    return Selection.read(path, "remove it to have a report without")


_version = cache(version)  # reading one takes milliseconds, and there may be thousands of sites


def is_instant(captures: Mapping[int, CaptureRow]) -> bool:
    """Are these captures of an instant crawl?"""
    return any(row.spec.mode == "instant" for row in captures.values())


def capture_facts(store: Stored, truth: Truth | None = None, taught: Taught = NOTHING_TAUGHT) -> list[CaptureFacts]:
    """The facts of stored state; their pages are read from the store, whenever they are walked over."""
    hosts = store.hosts()
    return [_capture(store, capture, hosts, truth, taught) for capture in store.captures().values()]


def _capture(
    store: Stored, capture: CaptureRow, hosts: Mapping[str, HostRow], truth: Truth | None, taught: Taught
) -> CaptureFacts:
    subsites = SubsiteParts(capture, store.subsites())
    seen, data = _Seen(capture, hosts), None
    left = {row.url: Outside(row.url, row.reason, row.via) for row in store.outside() if row.capture == capture.capture}
    for url in store.urls(capture.capture):
        left.pop(url.page.url, None)  # found later by a shorter path
        seen.add(url)
        subsites.add(url)
        if url.page.kind is Kind.DATA:
            from sharc_crawler.report.data_states import DataStates  # only where browsers showed pages

            data = data or DataStates()
            data.add(url)
    subsites.find()
    instants = {part.reference for part in subsites.parts}
    states = data.states(subsites) if data else {}
    spec = capture.spec
    return CaptureFacts(
        site=spec.site,
        seeds=spec.seeds,
        strategy=spec.strategy,
        started=seen.started,  # before capture.started if it was begun again
        ended=capture.ended,
        reference=instants.pop() if len(instants) == 1 else None,
        subsites=subsites.parts,
        pages=StoredPages(store, capture.capture, subsites, (capture.started, seen.ended), truth, taught, states),
        step=seen.step,
        settings=_settings(capture),
        software={name: _version(name) for name in SOFTWARE},
        exchanges=seen.exchanges,
        payload_bytes=seen.payload_bytes,
        warcs=tuple(sorted(seen.warcs)),
        interruptions=capture.interruptions,
        taught=taught,
        notes=tuple(_notes(store, capture, seen)),
        audit=capture.audit,
        swings=capture.swings,
        revisits=capture.ended is None and spec.mode == "capture" and _revisits(spec.strategy),
        skipped=capture.skipped,
        outside=tuple(left.values()),
    )


def _revisits(strategy: str) -> bool:
    from sharc_crawler.report.unfinished import revisits  # only of captures that are not complete

    return revisits(strategy)


MANY_NOTES = 3  #: more notes of a crawl are searched for similar ones


class _Seen:
    """Collects sums in a first walk over all URLs of a capture, with robots.txt and sitemaps."""

    def __init__(self, capture: CaptureRow, hosts: Mapping[str, HostRow]) -> None:
        self._hosts = hosts
        self.ended = capture.started
        self.step: Seconds = 0.0
        self.payload_bytes = 0
        self.warcs: set[str] = set()
        self.scripted = False  #: may scripts show more? (a page embeds files but has hardly any links; image tiles)
        self.exchanges, self.started = 0, capture.started
        self._waits: dict[str, list[Seconds]] = defaultdict(list)
        self._ahead = defaultdict[str, "array[float]"](lambda: array("d"))  # host → seconds its clock is ahead
        self._lastmods: FirstAccess | None = None

    def add(self, url: UrlRow) -> None:
        """Add a URL."""
        row = url.page
        if row.kind is Kind.PAGE and row.host in self._hosts:
            self.step = max(self.step, self._hosts[row.host].delay)
        if row.hints and row.hints.lastmod is not None:
            self._add_lastmod(row.url, row.hints.lastmod)
        self.scripted |= row.url.endswith(TILED)
        for visit in visits_that_count(url):
            self._visit(row.host, visit)
            about = visit.outcome.document
            self.scripted |= about is not None and about.outlinks <= 2 and bool(url.embeds)

    def _add_lastmod(self, url: str, lastmod: Instant) -> None:
        if self._lastmods is None:
            from sharc_crawler.rates.trust import FirstAccess  # only where sitemaps told of changes

            self._lastmods = FirstAccess()
        self._lastmods.add(url, lastmod)

    def _visit(self, host: str, visit: VisitRow) -> None:
        outcome = visit.outcome
        if outcome.retry_after is not None:
            self._waits[host].append(outcome.retry_after)
        if not visit.attempt or (outcome.result is Result.REFUSED and outcome.status is None):  # without a request
            return
        self.ended = max(self.ended, outcome.ended)
        self.payload_bytes += outcome.length
        self.exchanges += 1
        self.started = min(self.started, outcome.started)
        if outcome.date is not None and not outcome.age:
            self._ahead[host].append(outcome.date - outcome.started)
        if outcome.capture:
            self.warcs.add(outcome.capture.file)

    def notes(self) -> Iterator[str]:
        """Notes on hosts' clocks, and on waits that they asked for."""
        if self._waits or any(abs(max(ahead)) > FAR for ahead in self._ahead.values()):
            from sharc_crawler.report.server_notes import clocks, waited  # of few hosts

            yield from (*clocks(self._ahead), *waited(self._waits))

    def not_believed(self, started: Instant) -> Iterator[str]:
        """Notes on lastmods that contradict themselves."""
        found = self._lastmods.trust(started) if self._lastmods else ()
        return (one.objection for one in found if one.values and one.reason)


def _notes(store: Stored, capture: CaptureRow, seen: _Seen) -> Iterator[str]:
    yield from seen.notes()
    if capture.audit:
        from sharc_crawler.report.server_notes import unbelieved  # only where the server's word counts

        yield from unbelieved(capture.audit)
    else:
        yield from seen.not_believed(capture.started)
    if any("cannot exist" in note for note in capture.notes):
        from sharc_crawler.report.server_notes import soft_errors  # on few sites

        yield from soft_errors(store, capture)
    if seen.scripted:
        from sharc_crawler.report.script_menus import unled  # as above

        yield from unled(store, capture)
    if capture.skipped or len(capture.notes) > MANY_NOTES:
        from sharc_crawler.report.left_out import notes_on_links, probed  # few captures leave anything

        yield from probed(capture.notes)
        yield from notes_on_links(capture.skipped)
    else:
        yield from capture.notes


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
        **({"session": spec.session} if spec.session else {}),
        **({"skip": spec.skip} if spec.skip != "off" else {}),
        **{name: bound for name in BOUNDS if (bound := getattr(spec, name))},
        **spec.settings,
    }
