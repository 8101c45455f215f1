"""Kinds of pages that came last: codings that are said otherwise, further caches, 304s to whatever is asked."""

from __future__ import annotations

import gzip

from benchmarks.hostile_answers import until
from benchmarks.hostile_pages import DAY, Answer, Asked, Page, http, kind, never, sides, unmodified
from benchmarks.hostile_words import copied

ZONE = 5 * 3600.0  #: seconds that a server's local time is behind UTC


def untold(page: Page, now: float) -> None:
    """The sitemap says nothing of its changes."""


# -- the same bytes, said to be packed in another way ------------------------------------------------------------------


@kind(until)
def packed_no_more(asked: Asked) -> Answer:
    """What was a page is a file to be saved: nobody says any more that it is packed."""
    told = () if asked.version else (("Content-Encoding", "gzip"),)
    return Answer(min(asked.version, 1), gzip.compress(asked.page.text(0), mtime=0), headers=told)


@kind(until)
def packed_not_at_all(asked: Asked) -> Answer:
    """It is said to be packed, and is not: browsers show an error."""
    told = (("Content-Encoding", "gzip"),) if asked.version else ()
    return Answer(min(asked.version, 1), asked.page.text(0), headers=told)


# -- caches ------------------------------------------------------------------------------------------------------------


@kind()
def cache_child(asked: Asked) -> Answer:
    return Answer(asked.page.version(copied(asked)), headers=(("Akamai-Cache-Status", "Hit from child"),))


@kind()
def cache_pull(asked: Asked) -> Answer:
    return Answer(asked.page.version(copied(asked)), headers=(("CDN-Cache", "HIT"),))


@kind()
def cache_fastcgi(asked: Asked) -> Answer:
    return Answer(asked.page.version(copied(asked)), headers=(("X-FastCGI-Cache", "STALE"),))


def aged(asked: Asked) -> tuple[int, tuple[str, str], float]:
    made = copied(asked)
    return asked.page.version(made), ("Last-Modified", http(asked.page.changed(made))), made


@kind(told=untold)
def cache_modified(asked: Asked) -> Answer:
    """A copy, whose Last-Modified is as old as its Age says."""
    version, modified, made = aged(asked)
    return Answer(version, headers=(modified, ("Age", str(round(asked.now - made)))))


@kind(told=untold)
def cache_old_modified(asked: Asked) -> Answer:
    """The same; its Date tells."""
    version, modified, made = aged(asked)
    return Answer(version, headers=(modified,), date=made)


# -- 304s --------------------------------------------------------------------------------------------------------------


@kind()
def naive_304(asked: Asked) -> Answer:
    """An honest ETag, and 304 to whoever brings any."""
    if asked.conditional:
        return unmodified(asked.version)
    return Answer(asked.version, headers=(("ETag", f'"{asked.version}"'),))


@kind()
def echo_304(asked: Asked) -> Answer:
    """The same; the 304 repeats the ETag that was asked by."""
    if asked.conditional:
        return unmodified(asked.version, ETag=asked.headers["if-none-match"])
    return Answer(asked.version, headers=(("ETag", f'"{asked.version}"'),))


@kind(told=untold)
def naive_304_modified(asked: Asked) -> Answer:
    """An honest Last-Modified, and 304 to any date."""
    if asked.conditional:
        return unmodified(asked.version)
    return Answer(asked.version, headers=(("Last-Modified", http(asked.page.changed(asked.now))),))


@kind()
def unasked_304(asked: Asked) -> Answer:
    """304 to whoever comes again, whatever was asked."""
    return unmodified(asked.version, ETag='"1"') if asked.count > 1 else Answer(
        asked.version, headers=(("ETag", '"1"'),)
    )  # fmt: skip


@kind()
def share_304(asked: Asked) -> Answer:
    """A third of its pages keep their ETag whatever they show."""
    etag = f'"{asked.version if asked.page.number % 3 else 0}"'
    return unmodified(asked.version, ETag=etag) if asked.matches(etag) else Answer(
        asked.version, headers=(("ETag", etag),)
    )  # fmt: skip


@kind()
def etag_reused(asked: Asked) -> Answer:
    """Its ETags come round again, its contents do not."""
    etag = f'"{asked.version % 3}"'
    return unmodified(asked.version, ETag=etag) if asked.matches(etag) else Answer(
        asked.version, headers=(("ETag", etag),)
    )  # fmt: skip


# -- dates -------------------------------------------------------------------------------------------------------------


@kind(sides)
def fro_modified_zone(asked: Asked) -> Answer:
    """To and fro; its Last-Modified is local time, and called GMT."""
    return Answer(asked.side, headers=(("Last-Modified", http(asked.page.changed(asked.now) - ZONE)),))


@kind(told=untold)
def modified_never(asked: Asked) -> Answer:
    """Its Last-Modified is that of its making."""
    return Answer(asked.version, headers=(("Last-Modified", http(asked.page.born - DAY)),))


@kind(never)
def modified_moves(asked: Asked) -> Answer:
    """Another content and another Last-Modified at each answer, each of long ago."""
    return Answer(asked.count, headers=(("Last-Modified", http(asked.page.born - DAY + asked.count)),))


# -- other answers -----------------------------------------------------------------------------------------------------


@kind(lambda page, now: {page.version(now)})
def gone_once(asked: Asked) -> Answer:
    """Every other answer says that it is gone."""
    return Answer("gone", b"gone", 410) if asked.count % 2 == 0 else Answer(asked.version)
