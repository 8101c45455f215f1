"""A fetch under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from scrapy import Request

    from sharc_crawler.live.reading.readings import Reading
    from sharc_crawler.model import CaptureRef, Fetch, Outcome, Sighting


@dataclass(slots=True)
class Lease:
    """A fetch under way, and what has been learned of it so far."""

    fetch: Fetch
    hops: int = 0  #: redirects and retries that a project's own middlewares have made of it
    repeated: int = 0  #: of these, retries
    led: str | None = None  #: where the last of its redirects led
    outcome: Outcome | None = None
    links: Sequence[Sighting] = ()
    written: Future[CaptureRef] | None = None  #: where its exchange lies, once it is on disk
    hopped: list[Request] = field(default_factory=list)  #: redirects that a duplicate filter has seen
    reading: Future[Reading] | None = None  #: what it brought, once it is read
    rendering: Future[Reading] | None = None  #: what it names once its scripts have run
    withheld: bool = False  #: it was not sent: it is made again
    unwritten: str = ""  #: why it was not archived, where there was no room: it is made again

    @property
    def done(self) -> bool:
        """Nothing of it is still being written, read or rendered."""
        return all(future is None or future.done() for future in (self.written, self.reading, self.rendering))
