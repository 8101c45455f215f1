"""A site as a simulated crawl meets it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sharc_crawler.lab.graph import Graph, breadth_first

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.lab.truth import Changes, Lives
    from sharc_crawler.model import Instant, Seconds

LAPSE = 30 * 86_400.0  #: seconds between the archive's former capture and the window


@dataclass(frozen=True)
class Site:
    """A site over a window of time. Pages are numbered from 0; all columns have one entry per page."""

    name: str
    urls: Sequence[str]
    root: int  #: entry page
    start: Instant  #: of the window
    end: Instant
    graph: Graph
    lives: Lives
    changes: Changes  #: in the window
    past: Changes  #: before it: all that a rate may be learned from
    created: NDArray[np.float64]
    rates: NDArray[np.float64]  #: changes per second in the window: what an oracle knows
    step: Seconds | None = None  #: Δ; None: the downloads of a capture are spread over the window

    @cached_property
    def known(self) -> list[int]:
        """The pages reachable from the entry page when the window begins, breadth first."""
        return breadth_first(self.graph, self.root, self.start, self.lives.alive)

    @cached_property
    def archived(self) -> list[int]:
        """The pages that a former capture found, breadth first: what was reachable :data:`LAPSE` before the window.

        Links are those of that time as far back as they are known; then the oldest ones that are.
        """
        then = self.start - LAPSE

        def there(page: int, _: Instant) -> bool:
            return page == self.root or (self.lives.alive(page, then) and not then < self.created[page] < self.start)

        return breadth_first(self.graph, self.root, then, there)

    def as_of(self, instant: Instant) -> Site:
        """As a crawler knows it that begins at this instant of the window: what has changed until then is past."""
        if instant == self.start:
            return self
        past = self.past.and_later(self.changes).within(-math.inf, instant)
        return replace(self, start=instant, past=past)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Page numbers by URL."""
        return {url: number for number, url in enumerate(self.urls)}
