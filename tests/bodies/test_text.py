"""Documents in any encoding, or in what is none."""

from __future__ import annotations

from encodings.aliases import aliases

import pytest

from sharc_crawler.bodies.text import as_text
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.links import document


@pytest.mark.parametrize("codec", sorted({*aliases.values(), "idna", "punycode", "undefined", "unicode_escape"}))
def test_whatever_is_said_to_be_the_encoding_the_page_is_read(codec: str) -> None:
    for body in (b"\xff" * 300, b"xn--\xff." * 30, b"a..b\\N{x", b"<a href=/b>b</a>"):
        kind = f"text/html; charset={codec}"
        as_text(body, kind)
        document.extract(body, "http://h.example/", kind)
        fingerprint(body, kind)


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        ("Übung".encode("latin-1"), "cp1252"),
        ("Übung".encode(), "utf-8"),
        ("Übungen und Prüfungen".encode()[:-1] + b"\xc3", "utf-8"),  # cut off
        ("\ufffd Übung".encode(), "utf-8"),  # so it was written
        ("\ufffd".encode(), "utf-8"),
        (b"", "utf-8"),
    ],
)
def test_where_nothing_says_the_encoding_it_is_told_by_the_bytes(body, encoding):
    found, text = as_text(body, "text/html")
    assert (found, text) == (encoding, body.decode(encoding, "replace"))


def test_a_codec_that_is_no_encoding_counts_as_none() -> None:
    for codec in ("idna", "punycode", "hex", "rot13"):
        assert as_text("ä".encode(), f"text/html; charset={codec}") == ("utf-8", "ä")
        assert as_text(f"<meta charset={codec}>ä".encode(), None)[1].endswith("ä")
