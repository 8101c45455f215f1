"""All URLs of a frontier, one row each, column by column: a queued URL costs bytes, not objects."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.frontier.columns import Names, Texts
from sharc_crawler.frontier.lifecycle import State, after
from sharc_crawler.model import NO_VALIDATORS, Outcome, Result

if TYPE_CHECKING:
    from sharc_crawler.model import Kind, PageId, RateEstimate, Validators

NO_PARENT = -1


class PageTable:
    """Rows are numbered from 0 in the order of discovery; what only some rows have is kept in dicts by row."""

    def __init__(self) -> None:
        self.urls = Texts()  #: to be requested
        self.states = bytearray()
        self.kinds: Names[Kind] = Names()
        self.captures = array("i")
        self.hosts = array("i")
        self.depths = array("H")
        self.parents = array("i")  #: row it was found on; NO_PARENT: a seed or nothing we fetched
        self.rates = array("d")
        self.started = array("d")  #: of the settled first visit; 0: none yet
        self.shapes = array("d")
        self.weights = array("d")
        self.digests: list[str | None] = []  #: of the first visit, until judged
        self.decoded: dict[PageId, str] = {}  #: the same, of payloads that came encoded
        self.validators: dict[PageId, Validators] = {}

    def __len__(self) -> int:
        return len(self.urls)

    def add(
        self,
        url: str,
        kind: Kind,
        capture: int,
        host: int,
        depth: int,
        parent: PageId,
        estimate: RateEstimate,
        weight: float,
        state: State = State.QUEUED,
    ) -> PageId:
        """A new row; its number."""
        page = len(self.urls)
        self.urls.append(url)
        self.states.append(state)
        self.kinds.append(kind)
        self.captures.append(capture)
        self.hosts.append(host)
        self.depths.append(min(depth, 65535))
        self.parents.append(parent)
        self.rates.append(estimate.rate)
        self.shapes.append(estimate.shape)
        self.weights.append(weight)
        self.started.append(0.0)
        self.digests.append(None)
        return page

    def move(self, page: PageId, event: int) -> None:
        """Apply an event of the life cycle to a row."""
        self.states[page] = after(self.states[page], event)

    def remember(self, page: PageId, outcome: Outcome) -> None:
        """The state that a later fetch of this page is compared with."""
        self.forget(page)
        self.started[page] = outcome.started
        self.digests[page] = outcome.digest
        if outcome.decoded:
            self.decoded[page] = outcome.decoded
        if outcome.validators:
            self.validators[page] = outcome.validators

    def remembered(self, page: PageId) -> Outcome:
        """That state, as the outcome that it came with."""
        return Outcome(
            Result.OK,
            self.started[page],
            self.started[page],
            digest=self.digests[page],
            decoded=self.decoded.get(page),
            validators=self.validators.get(page, NO_VALIDATORS),
        )

    def forget(self, page: PageId) -> None:
        """It will not be compared with again."""
        self.digests[page] = None
        self.decoded.pop(page, None)
        self.validators.pop(page, None)

    def of(self, capture: int, state: State | None = None) -> list[PageId]:
        """The rows of a capture, or of these the ones in a state, in the order of discovery."""
        chosen = np.frombuffer(self.captures, np.int32) == capture
        if state is not None:
            chosen &= np.frombuffer(self.states, np.uint8) == state
        return np.flatnonzero(chosen).tolist()
