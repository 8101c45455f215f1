"""What a document of any kind names: the reader that its media type asks for."""

from __future__ import annotations

from sharc_crawler.links import css, html, manifest, modules
from sharc_crawler.links.found import Found

#: SVG images name resources with elements that the HTML reader knows.
_READERS = {
    "text/html": html.extract,
    "application/xhtml+xml": html.extract,
    "image/svg+xml": html.extract,
    "text/css": css.extract,
    "text/javascript": modules.extract,
    "application/javascript": modules.extract,
    "application/x-javascript": modules.extract,
    "application/manifest+json": manifest.extract,
    "application/json": manifest.extract,  # so many servers call it
}


def extract(body: bytes, url: str, content_type: str | None) -> Found:
    """What a fetched document names; nothing for kinds that are not read. A document without type is read as HTML.

    >>> extract(b"url(a.png)", "http://h/a.css", "text/css").resources
    ('http://h/a.png',)
    >>> extract(b"url(a.png)", "http://h/a.txt", "text/plain").resources
    ()
    """
    reader = _READERS.get(_media_type(content_type))
    return Found((), (), url) if reader is None else reader(body, url, content_type)


def is_read(content_type: str | None) -> bool:
    """Whether such a document names anything."""
    return _media_type(content_type) in _READERS


def is_markup(content_type: str | None) -> bool:
    """Whether such a document is read as HTML.

    >>> is_markup(None), is_markup("image/svg+xml; charset=utf-8"), is_markup("text/css")
    (True, True, False)
    """
    return _READERS.get(_media_type(content_type)) is html.extract


def _media_type(content_type: str | None) -> str:
    return (content_type or "text/html").partition(";")[0].strip().lower()
