"""Show people what differs between two downloads of a page, and which differences are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from lxml import etree

from sharc_crawler.bodies.text import as_text, is_text
from sharc_crawler.changes.attributes import PLAIN
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.fingerprint import cleaned, fingerprint, is_html, parse, text_of
from sharc_crawler.changes.masks import Mask, folded
from sharc_crawler.changes.noise import plain_text
from sharc_crawler.plural import counted

_INLINE = frozenset(
    "a abbr b bdi bdo cite code data dfn em font i kbd mark q s samp small span strong sub sup time u var".split()  # noqa: SIM905
)
_JSON = re.compile(r"(?i)^[^;]*[/+]json\b")
_HIDDEN = frozenset(("script", "style", "template"))


@dataclass(frozen=True, slots=True)
class LinePair:
    """A line of the page before and after; ``None``: it does not exist there."""

    old: str | None
    new: str | None

    @property
    def same(self) -> bool:
        """Is the line unchanged?"""
        return self.old == self.new


@dataclass(frozen=True, slots=True)
class Difference:
    """Two downloads of a page, side by side."""

    equal_bytes: bool
    changed: bool  #: did the content change, by the fingerprints?
    content: tuple[LinePair, ...]  #: the content, line by line
    ignored: tuple[LinePair, ...]  #: differing lines that do not count

    @property
    def edits(self) -> list[LinePair]:
        """The lines of content that differ."""
        return [row for row in self.content if not row.same]


def difference(old: bytes, new: bytes, media_type: str | None, masks: Sequence[Mask] = ()) -> Difference:
    """Compare two unpacked bodies of the same media type.

    >>> seen = difference(b"<p>one<p>two<!--1-->", b"<p>one<p>three<!--2-->", "text/html")
    >>> seen.edits, seen.ignored
    ([LinePair(old='two', new='three')], (LinePair(old='<!--1-->', new='<!--2-->'),))
    """
    changed = fingerprint(old, media_type, masks) != fingerprint(new, media_type, masks)
    before, after = (_content_lines(body, media_type, masks) for body in (old, new))
    if changed and before == after:  # JSON with other white space
        before, after = (_text(body, media_type).splitlines() for body in (old, new))
    # Noise may span two lines: if the fingerprints are equal, lines may still differ.
    content = _aligned(before, after if changed else before)
    edits = {(row.old, row.new) for row in content if not row.same}
    raw = _aligned(*(_all_lines(body, media_type) for body in (old, new))) if old != new else ()
    ignored = tuple(row for row in raw if not row.same and (_plain(row.old), _plain(row.new)) not in edits)
    return Difference(old == new, changed, content, ignored)


def _aligned(old: list[str], new: list[str]) -> tuple[LinePair, ...]:
    rows: list[LinePair] = []
    for _, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        rows += (LinePair(one, other) for one, other in zip_longest(old[a:b], new[c:d]))
    return tuple(rows)


def _plain(line: str | None) -> str | None:
    return line and plain_text(line)


def _content_lines(body: bytes, media_type: str | None, masks: Sequence[Mask]) -> list[str]:
    """The content, with a line for each block of text, link or image."""
    root = parse(body, media_type) if _is_page(body, media_type) else None
    if root is None:
        return _source_lines(body, media_type)
    lines = (plain_text(line) for line in _lines(cleaned(root, masks)))
    return [line for line in lines if line]


def _all_lines(body: bytes, media_type: str | None) -> list[str]:
    """Everything in a page, with comments, scripts and attributes."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    page = text_of(body, media_type).encode("utf-8", "replace") if _is_page(body, media_type) else None
    root = None if page is None else etree.fromstring(page, parser)
    return _source_lines(body, media_type) if root is None else [line for line in _lines(root, everything=True) if line]


def _is_page(body: bytes, media_type: str | None) -> bool:
    return is_html(media_type) and is_text(body)


def _source_lines(body: bytes, media_type: str | None) -> list[str]:
    """The lines of a text; for other files a line with size and digest."""
    if not is_text(body):
        return [f"{counted(len(body), 'byte')}, no text: {labelled_digest(body)}"]
    text = _text(body, media_type)
    return (_laid_out(text) if _JSON.search(media_type or "") else text).splitlines()


def _laid_out(text: str) -> str:
    """JSON with one value per line, as servers send it in a single line."""
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _text(body: bytes, media_type: str | None) -> str:
    return as_text(body, media_type)[1]


def _lines(root: Any, *, everything: bool = False) -> Iterator[str]:
    """Blocks of text in the order of the page, each followed by the URLs in it."""
    words: list[str] = []
    beside: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event in {"comment", "pi"}:
            if everything:
                beside.append(folded(etree.tostring(element, with_tail=False, encoding="unicode")))
            words.append(element.tail or "")
            continue
        if element.tag not in _INLINE:
            yield folded(" ".join(words))
            yield from beside
            words, beside = [], []
        if event == "start":
            beside += _beside(element, everything=everything)
            words.append("" if element.tag in _HIDDEN else element.text or "")
        else:
            words.append(element.tail or "")
    yield folded(" ".join(words))
    yield from beside


def _beside(element: Any, *, everything: bool) -> Iterator[str]:
    """Lines for an element's attributes, or its script."""
    for name, value in element.attrib.items():
        plain = PLAIN[name](value) if name in PLAIN else ""
        if plain:
            yield f"{element.tag} {name}: {value if everything else plain}"
        elif everything:
            yield f"<{element.tag} {name}={value!r}>"
    if everything and element.tag in _HIDDEN:
        yield f"<{element.tag}> {folded(element.text or '')}"
