"""What fuzzing (benchmarks/fuzz.py) has found, each once: the input, and that it does no harm any more."""

from __future__ import annotations

import gzip
import io

import pytest

from sharc_crawler.archive.members import Damage, records
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.http import http_date
from sharc_crawler.changes.learning import Pair, learn
from sharc_crawler.changes.masks import Mask
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.links.found import Resolver
from sharc_crawler.live.retry_after import retry_after
from sharc_crawler.state.rows import Batch, LinksRow
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row


@pytest.mark.parametrize("text", ["Sun Nov  6 08:0104102139347 1994", "1 Jan 9999999999 00:00:00 GMT"])
def test_a_date_with_absurd_numbers_is_none(text):
    assert http_date(text) is None


@pytest.mark.parametrize("text", ["2001041021³909", "²", "١٢"])
def test_digits_of_other_alphabets_are_no_seconds(text):
    assert retry_after(text, 0.0) is None


@pytest.mark.parametrize("text", ["9" * 400, "1" + "0" * 308, "9" * 5_000])
def test_a_wait_without_end_is_still_a_number_that_can_be_summed(text):
    assert 0 < retry_after(text, 0.0) + retry_after(text, 0.0) < float("inf")


@pytest.mark.parametrize("size", ["²", "٣", "9" * 5_000])
def test_a_record_whose_length_is_no_number_is_damaged(size):
    text = f"WARC/1.1\r\nContent-Length: {size}\r\n\r\n\r\n\r\n"
    (found,) = records(io.BytesIO(gzip.compress(text.encode())))
    assert isinstance(found, Damage)


@pytest.mark.parametrize(
    ("table", "column"),
    [("page", "hints"), ("page", "kind"), ("capture", "spec"), ("capture", "notes"), ("capture", "interruptions"),
     ("capture", "skipped"), ("visit", "result"), ("link", "targets")],
)  # fmt: skip
@pytest.mark.parametrize("text", ["{", "1", '{"no": "such"}', "\ufffd"])
def test_state_that_was_tampered_with_is_named(tmp_path, table, column, text):
    store = SqliteStore(tmp_path)
    store.commit(Batch([page_row(0)], [visit_row(0)], captures={0: capture_row()}, links=[LinksRow(0, 1.0, (0,))]))
    store._db.execute(f"UPDATE {table} SET {column} = ?", (text,))
    try:
        store.load()
        list(store.links())
    except DataError as error:
        assert "frontier.db" in str(error)


@pytest.mark.parametrize(
    "reference", ["http://h.\x05\0\0/%2e", "//\x7f.example/", "http://a b\u2028/c", "http://b\ufffd=/x"]
)
def test_a_host_with_control_characters_names_nothing(reference):
    assert Resolver("http://example.org/").one(reference) is None


@pytest.mark.parametrize("tag", ["im=", "inpu<p", "svg:a", "p"])
@pytest.mark.parametrize("attribute", ["", ' id="a\'b"', ' class="a\'b"'])
def test_masks_can_be_learned_whatever_elements_are_called(tag, attribute):
    """A page must not put its own words into an XPath expression, nor break one."""
    page = f"<p>some words that stay <{tag}{attribute}>number {{}} of</{tag}> and some more words here</p>" * 2
    one, other = (page.format(number, number).encode() for number in ("seven", "eight nine"))
    masks = learn([Pair(one, other, "text/html")]).masks
    assert masks
    assert fingerprint(one, "text/html", masks) == fingerprint(other, "text/html", masks)


def test_a_pattern_that_fits_nothing_at_all_leaves_alone_what_is_not_there():
    masks = (Mask("//p", ".*"),)
    assert fingerprint(b"<p>a</p>", "text/html", masks) == fingerprint(b"<p>b</p>", "text/html", masks)


@pytest.mark.parametrize("path", ["//*[nothing(@id)]", "//*[$unknown]", "//svg:a"])
def test_an_expression_that_cannot_be_evaluated_is_named(path):
    with pytest.raises(UsageError, match="masks="):
        fingerprint(b"<p id=a>x", "text/html", (Mask(path),))
