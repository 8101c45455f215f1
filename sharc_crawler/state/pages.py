"""The table of all URLs, stored in columns: a queued URL costs bytes, not objects."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from sharc_crawler.addresses.known_urls import Texts
from sharc_crawler.errors import StateError
from sharc_crawler.evidence.headers import is_part
from sharc_crawler.model import EMBEDDED, NO_VALIDATORS, Kind, Outcome, PageId, RateEstimate, Result, Validators
from sharc_crawler.rates.base import PRIOR
from sharc_crawler.state.lifecycle import TRANSITIONS, Event, State
from sharc_crawler.state.rows import PageRow

_Type = tuple[int | None, str | None, str | None, bool]

NO_PARENT = -1
HUB_KEY = "hub:"  #: prefixes the key of a hub whose URL is also a page
DEEPEST = 65_535  #: larger depths are stored as this
_LOST, _SITEMAP, _OK = int(State.LOST), Kind.SITEMAP, Result.OK  # local names are faster
_BETWEEN = 6  #: separators of the seven texts in a note
_FOR_NOW = {302: Result.REDIRECTED, 303: Result.REDIRECTED, 307: Result.REDIRECTED, 404: Result.GONE}
HOST = 5  #: column of a PageRow
UNRATED = RateEstimate(0.0, "none")  #: of URLs without a rate


def is_compared(kind: Kind, outcome: Outcome) -> bool:
    """Is it compared with a later answer? Content is; so is a resource's 404 or redirect, which its page shows."""
    if kind is not Kind.RESOURCE or outcome.result is _OK:
        return outcome.result is _OK
    return outcome.result is _FOR_NOW.get(outcome.status or 0) and "\0" not in (outcome.location or "")


class PageTable:
    """Rows are numbered from 0 in the order of discovery; values that few rows have are kept in dicts."""

    def __init__(self) -> None:
        self.urls = Texts()  #: as requested
        self.states = bytearray()
        self.kinds: Names[Kind] = Names()
        self.hosts = array("i")
        self.depths = array("H")
        self.parents = array("i")  #: row of the document that named it; NO_PARENT: none that was fetched
        self.rates = array("d")
        self.started = array("d")  #: start of the last visit before T; 0: none
        self.shapes = array("d")
        self.weights = array("d")
        self.guessed = bytearray()  #: 1: the rate is only the prior's
        self._in_full: set[PageId] = set()  # to be requested without conditions
        self._notes: list[bytes | None] = []  #: outcome of the visit, packed, until judged
        self._types: list[_Type] = []  # status, media type, charset and part, by number
        self._numbers: dict[_Type, int] = {}

    def __len__(self) -> int:
        return len(self.urls)

    def extend(self, rows: Sequence[PageRow], hosts: Mapping[str, int]) -> None:
        """Add stored rows; ``hosts``: the number of each host."""
        if rows:
            columns: list[Sequence[Any]] = [*zip(*rows, strict=True)]
            columns[HOST] = [*map(hosts.__getitem__, columns[HOST])]
            self.add(columns)

    def add(self, columns: Sequence[Sequence[Any]]) -> None:
        """Append rows, given in columns; hosts by number."""
        _, _, _, urls, kinds, hosts, depths, parents, _, states, rates, sources, shapes, weights, *_ = columns
        self.urls.extend(urls)
        self.kinds.extend(kinds)
        self.hosts.extend(hosts)
        self.depths.extend(depths if max(depths) <= DEEPEST else [min(depth, DEEPEST) for depth in depths])
        self.parents.extend(parents)
        self.states.extend(states)
        self.rates.extend(rates)
        self.guessed.extend([source == PRIOR for source in sources])
        self.shapes.extend(shapes)
        self.weights.extend(weights)
        self.started.frombytes(bytes(self.started.itemsize * len(urls)))
        self._notes.extend([None] * len(urls))

    def move(self, page: PageId, event: int) -> None:
        """Apply an event of the life cycle to a row; :class:`~sharc_crawler.errors.StateError` for an illegal one."""
        state = self.states[page]
        then = TRANSITIONS.get((state, event))
        if then is None:
            who = f"page {page} ({self.urls[page]})"
            raise StateError(f"{who} is in the state {State(state).name!r}: it cannot {Event(event).name}")
        self.states[page] = then

    def polled(self, page: PageId, outcome: Outcome) -> bool:
        """Enter a hub's poll; did it bring an answer? A hub refused or gone at its first poll is lost."""
        first = self.states[page] == State.LEASED
        if outcome.result in (Result.OK, Result.NOT_MODIFIED):
            self.move(page, Event.CAPTURED if first else Event.POLLED)
            if outcome.result is Result.OK:  # the next poll is conditional on this state
                self.remember(page, outcome)
            return True
        self.move(page, Event.NO_CONTENT if first and outcome.result is not Result.FAILED else Event.GIVEN_BACK)
        return False

    def remember(self, page: PageId, outcome: Outcome, compared: bool = True) -> None:
        """Keep when a page was visited and, if ``compared`` with a later fetch, its outcome."""
        self.started[page] = outcome.started
        if compared:
            self._notes[page] = self._packed(
                outcome._replace(validators=NO_VALIDATORS) if is_part(outcome) else outcome
            )

    def parent_url(self, page: PageId) -> str:
        """Return the URL of the document that named it; empty if none was fetched."""
        parent = self.parents[page]
        return self.urls[parent] if parent != NO_PARENT else ""

    def named_as(self, page: PageId) -> PageId:
        """Return the first page of the redirects that led to this one; itself if none did."""
        while (parent := self.parents[page]) != NO_PARENT and self.states[parent] == _LOST:
            if self.kinds[parent] is not Kind.PAGE:
                break
            page = parent
        return page

    def owner(self, page: PageId) -> PageId:
        """Return the page that first embedded a resource, also through a style sheet; a page owns itself."""
        while self.kinds[page] in EMBEDDED and self.parents[page] != NO_PARENT:
            page = self.parents[page]
        return page

    def listed(self, page: PageId) -> bool:
        """Does a sitemap name it, or a page that redirects to it?"""
        parent = self.parents[self.named_as(page)]
        return parent != NO_PARENT and self.kinds[parent] is _SITEMAP

    def remembered(self, page: PageId) -> Outcome:
        """Return the outcome kept by :meth:`remember`."""
        started = self.started[page]
        if (note := self._notes[page]) is None:
            return Outcome(Result.OK, started, started)
        kind, *texts = note.decode("utf-8", "surrogatepass").split("\0")
        date, digest, decoded, location, etag, modified = (text or None for text in texts)
        status, media_type, charset, part = self._types[int(kind)]
        return Outcome(
            _FOR_NOW.get(status or 0, _OK),
            started,
            started,
            status=status,
            digest=digest,
            decoded=decoded,
            location=location,
            validators=Validators(etag, modified) if etag or modified else NO_VALIDATORS,
            media_type=media_type,
            charset=charset,
            date=float(date) if date else None,
            part=part,
        )

    def validators(self, page: PageId) -> Validators:
        """Return the validators for a conditional request."""
        return self.remembered(page).validators if self.has_validators(page) else NO_VALIDATORS

    def has_validators(self, page: PageId) -> bool:
        """Has it validators, and may they be sent?"""
        note = self._notes[page]
        return note is not None and not note.endswith(b"\0\0") and page not in self._in_full

    def asked_by(self, page: PageId, outcome: Outcome) -> Outcome:
        """Return the visit to judge a revisit by: without validators if a 304 came though none were sent."""
        visit = self.remembered(page)
        unasked = outcome.result is Result.NOT_MODIFIED and page in self._in_full
        return visit._replace(validators=NO_VALIDATORS) if unasked else visit

    def last_modified(self, page: PageId) -> str | None:
        """Return the Last-Modified header of the visit."""
        note = self._notes[page]
        return note.rpartition(b"\0")[2].decode("utf-8", "surrogatepass") or None if note else None

    def ask_in_full(self, page: PageId) -> None:
        """Send no conditional requests for it."""
        self._in_full.add(page)

    def forget(self, page: PageId) -> None:
        """Drop the kept outcome."""
        self._notes[page] = None

    def having(self, state: State) -> list[PageId]:
        """Return the rows in a state, in order of discovery."""
        return np.flatnonzero(np.frombuffer(self.states, np.uint8) == state).tolist()

    def pages_in(self, state: State) -> list[PageId]:
        """Return the pages in a state, in order of discovery."""
        return [page for page in self.having(state) if self.kinds[page] is Kind.PAGE]

    def _packed(self, outcome: Outcome) -> bytes:
        """Pack an outcome in one bytes object, a third of the size of its parts; an empty text means ``None``."""
        kind = outcome.status, outcome.media_type, outcome.charset, outcome.part
        number = self._numbers.setdefault(kind, len(self._types))
        if number == len(self._types):
            self._types.append(kind)
        date = "" if outcome.date is None else f"{outcome.date:.0f}"
        texts = str(number), date, outcome.digest, outcome.decoded, outcome.location, *outcome.validators
        packed = "\0".join([text or "" for text in texts]).encode("utf-8", "surrogatepass")
        if packed.count(0) > _BETWEEN:  # no request may carry such a validator
            return self._packed(outcome._replace(validators=NO_VALIDATORS))
        return packed


T = TypeVar("T", bound=str)


class Names(Generic[T]):
    """A column of names, with at most 255 different ones.

    >>> names = Names()
    >>> names.extend(["page", "sitemap", "page"])
    >>> names[2], len(names)
    ('page', 3)
    """

    def __init__(self) -> None:
        self._codes = bytearray()
        self._names: list[T] = []
        self._code_of: dict[T, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def extend(self, names: Sequence[T]) -> None:
        """Append rows."""
        for name in set(names).difference(self._code_of):
            self._code_of[name] = len(self._names)
            self._names.append(name)
        self._codes.extend(map(self._code_of.__getitem__, names))

    def __getitem__(self, row: int) -> T:
        return self._names[self._codes[row]]
