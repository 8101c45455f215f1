"""| Detects scripts that poll for news (chats, notices), because of which a page would never be at rest. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.bodies.spool import Octets

MOST = 5  #: equal answers in a row, after which polling is ended
PATIENCE = 2.0  #: seconds in which a page must say how often it has changed
SHORT = 1 << 16  #: bytes of an answer without news
CUT = f"what a script asks for over and over: {MOST} answers in a row were equal, and nothing on the page changed"


@dataclass(slots=True)
class _Row:
    """Successive requests for one address (without query), each made after the last one's answer."""

    last: bytes | None = None  #: body of the last answer
    times: int = 0  #: equal answers in a row
    awaited: int = 0
    changes: int = -1  #: of the page when the row began


class LongPolls:
    r"""The polling of one page.

    >>> polls = LongPolls()
    >>> for _ in range(MOST + 1):
    ...     polls.asked("http://h/poll?t=1"); polls.answered("http://h/poll?t=1", b"HTTP/1.1 200 OK\r\n\r\n{}")
    >>> polls.is_one("http://h/poll?t=7", changes=3), polls.is_one("http://h/poll?t=8", changes=3)
    (False, True)
    >>> polls.is_one("http://h/poll?t=9", changes=4)  # it changed the page
    False
    """

    def __init__(self) -> None:
        self._rows: dict[str, _Row] = {}

    def may_be(self, url: str) -> bool:
        """Was the URL requested so often in a row that the page is to be examined?"""
        row = self._rows.get(_address(url))
        return row is not None and row.times >= MOST and not row.awaited

    def is_one(self, url: str, changes: int) -> bool:
        """Has the page not changed since it was last examined for this URL? -1: it does not say."""
        row = self._rows[_address(url)]
        known, row.changes = row.changes, changes
        row.times = 0 if changes < 0 else row.times
        return known == changes >= 0

    def asked(self, url: str) -> None:
        """Record a request."""
        row = self._rows.setdefault(_address(url), _Row())
        if row.awaited:
            row.times = 0  # at the same time: a list is being filled
        row.awaited += 1

    def answered(self, url: str, raw: Octets | None) -> None:
        """Record its answer."""
        row = self._rows[_address(url)]
        row.awaited -= 1
        body = None if raw is None or len(raw) > SHORT else bytes(raw).partition(b"\r\n\r\n")[2]
        row.times = row.times + 1 if body == row.last else 0
        row.last = body


def _address(url: str) -> str:
    return url.partition("?")[0]
