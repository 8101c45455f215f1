"""Makes lost state again: a frontier is replayed from the WARC files and the log.

It makes its requests again, under a strategy that hands pages out in the order in which they were downloaded, and each
is answered by the archived response. What it knows at the end is what the lost state held.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import islice, takewhile
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scrapy.http import Headers, Response

from sharc_crawler.addresses.known_urls import UNSEEN
from sharc_crawler.addresses.unlikely import looked_at
from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.recorded import Answers, ArchivedExchange, archived
from sharc_crawler.archive.recovery import finish
from sharc_crawler.archive.warc_names import safe_name, series_of
from sharc_crawler.certificate.writing import about, warcinfo_field
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.modes.subsites import Subsites
from sharc_crawler.frontier.opening import Parts, at_once
from sharc_crawler.frontier.sites import Sites
from sharc_crawler.instants import unix
from sharc_crawler.live.former.recorded_order import LOGS, DecidedExchange, Recorded, before_any_again, decided, key_of
from sharc_crawler.live.former.validators import FormerCaptures, unchanged
from sharc_crawler.live.reading.document import read
from sharc_crawler.live.reading.intake import Intake
from sharc_crawler.live.reading.readings import WANTS, Order, Reading, Wants
from sharc_crawler.live.requests import Lease, outcome_of
from sharc_crawler.model import EMBEDDED, Fetch, Instant, Kind, Outcome, PageId, Phase, Result, Sighting, Slot
from sharc_crawler.plural import counted
from sharc_crawler.polling.terms import Terms
from sharc_crawler.state.lifecycle import State
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sharing import SharedFile
from sharc_crawler.strategies.base import Setting, Strategy
from sharc_crawler.traps.rules import Traps

if TYPE_CHECKING:
    from sharc_crawler.archive.former_answers import FormerAnswer
    from sharc_crawler.changes.base import ChangeDetector
    from sharc_crawler.changes.http import HttpResponse
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.hosts import Politeness
    from sharc_crawler.state.pages import PageTable
    from sharc_crawler.state.rows import Batch, LinksRow
    from sharc_crawler.state.spec import CaptureSpec

NO_RECORD = "no record of it is left"
MADE_AGAIN = "the state of this capture was made again at"
ALWAYS = 1e-6  #: seconds between two polls of a hub: the log says when it was polled
FORMER = ".former"  #: suffix of logs whose numbers do not fit the new state


class Rebuilt(NamedTuple):
    """State that was made again."""

    state: Batch
    links: list[LinksRow]
    run: str  #: the part that the names of its WARC files share


def rebuild(
    folder: Path,
    specs: Sequence[CaptureSpec],
    politeness: Politeness,
    parts: Parts,
    detector: ChangeDetector,
    when: str,
    former: FormerCaptures | None = None,
    known: Callable[[str], Sequence[Sighting]] = lambda _: (),
) -> Rebuilt:
    """The state of a folder whose captures began with these specs; nothing is written.

    ``former``: answers that 304s to first visits refer to; a page whose answer differs by now is fetched again.
    ``known``: the pages of a site that its history knew. Raises UsageError where it cannot be done.
    """
    run = check(folder, specs)
    finish(folder)
    every = archived(folder)
    if not every:
        raise UsageError(f"output={str(folder)!r} holds no exchanges to make state of; choose another folder")
    specs = [replace(spec, settings={**spec.settings, "run": run}) for spec in specs]
    attests = any(parts.strategy(spec, Setting()).attests for spec in specs)
    looks = any(spec.mode == "continuous" for spec in specs)
    return _Replay(folder, every, politeness, parts, detector, former, attests, looks).play(specs, run, when, known)


def was_made_again(folder: Path) -> bool:
    """Whether a folder's readable state was made by this module."""
    with open_state(folder) as store:
        return any(note.startswith(MADE_AGAIN) for row in store.captures().values() for note in row.notes)


def set_logs_aside(folder: Path) -> None:
    """Rename the logs: they are written anew from the new state."""
    for path in [path for pattern in LOGS for path in folder.glob(pattern)]:
        path.rename(path.with_name(path.name + FORMER))


def check(folder: Path, specs: Sequence[CaptureSpec]) -> str:
    """The run of the folder's WARC files; raises UsageError where state for these specs cannot be made of them."""
    names = {safe_name(spec.site) for spec in specs}
    series = {found for path in folder.iterdir() if (found := series_of(path.name.removesuffix(OPEN)))}
    runs = sorted(run for site, run in series if site in names)
    if not runs:
        sites = ", ".join(sorted(site for site, _ in series)) or "no site"
        raise UsageError(f"output={str(folder)!r} holds WARC files of {sites}, not of this; choose another folder")
    return runs[-1]


class _VisitedTraps(Traps):
    """Traps that neither delay nor drop a page: the pages of a replay were all visited, in the order of the log."""

    def waits(self, page: PageId, pages: PageTable) -> int:  # noqa: ARG002
        return 0

    def left(self, page: PageId, pages: PageTable) -> str | None:  # noqa: ARG002
        return None


class _Replay:
    """Replays a crawl: a frontier and its recorded answers."""

    def __init__(
        self,
        folder: Path,
        every: list[ArchivedExchange],
        politeness: Politeness,
        parts: Parts,
        detector: ChangeDetector,
        former: FormerCaptures | None,
        attests: bool,
        looks: bool,
    ) -> None:
        self._folder, self._former = folder, former
        self._answers = Answers(folder, every, former.find) if former else Answers(folder, every)
        self._detector = detector
        self._made = len(every)
        self._steps = decided(folder, every, politeness.attempts)
        if attests:
            self._steps = before_any_again(self._steps)
        if looks:
            self._steps = [step._replace(slot=step.slot or Slot.FIRST) for step in self._steps]
        self._store = MemoryStore()
        as_fast_as_may_be = replace(politeness, delay=0.0, concurrency=2**31, back_off=0.0, hosts=None, apart=False)
        real = parts.strategy
        self._file = SharedFile(self._store)
        self._sites = Sites(
            as_fast_as_may_be,
            replace(parts, strategy=lambda spec, setting: self._order(spec, real(spec, setting)), aside=at_once),
            terms=Terms(every=ALWAYS),
        )
        self._intake = Intake(self._sites, lambda _: self._folder)
        self._asked: dict[str, list[Fetch]] = defaultdict(list)  #: by URL
        self._now = 0.0  #: of the step that is replayed
        self._untold = Counter(step.key for step in self._steps)  #: exchanges still to come, by URL

    def _order(self, spec: CaptureSpec, real: Strategy) -> Strategy:
        return Recorded(real.setting, real, self._steps, lambda: self._sites[spec.site].pages.urls)

    def play(
        self, specs: Sequence[CaptureSpec], run: str, when: str, known: Callable[[str], Sequence[Sighting]]
    ) -> Rebuilt:
        """Replay everything, in the order in which it ended."""
        for spec in specs:
            # what hints had decided is told, and each look
            plain = replace(spec, hints=0.0, mode="capture" if spec.mode == "continuous" else spec.mode)
            frontier = self._sites.open(plain, self._began(spec.site, run), self._file.part())
            frontier.capture.traps = frontier.capture.traps and _VisitedTraps()
            frontier.capture.owed.add()  # the recorded end is unknown, so nothing may end here
            if isinstance(mode := frontier.capture.mode, Subsites) and any(step.slot for step in self._steps):
                mode.recorded = partial(self._visited_next, frontier.pages)
            frontier.schedule(known(spec.site), self._steps[0].decided)
        placed = sum(self._step(step) for step in sorted(self._steps, key=lambda step: step.ended))
        self._sites.note(
            f"{MADE_AGAIN} {when} from its WARC files ("
            f"{placed:,} of {counted(self._made, 'exchange')}): it had been lost"
        )
        self._sites.commit()
        state = self._store.load()
        visits = [one._replace(finished=one.finished and one.outcome.error != NO_RECORD) for one in state.visits]
        given = {spec.site: spec for spec in specs}
        captures = {number: row._replace(spec=given[row.spec.site]) for number, row in state.captures.items()}
        return Rebuilt(replace(state, visits=visits, captures=captures), list(self._store.links()), run)

    def _began(self, site: str, run: str) -> Instant:
        """When the crawl began: what is dated earlier is not new."""
        decided = self._steps[0].decided
        try:
            _, info = about(self._folder, (safe_name(site), safe_name(run)))
        except UsageError:  # the start of each file is lost
            return decided
        began = warcinfo_field(info, "began")
        return min(decided, unix(began)) if began else decided

    def _step(self, step: DecidedExchange) -> bool:
        """Replay one exchange; ``False``: the frontier did not ask for it."""
        self._ask(step.decided)
        fetch = self._fetch(step) or self._second_look(step)
        self._untold[step.key] -= 1
        if fetch is None:
            return False
        if not step.archived.answered:
            error = self._answers.error(step.archived)
            outcome = Outcome(Result.FAILED, step.archived.started, step.ended, error=error, capture=step.archived.ref)
            self._sites.finished(fetch, outcome)
            return True
        held = self._held(step, fetch)
        if step.archived.confirms and held is None:
            self._sites.finished(fetch, Outcome(Result.FAILED, step.archived.started, step.ended, error=NO_RECORD))
            return False
        lease = self._answered(step, fetch, held)
        assert lease.outcome is not None, "it was answered"
        self._sites.finished(fetch, lease.outcome._replace(capture=step.archived.ref), lease.links)
        return True

    def _second_look(self, step: DecidedExchange) -> Fetch | None:
        """Fetch a page visited again before T, or a sitemap read again; why it was is not weighed anew."""
        kind = Kind.PAGE if step.slot is Slot.FIRST else Kind.SITEMAP
        if any(visit_again(frontier, step.key, kind) for frontier in self._sites):
            self._ask(step.decided)
            return self._fetch(step)
        return None

    def _ask(self, now: Instant) -> None:
        """Take what the frontier decides by now; captures whose recorded decision is later wait as for a sitemap."""
        self._now = now
        while True:
            captures = [frontier.capture for frontier in self._sites]
            over = [one for one in captures if self._part_is_over(one)]
            held = [one for one in captures if one not in over and not self._decides(one, now)]
            for capture in held:
                capture.owed.before_visits("rebuilding")
            for capture in over:
                capture.owed.ended()
            for capture in captures:
                if capture not in held:  # its hosts had nothing to do at the last step
                    self._sites.go_on(capture.spec.site)
            fetch = self._sites.next(now)
            for capture in over:
                capture.owed.add()
            for capture in held:
                capture.owed.was_read("rebuilding")
            if not isinstance(fetch, Fetch):
                return
            self._take(fetch, now)

    def _part_is_over(self, capture: SiteCapture) -> bool:
        """Is one part of the site captured, and was a page of another one decided now?"""
        order, mode = capture.strategy.strategy if capture.strategy is not None else None, capture.mode
        if not (isinstance(order, Recorded) and order.is_over and capture.owed.pending == 1):
            return False
        if not isinstance(mode, Subsites) or mode.recorded is None:
            return bool(mode.pooled or capture.front.waiting)
        urls, left = self._sites[capture.spec.site].pages.urls, mode.recorded([*mode.pool, *capture.front.waiting])
        return bool(left) and any(step.key == key_of(urls[left[0]]) for step in self._coming(self._now))

    def _coming(self, until: Instant) -> Iterator[DecidedExchange]:
        """The steps from now on."""
        start = bisect_left(self._steps, self._now, key=attrgetter("decided"))
        return takewhile(lambda step: step.decided <= until, islice(self._steps, start, None))

    def _visited_next(self, pages: PageTable, waiting: Iterable[PageId]) -> list[PageId]:
        """Those of the waiting pages that were decided before the next revisit, in this order: they are of one part."""
        keys = {key_of(pages.urls[page]): page for page in waiting}
        coming = takewhile(lambda step: step.slot is not Slot.SECOND, self._coming(inf))
        return list(dict.fromkeys(keys[step.key] for step in coming if step.key in keys)) if keys else []

    def _decides(self, capture: SiteCapture, now: Instant) -> bool:
        order = capture.strategy.strategy if capture.strategy is not None else None
        if order is None and capture.front.waiting and not capture.owed.first:
            return self._begins(capture, now)
        return not isinstance(order, Recorded) or order.is_due(now)

    def _begins(self, capture: SiteCapture, now: Instant) -> bool:
        """Was the first waiting page decided by now? Hubs are polled while the strategy is being made."""
        urls = self._sites[capture.spec.site].pages.urls
        waiting = {key_of(urls[page]) for page in capture.front.waiting}
        return any(step.key in waiting for step in takewhile(lambda step: step.decided <= now, self._steps))

    def _take(self, fetch: Fetch, now: Instant) -> None:
        """Answer a page (or the sitemap of T) that has no record with a failure, so that it is fetched again later."""
        key, again = key_of(fetch.url), fetch.kind is Kind.SITEMAP and fetch.slot is Slot.SECOND
        if (fetch.kind is Kind.PAGE or again) and not self._untold[key]:
            self._sites.finished(fetch, Outcome(Result.FAILED, now, now, error=NO_RECORD))
        else:
            self._asked[key].append(fetch)

    def _fetch(self, step: DecidedExchange) -> Fetch | None:
        """The first matching request."""
        asked = self._asked[step.key]
        second = step.slot is Slot.SECOND or (step.archived.not_modified and not step.archived.confirms)
        found = next((one for one in asked if step.slot is None or (one.slot is Slot.SECOND) == second), None)
        if found:
            asked.remove(found)
        return found

    def _held(self, step: DecidedExchange, fetch: Fetch) -> FormerAnswer | None:
        """The former capture's answer that a 304 confirms, if it is still the same."""
        found = self._former.find(fetch.url) if self._former and step.archived.confirms else None
        return found if found and found.original.digest == step.archived.digest else None

    def _answered(self, step: DecidedExchange, fetch: Fetch, held: FormerAnswer | None) -> Lease:
        """The finished lease of a visit, with everything read from its answer."""
        one, message = step.archived, held.message if held else self._answers.message(step.archived)
        lease, reading, length = Lease(fetch), Future[Reading](), 0
        if (one.not_modified and not held) or message is None:
            response = Response(one.url, 304 if one.not_modified else 500)
            reading.set_result(Reading())
        else:
            response, length = Response(one.url, message.status, _headers(message)), len(message.payload)
            digests = not one.truncated
            wants, says = self._wants(fetch, response.status), bool(looked_at(fetch.url))
            order = Order(one.url, wants, digests, compared=True, words=True, says=says)
            reading.set_result(read(message.raw, order, self._detector))
        if held:
            response, length = Response(one.url, 304, _headers(self._answers.noted(one))), 0
        lease.outcome, lease.reading = outcome_of(response, length, one.started, step.ended), reading
        if held:
            lease.outcome = unchanged(lease.outcome, fetch, held)
        self._intake.take_in(lease)
        return lease

    def _wants(self, fetch: Fetch, status: int) -> Wants:
        if not 200 <= status < 300 or (fetch.kind in EMBEDDED and fetch.slot is Slot.SECOND):
            return Wants.NOTHING
        if fetch.kind is Kind.SITEMAP and self._sites.of(fetch).capture.spec.mode == "instant":
            return Wants.NEWS
        return WANTS[fetch.kind]


def _headers(message: HttpResponse | None) -> Headers:
    found: dict[bytes, list[bytes]] = defaultdict(list)
    for name, value in message.headers if message else ():
        found[name].append(value)
    return Headers(found)


def visit_again(frontier: Frontier, url: str, kind: Kind) -> bool:
    """Visit a page or sitemap once more before T; return ``False`` if that is impossible."""
    capture, pages = frontier.capture, frontier.pages
    page = capture.seen.get(url)
    early = capture.phase is Phase.VISIT and page != UNSEEN and pages.kinds[page] is kind
    if not early or pages.states[page] != State.VISITED:
        return False
    if kind is Kind.SITEMAP:
        capture.owed.before_visits(page)
    frontier.ledger.owe(page, Slot.SECOND if kind is Kind.SITEMAP else Slot.FIRST)
    return True
