"""The site of a simulated crawl."""

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
    """A site over a window of time. Pages are numbered from 0; arrays have one entry per page."""

    name: str
    urls: Sequence[str]
    root: int  #: number of the entry page
    start: Instant  #: beginning of the window
    end: Instant
    graph: Graph
    lives: Lives
    changes: Changes  #: changes in the window
    past: Changes  #: earlier changes, from which rates may be learned
    created: NDArray[np.float64]
    rates: NDArray[np.float64]  #: changes per second in the window, as an oracle knows them
    step: Seconds | None = None  #: Δ; None: a capture's downloads are spread over the window

    @cached_property
    def known(self) -> list[int]:
        """The pages reachable from the entry page when the window begins, breadth first."""
        return breadth_first(self.graph, self.root, self.start, self.lives.alive)

    @cached_property
    def archived(self) -> list[int]:
        """The pages that a former capture found, breadth first: those reachable :data:`LAPSE` before the window.

        It follows the links of that time, or the oldest known ones.
        """
        then = self.start - LAPSE

        def there(page: int, _: Instant) -> bool:
            return page == self.root or (self.lives.alive(page, then) and not then < self.created[page] < self.start)

        return breadth_first(self.graph, self.root, then, there)

    def as_of(self, instant: Instant) -> Site:
        """The site for a crawler that begins at this instant: earlier changes of the window belong to the past."""
        if instant == self.start:
            return self
        past = self.past.and_later(self.changes).within(-math.inf, instant)
        return replace(self, start=instant, past=past)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Page numbers by URL."""
        return {url: number for number, url in enumerate(self.urls)}
