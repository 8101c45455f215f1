"""Further kinds of pages: caches that hide, clocks that stand, odd validators, other pages for who comes again."""

from __future__ import annotations

import random

from benchmarks.hostile_pages import DAY, Answer, Asked, Page, http, kind, never, sides, unmodified
from benchmarks.hostile_words import CACHED, copied

DEPLOYS = 5.0  #: seconds from one to the next


# -- caches ------------------------------------------------------------------------------------------------------------


@kind()
def cache_nginx(asked: Asked) -> Answer:
    """nginx: a Date of its own, no Age, deaf to no-cache; it says that it is a hit as most do, by no standard."""
    return Answer(asked.page.version(copied(asked)), headers=(("X-Cache-Status", "HIT"),))


@kind()
def cache_updating(asked: Asked) -> Answer:
    """Stale while it asks the origin behind the scenes."""
    told = (("X-Proxy-Cache", "UPDATING"), ("Cache-Control", "max-age=1, stale-while-revalidate=600"))
    return Answer(asked.page.version(copied(asked)), headers=told)


@kind()
def cache_cloud(asked: Asked) -> Answer:
    return Answer(asked.page.version(copied(asked)), headers=(("X-Cache", "Hit from cloudfront"), ("Via", "1.1 x")))


@kind()
def cache_via(asked: Asked) -> Answer:
    """No Age, but the Date of the copy, as a cache by the book keeps it."""
    made = copied(asked)
    return Answer(asked.page.version(made), date=made, headers=(("Via", "1.1 cache"),))


@kind()
def cache_two(asked: Asked) -> Answer:
    """Two caches by turns, of which one keeps its copies twice as long; both say their age."""
    long = CACHED * (1 + asked.count % 2)
    made = asked.page.born + (asked.now - asked.page.born) // long * long
    return Answer(asked.page.version(made), headers=(("Age", str(round(asked.now - made))),))


@kind()
def cache_on_error(asked: Asked) -> Answer:
    """The origin is down: a copy, with a warning."""
    told = (("Warning", '111 cache "Revalidation Failed"'), ("Cache-Control", "stale-if-error=600"))
    return Answer(asked.page.version(copied(asked)), headers=told)


@kind()
def cache_304_twice(asked: Asked) -> Answer:
    """304 by its copy, with the Date of that; in full from the origin."""
    made = copied(asked)
    version = asked.page.version(made)
    if asked.matches(f'"{version}"'):
        return Answer(version, b"", 304, (("ETag", f'"{version}"'),), date=made)
    return Answer(asked.version, headers=(("ETag", f'"{asked.version}"'),))


@kind(silent=True)
def cache_denies(asked: Asked) -> Answer:
    """A copy that is said to be of now."""
    return Answer(asked.page.version(copied(asked)), headers=(("Age", "0"),))


# -- clocks ------------------------------------------------------------------------------------------------------------


@kind()
def clock_stands(asked: Asked) -> Answer:
    return Answer(asked.version, date=asked.page.born)


@kind()
def clock_mended(asked: Asked) -> Answer:
    """An hour behind at the visit, right from then on."""
    return Answer(asked.version, date=asked.now - (3600 if asked.count == 1 else 0))


@kind()
def date_no_date(asked: Asked) -> Answer:
    """Its Date is there twice: of now, and of yesterday."""
    return Answer(asked.version, headers=(("Date", http(asked.page.born - DAY)),))


# -- validators --------------------------------------------------------------------------------------------------------


def back(asked: Asked) -> str:
    """Restored from older and older backups."""
    return http(asked.page.born - DAY * (1 + asked.version))


@kind()
def modified_back(asked: Asked) -> Answer:
    """304 to whoever has a later one, though another content is older."""
    if asked.conditional:
        return unmodified(asked.version, Last_Modified=back(asked))
    return Answer(asked.version, headers=(("Last-Modified", back(asked)),))


@kind(sides)
def fro_modified_back(asked: Asked) -> Answer:
    return Answer(asked.side, headers=(("Last-Modified", back(asked)),))


@kind()
def etag_of_all(asked: Asked) -> Answer:
    """That of the program, the same for all pages."""
    return unmodified(asked.version, ETag='"v2.1"') if asked.matches('"v2.1"') else Answer(
        asked.version, headers=(("ETag", '"v2.1"'),)
    )  # fmt: skip


@kind()
def etag_behind(asked: Asked) -> Answer:
    """Made anew behind the scenes: for two seconds after a change still that of before."""
    etag = f'"{asked.page.version(asked.now - 2.0)}"'
    return unmodified(asked.version, ETag=etag) if asked.matches(etag) else Answer(
        asked.version, headers=(("ETag", etag),)
    )  # fmt: skip


@kind()
def etag_packed(asked: Asked) -> Answer:
    """As Apache: it has an ending where the body is packed, and none in a 304."""
    etag = f'"{asked.version}'
    if asked.matches(f'{etag}-gzip"'):
        return unmodified(asked.version, ETag=f'{etag}"')
    return Answer(asked.version, headers=(("ETag", f'{etag}-gzip"'),))


@kind()
def modified_by_day(asked: Asked) -> Answer:
    """Whole days: 304 until midnight."""
    told = http(asked.page.born // DAY * DAY)
    if asked.conditional:
        return unmodified(asked.version, Last_Modified=told)
    return Answer(asked.version, headers=(("Last-Modified", told),))


@kind()
def etag_lower_case(asked: Asked) -> Answer:
    """A weak one as nobody may write it; it stays."""
    told = (("ETag", 'w/"1"'),)
    return unmodified(asked.version, ETag='w/"1"') if asked.conditional else Answer(asked.version, headers=told)


@kind()
def trailer_tells(asked: Asked) -> Answer:
    """The ETag of the head stays, that of the trailer is the true one."""
    return Answer(asked.version, headers=(("ETag", '"1"'),), trailers=(("ETag", f'"{asked.version}"'), ("Age", "9")))


# -- deploys -----------------------------------------------------------------------------------------------------------


def deployed(page: Page, now: float) -> int:
    return int((now - page.born) // DEPLOYS)


def since(page: Page, now: float) -> float:
    return page.born + deployed(page, now) * DEPLOYS


@kind(lambda page, now: {deployed(page, now) % 2}, told=since)
def deploy_stamped(asked: Asked) -> Answer:
    """All pages change to and fro at once; Last-Modified is that of the deploy."""
    side = deployed(asked.page, asked.now) % 2
    return Answer(side, headers=(("Last-Modified", http(since(asked.page, asked.now))),))


@kind(lambda page, now: {deployed(page, now) % 2}, silent=True, told=since)
def deploy_hashed(asked: Asked) -> Answer:
    """The same, with an ETag of the content."""
    side = deployed(asked.page, asked.now) % 2
    etag = f'"{side}"'
    return unmodified(side, ETag=etag) if asked.matches(etag) else Answer(side, headers=(("ETag", etag),))


# -- who comes again ---------------------------------------------------------------------------------------------------


@kind(lambda page, now: {page.version(now) or "wall"})
def consent(asked: Asked) -> Answer:
    """Whoever comes again is asked for consent: 200, and the same for all pages."""
    return Answer(asked.version) if asked.count == 1 else Answer("consent", b"<title>Cookies</title><p>Accept?</p>")


@kind()
def throttled(asked: Asked) -> Answer:
    """Too often here: 200, and another page."""
    if asked.count % 3 == 1:
        return Answer(asked.version)
    return Answer("slow", b"<title>Please wait</title><p>Too many requests.</p>", headers=(("Retry-After", "1"),))


@kind()
def emptied(asked: Asked) -> Answer:
    """200, and nothing in it, but for the first visitor."""
    return Answer(asked.version) if asked.count == 1 else Answer("empty", b"")


@kind(never)
def head_alone(asked: Asked) -> Answer:
    """As if HEAD had been asked: a length, and no body."""
    return Answer("head", b"", length=300)


@kind(lambda page, now: {page.version(now), "range"})
def unsatisfied(asked: Asked) -> Answer:
    """416 to whoever comes again, and asks for no range."""
    if asked.count == 1:
        return Answer(asked.version)
    return Answer("range", b"", 416, (("Content-Range", f"bytes */{len(asked.page.text(asked.version))}"),))


@kind(lambda page, now: {min(page.version(now), 1)})
def soft_gone(asked: Asked) -> Answer:
    """Once it has changed it is said to be missing, by 200."""
    return Answer(min(asked.version, 1), b"<title>Not found</title><p>Sorry." if asked.version else None)


@kind()
def transformed(asked: Asked) -> Answer:
    """A proxy that rewrites: 203, and the copy of before."""
    old = asked.page.version(copied(asked))
    return Answer(old, status=200 if asked.count == 1 else 203, headers=(("Warning", '214 proxy "Transformation"'),))


@kind()
def surplus(asked: Asked) -> Answer:
    """More than its length says, kept alive: what follows looks like the answer to the next request."""
    forged = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nforged"
    body = asked.page.text(asked.version)
    return Answer(asked.version, body + forged, length=len(body), kept=True)


@kind(lambda page, now: {(page.version(now), group) for group in range(2)})
def tried_out(asked: Asked) -> Answer:
    """One of two versions by chance, as tests of a page's readers have it."""
    group = random.Random(asked.now).randrange(2)
    return Answer((asked.version, group), headers=(("Set-Cookie", f"group={group}"),))


# -- sitemaps ----------------------------------------------------------------------------------------------------------


@kind(told=lambda page, now: page.born - DAY)
def told_never(asked: Asked) -> Answer:
    """Its lastmod is that of its making."""
    return Answer(asked.version)


@kind(lambda page, now: {"still"}, told=lambda page, now: now)
def told_always(asked: Asked) -> Answer:
    """Its lastmod is the time at which the sitemap is asked for; it never changes."""
    return Answer("still")


@kind(told=lambda page, now: page.born - DAY * (1 + page.version(now)))
def told_back(asked: Asked) -> Answer:
    """The lastmods of older and older backups."""
    return Answer(asked.version)


@kind(told=lambda page, now: now + DAY)
def told_ahead(asked: Asked) -> Answer:
    return Answer(asked.version)


@kind(told=lambda page, now: page.changed(now - 4.0))
def told_late(asked: Asked) -> Answer:
    """Four seconds late."""
    return Answer(asked.version)


@kind(told=lambda page, now: page.changed(page.born + (now - page.born) // 20.0 * 20.0))
def told_cached(asked: Asked) -> Answer:
    """Its part of the sitemap comes from a cache that is renewed every 20 seconds."""
    return Answer(asked.version)
