"""Parse any HTML with bounded work: the only place where pages become trees.

libxml2 takes quadratic time in a tag's attributes (100,000 in one tag: minutes), and memory for every element. So a
tag's attributes beyond :data:`MOST_ATTRIBUTES` are removed first, and a document is read up to :data:`MOST_BYTES` and
:data:`MOST_TAGS`.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from lxml import etree

from sharc_crawler.bodies.text import as_text
from sharc_crawler.plural import counted

MOST_ATTRIBUTES = 256  #: of a tag
MOST_TAGS = 250_000  #: of a document
MOST_BYTES = 16 * 2**20  #: of a document, in UTF-8

_HIDING = (b"script", b"style", b"textarea", b"title", b"noframes", b"noembed", b"iframe", b"xmp")
#: an attribute with the characters before it (HTML Standard, 13.2.5.32 to 13.2.5.39); the end of a tag
_ATTRIBUTE = (
    rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|(?![\"'])[^\t\n\f\r >]*+))?+"
)
_CLOSE = rb"[\t\n\f\r /]*+(?:>|\Z)"
_SELF_CLOSED = rb"(?:[\t\n\f\r ]*+/)++>"  #: libxml2 accepts it for any element
_NAME = rb"[a-z][^\t\n\f\r />]*+"
#: the text of a script, title…, in which there is no markup
_HIDDEN = rb"(?:[^<]++|<(?!/%b[\t\n\f\r />]))*+"
_ANY_HIDING = b"(?:" + b"|".join(_HIDING) + rb")[\t\n\f\r />]"
_COMMENT = rb"<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"
_BOGUS = rb"<(?:[!?]|/[^a-z>])[^>]*+(?:>|\Z)"
#: most tags: with text that is markup, and well separated attributes
_USUAL_NAME = rb"<(?:[a-hj-mo-ru-wyz]|s(?![ct])|i(?!f)|n(?!o[fe])|t(?![ei]))[a-z0-9]*+"
_USUAL_ATTRIBUTE = (
    rb"[\t\n ]++[^\t\n\f\r />=\"'][^\t\n\f\r />=]*+"
    rb"(?:=(?:\"[^\"]*+\"|'[^']*+'|[^\"'\t\n\f\r >][^\t\n\f\r >]*+))?+"
)


class Scanner:
    """Finds tags with more than ``most`` attributes, in one pass (without groups, which do not work in such loops).

    Expensive expressions are compiled for the first page that needs them: hardly any does.
    """

    def __init__(self, most: int) -> None:
        self._most, self._attributes = most, b"(?:%b){0,%d}+" % (_ATTRIBUTE, most)
        self.long = re.compile(b"<[^>]{%d}" % (2 * most))

    @cached_property
    def ordinary(self) -> re.Pattern[bytes]:
        """Markup without such tags."""
        ordinary = [
            b"[^<]++",
            b"</[a-z][a-z0-9]*+>",
            b"%b(?:%b){0,%d}+>" % (_USUAL_NAME, _USUAL_ATTRIBUTE, self._most),
            _COMMENT,
            _BOGUS,
            *(
                rb"<%b(?=[\t\n\f\r />])%b(?:%b|%b%b)" % (name, self._attributes, _SELF_CLOSED, _CLOSE, _HIDDEN % name)
                for name in _HIDING
            ),
            b"<(?!%b)/?%b%b%b" % (_ANY_HIDING, _NAME, self._attributes, _CLOSE),
            b"<(?!/?[a-z])",
        ]
        return re.compile(b"(?:" + b"|".join(ordinary) + b")*+", re.IGNORECASE)

    @cached_property
    def kept(self) -> re.Pattern[bytes]:
        """The part of a tag that is kept."""
        return re.compile(b"<(/?%b)%b" % (_NAME, self._attributes), re.IGNORECASE)


#: an attribute's value that contains ">"
_HIDES_AN_END = re.compile(rb"=[\t\n\f\r ]*+(?:\"[^\">]*+>|'[^'>]*+>)")
_REST = b"(?:%b)*+%b" % (_ATTRIBUTE, _CLOSE)


class Bounded(NamedTuple):
    """A document that takes linear time to parse."""

    data: bytes
    left_out: tuple[str, ...] = ()  #: what was removed


def bounded(data: bytes) -> Bounded:
    """Remove from a UTF-8 document what would make parsing expensive.

    >>> bounded(b"<p class=a>text").left_out
    ()
    >>> bounded(b"<p " + b" ".join(b"a%d" % number for number in range(1000)) + b">text").left_out
    ('attributes after the first 256 of 1 tag',)
    """
    left_out = []
    if len(data) > MOST_BYTES or (len(data) > MOST_TAGS and data.count(b"<") > MOST_TAGS):
        data, why = _start(data)
        left_out.append(why)
    data, tags = few_attributes(data, _SCANNER)
    if tags:
        left_out.append(f"attributes after the first {MOST_ATTRIBUTES} of {counted(tags, 'tag')}")
    return Bounded(data, tuple(left_out))


def parse(data: bytes) -> tuple[Any, bool]:
    """Parse a bounded document; return its tree without comments, or ``None``, and whether all of it was read.

    Documents nested thousands deep are not read to their end.
    """
    options: Any = {"remove_comments": True, "remove_pis": True, "huge_tree": True, "collect_ids": False}
    parser = etree.HTMLParser(encoding="utf-8", **options)
    root = etree.fromstring(data, parser)
    return root, not parser.error_log.filter_from_fatals()


def _start(data: bytes) -> tuple[bytes, str]:
    """Cut a long document; return the part to read, and what is left out."""
    why = ""
    if len(data) > MOST_BYTES:
        data, why = data[:MOST_BYTES], f"all after its first {MOST_BYTES:,} bytes"
    if data.count(b"<") > MOST_TAGS:
        last = next(islice(re.finditer(b"<", data), MOST_TAGS, None))
        data, why = data[: last.start()], f"all after its first {MOST_TAGS:,} tags"
    return data, why


def few_attributes(data: bytes, scanner: Scanner) -> tuple[bytes, int]:
    """Remove excess attributes; return the document and the number of tags concerned."""
    if not scanner.long.search(data) and not _HIDES_AN_END.search(data):  # too short: an attribute takes two bytes
        return data, 0
    parts: list[bytes] = []
    at = tags = 0
    while (found := scanner.ordinary.match(data, at)) and found.end() < len(data):
        kept = scanner.kept.match(data, found.end())
        rest = re.compile(_REST, re.IGNORECASE).match(data, kept.end()) if kept else None
        assert kept and rest, "ordinary markup ends at a tag, of which anything is an attribute or the end"
        parts += (data[at : kept.end()], b" />" if rest[0].endswith(b"/>") else b">")
        at, tags = rest.end(), tags + 1
        if kept[1].lower() in _HIDING and parts[-1] == b">":
            hidden = re.compile(_HIDDEN % kept[1].lower(), re.IGNORECASE).match(data, at)
            assert hidden, "it may be empty"
            parts.append(hidden[0])
            at = hidden.end()
    return b"".join([*parts, data[at:]]) if tags else data, tags


_SCANNER = Scanner(MOST_ATTRIBUTES)

# -- a page, decoded and parsed once for all readers -------------------------------------------------------------------


#: end tags at which the parser stops, while browsers read on
ENDS = re.compile(rb"</(?:html|body)\s*>", re.IGNORECASE)


class HtmlPage(NamedTuple):
    """A page as a tree. Only the last reader may change the tree."""

    root: Any  #: ``None``: it is empty
    data: bytes  #: the parsed data, in UTF-8
    encoding: str  #: the original encoding
    left_out: tuple[str, ...]  #: parts that were not read, as too expensive
    whole: bool  #: all of it was read and decoded, so that it can be compared


def parsed(body: bytes, content_type: str | None) -> HtmlPage:
    """Parse a page; never raises.

    The encoding is that of the byte order mark, else of the header, else of ``meta``, else UTF-8.

    >>> page = parsed(b"<p>a</body><p>b", "text/html")
    >>> page.root.xpath("//p/text()"), page.whole
    (['a', 'b'], True)
    """
    encoding, text = as_text(body, content_type)
    read = "\ufffd" not in text
    as_sent = body.removeprefix(BOM_UTF8) if read and encoding == "utf-8" else text.encode("utf-8", "replace")
    data, left_out = bounded(ENDS.sub(b"", as_sent))
    root, ended = parse(data)
    return HtmlPage(root, data, encoding, left_out, ended and not left_out and read)
