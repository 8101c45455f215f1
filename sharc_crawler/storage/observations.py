"""The history store: what captures observed of URLs, in one append-only SQLite file per archive.

The schema is documented in ``docs/observations.md``. An observation is identified by site, URL and time: appending it
again (after a crash, or by another process) changes nothing. WAL and a busy time-out let processes share the file.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from itertools import count, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import numpy as np

from sharc_crawler.errors import DataError, StoreUnavailable, UsageError, unknown_name
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Change, Document, Instant, Kind, Result, Url
from sharc_crawler.observation import Linked, Observation
from sharc_crawler.rates.history import Links, SiteHistory
from sharc_crawler.storage import columns, payloads
from sharc_crawler.storage.payloads import StoredPayload
from sharc_crawler.storage.schema import for_reading, for_writing

BATCH = 10_000  #: observations per transaction
OFTEN = 50_000  #: numbers of linked URLs that are cached
CACHE = 8_192  #: KiB of the file that SQLite caches; more are not faster, even with 600,000 URLs

_FIELDS = """kind, result, change, evidence, digest, fingerprint, etag, last_modified, lastmod, lastmod_precision,
    media_type, images, tables, outlinks, decoded"""
# Only a known (url, time) is ignored; missing or impossible values are errors.
_INSERT = f"""INSERT INTO observation (url, time, {_FIELDS}) VALUES (?{", ?" * 16})
    ON CONFLICT (url, time) DO NOTHING"""  # noqa: S608 - constants
_SELECT = _FIELDS.replace("media_type", "(SELECT name FROM media_type WHERE id = media_type)")
# Starts from the observations, in the order of their key; starting from the site, SQLite would have to sort them.
_OF_URLS = "FROM observation CROSS JOIN url ON url.id = observation.url WHERE observation.url IN"
_OF_SITE = f"{_OF_URLS} (SELECT id FROM url WHERE site = (SELECT id FROM site WHERE name = ?))"  # noqa: S608 - constants
_OF_URL = f"{_OF_SITE[:-1]} AND url = ?)"

# Finds the last observation of each URL by the key, reading no others except later failed downloads.
_OF_PAGES = """FROM url WHERE site = (SELECT id FROM site WHERE name = ?) AND (
    SELECT result IN ('ok', 'not-modified') AND kind = 'page' FROM observation
    WHERE observation.url = url.id AND result NOT IN ('failed', 'refused') ORDER BY time DESC LIMIT 1)"""


def _why(path: Path, error: Exception) -> object:
    """Why the file cannot be made, and what to do; else the error, whose reason is in the file."""
    if path.is_dir():
        return f"it is a folder; name a file, as {path / 'history.db'}"
    return error if path.parent.is_dir() else "its folder does not exist; make it first"


class ObservationStore:
    """Observations of any number of sites in one file, which is made if it does not exist.

    ``reading``: the file is not changed, and must not be empty.

    Raises :class:`~sharc_crawler.errors.DataError` if the file is no such store, or of a newer version.

    >>> with ObservationStore(":memory:") as store:
    ...     seen = Observation("example.org", Url("http://example.org/"), 0.0, Result.OK)
    ...     store.append([seen]), store.append([seen]), store.size("example.org")
    (1, 0, 1)
    """

    def __init__(self, path: str | Path, *, reading: bool = False) -> None:
        self.path = path
        self._types: dict[str | None, int | None] = {None: None}  # media type → number
        try:
            self._db = for_reading(Path(path)) if reading else for_writing(path)
            self._db.name = f"history {path}"
            self._db.execute(f"PRAGMA cache_size = -{CACHE}")
        except (sqlite3.Error, StoreUnavailable, DataError) as error:
            why = _why(Path(path), error)
            raise DataError(f"history={str(path)!r} cannot be opened as an observation store: {why}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self._db.close()

    def append(self, observations: Iterable[Observation]) -> int:
        """Add observations, in a transaction for each 10,000; known ones are not changed. Returns how many were new."""
        source, added = iter(observations), 0
        while batch := list(islice(source, BATCH)):
            try:
                added += self._append(batch)
            except BaseException:
                self._forget()
                raise
        return added

    def append_links(self, site: str, found: Iterable[Linked]) -> int:
        """Add the links of documents that changed since the last time, in one transaction.

        Only links between observed URLs are kept. Returns how many documents' links were new.
        """
        number = lru_cache(OFTEN)(partial(self._number_of, site))
        return self.append_numbered_links((number(one.url), one.time, map(number, one.targets)) for one in found)

    def append_numbered_links(self, found: Iterable[tuple[int | None, Instant, Iterable[int | None]]]) -> int:
        """The same with URLs' :meth:`numbers`: (source, time, targets)."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            known = ((source, time, filter(None, targets)) for source, time, targets in found if source)
            return sum(self._link(source, time, _as_json(targets)) for source, time, targets in known)

    def numbers(self, site: str, urls: Iterable[str]) -> Iterator[int | None]:
        """The number of each URL, for :meth:`append_numbered_links`; ``None``: it was never observed."""
        return map(partial(self._number_of, site), urls)

    def _number_of(self, site: str, url: str) -> int | None:
        query = "SELECT id FROM url WHERE site = (SELECT id FROM site WHERE name = ?) AND url = ?"
        row = self._db.execute(query, (site, url)).fetchone()
        return row[0] if row else None

    def sites(self) -> list[str]:
        """The names of all sites, sorted."""
        return [name for (name,) in self._db.execute("SELECT name FROM site ORDER BY name")]

    def site_named(self, text: str) -> str:
        """The site that a user named: by its name, with or without ``www.``, or by a URL on it.

        Raises :class:`~sharc_crawler.errors.UsageError`, which suggests the nearest name.
        """
        host = text.rpartition("://")[2].partition("/")[0].lower()
        bare = host.removeprefix("www.")
        sites = self._some_sites()
        found = next((name for name in (text, host, bare, f"www.{bare}") if name in sites), None)
        if found is None:
            raise unknown_name("site", text, sites)
        return found

    def only_site(self) -> str:
        """The only site in the file; raises :class:`~sharc_crawler.errors.UsageError` if there are more."""
        first, *others = self._some_sites()
        if others:
            named = ", ".join([first, *others[:4]]) + (", …" if len(others) > 4 else "")
            raise UsageError(f"{self.path} holds {1 + len(others)} sites: say which with --site ({named})")
        return first

    def _some_sites(self) -> list[str]:
        sites = self.sites()
        if not sites:
            raise DataError(f"history={str(self.path)!r} holds no site yet: a crawl with history= fills it")
        return sites

    def urls(self, site: str) -> list[Url]:
        """All URLs observed on a site, in the order in which they were added; empty for an unknown site."""
        query = "SELECT url.url FROM site JOIN url ON url.site = site.id WHERE site.name = ? ORDER BY url.id"
        return [Url(url) for (url,) in self._db.execute(query, (site,))]

    def size(self, site: str) -> int:
        """The number of :meth:`pages`."""
        (size,) = self._db.execute(f"SELECT count(*) {_OF_PAGES}", (site,)).fetchone()
        return int(size)

    def histories(self, site: str, kind: Kind = Kind.PAGE) -> SiteHistory:
        """The observations of a site's URLs of one kind, in columns; empty for an unknown site.

        Only changes of content count: other bytes with an equal fingerprint are unchanged.
        """
        query = f"""SELECT observation.url, {columns.SELECTED} {_OF_SITE} AND kind = ?
            AND {columns.ACCESSED} ORDER BY observation.url, time"""
        named = "SELECT id, url FROM url WHERE site = (SELECT id FROM site WHERE name = ?)"
        names = {number: Url(url) for number, url in self._db.execute(named, (site,))}
        return columns.site_history(site, names, self._db.execute(query, (site, kind.value)))

    def latest(self, site: str) -> dict[Url, Observation]:
        """The last observation of each URL that showed its content, to compare the next capture with."""
        return self._last(site, "result IN ('ok', 'not-modified')")

    def pages(self, site: str) -> list[Url]:
        """The URLs of kind page that had content when last observed, in the order in which they were added.

        URLs that are gone or redirect are left out until they are found again.
        """
        query = f"SELECT url.url {_OF_PAGES} ORDER BY url.id"
        return [Url(url) for (url,) in self._db.execute(query, (site,))]

    def contents(self, site: str) -> Callable[[str], str | None]:
        """A function from a URL to the digest of its last content, unpacked.

        Later observations are not included. The digests are kept on disk until the next call.
        """
        self._db.execute("DROP TABLE IF EXISTS temp.so_far")
        self._db.execute("CREATE TEMP TABLE so_far (url INTEGER PRIMARY KEY, digest TEXT)")
        query = f"""SELECT observation.url AS url, max(time), coalesce(decoded, digest) AS digest {_OF_SITE}
            AND result IN ('ok', 'not-modified') GROUP BY observation.url"""
        self._db.execute(f"INSERT INTO so_far SELECT url, digest FROM ({query})", (site,))  # noqa: S608 - constants
        return partial(self._so_far, site)

    def _so_far(self, site: str, url: str) -> str | None:
        query = """SELECT digest FROM url JOIN so_far ON so_far.url = url.id
            WHERE site = (SELECT id FROM site WHERE name = ?) AND url.url = ?"""
        row = self._db.execute(query, (site, url)).fetchone()
        return row[0] if row else None

    def shown(self, site: str, url: str, before: Instant) -> tuple[Instant, str, str | None] | None:
        """Time, unpacked digest and fingerprint of a URL's last content before an instant."""
        query = f"""SELECT time, coalesce(decoded, digest), fingerprint {_OF_URL}
            AND result IN ('ok', 'not-modified') AND digest IS NOT NULL AND time < ? ORDER BY time DESC LIMIT 1"""
        found: tuple[Instant, str, str | None] | None = self._db.execute(query, (site, url, before)).fetchone()
        return found

    def documents(self, site: str) -> dict[Url, Observation]:
        """The last download of each URL, which has media type and counts."""
        return self._last(site, "result = 'ok'")

    def _last(self, site: str, condition: str) -> dict[Url, Observation]:
        query = f"""SELECT url.url, max(time), {_SELECT} {_OF_SITE} AND {condition}
            GROUP BY observation.url ORDER BY observation.url"""
        return {(one := _observation(site, row)).url: one for row in self._db.execute(query, (site,))}

    def links(self, site: str) -> Links:
        """Source and target of every link between known URLs, by the last observation of each source."""
        query = """SELECT links.url, max(time), targets FROM site JOIN url ON url.site = site.id
            JOIN links ON links.url = url.id WHERE site.name = ? GROUP BY links.url ORDER BY links.url"""
        sources, targets, counts = array("q"), array("q"), array("q")
        for source, _, text in self._db.execute(query, (site,)):
            own = json.loads(text)
            sources.append(source)
            counts.append(len(own))
            targets.extend(own)
        ends = np.repeat(np.array(sources), np.array(counts)), np.array(targets)
        named = "SELECT id, url FROM url WHERE site = (SELECT id FROM site WHERE name = ?) ORDER BY id"
        names = dict(self._db.execute(named, (site,))) if sources else {}  # not needed without links
        numbers = np.array(list(names), np.int64)
        return Links(list(map(Url, names.values())), *(np.searchsorted(numbers, end) for end in ends))

    def linked(self, site: str) -> Iterator[Linked]:
        """The links of documents each time that they changed, in the order of time."""
        named = "SELECT id, url FROM url WHERE site = (SELECT id FROM site WHERE name = ?)"
        names = {number: Url(url) for number, url in self._db.execute(named, (site,))}
        query = """SELECT links.url, time, targets FROM site JOIN url ON url.site = site.id
            JOIN links ON links.url = url.id WHERE site.name = ? ORDER BY time"""
        for source, time, targets in self._db.execute(query, (site,)):
            yield Linked(names[source], time, tuple(names[target] for target in json.loads(targets)))

    def observations(self, site: str, url: str | None = None) -> Iterator[Observation]:
        """The observations of a site, or of one URL of it, sorted by URL, then time."""
        rows_of = _OF_SITE if url is None else _OF_URL
        query = f"SELECT url.url, time, {_SELECT} {rows_of} ORDER BY observation.url, time"
        for row in self._db.execute(query, (site,) if url is None else (site, url)):
            yield _observation(site, row)

    def keep_payloads(self, site: str, stored: Iterable[StoredPayload]) -> None:
        """Add the payloads that a capture of the site stores in full; known ones are not changed."""
        payloads.keep(self._db, site, stored)

    def forget_payloads(self, site: str, since: Instant, until: Instant) -> None:
        """Forget the payloads of a capture that is about to be removed, so that later ones do not refer to them."""
        payloads.forget(self._db, site, since, until)

    def payload(self, site: str | None, digest: str, *, chunked: bool) -> StoredPayload | None:
        """The place of a payload with this framing in a former capture of the site (None: of any site)."""
        return payloads.find(self._db, site, digest, chunked=chunked)

    def drop_payload(self, held: StoredPayload) -> None:
        """Forget a payload that is not at its place."""
        payloads.drop(self._db, held)

    def _append(self, batch: list[Observation]) -> int:
        with self._db:  # commits, or rolls back
            self._db.execute("BEGIN IMMEDIATE")
            ids = {}
            for site in {one.site for one in batch}:
                ids[site] = self._enter(site, dict.fromkeys(one.url for one in batch if one.site == site))
            self._enter_types({one.media_type for one in batch} - self._types.keys())
            rows = sorted((self._row(ids[one.site][one.url], one) for one in batch), key=itemgetter(0, 1))
            before = self._db.total_changes
            self._db.executemany(_INSERT, rows)
            return self._db.total_changes - before

    def _row(self, number: int, one: Observation) -> tuple[object, ...]:
        document = one.document
        return (
            number, one.time, one.kind.value, one.result.value, one.change.value, one.evidence.value, one.digest,
            one.fingerprint, one.etag, one.last_modified, one.lastmod, one.lastmod_precision,
            self._types[one.media_type],
            *((document.images, document.tables, document.outlinks) if document else (None, None, None)),
            one.decoded,
        )  # fmt: skip

    def _enter(self, site: str, urls: Iterable[Url]) -> dict[str, int]:
        """The numbers of URLs of a site; new ones get numbers. Must be called in a write transaction."""
        self._db.execute("INSERT INTO site (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (site,))
        number = self._db.execute("SELECT id FROM site WHERE name = ?", (site,)).fetchone()[0]
        ids = {url: self._number_of(site, url) for url in urls}
        free = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM url").fetchone()[0]
        new = dict(zip((url for url, known in ids.items() if known is None), count(free)))
        rows = ((key, number, url) for url, key in new.items())
        self._db.executemany("INSERT INTO url (id, site, url) VALUES (?, ?, ?)", rows)
        return {url: new[url] if known is None else known for url, known in ids.items()}

    def _enter_types(self, names: Iterable[str | None]) -> None:
        """Give media types numbers. Must be called in a write transaction."""
        for name in names:
            self._db.execute("INSERT INTO media_type (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (name,))
            (number,) = self._db.execute("SELECT id FROM media_type WHERE name = ?", (name,)).fetchone()
            self._types[name] = number

    def _link(self, source: int, time: float, targets: str) -> bool:
        """Add a document's links, unless they are the same as last time."""
        query = "SELECT targets FROM links WHERE url = ? AND time <= ? ORDER BY time DESC LIMIT 1"
        if self._db.execute(query, (source, time)).fetchone() == (targets,):
            return False
        done = self._db.execute("INSERT INTO links VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (source, time, targets))
        return done.rowcount > 0

    def _forget(self) -> None:
        """Clear the cache of numbers after a failed transaction."""
        self._types = {None: None}


def _as_json(targets: Iterable[int]) -> str:
    """The numbers of linked URLs as JSON, without duplicates."""
    return json.dumps(list(dict.fromkeys(targets)), separators=(",", ":"))


def _observation(site: str, row: tuple[Any, ...]) -> Observation:
    url, time, kind, result, change, evidence, *texts, media_type, images, tables, outlinks, decoded = row
    one = Observation(site, Url(url), time, Result(result), Change(change), Evidence(evidence), *texts)
    document = None if outlinks is None else Document(images, tables, outlinks)
    return replace(one, kind=Kind(kind), media_type=media_type, document=document, decoded=decoded)
