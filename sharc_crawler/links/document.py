"""Extract the references of any document, with the reader for its media type."""

from __future__ import annotations

from collections.abc import Callable

from sharc_crawler.links import css, html, manifest, modules
from sharc_crawler.links.found import Found

#: The HTML reader also knows the elements of SVG images.
_READERS = {
    **dict.fromkeys(("text/html", "application/xhtml+xml", "image/svg+xml"), html.extract),
    "text/css": css.extract,
    **dict.fromkeys(("text/javascript", "application/javascript", "application/x-javascript"), modules.extract),
    # manifests, which many servers send as plain JSON, and IIIF
    **dict.fromkeys(("application/manifest+json", "application/json", "application/ld+json"), manifest.extract),
}
_XML = ("text/xml", "application/xml", "text/xsl")
_HLS = "application/vnd.apple.mpegurl"
_PLAYLISTS = {_HLS, "vnd.apple.mpegurl", "application/x-mpegurl", "application/mpegurl", "audio/mpegurl"}
_PLAYLISTS |= {"audio/x-mpegurl", "audio/x-scpls", "application/pls+xml"}
_NO_TYPES = {"unknown/unknown", "application/unknown", "*/*"}  #: types that browsers ignore
_BEGINS = b"#EXTM3U"  #: begins a playlist, whatever its media type


def extract(body: bytes, url: str, content_type: str | None) -> Found:
    """The references of a document; none for other media types. Without a type it is read as HTML.

    >>> extract(b"url(a.png)", "http://h/a.css", "text/css").resources
    ('http://h/a.png',)
    >>> extract(b"url(a.png)", "http://h/a.txt", "text/plain").resources
    ()
    """
    reader = _reader(content_type if body[: len(_BEGINS)] != _BEGINS else _HLS)
    return Found((), (), url) if reader is None else reader(body, url, content_type)


def is_read(content_type: str | None) -> bool:
    """Are documents of this type read?"""
    return _reader(content_type) is not None


def is_markup(content_type: str | None) -> bool:
    """Are documents of this type read as HTML?

    >>> is_markup(None), is_markup("image/svg+xml; charset=utf-8"), is_markup("text/css")
    (True, True, False)
    >>> is_markup("unknown/unknown"), is_markup("html"), is_markup("application/octet-stream")
    (True, True, False)
    """
    return _reader(content_type) is html.extract


def _reader(content_type: str | None) -> Callable[[bytes, str, str | None], Found] | None:
    kind = _media_type(content_type)
    if reader := _READERS.get(kind):
        return reader
    if kind in _PLAYLISTS:
        from sharc_crawler.links import playlist  # rarely needed, like XML that is no feed

        return playlist.extract
    if kind in _XML or kind.endswith("+xml"):
        from sharc_crawler.links import xml

        return xml.extract
    return html.extract if kind in _NO_TYPES or "/" not in kind else None


def _media_type(content_type: str | None) -> str:
    return (content_type or "text/html").partition(";")[0].strip().lower()
