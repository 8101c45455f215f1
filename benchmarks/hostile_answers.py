"""Kinds of pages by how they are answered: the same bytes as another page, parts, backends, clocks, other answers."""

from __future__ import annotations

import gzip
import random
import time

from benchmarks.hostile_pages import DAY, Answer, Asked, Page, http, kind, never, unmodified

LAG = 3.0  #: of a replica


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
def part_of_all(asked: Asked) -> Answer:
    """The same part each time, as if it were the whole: its Content-Range tells."""
    body, size = asked.page.text(0)[:100], len(asked.page.text(0))
    return Answer("part", body, headers=(("Content-Range", f"bytes 0-99/{size}"),))


@kind(never)
def part_unchanged(asked: Asked) -> Answer:
    """The same, and a 304 to whoever has it."""
    if asked.matches('"1"'):
        return unmodified("part", ETag='"1"')
    told = ("Content-Range", f"bytes 0-99/{len(asked.page.text(0))}"), ("ETag", '"1"')
    return Answer("part", asked.page.text(0)[:100], headers=told)


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
