"""| The searchable text of a collection's pages: the index is updated on demand, with new captures only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry, index_lines
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.bodies.coding import decoded
from sharc_crawler.bodies.markup import parsed
from sharc_crawler.changes.fingerprint import is_html
from sharc_crawler.changes.http import parse_response
from sharc_crawler.evidence.headers import header_text
from sharc_crawler.storage.texts import PageCopy, PageText, TextIndex, TextSource

if TYPE_CHECKING:
    from sharc_crawler.collection.folder import Collection

TEXTS = "texts.db"  #: in the collection's folder
MOST = 16 << 20  #: bytes of a page that are read
_UNSEEN = frozenset({"head", "noscript", "script", "style", "template", "textarea"})
_WITHIN_WORDS = frozenset(
    {"a", "abbr", "b", "bdi", "bdo", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span", "strong"}
    | {"sub", "sup", "u", "wbr"}
)


class _IndexFile(NamedTuple):
    source: TextSource
    path: Path
    size: int


def bring_up(
    collection: Collection, index: TextIndex, progress: Callable[[int, int], None] = lambda *_: None
) -> list[str]:
    """Add new captures, remove missing ones; returns what could not be read. ``progress``: files done, in all."""
    sources = list(_sources(collection))
    known = index.known()
    if gone := list(known.keys() - {source.source.name for source in sources}):
        index.forget(gone)
    new = [source for source in sources if known.get(source.source.name) != source.size]
    digests, lacking, problems = index.digests() if new else set(), set[str](), list[str]()
    for done, file in enumerate(new, 1):
        problems += _take_in(_Texts(file, digests, lacking), index)
        progress(done, len(new))
    if not lacking.isdisjoint(digests):  # the clock was set back, so a text comes after its references
        for file in new:
            _take_in(_Texts(file, digests, lacking), index)
    return problems


def _take_in(texts: _Texts, index: TextIndex) -> list[str]:
    index.add(texts.source, texts, lambda: texts.size)
    return texts.problems


def text_of(body: bytes, content_type: str) -> PageText:
    """A page's title and visible text, with white space folded.

    >>> text_of(b"<title>Tides</title><p>High<b>er</b>  water<script>x()</script><p>at nine", "text/html")
    PageText(title='Tides', body='Higher water at nine')
    """
    root = parsed(body, content_type).root
    if root is None:
        return PageText("", "")
    title = " ".join(" ".join(root.xpath("//title[1]/text()")).split())
    return PageText(title, " ".join("".join(_pieces(root)).split()))


def _pieces(root: Any) -> Iterator[str]:
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event in ("start", "end") and element.tag not in _WITHIN_WORDS:
            yield " "
        if event == "start":
            if element.tag in _UNSEEN:
                walk.skip_subtree()
            else:
                yield element.text or ""
        else:
            yield element.tail or ""


def _sources(collection: Collection) -> Iterator[_IndexFile]:
    """The indexes of all captures, oldest first, so that payloads precede references to them."""
    for capture in sorted(collection.captures(), key=lambda one: one.time):
        for path in sorted(capture.folder.glob("*.cdxj")):
            folder, name = (one.relative_to(collection.folder).as_posix() for one in (capture.folder, path))
            yield _IndexFile(TextSource(capture.site, folder, name), path, path.stat().st_size)


def _places(index: Path) -> list[int]:
    """Where the lines of an index begin, in the order of their records."""
    found, place = [], 0
    with index.open("rb") as lines:
        for line in lines:
            (entry,) = index_lines([line.decode("utf-8")])
            found.append((intern(entry.file), entry.offset, place))
            place += len(line)
    return [place for _, _, place in sorted(found)]


def _entries_at(index: Path, places: list[int]) -> Iterator[IndexEntry]:
    with index.open("rb") as lines:
        for place in places:
            lines.seek(place)
            yield from index_lines([lines.readline().decode("utf-8")])


class _Texts:
    """The copies of pages in a source; problems are collected."""

    def __init__(self, file: _IndexFile, digests: set[str], lacking: set[str]) -> None:
        self._file = file
        self.source = file.source
        self._digests = digests  #: with known texts; added to
        self._lacking = lacking  #: referred to, but unknown; added to
        self.problems: list[str] = []

    @property
    def size(self) -> int:
        """The size of a source, or -1 after problems, so that it is read again."""
        return -1 if self.problems else self._file.size

    def __iter__(self) -> Iterator[PageCopy]:
        try:
            places = _places(self._file.path)
        except (OSError, ValueError, KeyError) as error:
            self.problems.append(f"{self._file.source.name} cannot be read: {error}")
            return
        for entry in _entries_at(self._file.path, places):
            if not entry.digest:
                continue
            text = None
            if entry.digest not in self._digests and is_html(entry.mime) and (entry.status or "").startswith("2"):
                text = self._text(entry)
            if text:
                self._digests.add(entry.digest)
            if entry.digest in self._digests:
                yield PageCopy(entry.digest, entry.url, entry.date, text)
            elif entry.mime == REVISIT:
                self._lacking.add(entry.digest)

    def _text(self, entry: IndexEntry) -> PageText | None:
        try:
            with self._file.path.with_name(entry.file).open("rb") as stream:
                record = read_at(stream, entry.offset)
        except OSError as error:
            self.problems.append(f"{self._file.path.with_name(entry.file)}: {error.strerror or error}")
            return None
        message = parse_response(record.block) if isinstance(record, Record) else None
        body = decoded(message.payload, message.values(b"content-encoding")) if message else None
        if message is None or body is None:
            self.problems.append(f"{self._file.path.with_name(entry.file)}: no page at byte {entry.offset:,}")
            return None
        return text_of(bytes(body[:MOST]), header_text(message.header(b"content-type")) or "")
