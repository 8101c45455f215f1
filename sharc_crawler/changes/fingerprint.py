"""What counts as content: a digest that stays equal while scripts, tokens and markup around the content change.

Reported beside the payload digest; it never replaces it.

Of an HTML page count, in their order: its text with white space folded (title included), the addresses of its links
without fragments and volatile parameters, and its images' addresses without query. All else does not: scripts, styles,
comments, meta data, form fields (hidden ones and CSRF tokens with them), and every other attribute, such as nonces,
classes and machine-readable times. What a site changes at each request within its text (counters, banners, "generated
in 0.02 s") has to be masked. Of any other kind of document every byte counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from lxml import etree
from w3lib.encoding import html_to_unicode

from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from re import Pattern

_HTML = {"text/html", "application/xhtml+xml"}
_NO_CONTENT = ("script", "style", "link", "meta", "input", "select", "textarea")
_LINKS: Any = etree.XPath("//a/@href | //area/@href", smart_strings=False)
_IMAGES: Any = etree.XPath("//img/@src | //source/@src | //video/@src | //audio/@src | //img/@alt", smart_strings=False)


@lru_cache(maxsize=256)
def _compiled(mask: str) -> Any:
    try:
        return etree.XPath(mask)
    except etree.XPathSyntaxError as error:
        raise UsageError(f"masks={mask!r} is not an XPath expression: {error}") from error


@dataclass(frozen=True, slots=True)
class FingerprintRules:
    """What in an HTML page does not count, besides what never does."""

    masks: tuple[str, ...] = ()  #: XPath expressions of elements, as ``//*[@id='visitors']``
    #: parameters of links that change from request to request
    volatile: Pattern[str] = re.compile(
        r"(?:(?<=\?)|[&;])(?:\w*(?:csrf|xsrf|nonce|token|sess(?:ion)?_?id)\w*|ts|timestamp|_)=[^&;#]*", re.IGNORECASE
    )

    def __post_init__(self) -> None:
        for mask in self.masks:
            _compiled(mask)


DEFAULT_RULES = FingerprintRules()


def fingerprint(body: bytes, media_type: str | None, rules: FingerprintRules = DEFAULT_RULES) -> str:
    """Digest of what counts in a content-decoded body. ``media_type`` may be the whole ``Content-Type``.

    >>> one = fingerprint(b"<p class=a>Hello,  <b>you</b><script nonce=1></script>", "text/html")
    >>> [one == fingerprint(body, "text/html") for body in (b"<p>Hello, <b>you</b>", b"<p>Hello, <b>me</b>")]
    [True, False]
    """
    if (media_type or "").partition(";")[0].strip().lower() not in _HTML:
        return labelled_digest(body)
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    root = etree.fromstring(html_to_unicode(media_type, body)[1].encode("utf-8", "replace"), parser)
    return labelled_digest(body if root is None else _content(root, rules).encode())


def _content(root: Any, rules: FingerprintRules) -> str:
    """What counts, one part a line."""
    for mask in rules.masks:
        _blank(_compiled(mask)(root), mask)
    etree.strip_elements(root, *_NO_CONTENT, with_tail=False)
    words = " ".join(root.itertext()).split()
    links = (rules.volatile.sub("", link.partition("#")[0]).rstrip("?") for link in _LINKS(root))
    images = (image.partition("?")[0] for image in _IMAGES(root))
    return "\n".join((" ".join(words), *links, *images))


def _blank(found: Any, mask: str) -> None:
    """Empty the masked elements; their tails, which are their parents' text, stay."""
    if not isinstance(found, list) or not all(isinstance(element, etree._Element) for element in found):
        raise UsageError(f"masks={mask!r} must select elements; an XPath expression like \"//*[@id='visitors']\" does")
    for element in found:
        element.clear(keep_tail=True)
