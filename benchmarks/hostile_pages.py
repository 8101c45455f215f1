"""Pages of a hostile site, what is asked of them and answered, and the table of their kinds (``hostile_site.py``)."""

from __future__ import annotations

import random
import threading
from bisect import bisect_right
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SPAN = 900.0  #: seconds that the site lives
DAY = 86_400.0


@dataclass
class Page:
    """A page of a kind, and when it changes."""

    kind: str
    number: int
    born: float
    changes: list[float]
    asked: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def path(self) -> str:
        return f"/{self.kind}/{self.number}.html"

    def version(self, now: float) -> int:
        return bisect_right(self.changes, now)

    def changed(self, now: float) -> float:
        """When it did last."""
        seen = self.version(now)
        return self.changes[seen - 1] if seen else self.born - DAY

    def text(self, version: object) -> bytes:
        rng = random.Random(f"{self.path} {version}")
        words = " ".join("".join(rng.choices("abcdefghilmnoprstu", k=rng.randint(3, 9))) for _ in range(60))
        return f"<!doctype html><title>{self.path}</title><p>{words}</p>".encode()


@dataclass
class Asked:
    """A request, for a kind to answer."""

    page: Page
    now: float
    headers: dict[str, str]
    count: int  #: of the page's requests, from 1

    @property
    def version(self) -> int:
        return self.page.version(self.now)

    @property
    def side(self) -> int:
        """Of a page that goes to and fro."""
        return self.version % 2

    def matches(self, etag: str) -> bool:
        return self.headers.get("if-none-match") == etag

    @property
    def conditional(self) -> bool:
        return "if-none-match" in self.headers or "if-modified-since" in self.headers


@dataclass
class Answer:
    """What is sent, and which state it shows."""

    state: object
    body: bytes | None = None  #: None: the text of the state
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    type: str = "text/html; charset=utf-8"
    date: float | None = None
    protocol: str = "HTTP/1.1"
    length: int | None = None  #: that is said; None: the true one
    trailers: tuple[tuple[str, str], ...] = ()  #: given: the body comes in chunks
    cut: bool = False  #: the chunks end early
    bodied: bool = False  #: though it has no body by its status
    interim: tuple[str, ...] = ()  #: an answer 1xx before it
    kept: bool = False  #: the connection stays open, though the length is not true


def http(instant: float) -> str:
    return formatdate(instant, usegmt=True)


KINDS: dict[str, Callable[[Asked], Answer]] = {}
TRUTH: dict[str, Callable[[Page, float], set[object]]] = {}  #: where it is not the version
TOLD: dict[str, Callable[[Page, float], float | None]] = {}  #: lastmods that are not those of the changes
SILENT = set()


def kind(
    truth: Callable[[Page, float], set[object]] | None = None,
    silent: bool = False,
    told: Callable[[Page, float], float | None] | None = None,
):
    def known(answer: Callable[[Asked], Answer]):
        name = answer.__name__.replace("_", "-")
        KINDS[name] = answer
        if truth:
            TRUTH[name] = truth
        if told or truth is never:
            TOLD[name] = told or (lambda page, now: None)
        if silent:
            SILENT.add(name)
        return answer

    return known


def sides(page: Page, now: float) -> set[object]:
    return {page.version(now) % 2}


def never(page: Page, now: float) -> set[object]:
    return set()


def unmodified(state: object, **headers: str) -> Answer:
    told = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(state, b"", 304, told)
