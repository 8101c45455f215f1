"""| The progress line: phase, pages, rate, time left. Rewritten in place on a terminal, else one line each 10 s."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import compress
from math import inf
from typing import TYPE_CHECKING, TextIO

import numpy as np

from sharc_crawler.live.monitoring.busy import CLEAR, LINE
from sharc_crawler.model import Instant, Phase, Seconds
from sharc_crawler.state.lifecycle import State

if TYPE_CHECKING:
    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.hosts import Host, Pace
    from sharc_crawler.frontier.sites import Sites

    Pair = tuple[float, float]

FEW = 500  #: pages of a site up to which Python is faster than NumPy
_AHEAD = bytes(state in (State.QUEUED, State.LEASED) for state in range(256))  # by state: is a visit to come?
_TWICE = bytes(state < State.JUDGED for state in range(256))  # by state: is a visit or a revisit to come?


def at_least(sites: Sites, left: int, now: Instant) -> Seconds:
    """The least time for the ``left`` downloads: that of the slowest machine, by its delay. 0: none has to wait."""
    open_: Counter[Host] = Counter()
    for frontier in sites:
        if not (frontier.done or frontier.stopped):
            open_.update(_unfinished(frontier))
    paces: Counter[Pace] = Counter()
    for host, number in open_.items():
        paces[host.pace] += number
    share = left / max(open_.total(), 1)
    return max((_needs(host, paces[host.pace] * share, now) for host in open_), default=0.0)


def _needs(host: Host, left: float, now: Instant) -> Seconds:
    """Seconds that a host, and those that share its pace, still need."""
    in_turn = max(host.pace.due - now, 0.0) + max(left - 1, 0.0) * host.delay
    return max([in_turn, *(due - now for due, _, _ in host.retries)])


def _unfinished(frontier: Frontier) -> dict[Host, int]:
    """URLs of each host still to be downloaded, as far as known."""
    pages, strategy = frontier.pages, frontier.capture.strategy
    if not len(pages):
        return {}
    wanted = pages.states.translate(_TWICE if strategy is None or strategy.revisits else _AHEAD)
    hosts = frontier.ledger.hosts
    if len(pages) <= FEW:
        return {hosts[number]: count for number, count in Counter(compress(pages.hosts, wanted)).items()}
    found = np.bincount(np.frombuffer(pages.hosts, np.int32)[np.frombuffer(wanted, np.bool_)])
    return {hosts[number]: int(found[number]) for number in np.flatnonzero(found).tolist()}


def unread(sites: Sites) -> str:
    """The end of the line while robots.txt of a host cannot be had; "" otherwise."""
    hosts = [host.name for site in sites for host in site.ledger.hosts if host.waits and host.retries]
    others = f" and {len(hosts) - 1} more" if hosts[1:] else ""
    return f", waits for {hosts[0]}{others}: no robots.txt yet, asked for again" if hosts else ""


def _rests(sites: Sites) -> bool:
    """Is a host in a long pause that it asked for (Retry-After)? That says nothing of its speed; short pauses do."""
    ripe = sites.ripe or 0.0
    return any(host.pace.paused == ripe >= host.pace.last[0] + RECENT for site in sites for host in site.ledger.hosts)


RECENT, RECENT_PAGES = 60.0, 20
UNUSUAL: Seconds = 3.0  #: a wait beyond this is probably not the usual delay
WORTH_SAYING: Seconds = 10.0  #: a shorter wait is not mentioned; pages found so recently mean more to come


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a crawl is."""

    phase: str
    pages: int  #: known
    visits: int  #: as of revisits: those for which a request was made
    revisits: int
    due: int  #: visits and revisits that the strategies have not chosen yet
    left: int  #: downloads still to make, as far as known: not chosen yet, waiting for hosts, or in flight
    pending: int = 0  #: of ``left``: given to hosts; pages, what they embed, sitemaps

    @classmethod
    def of(cls, sites: Sites) -> Snapshot:
        """The sum over all captures."""
        captures = [frontier.capture for frontier in sites if not frontier.stopped]
        counts = [capture.counts for capture in captures]
        dropped = sum(one.dropped for one in counts)  # neither visited nor to be visited
        return cls(
            phase=_phase(captures),
            pages=sum(one.pages - one.late for one in counts) - dropped,
            visits=sum(one.visits for one in counts) - dropped,
            revisits=sum(one.revisits for one in counts),
            due=sum(capture.strategy.visits_left for capture in captures if capture.strategy),
            left=sum(map(_ahead, captures)),
            pending=sum(capture.owed.pending for capture in captures if capture.strategy),
        )

    @property
    def share(self) -> str:
        """Pages done and in all in this phase; redirects and pages that are gone are not revisited."""
        revisiting = self.phase.endswith(Phase.REVISIT)
        return f"{self.revisits}/{self.revisits + self.due}" if revisiting else f"{self.visits}/{self.pages}"


def _phase(captures: Sequence[SiteCapture]) -> str:
    """The phase with most pages, or what a mode calls it."""
    pages = Counter({str(Phase.DONE): 0})
    for one in captures:
        named = "sitemaps" if one.owed.first and one.strategy is None else str(one.phase)
        pages[named] += 0 if one.phase is Phase.DONE else 1 + one.counts.pages
    phase = max(pages, key=pages.__getitem__)
    if phase == "sitemaps":
        return phase
    if len(captures) == 1 and captures[0].mode.parted:
        return f"part {captures[0].mode.parts}, {phase}"
    return next((one.mode.called for one in captures if one.mode.called), phase)


def _ahead(capture: SiteCapture) -> int:
    """Downloads still to make, bounded by the budget."""
    chosen = capture.strategy.visits_left + capture.owed.pending if capture.strategy else 0
    return int(min(2 * (len(capture.front.waiting) + capture.mode.pooled) + chosen, capture.budget.room))


def line(
    snapshot: Snapshot, speeds: Pair, paused: str = "", span: Pair = (0.0, inf), wait: Seconds = 0.0, unread: str = ""
) -> str:
    """The line for a person; ``paused``: why the crawl pauses, if it does.

    ``speeds``: pages and all downloads per second. Pages bring what they embed, so their time is reckoned by pages.
    ``span``: the least time left by the hosts' delays, and the most by ``max_time``; ``wait``: seconds until the
    next request; ``unread``: see :func:`unread`. How often robots.txt is asked for, and what follows, is not known.
    """
    if paused:
        return f"{snapshot.phase} {snapshot.share} pages, paused ({paused})"
    pages, (speed, downloads) = max(snapshot.left - snapshot.pending, 0), speeds
    slowest = min(downloads, speed * snapshot.left / pages) if pages else downloads
    left = _left(snapshot.left, 0.0 if unread else slowest, *span)
    waits = f"next request in {_clock(wait)}, " if wait >= WORTH_SAYING else ""
    return f"{snapshot.phase} {snapshot.share} pages, {speed:.1f}/s, {waits}{left}{unread}"


def _left(left: int, speed: float, least: Seconds, most: Seconds) -> str:
    if speed and not left and least < WORTH_SAYING:
        return "nothing left to download"
    if (left / speed if speed else least) > most:
        return f"{_clock(max(1.0, most))} left of max_time"
    if speed:
        return f"{_clock(max(1.0, left / speed, least))} left"
    return f"at least {_clock(least)} left" if least >= WORTH_SAYING else "time left not known yet"


def _clock(seconds: Seconds) -> str:
    return str(timedelta(seconds=round(seconds)))


class Speed:
    """Recent pages per second: over the last minute, or the last twenty pages if they took longer."""

    def __init__(self) -> None:
        self._seen: deque[tuple[Instant, int]] = deque()

    def at(self, now: Instant, made: int) -> float:
        """The speed now that this many requests were made."""
        seen = self._seen
        if len(seen) == 1 and seen[0][1] == made:
            seen.clear()  # sitemaps come first
        if not seen or seen[-1][1] != made:  # a pause, however long, costs no memory
            seen.append((now, made))
        while len(seen) > 1 and now - seen[1][0] >= RECENT and made - seen[1][1] >= RECENT_PAGES:
            seen.popleft()
        start, before = seen[0]
        return (made - before) / (now - start) if now > start else 0.0


class ProgressLine:
    """Makes the line, appends ``beside()``, and writes it to a terminal or log (``out``; ``None``: nowhere)."""

    def __init__(self, sites: Sites, started: Instant, out: TextIO | None, beside: Callable[[], str] = str) -> None:
        self._sites, self._beside, self._by_kind = sites, beside, (Speed(), Speed())  # of pages, of all downloads
        self._out, self._live = out, out is not None and out.isatty()
        self._last = self._looked = self._grew = started
        self._paused, self._speeds = 0.0, (0.0, 0.0)  #: of the former, seconds in all
        self._snapshot: Snapshot | None = None  #: of the last look
        self._unread = self._paused_for = self._text = ""  #: the last of that look, once it was asked for
        self._many = FEW  #: known pages at which to look for generated addresses

    def show(self, now: Instant, paused: str = "") -> None:
        """Called once a second; off a terminal only each tenth line is written. ``paused``: why the crawl pauses."""
        snapshot = Snapshot.of(self._sites)
        self._grew = self._grew if self._snapshot and snapshot.pages <= self._snapshot.pages else now
        if paused or _rests(self._sites):
            self._paused += now - self._looked
        self._looked, self._snapshot, self._text, self._paused_for = now, snapshot, "", paused
        (pages, all_), run = self._by_kind, now - self._paused
        self._speeds = pages.at(run, snapshot.visits + snapshot.revisits), all_.at(run, self._sites.leased)
        if snapshot.pages >= self._many:
            from sharc_crawler.live.monitoring.own_addresses import look  # rarely needed on small sites

            self._many = look(self._sites, self._out)
        if self._out is None or (not self._live and now - self._last < 10.0):
            return
        self._last = now
        print((LINE if self._live else "{}\n").format(self.text(now)), end="", file=self._out, flush=True)

    def text(self, now: Instant) -> str:
        """The line as of now. The least time left is computed from all pages, so once for each :meth:`show`."""
        if not self._paused_for and (self._sites.polls or any(site.capture.mode.called for site in self._sites)):
            from sharc_crawler.live.setup.modes import mode_progress  # only then, too

            return mode_progress(self._sites, now)
        if now != self._looked or self._snapshot is None:
            return self._of(Snapshot.of(self._sites), now)
        self._text = self._text or self._of(self._snapshot, now)
        return self._text

    def _of(self, snapshot: Snapshot, now: Instant) -> str:
        least, wait = at_least(self._sites, snapshot.left, now), max((self._sites.ripe or now) - now, 0.0)
        most = max((site.capture.budget.ends for site in self._sites if not site.done), default=now) - now
        if not wait or wait >= UNUSUAL:
            self._unread = unread(self._sites) if wait else ""
        text = line(snapshot, self._speeds, self._paused_for, (least, most), wait, self._unread)
        grows = text.endswith("left") and "at least" not in text and now - self._grew < WORTH_SAYING
        more = " or more: pages are still found" if grows else ""
        return text + more + self._sites.held_up + self._beside()

    def clear(self) -> None:
        """Clear the line."""
        if self._live:
            print(CLEAR, end="", file=self._out, flush=True)
