"""What an instant crawl is asked to be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Seconds

SPREAD = 10.0  #: a hub is polled up to so many times more often, or more rarely, than on average


@dataclass(frozen=True, slots=True)
class Terms:
    """How often, how long, how many; raises :class:`~sharc_crawler.errors.UsageError` for what cannot be.

    >>> Terms(every=300).shortest, Terms(every=300).longest
    (30.0, 3000.0)
    """

    every: Seconds = 300.0  #: mean interval between two polls of a hub, over all hubs
    duration: Seconds = math.inf  #: inf: until stopped
    requests: float = math.inf  #: an hour, of any kind, over all hosts
    adaptive: bool = True  #: False: all hubs evenly, the peer of the evaluation

    def __post_init__(self) -> None:
        for name, value in (("every", self.every), ("for", self.duration), ("requests", self.requests)):
            if not value > 0:
                raise UsageError(f"{name}={value:g} must be more than 0")

    @property
    def shortest(self) -> Seconds:
        """No hub is polled sooner after its last poll."""
        return self.every / SPREAD

    @property
    def longest(self) -> Seconds:
        """No hub is polled later, unless the budget or politeness bids it: so a hub that wakes up is found out."""
        return self.every * SPREAD
