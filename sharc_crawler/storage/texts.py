"""Index the texts of archived pages with SQLite's full-text search (FTS5): each text once, with all its copies."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Self

from sharc_crawler.errors import DataError, StoreUnavailable, UsageError
from sharc_crawler.storage.connecting import Connection, of_disk, share
from sharc_crawler.storage.sqlite_errors import BUSY

VERSION = 1
START, END = "\x02", "\x03"  #: around found words in a snippet
_SCHEMA = f"""
CREATE TABLE source (id INTEGER PRIMARY KEY, site TEXT NOT NULL, capture TEXT NOT NULL, name TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL);
CREATE TABLE document (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE);
CREATE TABLE copy (document INTEGER NOT NULL, source INTEGER NOT NULL, url TEXT NOT NULL, time TEXT NOT NULL,
    PRIMARY KEY (document, url, source)) WITHOUT ROWID;
CREATE INDEX copy_source ON copy (source);
CREATE VIRTUAL TABLE words USING fts5 (title, body, tokenize = "unicode61 remove_diacritics 2");
PRAGMA user_version = {VERSION};
"""
# Snippets are made later, only for hits that are shown: for all hits they would take most of the time.
_FOUND = """
WITH hit AS MATERIALIZED (SELECT rowid AS id, bm25(words, 4.0, 1.0) AS rank FROM words WHERE words MATCH :words),
bearing AS MATERIALIZED (SELECT hit.id, hit.rank, source.site, source.capture, copy.url, copy.time
    FROM hit JOIN copy ON copy.document = hit.id JOIN source ON source.id = copy.source
    WHERE copy.time >= :since AND copy.time < :until AND :site IN ('', source.site)),
page AS (SELECT site, url, min(rank) AS best, max(time) AS newest, count(DISTINCT capture) AS captures FROM bearing
    GROUP BY site, url ORDER BY best, newest DESC, url LIMIT :most)
SELECT page.site, page.url, page.captures, bearing.id, min(bearing.time) AS first, max(bearing.time) AS last,
    count(DISTINCT bearing.capture) FROM page JOIN bearing USING (site, url)
GROUP BY page.site, page.url, bearing.id
ORDER BY page.best, page.newest DESC, page.url, page.site, last DESC, first DESC
"""
_SNIPPET = (
    """SELECT title, snippet(words, 1, char(2), char(3), ' … ', 24) FROM words WHERE words MATCH ? AND rowid = ?"""
)


class TextSource(NamedTuple):
    """A source of texts: the index of a WARC file."""

    site: str
    capture: str
    name: str


class PageText(NamedTuple):
    """A text to index."""

    title: str
    body: str


class PageCopy(NamedTuple):
    """A download of a text; ``text`` is ``None`` if its payload's digest is indexed already."""

    digest: str
    url: str
    time: str  #: fourteen digits
    text: PageText | None


class DatedText(NamedTuple):
    """One of the texts of a page, with the copies that have it."""

    first: str  #: fourteen digits, as ``last``
    last: str
    captures: int


class Hit(NamedTuple):
    """A page that contains all words searched for, with the copies that do."""

    site: str
    url: str
    title: str  #: of the newest text, like the snippet
    snippet: str  #: found words stand between START and END
    first: str  #: fourteen digits, as ``last``
    last: str
    captures: int
    texts: tuple[DatedText, ...]  #: the newest first


class TextIndex:
    """Texts in one file, which is made if it does not exist.

    Raises :class:`~sharc_crawler.errors.DataError` if the file is no such index.

    >>> with TextIndex(":memory:") as index:
    ...     tides = PageText("Tides", "High water at nine.")
    ...     copies = [PageCopy("sha1:A", "http://a.org/", "20261118110640", tides)]
    ...     index.add(TextSource("a.org", "captures/a.org/1", "1.cdxj"), copies, lambda: 9)
    ...     [hit.url for hit in index.search(["water", "TIDE*"])], index.search(["low water"])
    (['http://a.org/'], [])
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, timeout=BUSY, isolation_level=None, factory=Connection)
            self._db.name = f"text index {path}"
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            share(self._db)
            self._db.execute("PRAGMA synchronous = NORMAL")
            if version == 0:
                with self._step():
                    self._make()
        except (sqlite3.Error, StoreUnavailable) as error:
            if of_disk(error):
                raise DataError(f"{error}: its disk is full or fails. Once that is mended, search again") from error
            raise DataError(f"{self._remove()} ({error})") from error
        if version not in (0, VERSION):
            raise DataError(f"{self._remove()} (it is of version {version})")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def known(self) -> Mapping[str, int]:
        """The indexed sources with their sizes."""
        return dict(self._db.execute("SELECT name, size FROM source"))

    def digests(self) -> set[str]:
        """The digests of indexed payloads."""
        return {digest for (digest,) in self._db.execute("SELECT digest FROM document")}

    def add(self, source: TextSource, copies: Iterable[PageCopy], size: Callable[[], int]) -> None:
        """Add the copies of a source, whole or not at all; ``size`` is called after the last one."""
        with self._step():
            self._forget([source.name])
            new = "INSERT INTO source (site, capture, name, size) VALUES (?, ?, ?, -1)"
            number = self._db.execute(new, source).lastrowid
            for copy in copies:
                if (document := self._document(copy)) is not None:
                    row = (document, number, copy.url, copy.time)
                    self._db.execute("INSERT INTO copy VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", row)
            self._db.execute("UPDATE source SET size = ? WHERE id = ?", (size(), number))

    def forget(self, names: Sequence[str]) -> None:
        """Remove sources that no longer exist, and texts without copies."""
        with self._step():
            self._forget(names)
            gone = "NOT EXISTS (SELECT 1 FROM copy WHERE copy.document = document.id)"
            self._db.execute(f"DELETE FROM words WHERE rowid IN (SELECT id FROM document WHERE {gone})")  # noqa: S608
            self._db.execute(f"DELETE FROM document WHERE {gone}")  # noqa: S608 - a constant

    def search(
        self, words: Sequence[str], *, site: str = "", since: str = "", until: str = "9", most: int = 20
    ) -> list[Hit]:
        """The pages that contain all ``words``, best first; each is a word, a phrase, or a beginning with ``*``.

        ``since``, ``until``: only copies in this half-open range of times, given as any number of digits. Raises
        :class:`~sharc_crawler.errors.UsageError` if there is nothing to search for.
        """
        phrases = [phrase for word in words if (phrase := _phrase(word))]
        if not phrases:
            raise UsageError(f"words={' '.join(words)!r} holds no letter or digit; give a word of the text")
        wanted = " ".join(phrases)
        asked = {"words": wanted, "site": site, "since": since, "until": until, "most": most}
        found = groupby(self._db.execute(_FOUND, asked).fetchall(), key=lambda row: row[:3])
        return [self._hit(wanted, page, [row[3:] for row in rows]) for page, rows in found]

    def _hit(self, words: str, page: tuple[str, str, int], rows: Sequence[tuple[int, str, str, int]]) -> Hit:
        site, url, captures = page
        title, snippet = self._db.execute(_SNIPPET, (words, rows[0][0])).fetchone()
        first, last = min(row[1] for row in rows), rows[0][2]
        return Hit(site, url, title, snippet, first, last, captures, tuple(DatedText(*row[1:]) for row in rows))

    def _document(self, copy: PageCopy) -> int | None:
        found = self._db.execute("SELECT id FROM document WHERE digest = ?", (copy.digest,)).fetchone()
        if found or copy.text is None:
            return found[0] if found else None
        number = self._db.execute("INSERT INTO document (digest) VALUES (?)", (copy.digest,)).lastrowid
        self._db.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (number, *copy.text))
        return number

    def _forget(self, names: Sequence[str]) -> None:
        for name in names:
            self._db.execute("DELETE FROM copy WHERE source = (SELECT id FROM source WHERE name = ?)", (name,))
            self._db.execute("DELETE FROM source WHERE name = ?", (name,))

    def _make(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        for statement in _SCHEMA.split(";") if version == 0 else ():  # another process may have made it meanwhile
            self._db.execute(statement)

    def _remove(self) -> str:
        return f"{self.path} is no text index of this version; remove it, and it is made again"

    @contextmanager
    def _step(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _phrase(word: str) -> str:
    """A word or phrase in the syntax of FTS5.

    >>> print(_phrase('high "water'), _phrase("tid*"), [_phrase("*")])
    "high ""water" "tid"* ['']
    """
    if not any(letter.isalnum() for letter in word):
        return ""
    bare = word.rstrip("*")
    quoted = bare.replace('"', '""')
    return f'"{quoted}"*' if bare != word else f'"{quoted}"'
