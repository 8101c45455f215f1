"""Kinds of pages by what their servers and caches say of them: honest, to and fro, copies, validators that lie."""

from __future__ import annotations

import time

from benchmarks.hostile_pages import DAY, Answer, Asked, http, kind, never, sides, unmodified

CACHED = 6.0  #: seconds that a cache keeps a copy


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
