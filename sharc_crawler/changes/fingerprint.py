"""Fingerprint: a digest of a page's content, which stays equal while scripts, tokens and markup around it change.

It never replaces the payload digest. The content of an HTML page is, in order: its text with white space folded (and
its title), the URLs of its links and of all that it embeds, and the words in its attributes
(:mod:`sharc_crawler.changes.attributes`). Everything else is ignored: scripts, styles, comments, meta data, fields'
values (such as CSRF tokens), and other attributes (nonces, classes, machine-readable times); noise found on any site
(:mod:`sharc_crawler.changes.noise`); and what masks hide. In other documents, every byte counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from zlib import crc32

from lxml import etree
from w3lib.encoding import html_body_declared_encoding

from sharc_crawler.bodies import markup
from sharc_crawler.bodies.markup import bounded
from sharc_crawler.bodies.text import as_text
from sharc_crawler.changes.attributes import values
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.masks import Mask
from sharc_crawler.changes.noise import plain_text, without_noise

_HTML = {"text/html", "application/xhtml+xml"}
_ENDS = re.compile(r"</(?:html|body)\s*>", re.IGNORECASE | re.ASCII)
_TEXTS: Any = etree.XPath("//text()", smart_strings=False)


def is_html(media_type: str | None) -> bool:
    """Is a ``Content-Type`` that of an HTML page?

    >>> is_html("Text/HTML; charset=utf-8"), is_html(None)
    (True, False)
    """
    return (media_type or "").partition(";")[0].strip().lower() in _HTML


def parse(body: bytes, media_type: str | None) -> Any:
    """The tree of an HTML page; ``None`` if it is empty, or cannot be read to its end.

    It may be too deep, or crafted to be costly (:mod:`sharc_crawler.bodies.markup`).
    """
    data, left_out = bounded(text_of(body, media_type).encode("utf-8", "replace"))
    if left_out:
        return None
    root, whole = markup.parse(data)
    return root if whole else None


def text_of(body: bytes, media_type: str | None) -> str:
    """A page as text, without the end tags of ``html`` and ``body``, at which the parser stops, but browsers do not."""
    return _ENDS.sub("", _decoded(body, media_type))


def _decoded(body: bytes, media_type: str | None) -> str:
    """Decode a page; if its stated encoding is wrong, use the one declared in it, else Latin-1, which loses nothing."""
    text = as_text(body, media_type)[1]
    if "\ufffd" not in text:
        return text
    with suppress(UnicodeDecodeError, LookupError):
        return body.decode(html_body_declared_encoding(body) or "utf-8")
    return body.decode("latin-1")


def fingerprint(body: bytes, media_type: str | None, masks: Sequence[Mask] = ()) -> str:
    """The digest of the content of an unpacked body. ``media_type`` may be the whole ``Content-Type``.

    ``masks`` say what to ignore on this site.

    >>> one = fingerprint(b"<p class=a>Hello,  <b>you</b><script nonce=1></script>", "text/html")
    >>> [one == fingerprint(body, "text/html") for body in (b"<p>Hello, <b>you</b>", b"<p>Hello, <b>me</b>")]
    [True, False]
    """
    root = parse(body, media_type) if is_html(media_type) else None
    return labelled_digest(body) if root is None else fingerprint_of(root, masks)


def fingerprint_of(root: Any, masks: Sequence[Mask] = ()) -> str:
    """The fingerprint of a parsed page that was read to its end; its tree is changed."""
    own = labelled_digest(_content(cleaned(root, masks)).encode())
    return f"{own}+{crc32(repr(tuple(masks)).encode()):08x}" if masks else own  # comparable with the same masks only


def cleaned(root: Any, masks: Sequence[Mask]) -> Any:
    """Remove noise and masked parts from a parsed page, in place."""
    without_noise(root)
    for mask in masks:
        mask.apply(root)
    return root


def _content(root: Any) -> str:
    """The content as lines."""
    words = plain_text("\n".join(_TEXTS(root)))
    return "\n".join((words, *values(root)))
