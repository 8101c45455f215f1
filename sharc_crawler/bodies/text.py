"""Telling text from images, archives and programs; reading it in the encoding that it has."""

from __future__ import annotations

from w3lib.encoding import html_body_declared_encoding, html_to_unicode, http_content_type_encoding, read_bom

#: Python's codecs that no document of the web is in; some raise whatever they are told, or take quadratic time
_NO_ENCODINGS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs", "oem"}
_LOOKED_AT = 8_000  #: bytes, as git does


def is_text(data: bytes) -> bool:
    r"""Whether a document may be text: it has a byte order mark, or no null byte near its beginning.

    Other control characters do occur in pages.

    >>> is_text("ä\x07\n".encode()), is_text("ä".encode("utf-16")), is_text(b"\x89PNG\r\n\x1a\n\0\0")
    (True, True, False)
    """
    return read_bom(data)[0] is not None or b"\0" not in data[:_LOOKED_AT]


def as_text(body: bytes, content_type: str | None) -> tuple[str, str]:
    r"""The encoding of a document and its text, read leniently: by byte order mark, header, ``meta``.

    Where nothing says it, it is UTF-8; or Windows-1252, as browsers have it, where most that is not ASCII is no UTF-8.

    >>> as_text(b"\xe4", "text/html; charset=latin-1"), as_text(b"a", "text/html; charset=idna"), as_text(b"\xe4", None)
    (('cp1252', 'ä'), ('utf-8', 'a'), ('cp1252', 'ä'))
    >>> as_text(b"<meta charset=utf-16>", "text/html")[0]
    'utf-8'
    """
    declared = html_body_declared_encoding(body)
    said = read_bom(body)[0] or http_content_type_encoding(content_type) or declared
    if said in _NO_ENCODINGS or (declared == said and declared and declared.startswith(("utf-16", "utf-32"))):
        said = None  # a ``meta`` that can be read is in none of these
    try:
        found: tuple[str, str] = html_to_unicode(f"text/html; charset={said or 'utf-8'}", body)
    except (UnicodeError, LookupError):  # a codec of bytes, not of text
        return "utf-8", body.decode("utf-8", "replace")
    if said is None and _is_no_utf8(body, found[1]):
        return "cp1252", body.decode("cp1252", "replace")
    return found


def _is_no_utf8(body: bytes, text: str) -> bool:
    """Whether most of what is not ASCII could not be read as UTF-8: a page that is cut off, or mixed, is UTF-8."""
    unread = text.count("\ufffd") - body.count(b"\xef\xbf\xbd")
    return unread > 0 and 2 * unread > len(text) - len(text.encode("ascii", "ignore"))
