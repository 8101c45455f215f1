"""Who is claimed on the server's word, and who was seen to change."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from sharc_crawler.evidence.attesting import Attestations
from sharc_crawler.evidence.intervals import AGE_PRECISION
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lastmods import Change, weigh
from sharc_crawler.model import Hints, Kind, Outcome, Result, Validators, Verdict
from sharc_crawler.rates.history import CHANGED, UNKNOWN, SiteHistory
from tests.evidence.attested import AFTER_T, AGAIN, BEFORE_T, END, NOBODY, STILL, VISIT, Capture, T


def test_claimed_are_the_coherent_by_lastmod_alone():
    capture = Capture()
    still, said = capture.page(STILL, "A"), capture.page(BEFORE_T, "A")
    same = capture.page(STILL, "A", "A", once=False)
    judged, told = capture.judged()
    assert (judged[still].verdict, judged[still].evidence) == (Verdict.COHERENT, Evidence.ATTESTED)
    assert (judged[said].verdict, judged[said].evidence) == (Verdict.CHANGED, Evidence.ATTESTED)
    assert judged[same].evidence is Evidence.BYTES
    assert (told["claimed"], told["audited"], told["unaudited"], told["bound"]) == (1, 0, 1, 1), "nothing was audited"


def test_what_a_sitemap_said_before_its_lag_was_over_is_provisional():
    for late, evidence in ((END - T, Evidence.ATTESTED), (END - T + 1, Evidence.PROVISIONAL)):
        capture = Capture(late=late)
        still, said = capture.page(STILL, "A"), capture.page(BEFORE_T, "A")
        judged, told = capture.judged()
        assert (judged[still].verdict, judged[still].evidence) == (Verdict.COHERENT, evidence)
        assert judged[said].verdict is Verdict.CHANGED
        assert (told["claimed"], told["provisional"], told["lag"]) == (1, evidence is Evidence.PROVISIONAL, late)


def test_a_page_that_goes_after_the_reference_instant_and_whose_sitemap_says_so_is_claimed():
    for said, verdict in ((STILL, Verdict.UNKNOWN), (AFTER_T, Verdict.COHERENT)):  # read after the audit
        capture = Capture(share=1.0)
        away, beside = (capture.page(STILL, "A") for _ in range(2))
        for page, (lastmod,) in capture.attesting.lastmods.items():
            capture.attesting.lastmods[page] = [lastmod._replace(read=T)]
        capture.audited()
        capture.again(away, "W", result=Result.GONE)
        capture.attesting.ingest(away, END, said, 1.0)
        judged, _ = capture.judged()
        assert judged[beside].verdict is verdict
        assert judged[away].verdict is (Verdict.CHANGED if said == STILL else Verdict.COHERENT)


@pytest.mark.parametrize(
    ("lastmod", "listed", "may"),
    [(STILL, True, True), (VISIT - 1.5, True, True), (VISIT - 1.0, True, False), (STILL, False, False)],
)
def test_a_page_may_be_claimed_if_it_is_listed_and_its_lastmod_lies_in_the_past(lastmod, listed, may):
    attesting = Attestations(NOBODY, 0.0, 0.0)
    if listed:
        attesting.ingest(0, VISIT, lastmod, 1.0)
    assert attesting.attestable(0, "http://h/a/0.html", VISIT) is may


def test_a_resource_is_claimed_by_its_own_last_modified_only():
    attesting = Attestations(NOBODY, 0.0, 0.0)
    outcome = Outcome(Result.OK, AGAIN, AGAIN + 0.1, status=200, digest="A", date=AGAIN)
    attesting.visited(0, Kind.RESOURCE, outcome, once=True)
    assert attesting.judge_embedded({0: "http://h/s.css", 1: "http://h/never.css"}, T) == {}


def test_a_resource_that_is_older_than_t_by_its_own_word_is_claimed():
    attesting = Attestations(NOBODY, 0.0, 0.0)
    old, new = (f"Thu, 01 Jan 1970 00:{minutes}:00 GMT" for minutes in ("15", "17"))  # T lies between
    for number, modified in enumerate((old, new)):
        validators = Validators(None, modified)
        outcome = Outcome(Result.OK, 1100.0, 1100.1, status=200, digest="A", date=1100.0, validators=validators)
        attesting.visited(number, Kind.RESOURCE, outcome, once=True)
    found = attesting.judge_embedded({0: "http://h/a.css", 1: "http://h/b.css"}, T)
    assert {page: (one.verdict, one.evidence) for page, one in found.items()} == {
        0: (Verdict.COHERENT, Evidence.ATTESTED)
    }


def test_a_page_is_finished_by_bytes_unless_it_was_visited_once_or_is_in_doubt():
    capture = Capture()
    twice, once = capture.page(STILL, "A", once=False), capture.page(STILL, "A")
    for page, version, open_ in ((twice, "A", False), (twice, "B", True), (once, "A", True)):
        outcome = Outcome(Result.OK, AGAIN, AGAIN + 0.1, 200, version, date=AGAIN)
        judgement = capture.revisits.judge(capture.urls[page], capture.visits[page], outcome, T)
        assert capture.attesting.revisited(page, outcome, judgement) is open_


def test_what_was_said_last_of_a_page_is_what_its_rate_is_asked_for_with():
    attesting = Attestations(NOBODY, 0.0, 0.0)
    assert attesting.last_hints(0) is None
    attesting.ingest(0, 100.0, 50.0, 60.0)
    attesting.ingest(0, 200.0, 70.0, 1.0)
    attesting.ingest(0, 150.0, 90.0, 1.0)
    assert attesting.last_hints(0) == Hints(70.0, 1.0)


def seen_to_change(*lastmods: float) -> SiteHistory:
    """A page that former captures saw change at each of their visits, ten apart, with what its sitemap said then."""
    times, silent = 10.0 * np.arange(len(lastmods)), np.full(len(lastmods), np.nan)
    changed = np.array([UNKNOWN, *[CHANGED] * (len(lastmods) - 1)], np.int8)
    offsets, ones = np.array([0, len(lastmods)]), np.ones(len(lastmods))
    return SiteHistory("h", ["http://h/a/0.html"], offsets, times, changed, np.array(lastmods), ones, silent)


@pytest.mark.parametrize(
    ("history", "said", "stays"),
    [
        (seen_to_change(-5.0, 5.0, 15.0), VISIT - 10, True),
        (seen_to_change(-5.0, 5.0, 15.0), VISIT + 10, False),  # it has changed since
        (seen_to_change(-5.0, 5.0, 15.0), None, False),
        (seen_to_change(-5.0, -5.0, -5.0), VISIT - 10, False),  # it hid a change
        (seen_to_change(-6.0), VISIT - 10, False),  # it was seen once: nothing shows what its word is worth
        (NOBODY, VISIT - 10, False),  # it never told of one
    ],
)
def test_a_former_answer_stands_where_its_class_has_earned_belief(history, said, stays):
    attesting = Attestations(history, 0.0, 0.0)
    if said is not None:
        attesting.ingest(0, END, said, 1.0)
    attesting.begin({0: "http://h/a/0.html"}, END)
    look = Outcome(Result.OK, VISIT, VISIT + 0.1, 200, "A", date=VISIT)
    assert attesting.unchanged_since(0, "http://h/a/0.html", look) is stays
    assert not attesting.unchanged_since(0, "http://h/b/0.pdf", look), "another class"
    hid = history is not NOBODY and history.lastmods[-1] == -5.0
    assert any("of /a/*.html not believed" in text for text in attesting.objections()) is bool(hid)


def test_a_part_is_not_claimed_on_the_server_s_word() -> None:
    capture = Capture()
    whole, part, unasked = (capture.page(STILL) for _ in range(3))
    for page, said in ((whole, {}), (part, {"part": True}), (unasked, {"status": 206})):
        outcome = Outcome(Result.OK, VISIT, VISIT + 0.1, **{"status": 200, "digest": "A", "date": VISIT, **said})
        capture.attesting.downloaded(page, outcome, once=True)
    capture.attesting.begin(capture.urls, VISIT)
    judged, _ = capture.attesting.judge(capture.urls, T)
    assert [judged[page].verdict for page in (whole, part, unasked)] == [
        Verdict.COHERENT,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
    ]


def test_equal_bytes_of_downloads_that_both_lie_before_t_show_nothing_of_t():
    capture = Capture()
    page = capture.page(BEFORE_T, "A")
    capture.again(page, "A", at=VISIT + 1.0)
    judged, _ = capture.judged()
    assert (judged[page].verdict, judged[page].evidence) == (Verdict.CHANGED, Evidence.ATTESTED)


def test_the_last_modified_of_a_copy_is_that_of_when_it_was_made() -> None:
    """Two downloads around T; the second one's copy was made before it, and does not tell of a change since."""
    modified = Validators(None, "Thu, 01 Jan 1970 00:05:00 GMT")
    for age, verdict in ((0.0, Verdict.COHERENT), (AGAIN - T + 50.0, Verdict.UNKNOWN)):
        capture = Capture()
        page = len(capture.urls)
        capture.urls[page] = f"http://h/a/{page}.html"
        capture.visits[page] = visit = Outcome(Result.OK, VISIT, VISIT + 0.1, 200, "A", validators=modified, date=VISIT)
        capture.attesting.downloaded(page, visit, once=False)
        again = Outcome(Result.OK, AGAIN, AGAIN + 0.1, 200, "A", validators=modified, date=AGAIN, age=age)
        judgement = capture.revisits.judge(capture.urls[page], visit, again, T)
        capture.attesting.revisited(page, again, judgement)
        assert capture.judged()[0][page].verdict is verdict


def test_what_a_sitemap_said_last_counts() -> None:
    capture = Capture()
    page, *_ = (capture.page(STILL, "A") for _ in range(4))
    capture.attesting.begin(capture.urls, VISIT)
    assert capture.attesting.attestable(page, capture.urls[page], END)
    capture.attesting.ingest(page, END + 1.0, END + 50.0, 1.0)
    assert not capture.attesting.attestable(page, capture.urls[page], END), "it changed when this had begun"


@pytest.mark.parametrize(("first", "again"), [(T - 0.5, AGAIN), (VISIT, T)])
def test_a_download_that_ends_or_begins_at_t_lies_on_its_side_of_it(first: float, again: float) -> None:
    capture = Capture()
    page = len(capture.urls)
    capture.urls[page] = "http://h/a/0.html"
    capture.visits[page] = visit = Outcome(Result.OK, first, first + 0.5, 200, "A", date=first)
    capture.attesting.downloaded(page, visit, once=False)
    capture.again(page, "A", at=again)
    judgement = capture.judged()[0][page]
    assert (judgement.verdict, judgement.evidence) == (Verdict.COHERENT, Evidence.BYTES)


def read_at(attesting: Attestations, date: float | None, result: Result = Result.OK) -> None:
    """Sitemap 77 was read from ``VISIT`` on, for a second, and its server says that it is this late."""
    attesting.read(77, Outcome(result, VISIT, VISIT + 1.0, status=200, date=date))


def test_the_clock_of_the_sitemaps_server_is_known_when_one_is_read(monkeypatch) -> None:
    """It is ahead of ours by 99 seconds at least, by 101 at most."""
    for date, ahead in ((VISIT + 100.0, 99.0), (None, 0.0)):
        for less, may in ((0.5, True), (0.0, False)):
            attesting = Attestations(NOBODY, 0.0, 0.0)
            attesting.ingest(0, VISIT, VISIT + ahead - 5.0 - less, 5.0)
            read_at(attesting, date)
            assert attesting.sitemaps == {77: VISIT}
            assert attesting.attestable(0, "http://h/a/0.html", VISIT) is may
    told = []
    monkeypatch.setattr(SiteHistory, "sitemap_read", lambda self, now, said: told.extend(said) or self)
    attesting = Attestations(NOBODY, 0.0, 0.0)
    attesting.ingest(0, VISIT, 500.0, 60.0)
    read_at(attesting, VISIT + 100.0)
    attesting.begin({0: "http://h/a", 1: "http://h/b"}, VISIT)
    assert told == [("http://h/a", 401.0, 60.0)]


def test_a_sitemap_that_could_not_be_read_is_not_read_again() -> None:
    attesting = Attestations(NOBODY, 0.0, 0.0)
    read_at(attesting, VISIT + 100.0, Result.GONE)
    assert attesting.sitemaps == {}


@pytest.mark.parametrize(("result", "changed"), [(Result.GONE, 1), (Result.REDIRECTED, 1), (Result.REFUSED, 0)])
def test_a_page_that_is_gone_has_changed_whatever_its_answer_looks_like(result: Result, changed: int) -> None:
    capture = Capture(share=1.0)
    away = capture.page(STILL, "A")
    capture.audited()
    capture.again(away, "A", result=result)
    assert capture.judged()[1]["changed"] == changed


def test_pages_are_kept_by_their_downloads_and_resources_by_their_first() -> None:
    attesting = Attestations(NOBODY, 0.0, 0.0)
    outcome = Outcome(Result.OK, VISIT, VISIT + 0.1, status=200, digest="A", date=VISIT)
    attesting.visited(0, Kind.PAGE, outcome, once=True)
    attesting.visited(1, Kind.RESOURCE, outcome, once=True)
    assert (set(attesting.downloads), set(attesting.embedded), set(attesting.once)) == ({0}, {1}, {0})


def test_of_classes_that_something_speaks_against_no_word_is_believed() -> None:
    capture = Capture()
    still, doubted = capture.page(STILL, "A"), capture.page(STILL, "A", folder="liars")
    capture.attesting._doubted = {"/liars/*.html"}
    assert capture.attesting.trusted(capture.urls[still])
    assert not capture.attesting.trusted(capture.urls[doubted])
    capture.attesting.draw_more(capture.urls)
    assert set(capture.attesting._strata) == {still}
    assert capture.attesting.since_visit(still, capture.urls[still], T) is Change.UNCHANGED
    assert capture.attesting.since_visit(doubted, capture.urls[doubted], T) is Change.UNKNOWN
    assert capture.attesting.since_visit(99, "http://h/a/99.html", T) is Change.UNKNOWN, "never downloaded"


def test_what_words_say_of_the_time_since_a_visit_later_downloads_do_not_change() -> None:
    capture = Capture()
    page = capture.page(STILL, "A", "B")
    assert capture.attesting.since_visit(page, capture.urls[page], T) is Change.UNCHANGED


def test_undated_are_pages_whose_last_download_did_not_say_when_they_changed() -> None:
    capture = Capture()
    silent, dated, later = (capture.page(STILL, "A", "A") for _ in range(3))
    downloads = capture.attesting.downloads
    downloads[dated] = [one._replace(modified=STILL) for one in downloads[dated]]
    downloads[later] = [downloads[later][0]._replace(modified=STILL), downloads[later][1]]
    assert capture.attesting.undated([silent, dated, later]) == [silent, later]


def test_a_page_that_a_sitemap_tells_of_keeps_its_stratum() -> None:
    capture = Capture(share=1.0)
    listed = capture.page(STILL, "A")
    capture.audited()
    found = capture.page(STILL, "A")
    capture.attesting.draw_more(capture.urls)
    assert capture.attesting._strata == {listed: "", found: "/a/*.html found on the way"}


def test_a_sitemap_read_again_that_is_a_copy_by_date_or_age_says_what_it_said_then():
    attesting = Attestations(NOBODY, 0.0, 0.0)

    def reading(at, date, age=None):
        outcome = Outcome(Result.OK, at, at + 0.5, status=200, date=date, age=age)
        shown = attesting.as_of(7, outcome)
        attesting.read(7, outcome)
        return shown

    assert reading(100.0, 100.0) == 100.0
    assert reading(200.0, 100.0) == 100.0, "the same Date"
    assert reading(300.0, 90.0) == 100.0, "an older one"
    assert reading(400.0, 340.0, age=60.0) == 400.0 - 60.0 - AGE_PRECISION
    assert reading(500.0, 500.0) == 500.0
    assert reading(501.0, 500.0) == 501.0, "a Date is whole seconds, and kept for another"
    assert reading(600.0, 500.0) == 500.0


def test_a_claim_holds_by_how_long_downloads_took_and_by_the_records_that_do_not_say_it():
    """Whoever verifies has the records alone: what is claimed is what they show."""
    capture = Capture()
    page = capture.page(VISIT - 3.0, "A")
    slow = capture.attesting.downloads[page][0]._replace(ended=VISIT + 5.0)
    for looks in ([slow], [slow, slow._replace(started=AGAIN, ended=AGAIN + 0.1, date=AGAIN)]):
        capture.attesting.downloads[page] = looks
        judged, _ = capture.judged()
        recorded = weigh([one._replace(ended=one.started) for one in looks], capture.attesting.lastmods[page], T)
        assert recorded.comparison.change is Change.UNCHANGED
        assert judged[page].verdict is Verdict.UNKNOWN


def test_no_url_is_held_once_trust_in_them_is_known():
    class Named(str):  # one that can be referred to weakly
        pass

    attesting, urls = Attestations(NOBODY, 0.0, 0.0), {0: Named("http://h/a")}
    attesting.ingest(0, VISIT, VISIT - 9.0, 1.0)
    attesting.begin(urls, VISIT)
    held = weakref.ref(urls.pop(0))
    gc.collect()
    assert held() is None
