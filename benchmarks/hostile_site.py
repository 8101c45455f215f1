"""A site that does all that a server can do between a visit and a revisit, and keeps a log of what it showed.

Each kind of page has a folder of its own. A page's *state* is what its origin would send at an instant; the log has,
for each answer, the state that it showed. A claim is false if the state of the visit's answer was not the page's at T.
The kinds in ``SILENT`` change and change back without a word: no crawler can know.
"""

from __future__ import annotations

import gzip
import random
import threading
import time
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SPAN = 900.0  #: seconds that the site lives
CACHED = 6.0  #: seconds that a cache keeps a copy
LAG = 3.0  #: of a replica
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


def http(instant: float) -> str:
    return formatdate(instant, usegmt=True)


KINDS: dict[str, Callable[[Asked], Answer]] = {}
TRUTH: dict[str, Callable[[Page, float], set[object]]] = {}  #: where it is not the version
SILENT = set()


def kind(truth: Callable[[Page, float], set[object]] | None = None, silent: bool = False):
    def known(answer: Callable[[Asked], Answer]):
        name = answer.__name__.replace("_", "-")
        KINDS[name] = answer
        if truth:
            TRUTH[name] = truth
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


# -- honest ------------------------------------------------------------------------------------------------------------


@kind()
def plain(asked: Asked) -> Answer:
    return Answer(asked.version)


@kind(lambda page, now: {"still"})
def still(asked: Asked) -> Answer:
    return unmodified("still", ETag='"1"') if asked.matches('"1"') else Answer("still", headers=(("ETag", '"1"'),))


@kind()
def honest_etag(asked: Asked) -> Answer:
    etag = f'"{asked.version}"'
    if asked.matches(etag):
        return unmodified(asked.version, ETag=etag)
    return Answer(asked.version, headers=(("ETag", etag), ("Last-Modified", http(asked.page.changed(asked.now)))))


# -- to and fro: A, B, A -----------------------------------------------------------------------------------------------


@kind(sides)
def fro_etag(asked: Asked) -> Answer:
    return Answer(asked.side, headers=(("ETag", f'"{asked.version}"'),))


@kind(sides)
def fro_modified(asked: Asked) -> Answer:
    return Answer(asked.side, headers=(("Last-Modified", http(asked.page.changed(asked.now))),))


@kind(sides)
def fro_both(asked: Asked) -> Answer:
    told = (("ETag", f'"{asked.side}"'), ("Last-Modified", http(asked.page.changed(asked.now))))
    return Answer(asked.side, headers=told)


@kind(sides)
def fro_304_etag(asked: Asked) -> Answer:
    """304 to whatever is asked, with the ETag of now."""
    etag = f'"{asked.version}"'
    return unmodified(asked.side, ETag=etag) if asked.conditional else Answer(asked.side, headers=(("ETag", etag),))


@kind(sides)
def fro_304_modified(asked: Asked) -> Answer:
    modified = http(asked.page.changed(asked.now))
    if asked.conditional:
        return unmodified(asked.side, Last_Modified=modified)
    return Answer(asked.side, headers=(("Last-Modified", modified),))


@kind(sides)
def fro_gone(asked: Asked) -> Answer:
    """There and gone by turns."""
    if asked.side:
        return Answer(1, b"gone", 410)
    return Answer(0, headers=(("ETag", f'"{asked.version}"'),))


@kind(sides)
def fro_weak(asked: Asked) -> Answer:
    return Answer(asked.side, headers=(("ETag", f'W/"{asked.version}"'),))


@kind(sides)
def fro_two_etags(asked: Asked) -> Answer:
    """The first ETag stays."""
    return Answer(asked.side, headers=(("ETag", '"1"'), ("ETag", f'"{asked.version}"')))


@kind(sides)
def fro_two_modified(asked: Asked) -> Answer:
    """The first Last-Modified stays."""
    told = http(asked.page.born - DAY), http(asked.page.changed(asked.now))
    return Answer(asked.side, headers=tuple(("Last-Modified", one) for one in told))


@kind(sides)
def fro_odd_modified(asked: Asked) -> Answer:
    """Its Last-Modified is no HTTP date."""
    return Answer(asked.side, headers=(("Last-Modified", f"revision {asked.version}"),))


@kind(sides, silent=True)
def fro_silent(asked: Asked) -> Answer:
    return Answer(asked.side)


@kind(sides, silent=True)
def fro_hash(asked: Asked) -> Answer:
    """Its ETag is of its content."""
    return Answer(asked.side, headers=(("ETag", f'"{asked.side}"'),))


@kind(sides, silent=True)
def fro_now(asked: Asked) -> Answer:
    """Modified whenever it is asked for."""
    return Answer(asked.side, headers=(("Last-Modified", http(asked.now)),))


# -- caches ------------------------------------------------------------------------------------------------------------


def copied(asked: Asked) -> float:
    return asked.page.born + (asked.now - asked.page.born) // CACHED * CACHED


@kind()
def cache_age(asked: Asked) -> Answer:
    made = copied(asked)
    return Answer(asked.page.version(made), headers=(("Age", str(round(asked.now - made))),))


@kind()
def cache_date(asked: Asked) -> Answer:
    """HTTP/1.0, no Age, deaf to no-cache."""
    made = copied(asked)
    return Answer(asked.page.version(made), date=made, protocol="HTTP/1.0")


@kind()
def cache_heeds(asked: Asked) -> Answer:
    heeds = "no-cache" in asked.headers.get("cache-control", "") + asked.headers.get("pragma", "")
    made = asked.now if heeds else copied(asked)
    return Answer(asked.page.version(made), headers=(("Age", str(round(asked.now - made))),))


@kind()
def cache_fro(asked: Asked) -> Answer:
    """One copy for ever: that of the visit, older at each answer."""
    first = asked.page.__dict__.setdefault("first", asked.now)
    return Answer(asked.page.version(first), headers=(("Age", str(int(asked.now - first) + 1)),), date=first)


@kind()
def cache_304(asked: Asked) -> Answer:
    """It answers conditions by its copy."""
    made = copied(asked)
    version, age = asked.page.version(made), str(round(asked.now - made))
    if asked.matches(f'"{version}"'):
        return unmodified(version, ETag=f'"{version}"', Age=age)
    return Answer(version, headers=(("ETag", f'"{version}"'), ("Age", age)))


@kind()
def cache_odd_age(asked: Asked) -> Answer:
    """Ages that nobody can read, Date as it was."""
    made = copied(asked)
    return Answer(asked.page.version(made), headers=(("Age", "-1, soon"),), date=made)


@kind()
def cache_fraction(asked: Asked) -> Answer:
    """An age with a fraction; all else is of now."""
    made = copied(asked)
    return Answer(asked.page.version(made), headers=(("Age", f"{asked.now - made:.1f}"),))


@kind()
def cache_two_ages(asked: Asked) -> Answer:
    """Two caches, of which the nearer one has just asked the other."""
    made = copied(asked)
    return Answer(asked.page.version(made), headers=(("Age", "0"), ("Age", str(round(asked.now - made)))))


@kind()
def cache_long(asked: Asked) -> Answer:
    """Older than the site."""
    made = copied(asked)
    return Answer(asked.page.version(made), headers=(("Age", "9" * 30),))


@kind()
def cache_hit(asked: Asked) -> Answer:
    """A copy, as it says, of no age."""
    return Answer(asked.page.version(copied(asked)), headers=(("Cache-Status", "edge; hit; ttl=300"),))


@kind()
def cache_warns(asked: Asked) -> Answer:
    return Answer(asked.page.version(copied(asked)), headers=(("Warning", '110 - "Response is Stale"'),))


# -- validators --------------------------------------------------------------------------------------------------------


@kind()
def liar_304(asked: Asked) -> Answer:
    """One ETag, whatever it shows, and 304."""
    return unmodified(asked.version, ETag='"1"') if asked.matches('"1"') else Answer(
        asked.version, headers=(("ETag", '"1"'),)
    )  # fmt: skip


@kind()
def liar_304_always(asked: Asked) -> Answer:
    """304 at every second request, asked or not."""
    return unmodified(asked.version) if asked.count % 2 == 0 else Answer(asked.version)


@kind(never)
def weak_etag(asked: Asked) -> Answer:
    """Its weak ETag stays, its bytes do not: such claims are counted apart."""
    told = Answer(time.time_ns(), headers=(("ETag", 'W/"1"'),))
    return unmodified(told.state, ETag='W/"1"') if asked.matches('W/"1"') else told


@kind()
def moving_etag(asked: Asked) -> Answer:
    """Inodes of a cluster: another ETag at each answer."""
    return Answer(asked.version, headers=(("ETag", f'"{asked.count % 2}-{asked.version}"'),))


@kind()
def two_etags(asked: Asked) -> Answer:
    return Answer(asked.version, headers=(("ETag", '"1"'), ("ETag", f'"{asked.version}"')))


@kind()
def no_etag(asked: Asked) -> Answer:
    """Not one by the grammar, the same for ever."""
    return unmodified(asked.version) if asked.conditional else Answer(asked.version, headers=(("ETag", "one two"),))


@kind()
def modified_ahead(asked: Asked) -> Answer:
    """Last-Modified in the future, 304 to it."""
    told = http(asked.page.born + DAY)
    if asked.conditional:
        return unmodified(asked.version, Last_Modified=told)
    return Answer(asked.version, headers=(("Last-Modified", told),))


# -- the same bytes, another page --------------------------------------------------------------------------------------


CHARSETS = "text/html; charset=utf-8", "text/html; charset=iso-8859-1"
TYPES = "text/html", "text/plain"


@kind(lambda page, now: {CHARSETS[min(page.version(now), 1)]})
def other_charset(asked: Asked) -> Answer:
    said = CHARSETS[min(asked.version, 1)]
    return Answer(said, asked.page.text(0), type=said)


@kind(lambda page, now: {TYPES[min(page.version(now), 1)]})
def other_type(asked: Asked) -> Answer:
    said = TYPES[min(asked.version, 1)]
    return Answer(said, asked.page.text(0), type=said)


@kind(never)
def part(asked: Asked) -> Answer:
    """A part that nobody asked for."""
    body = asked.page.text(0)[:100]
    return Answer("part", body, 206, (("Content-Range", f"bytes 0-99/{len(asked.page.text(0))}"),))


@kind(never)
def short(asked: Asked) -> Answer:
    body = asked.page.text(0)
    return Answer("short", body[:80], length=len(body))


@kind(never)
def cut_chunks(asked: Asked) -> Answer:
    return Answer("cut", asked.page.text(0), trailers=(("X-End", "1"),), cut=True)


@kind()
def trailers(asked: Asked) -> Answer:
    """The ETag in its trailer never changes."""
    return Answer(asked.version, trailers=(("ETag", '"1"'), ("Last-Modified", http(asked.page.born - DAY))))


@kind()
def body_304(asked: Asked) -> Answer:
    """A 304 that brings the new content, to whoever asks by the ETag of now."""
    etag = f'"{asked.version}"'
    if asked.matches(etag):
        body = asked.page.text(asked.version)
        return Answer(asked.version, body, 304, (("ETag", etag), ("Content-Length", str(len(body)))), bodied=True)
    return Answer(asked.version, headers=(("ETag", etag),))


@kind()
def early_hints(asked: Asked) -> Answer:
    """An interim answer has an ETag that stays, and a Date of yesterday."""
    hints = ("103 Early Hints", 'ETag: "1"', f"Date: {http(asked.page.born - DAY)}", "Link: </style.css>; rel=preload")
    return Answer(asked.version, headers=(("ETag", f'"{asked.version}"'),), interim=hints)


@kind(lambda page, now: {0} if not page.version(now) else {206})
def part_at_last(asked: Asked) -> Answer:
    """The same bytes, as a part of something longer."""
    body = asked.page.text(0)
    if not asked.version:
        return Answer(0, body)
    return Answer(206, body, 206, (("Content-Range", f"bytes 0-{len(body) - 1}/{len(body) + 500}"),))


@kind(lambda page, now: {min(page.version(now), 1)})
def no_type(asked: Asked) -> Answer:
    """Its type is said no more."""
    return Answer(min(asked.version, 1), asked.page.text(0), type="" if asked.version else "text/html")


@kind(lambda page, now: {page.version(now) % 2})
def vary_language(asked: Asked) -> Answer:
    """Two languages by turns, each with its own ETag that stays."""
    told = (("Vary", "Accept-Language"), ("Content-Language", ["en", "de"][asked.side]), ("ETag", f'"{asked.side}"'))
    return Answer(asked.side, headers=(*told, ("Last-Modified", http(asked.page.changed(asked.now)))))


@kind()
def packed_by_turns(asked: Asked) -> Answer:
    text = asked.page.text(asked.version)
    if asked.count % 2:
        return Answer(asked.version, text)
    return Answer(asked.version, gzip.compress(text, mtime=0), headers=(("Content-Encoding", "gzip"),))


@kind(never)
def nonce(asked: Asked) -> Answer:
    return Answer(time.time_ns())


@kind(never)
def cookie_counts(asked: Asked) -> Answer:
    """Who brings the cookie sees another page; who has none, a new one each time."""
    seen = asked.headers.get("cookie", "").rpartition("=")[2]
    return Answer(seen or f"new {asked.count}", headers=(("Set-Cookie", f"seen={asked.count}"),))


@kind()
def cookie_first(asked: Asked) -> Answer:
    """The first page of a visitor is another one, told by a cookie: this crawler has none."""
    return Answer("returning" if "cookie" in asked.headers else asked.version, headers=(("Set-Cookie", "seen=1"),))


# -- backends ----------------------------------------------------------------------------------------------------------


@kind(lambda page, now: {page.version(now), page.version(now - LAG)})
def replicas(asked: Asked) -> Answer:
    """Every other answer comes from a replica that lags behind."""
    version = asked.page.version(asked.now - (LAG if asked.count % 2 else 0.0))
    return Answer(version, headers=(("ETag", f'"{version}"'),))


@kind(never)
def two_sites(asked: Asked) -> Answer:
    """Two backends with two contents."""
    return Answer(asked.count % 2)


# -- clocks ------------------------------------------------------------------------------------------------------------


@kind()
def clock_behind(asked: Asked) -> Answer:
    return Answer(asked.version, date=asked.now - 3600)


@kind()
def clock_ahead(asked: Asked) -> Answer:
    return Answer(asked.version, date=asked.now + 3600)


@kind()
def clock_jumps(asked: Asked) -> Answer:
    return Answer(asked.version, date=asked.now + random.Random(asked.now).uniform(-600, 600))


@kind()
def no_date(asked: Asked) -> Answer:
    return Answer(asked.version, date=-1.0)


# -- another answer at the revisit -------------------------------------------------------------------------------------


def until(page: Page, now: float) -> set[object]:
    return {min(page.version(now), 1)}


@kind(until)
def vanishes(asked: Asked) -> Answer:
    return Answer(1, b"gone", 410) if asked.version else Answer(0)


@kind(until)
def moves(asked: Asked) -> Answer:
    if asked.version:
        return Answer(1, b"moved", 302, (("Location", "/still/0.html"),))
    return Answer(0, headers=(("ETag", '"1"'),))


@kind(until)
def soft_404(asked: Asked) -> Answer:
    """The same bytes, another status."""
    return Answer(min(asked.version, 1), asked.page.text(0), 404 if asked.version else 200)


@kind(until)
def fails(asked: Asked) -> Answer:
    return Answer(1, b"busy", 503) if asked.version else Answer(0)


@kind(never)
def silent_204(asked: Asked) -> Answer:
    return Answer(asked.count, b"", 204) if asked.count > 1 else Answer(0)


# -- the server --------------------------------------------------------------------------------------------------------


class HostileSite(ThreadingHTTPServer):
    """On loopback; ``log`` has instant, state and request headers of each answer, by path."""

    daemon_threads = True

    def __init__(self, seed: int, count: int = 4, every: float = 6.0, more: dict[str, int] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.begun = time.time()
        self.log: dict[str, list[tuple[float, object, dict[str, str]]]] = defaultdict(list)
        self.pages: dict[str, Page] = {}
        for name in KINDS:
            for number in range((more or {}).get(name, count)):
                rng = random.Random(f"{seed} {name} {number}")
                page = Page(name, number, self.begun, _changes(rng, self.begun, every))
                self.pages[page.path] = page
        self.url = f"http://127.0.0.1:{self.server_port}/"

    def false(self, url: str, visited: float, reference: float) -> bool | None:
        """Is it false to say that what was visited then stood at T? ``None``: no page of these."""
        page = self.pages.get("/" + url.removeprefix(self.url))
        if page is None:
            return None
        _, state, _ = min(self.log[page.path], key=lambda one: abs(one[0] - visited))
        truth = TRUTH.get(page.kind, lambda page, now: {page.version(now)})
        return state not in truth(page, reference)


def _changes(rng: random.Random, begun: float, every: float) -> list[float]:
    found, now = [], begun - 60.0
    while (now := now + rng.expovariate(1 / every)) < begun + SPAN:
        if now > begun:
            found.append(now)
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: HostileSite

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path)
        if page is None:
            self._front()
            return
        with page.lock:
            page.asked += 1
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(page, time.time(), headers, page.asked)
            answer = KINDS[page.kind](asked)
            self.server.log[page.path].append((asked.now, answer.state, headers))
        self._send(answer, page.text(answer.state) if answer.body is None else answer.body, asked.now)

    def _front(self) -> None:
        if self.path != "/":
            self._send(Answer(0, status=404), b"no", time.time())
            return
        links = "".join(f"<li><a href={path}>{path}</a>" for path in self.server.pages)
        self._send(Answer(0), f"<!doctype html><title>All</title><ul>{links}</ul>".encode(), time.time())

    def _send(self, answer: Answer, body: bytes, now: float) -> None:
        head = [f"{answer.protocol} {answer.interim[0]}", *answer.interim[1:], ""] if answer.interim else []
        head += [f"{answer.protocol} {answer.status} X"] + ([f"Content-Type: {answer.type}"] if answer.type else [])
        date = now if answer.date is None else answer.date
        head += [f"Date: {http(date)}"] if date >= 0 else []
        head += [f"{name}: {value}" for name, value in answer.headers]
        bare = answer.status in {204, 304} and not answer.bodied
        if answer.trailers:
            head += ["Transfer-Encoding: chunked", f"Trailer: {', '.join(name for name, _ in answer.trailers)}"]
            end = "".join(f"{name}: {value}\r\n" for name, value in answer.trailers).encode()
            body = b"%x\r\n%b\r\n" % (len(body), body) + (b"40\r\nhalf" if answer.cut else b"0\r\n" + end + b"\r\n")
        elif not bare and not answer.bodied:
            head.append(f"Content-Length: {len(body) if answer.length is None else answer.length}")
        self.close_connection = answer.protocol == "HTTP/1.0" or answer.cut or answer.length is not None
        head += ["Connection: close"] if self.close_connection else []
        self.wfile.write("\r\n".join([*head, "", ""]).encode() + (b"" if bare else body))

    def log_message(self, *_: object) -> None:
        pass
