"""The history store: what every capture learned of every URL, one SQLite file per archive, append-only.

The schema is documented in ``docs/observations.md``. An observation is identified by site, URL and time: appending it
again (after a crash, by a second process) changes nothing. WAL and a busy time-out let runs and processes share it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import count, islice
from operator import itemgetter
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self

from sharc_crawler.errors import DataError
from sharc_crawler.model import Change, Evidence, Kind, Observation, Result, Url
from sharc_crawler.storage.columns import site_history
from sharc_crawler.storage.schema import migrate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from sharc_crawler.rates.history import SiteHistory

BATCH = 50_000  #: observations per transaction
BUSY = 60.0  #: seconds to wait for another process's transaction

_FIELDS = "kind, result, change, evidence, digest, fingerprint, etag, last_modified, lastmod, lastmod_precision"
# Only a known (url, time) is passed over; a missing or impossible value is an error.
_INSERT = f"""INSERT INTO observation (url, time, {_FIELDS}) VALUES (?{", ?" * 11})
    ON CONFLICT (url, time) DO NOTHING"""  # noqa: S608 - constants
_OF_SITE = """FROM site JOIN url ON url.site = site.id JOIN observation ON observation.url = url.id
    WHERE site.name = ?"""


class ObservationStore:
    """Observations of any number of sites in one file, made when it is not there.

    Raises :class:`~sharc_crawler.errors.DataError` where the file is no such store, or a newer version's.

    >>> with ObservationStore(":memory:") as store:
    ...     seen = Observation("example.org", Url("http://example.org/"), 0.0, Result.OK)
    ...     store.append([seen]), store.append([seen]), store.size("example.org")
    (1, 0, 1)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self._ids: dict[str, dict[str, int]] = {}  # site → URL → number, in the order of numbers
        try:
            # The engine's loop and its store share a thread, but pools may call from another, one at a time.
            self._db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, check_same_thread=False)
            _share(self._db)
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA cache_size = -65536")  # KiB: the index of a million URLs
            migrate(self._db)
        except sqlite3.Error as error:
            raise DataError(f"history={str(path)!r} cannot be opened as an observation store: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file; a second call does nothing."""
        self._db.close()

    def append(self, observations: Iterable[Observation]) -> int:
        """Add observations, a transaction per 50,000; those known already are left as they are.

        Returns how many were new.
        """
        source, added = iter(observations), 0
        while batch := list(islice(source, BATCH)):
            try:
                added += self._append(batch)
            except BaseException:
                self._ids.clear()  # those entered by this transaction do not exist
                raise
        return added

    def sites(self) -> list[str]:
        """The names of all sites, sorted."""
        return [name for (name,) in self._db.execute("SELECT name FROM site ORDER BY name")]

    def urls(self, site: str) -> list[Url]:
        """Every URL ever observed on a site, in the order they became known; empty for an unknown site."""
        query = "SELECT url.url FROM site JOIN url ON url.site = site.id WHERE site.name = ? ORDER BY url.id"
        return [Url(url) for (url,) in self._db.execute(query, (site,))]

    def size(self, site: str) -> int:
        """The number of pages: URLs of kind page that had content when they were last heard of."""
        # SQLite: with max() the bare columns are those of the row that holds the maximum.
        query = f"""SELECT count(*) FROM (SELECT result, max(time) {_OF_SITE} AND kind = 'page' AND result <> 'failed'
            GROUP BY url.id) WHERE result IN ('ok', 'not-modified')"""  # noqa: S608 - constants
        return int(self._db.execute(query, (site,)).fetchone()[0])

    def histories(self, site: str, kind: Kind = Kind.PAGE) -> SiteHistory:
        """All that is known of a site's URLs of one kind, in columns; empty for an unknown site."""
        query = f"""SELECT url.url, time, result, change, digest, lastmod, lastmod_precision, last_modified {_OF_SITE}
            AND kind = ? ORDER BY url.id, time"""
        return site_history(site, self._db.execute(query, (site, kind.value)))

    def latest(self, site: str) -> dict[Url, Observation]:
        """The last observation of each URL that showed its content: what the next capture compares with."""
        query = f"""SELECT url.url, max(time), {_FIELDS} {_OF_SITE} AND result IN ('ok', 'not-modified')
            GROUP BY url.id ORDER BY url.id"""
        return {(one := _observation(site, row)).url: one for row in self._db.execute(query, (site,))}

    def observations(self, site: str, url: str | None = None) -> Iterator[Observation]:
        """The observations of a site, or of one URL of it, in the order of URLs, then of time."""
        only = "" if url is None else "AND url.url = ?"
        query = f"SELECT url.url, time, {_FIELDS} {_OF_SITE} {only} ORDER BY url.id, time"
        for row in self._db.execute(query, (site,) if url is None else (site, url)):
            yield _observation(site, row)

    def _append(self, batch: list[Observation]) -> int:
        with self._db:  # commits, or rolls back
            self._db.execute("BEGIN IMMEDIATE")
            for site in {one.site for one in batch}:
                self._enter(site, dict.fromkeys(one.url for one in batch if one.site == site))
            rows = sorted((_row(self._ids[one.site][one.url], one) for one in batch), key=itemgetter(0, 1))
            before = self._db.total_changes
            self._db.executemany(_INSERT, rows)
            return self._db.total_changes - before

    def _enter(self, site: str, urls: Iterable[Url]) -> None:
        """Number the URLs of a site that have no number yet; the caller holds the write transaction."""
        self._db.execute("INSERT INTO site (name) VALUES (?) ON CONFLICT (name) DO NOTHING", (site,))
        number = self._db.execute("SELECT id FROM site WHERE name = ?", (site,)).fetchone()[0]
        # Numbers are given once and ascend, so only those that others gave since the last look have to be read.
        ids = self._ids.setdefault(site, {})
        last = next(reversed(ids.values()), 0)
        ids.update(
            self._db.execute("SELECT url, id FROM url WHERE site = ? AND id > ? ORDER BY id", (number, last)).fetchall()
        )
        free = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM url").fetchone()[0]
        new = dict(zip((url for url in urls if url not in ids), count(free)))
        rows = ((key, number, url) for url, key in new.items())
        self._db.executemany("INSERT INTO url (id, site, url) VALUES (?, ?, ?)", rows)
        ids.update(new)


def _row(url: int, one: Observation) -> tuple[object, ...]:
    words = str(one.kind), str(one.result), str(one.change), str(one.evidence)
    texts = one.digest, one.fingerprint, one.etag
    return url, one.time, *words, *texts, one.last_modified, one.lastmod, one.lastmod_precision


def _observation(site: str, row: tuple[Any, ...]) -> Observation:
    url, time, kind, result, change, evidence, *rest = row
    one = Observation(site, Url(url), time, Result(result), Change(change), Evidence(evidence), *rest)
    return replace(one, kind=Kind(kind))


def _share(db: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite's own wait for others does not cover this switch, so that it is tried again here."""
    deadline = monotonic() + BUSY
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() > deadline:
                raise
            sleep(0.01)
        else:
            return
