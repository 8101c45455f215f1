"""Tell text from images, archives and programs; decode text."""

from __future__ import annotations

from w3lib.encoding import html_body_declared_encoding, html_to_unicode, http_content_type_encoding, read_bom

#: Python's codecs that web documents never use; some raise whatever the error handler, or take quadratic time
_NO_ENCODINGS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs", "oem"}
_LOOKED_AT = 8_000  #: bytes, as in git


def is_text(data: bytes) -> bool:
    r"""May a document be text? It has a byte order mark, or no null byte near its beginning.

    Other control characters do occur in pages.

    >>> is_text("ä\x07\n".encode()), is_text("ä".encode("utf-16")), is_text(b"\x89PNG\r\n\x1a\n\0\0")
    (True, True, False)
    """
    return read_bom(data)[0] is not None or b"\0" not in data[:_LOOKED_AT]


def as_text(body: bytes, content_type: str | None) -> tuple[str, str]:
    r"""Return the encoding of a document and its text, decoded leniently: by byte order mark, header, ``meta``.

    The default is UTF-8; or Windows-1252, as in browsers, if most non-ASCII bytes are not UTF-8.

    >>> as_text(b"\xe4", "text/html; charset=latin-1"), as_text(b"a", "text/html; charset=idna"), as_text(b"\xe4", None)
    (('cp1252', 'ä'), ('utf-8', 'a'), ('cp1252', 'ä'))
    >>> as_text(b"<meta charset=utf-16>", "text/html")[0]
    'utf-8'
    """
    declared = html_body_declared_encoding(body)
    stated = read_bom(body)[0] or http_content_type_encoding(content_type) or declared
    if stated in _NO_ENCODINGS or (declared == stated and declared and declared.startswith(("utf-16", "utf-32"))):
        stated = None  # a readable ``meta`` is in none of these
    try:
        found: tuple[str, str] = html_to_unicode(f"text/html; charset={stated or 'utf-8'}", body)
    except (UnicodeError, LookupError):  # not a text encoding
        return "utf-8", body.decode("utf-8", "replace")
    if stated is None and _is_no_utf8(body, found[1]):
        return "cp1252", body.decode("cp1252", "replace")
    return found


def _is_no_utf8(body: bytes, text: str) -> bool:
    """Could most non-ASCII bytes not be decoded as UTF-8? A page that is cut off, or mixed, is UTF-8."""
    unread = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return unread > 0 and 2 * unread > len(text) - len(text.encode("ascii", "ignore"))
