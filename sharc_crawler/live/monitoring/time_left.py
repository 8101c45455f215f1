"""What a crawl still needs: the seconds that its slowest machine takes for what is left, and until the next request."""

from __future__ import annotations

from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.frontier.lifecycle import State

if TYPE_CHECKING:
    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.hosts import Host, Pace
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.model import Instant, Seconds

FEW = 500  #: pages of a site up to which Python is faster than NumPy: a crawl may have thousands of small sites
_AHEAD = bytes(state in (State.QUEUED, State.LEASED) for state in range(256))  # of each state: is a visit to be made?
_TWICE = bytes(state < State.JUDGED for state in range(256))  # a visit or a revisit


def at_least(sites: Sites, left: int, now: Instant) -> Seconds:
    """What the slowest machine needs for its share of the downloads that are ``left``; 0: nothing holds it up."""
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
    """The seconds that a host, and those that share its pace, still need."""
    in_turn = max(host.pace.due - now, 0.0) + max(left - 1, 0.0) * host.delay
    retried = max((due for due, _, _ in host.retries), default=now) - now
    return max(in_turn, retried)


def _unfinished(frontier: Frontier) -> dict[Host, int]:
    """URLs of each host that are to be downloaded, as far as known."""
    pages, strategy = frontier.pages, frontier.capture.strategy
    if not len(pages):
        return {}
    wanted = pages.states.translate(_TWICE if strategy is None or strategy.revisits else _AHEAD)
    hosts = frontier.ledger.hosts
    if len(pages) <= FEW:
        return {hosts[number]: count for number, count in Counter(compress(pages.hosts, wanted)).items()}
    found = np.bincount(np.frombuffer(pages.hosts, np.int32)[np.frombuffer(wanted, np.bool_)])
    return {hosts[number]: int(found[number]) for number in np.flatnonzero(found).tolist()}


def until_next(sites: Sites, now: Instant) -> Seconds:
    """Nothing is under way: the time until a host may be asked again; 0: now, or when something ends."""
    return 0.0 if (ripe := sites.ripe) is None else max(ripe - now, 0.0)
