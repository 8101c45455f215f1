"""How long a crawl takes at least, by what its hosts ask for: delays, back-offs, Retry-After."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.model import Phase

if TYPE_CHECKING:
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.hosts import Host
    from sharc_crawler.model import Instant, Seconds


def at_least(frontier: Frontier, left: int, now: Instant) -> Seconds:
    """What the slowest machine needs for its share of the downloads that are ``left``; 0: nothing holds it up."""
    open_ = _unfinished(frontier)
    hosts = frontier.ledger.hosts
    return max((_needs(hosts, number, open_, left, now) for number in np.flatnonzero(open_).tolist()), default=0.0)


def _needs(hosts: list[Host], number: int, open_: np.ndarray, left: int, now: Instant) -> Seconds:
    """Of one host and those that share its pace."""
    host = hosts[number]
    share = float(open_[host.pace.hosts].sum() / open_.sum())
    in_turn = max(host.pace.due - now, 0.0) + max(left * share - 1, 0.0) * host.delay
    retried = max((due for due, _, _ in host.retries), default=now) - now
    return max(in_turn, retried)


def _unfinished(frontier: Frontier) -> np.ndarray:
    """URLs of each host that are to be downloaded, as far as known."""
    pages = frontier.pages
    if not len(pages):
        return np.zeros(len(frontier.ledger.hosts), np.int64)
    states = np.frombuffer(pages.states, np.uint8)
    of = np.frombuffer(pages.captures, np.int32)
    goes_on = np.array([capture.phase is not Phase.DONE for capture in frontier.captures])
    twice = np.array([capture.strategy is None or capture.strategy.revisits for capture in frontier.captures])
    first = (states == State.QUEUED) | (states == State.LEASED)
    second = twice[of] & ((states == State.VISITED) | (states == State.LEASED_AGAIN))
    hosts = np.frombuffer(pages.hosts, np.int32)[goes_on[of] & (first | second)]
    return np.bincount(hosts, minlength=len(frontier.ledger.hosts))


def until_next(frontier: Frontier, now: Instant) -> Seconds:
    """Nothing is under way: the time until a host may be asked again; 0: now, or when something ends."""
    ring = frontier.ledger.ring
    ripe = ring.earliest() if frontier.idle and ring.head() is None else None
    return 0.0 if ripe is None else max(ripe - now, 0.0)
