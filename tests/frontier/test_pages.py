"""What a page keeps of its first visit, packed into one object."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.frontier.pages import NO_PARENT, PageTable
from sharc_crawler.frontier.store import PageRow
from sharc_crawler.model import NO_VALIDATORS, Kind, Outcome, RateEstimate, Result, Validators
from sharc_crawler.rates.chain import PRIOR

TEXT = st.none() | st.text(st.characters(exclude_characters="\0"), min_size=1)


def table():
    pages = PageTable()
    pages.add("http://h/", Kind.PAGE, 0, 0, NO_PARENT, RateEstimate(0.0, "none"), 1.0)
    return pages


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_visit_is_remembered_as_it_was(digest, decoded, etag, modified):
    visit = Outcome(Result.OK, 7.0, 7.0, digest=digest, decoded=decoded, validators=Validators(etag, modified))
    pages = table()
    pages.remember(0, visit)
    assert pages.remembered(0) == visit
    assert pages.validators(0) == visit.validators
    pages.ask_in_full(0)
    assert not pages.validators(0)
    assert pages.remembered(0) == visit, "what it sent is compared all the same"
    pages.forget(0)
    assert pages.remembered(0).digest is None


def test_a_validator_that_no_request_may_carry_is_not_kept():
    pages = table()
    pages.remember(0, Outcome(Result.OK, 7.0, 7.0, digest="sha1:A", validators=Validators("a\0b", "\0")))
    assert pages.remembered(0).digest == "sha1:A"
    assert pages.remembered(0).validators == NO_VALIDATORS


def test_rows_of_a_store_are_as_if_added_one_by_one():
    urls = ["http://h/", "http://h/ä", "http://h/sitemap.xml"]
    kinds = [Kind.PAGE, Kind.PAGE, Kind.SITEMAP]
    rows = [
        PageRow(page, 0, url, url, kind, "h", 70_000 * page, page - 1, "", page % 2, 0.5, PRIOR, 2.0, 3.0, None, "")
        for page, (url, kind) in enumerate(zip(urls, kinds, strict=True), 1)
    ]
    one_by_one, at_once = table(), table()
    for row in rows:
        estimate = RateEstimate(row.rate, row.source, row.shape)
        one_by_one.add(row.url, row.kind, 7, row.depth, row.parent, estimate, row.weight, row.state)
    at_once.extend(rows, {"h": 7})
    columns = ("urls", "states", "kinds", "hosts", "depths", "parents", "rates", "started", "shapes", "weights")
    for column in (*columns, "guessed", "_notes"):
        found, wanted = getattr(at_once, column), getattr(one_by_one, column)
        assert [found[row] for row in range(4)] == [wanted[row] for row in range(4)], column
        assert len(found) == len(wanted) == 4
