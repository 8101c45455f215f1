"""What an audit tells: who was claimed, who was seen to change, who lied. The bound at 95 % rests on these counts."""

from __future__ import annotations

import numpy as np
import pytest

from sharc_crawler.evidence import audit
from sharc_crawler.evidence.attesting import Attestations
from sharc_crawler.evidence.judgement import Revisits
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lastmods import Change
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Hints, Kind, Outcome, Result, Validators, Verdict
from sharc_crawler.rates.history import CHANGED, UNKNOWN, SiteHistory

T = 1000.0
VISIT, AGAIN, END = 900.0, 1100.0, 1200.0
STILL, BEFORE_T, AFTER_T = 500.0, 950.0, 1050.0  # lastmods
EMPTY = np.zeros(0)
NOBODY = SiteHistory("a", [], np.zeros(1, np.int64), EMPTY, np.zeros(0, np.int8), EMPTY, EMPTY, EMPTY)


class Capture:
    """Pages that are visited, said to have changed, and judged; the server's clock is ours."""

    def __init__(self, share: float = 0.0, late: float = 0.0) -> None:
        self.attesting = Attestations(NOBODY, share, late)
        self.urls: dict[int, str] = {}
        self.visits: dict[int, Outcome] = {}
        self.revisits = Revisits()

    def page(self, lastmod: float, *versions: str, once: bool = True, folder: str = "a", first: float = VISIT) -> int:
        """One download for each version: the first is the visit, the second lies after T."""
        page = len(self.urls)
        self.urls[page] = f"http://h/{folder}/{page}.html"
        for place, version in enumerate(versions):
            if place:
                self.again(page, version)
                continue
            self.visits[page] = outcome = Outcome(Result.OK, first, first + 0.1, status=200, digest=version, date=first)
            self.attesting.downloaded(page, outcome, once=once)
        self.attesting.ingest(page, END, lastmod - 10.0 * page, 1.0)  # all alike would be the sitemap's own date
        return page

    def audited(self) -> list[int]:
        """Those to be downloaded again, of all."""
        self.attesting.begin(self.urls, VISIT)
        self.attesting.draw(self.urls, seed=1)
        return self.attesting.sample(T)

    def audits(self, told: bool = False) -> list[int]:
        """Those to be downloaded now."""
        return sorted(self.attesting.next_audits(T, told))

    def again(
        self, page: int, version: str, at: float = AGAIN, etag: str | None = None, result: Result = Result.OK
    ) -> None:
        """A further download, as an audit's."""
        outcome = Outcome(result, at, at + 0.1, 200, version, validators=Validators(etag), date=at)
        judgement = self.revisits.judge(self.urls[page], self.visits[page], outcome, T)
        self.attesting.revisited(page, outcome, judgement)

    def judged(self):
        self.attesting.begin(self.urls, VISIT)
        return self.attesting.judge(self.urls, T)


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


def test_the_audit_counts_what_changed_and_who_lied_and_one_lie_takes_the_claims_of_its_class():
    capture = Capture(share=1.0)
    lied = capture.page(STILL, "A", "B", folder="liars")
    beside = capture.page(STILL, "A", folder="liars")
    admits = capture.page(AFTER_T, "A", "B")
    still = capture.page(STILL, "A", "A")
    missed = capture.page(STILL, "A")
    assert capture.audited() == [lied, beside, admits, still, missed]
    judged, told = capture.judged()
    counts = {name: told[name] for name in ("share", "claimed", "audited", "changed", "lies", "unaudited")}
    assert counts == {"share": 1.0, "claimed": 1, "audited": 3, "changed": 2, "lies": 1, "unaudited": 0}
    assert told["bound"] == 1, "one that was drawn with a liar"
    assert told["confidence"] == audit.CONFIDENCE
    assert told["strata"] == [
        {"of": "lastmod", "label": "/a/*.html", "claimed": 1, "confirmed": 1, "caught": 0},
        {"of": "lastmod", "label": "/liars/*.html", "claimed": 0, "confirmed": 0, "caught": 1},
    ]
    assert {one["label"]: one["believed"] for one in told["classes"]} == {"/a/*.html": True, "/liars/*.html": True}
    assert judged[beside].verdict is Verdict.UNKNOWN
    assert judged[missed].verdict is Verdict.COHERENT
    assert (judged[admits].verdict, judged[admits].evidence) == (Verdict.CHANGED, Evidence.BYTES)


@pytest.mark.parametrize(
    ("result", "changed"),
    [(Result.GONE, 1), (Result.REDIRECTED, 1), (Result.REFUSED, 0), (Result.FAILED, 0)],
)
def test_a_page_that_an_audit_finds_gone_or_elsewhere_has_changed(result, changed):
    """A log-in wall, or a folder that was taken down, while the sitemap says that all is as it was."""
    capture = Capture(share=1.0)
    away, beside = (capture.page(STILL, "A", folder="liars") for _ in range(2))
    capture.page(STILL, "A", "A")
    capture.audited()
    capture.again(away, "W", result=result)
    judged, told = capture.judged()
    assert (told["audited"], told["changed"], told["lies"]) == (1 + changed, changed, changed)
    assert judged[beside].verdict is (Verdict.UNKNOWN if changed else Verdict.COHERENT)
    assert judged[away].verdict is (Verdict.CHANGED if changed else Verdict.COHERENT)


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


def test_what_an_audit_confirmed_bounds_what_is_claimed_beside_it_but_not_what_it_could_not_draw():
    capture = Capture(share=0.1)
    undrawn = {capture.page(STILL, None, None) for _ in range(5)}  # downloaded again at T
    others = {capture.page(STILL, "A") for _ in range(60)}
    chosen = set(capture.audited())
    assert len(chosen) == 7
    undrawn -= chosen
    for page in chosen & others:
        capture.again(page, "A")
    _, told = capture.judged()
    assert (told["claimed"], told["audited"], told["changed"]) == (65 - len(chosen & others), 7, 0)
    left = len(others - chosen)
    assert told["bound"] == audit.bound([audit.Stratum(left, 7), audit.Stratum(len(undrawn), 0)])
    assert told["bound"] > audit.bound([audit.Stratum(left + len(undrawn), 7)])


def test_where_much_was_downloaded_again_at_t_fewer_are_audited_but_five_of_each_kind():
    capture = Capture(share=0.1)
    for again in (True,) * 20 + (False,) * 60:
        capture.page(STILL, *(("A", "B") if again else ("A",)))
    assert len(capture.audited()) == 5


def lone_kind(size: int = 60, last: float = STILL, late: float = 0.0) -> tuple[Capture, list[int]]:
    """A kind of pages of which five are audited, and a sitemap that was read at T; ``last``: its word on one."""
    capture = Capture(share=0.01, late=late)
    for _ in range(size):
        capture.page(STILL, "A")
    for page, (said,) in capture.attesting.lastmods.items():
        capture.attesting.lastmods[page] = [said._replace(read=T)]  # nothing has been read since
    capture.attesting.ingest(0, T, last, 1.0)
    capture.attesting.sitemaps = {1_000: T}
    return capture, capture.audited()


def test_a_lie_spares_the_audit_of_the_rest_of_its_kind() -> None:
    capture, drawn = lone_kind()
    assert len(drawn) == 5
    first = capture.audits()
    assert len(first) == 1
    assert first[0] in drawn
    capture.again(first[0], "B")
    assert capture.audits() == [], "the sitemaps have yet to say whether it was lied about"
    capture.attesting.ingest(first[0], END, STILL, 1.0)
    assert capture.audits(told=True) == []
    judged, told = capture.judged()
    assert (told["audited"], told["lies"], told["claimed"]) == (1, 1, 0)
    assert {one.verdict for one in judged.values()} <= {Verdict.UNKNOWN, Verdict.CHANGED}


def test_a_change_that_is_owned_up_to_is_no_lie_and_the_rest_of_its_kind_is_audited_after_all() -> None:
    capture, drawn = lone_kind()
    (first,) = capture.audits()
    capture.again(first, "B")
    assert capture.audits() == []
    capture.attesting.ingest(first, END, AFTER_T, 1.0)
    assert set(capture.audits(told=True)) == set(drawn) - {first}
    assert capture.audits(told=True) == [], "each once"


def test_what_is_no_lie_when_all_is_judged_spares_no_audit() -> None:
    """A program that was renewed gives all pages a later Last-Modified than its sitemap, which may be late."""
    for late, audits in ((0.0, 0), (1e6, 1)):
        capture, _ = lone_kind(late=late)
        for page, (one,) in capture.attesting.downloads.items():
            capture.attesting.downloads[page] = [one._replace(modified=VISIT - 100.0)]
        assert len(capture.audits()) == audits
        _, told = capture.judged()
        assert bool(told["claimed"]) is bool(audits)


def test_one_after_the_other_is_audited_while_none_changes() -> None:
    capture, drawn = lone_kind()
    seen = []
    while now := capture.audits():
        assert len(now) == 1
        capture.again(now[0], "A")
        seen += now
    assert sorted(seen) == drawn


def test_who_did_not_draw_the_sample_yet_draws_it_when_audits_are_asked_for() -> None:
    capture, drawn = lone_kind()
    capture.attesting.audited = set()
    assert set(capture.audits()) < set(drawn)
    assert capture.attesting.audited == set(drawn)


def test_a_kind_that_owned_up_to_changes_does_not_wait() -> None:
    capture, drawn = lone_kind(last=AFTER_T)
    assert set(capture.audits()) == set(drawn)


def test_audited_are_pages_visited_before_t_and_once_and_not_known_to_have_changed():
    capture = Capture(share=1.0)
    capture.page(BEFORE_T, "A")
    still = capture.page(STILL, "A")
    capture.page(STILL, "A", once=False)
    capture.page(STILL, "A", first=AGAIN)
    assert capture.audited() == [still]
    assert capture.attesting.lost(capture.urls.__getitem__, T) == [0]


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
    assert attesting.last_said(0) is None
    attesting.ingest(0, 100.0, 50.0, 60.0)
    attesting.ingest(0, 200.0, 70.0, 1.0)
    attesting.ingest(0, 150.0, 90.0, 1.0)
    assert attesting.last_said(0) == Hints(70.0, 1.0)


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


def test_pages_that_no_sitemap_told_of_yet_are_drawn_one_by_one():
    capture = Capture(share=0.1)
    for _ in range(300):
        capture.page(STILL, "A")
    urls = dict(capture.urls)
    silent = [capture.page(STILL, "A") for _ in range(100)]
    for page in silent:  # they say nothing, in no sitemap and no header
        del capture.attesting.lastmods[page]
    capture.attesting.begin({}, VISIT)
    capture.attesting.draw({}, seed=1)
    for page, url in capture.urls.items():  # whenever they are found
        capture.attesting.draw_more({page: url}, seed=1)
    drawn = set(capture.attesting.drawn)
    assert 15 <= len(drawn) <= 50, "a tenth of 300, by their lots"
    capture.attesting.draw_more(capture.urls, seed=1)
    assert capture.attesting.drawn == drawn, "once"
    audited = capture.attesting.sample(T)
    assert 15 <= len(audited) <= 50
    assert set(audited) <= urls.keys(), "where there is no word, there is nothing to audit"
    _, told = capture.attesting.judge(urls, T)
    assert [one["label"] for one in told["strata"]] == ["/a/*.html found on the way"]


def test_equal_bytes_of_an_audit_are_weighed_with_what_stands_beside_them():
    capture = Capture()
    page = capture.page(AFTER_T, "A")
    capture.visits[page] = capture.visits[page]._replace(validators=Validators('"1"'))
    capture.again(page, "A", etag='"2"')
    judged, _ = capture.judged()
    assert (judged[page].verdict, judged[page].reason) == (Verdict.UNKNOWN, Reason.OTHER_ETAG)


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


def test_of_small_classes_those_without_an_audited_page_are_told() -> None:
    """Twenty folders of two pages share one sample of five: it can be of five of them at most."""
    capture = Capture(share=0.01)
    pages = [capture.page(STILL, "A", folder=f"f{number // 2}") for number in range(40)]
    for page in capture.audited():
        capture.again(page, "A")
    audited = {page for page in pages if len(capture.attesting.downloads[page]) > 1}
    judged, told = capture.attesting.judge(capture.urls, T)
    assert sum(one.verdict is Verdict.COHERENT for one in judged.values()) == 40
    folders = {page // 2 for page in audited}
    assert 0 < len(folders) <= 5
    assert told["unaudited"] == sum(page // 2 not in folders for page in pages)


def test_equal_bytes_of_downloads_that_both_lie_before_t_show_nothing_of_t():
    capture = Capture()
    page = capture.page(BEFORE_T, "A")
    capture.again(page, "A", at=VISIT + 1.0)
    judged, _ = capture.judged()
    assert (judged[page].verdict, judged[page].evidence) == (Verdict.CHANGED, Evidence.ATTESTED)


def test_a_copy_of_before_t_is_no_audit() -> None:
    """It brings the same bytes, and confirms nothing."""
    capture = Capture(share=1.0)
    pages = [capture.page(STILL, "A") for _ in range(20)]
    audited = capture.audited()
    for page in audited:
        old = Outcome(Result.OK, AGAIN, AGAIN + 0.1, 200, "A", date=AGAIN, age=AGAIN - T + 50.0)
        judgement = capture.revisits.judge(capture.urls[page], capture.visits[page], old, T)
        assert judgement.reason == Reason.STALE
        capture.attesting.revisited(page, old, judgement)
    _, told = capture.judged()
    assert (told["claimed"], told["audited"], told["bound"]) == (len(pages), 0, len(pages))


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


def test_a_kind_in_which_a_lie_was_caught_counts_as_if_nothing_of_it_had_been_confirmed() -> None:
    capture = Capture()
    lied, confirmed, claimed, *others = (capture.page(STILL, "A") for _ in range(6))
    strata = dict.fromkeys((lied, confirmed, claimed), "a") | dict.fromkeys(others, "b")
    capture.attesting._strata = strata
    sampled = capture.attesting._sampled({claimed, others[0]}, {confirmed, *others[1:]}, {lied})
    assert sorted(sampled.kept) == [audit.Stratum(1, 0), audit.Stratum(1, 2)]
    assert sampled.caught == 1


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
    monkeypatch.setattr(SiteHistory, "sitemap_read", lambda self, now, lastmods: told.append(lastmods) or self)
    attesting = Attestations(NOBODY, 0.0, 0.0)
    attesting.ingest(0, VISIT, 500.0, 60.0)
    read_at(attesting, VISIT + 100.0)
    attesting.begin({0: "http://h/a", 1: "http://h/b"}, VISIT)
    assert told == [{"http://h/a": (401.0, 60.0)}]


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
    assert (set(attesting.downloads), set(attesting.embedded), attesting.once) == ({0}, {1}, {0})


def test_of_classes_that_something_speaks_against_no_word_is_believed() -> None:
    capture = Capture()
    still, doubted = capture.page(STILL, "A"), capture.page(STILL, "A", folder="liars")
    capture.attesting._doubted = {"/liars/*.html"}
    assert capture.attesting.trusted(capture.urls[still])
    assert not capture.attesting.trusted(capture.urls[doubted])
    capture.attesting.draw_more(capture.urls, seed=1)
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
    capture.attesting.draw_more(capture.urls, seed=1)
    assert capture.attesting._strata == {listed: "", found: "/a/*.html found on the way"}


def test_a_page_whose_visit_ends_at_t_is_audited() -> None:
    capture = Capture(share=1.0)
    page = capture.page(STILL, "A", first=T - 0.125)
    (one,) = capture.attesting.downloads[page]
    capture.attesting.downloads[page] = [one._replace(ended=T)]
    assert capture.audited() == [page]


def test_twice_the_share_less_what_is_downloaded_again_is_audited_and_there_is_a_room_for_the_least(monkeypatch):
    asked = []

    def fewer(_labels, drawn, most, _seed, _honest, room, share):
        asked.append((most, room, share))
        return drawn

    monkeypatch.setattr(audit, "fewer", fewer)
    capture = Capture(share=0.1)
    page = capture.page(STILL, "A")
    capture.audited()
    asked.clear()
    assert capture.attesting.likely(1000, 7) == {page}
    assert capture.attesting.likely(10, 7) == {page}
    assert asked == [(193, 90, 0.1), (-5, audit.LEAST, 0.1)]


def test_a_lie_spares_no_other_kind_its_audit() -> None:
    capture = Capture(share=1.0)
    liars = [capture.page(STILL, "A", folder="0liars") for _ in range(40)]
    others = [capture.page(STILL, "A", folder="others") for _ in range(40)]
    capture.audited()
    capture.again(liars[0], "B")
    assert set(capture.audits(told=True)) == set(others)


def test_of_a_large_kind_a_quarter_more_is_audited_each_time() -> None:
    capture = Capture(share=1.0)
    pages = [capture.page(STILL, "A") for _ in range(60)]
    capture.audited()
    for seen, more in ((0, 1), (7, 1), (8, 2), (19, 4), (20, 5)):
        for page in pages[:seen]:
            if len(capture.attesting.downloads[page]) == 1:
                capture.again(page, "A")
        capture.attesting._named.clear()
        assert len(capture.audits()) == more


@pytest.mark.parametrize(("sitemaps", "waits"), [(0, False), (4, True), (5, False)])
def test_the_rest_of_a_kind_waits_for_the_sitemaps_where_that_is_not_dearer(sitemaps: int, waits: bool) -> None:
    capture, drawn = lone_kind()
    (first,) = capture.audits()
    capture.again(first, "B")
    capture.attesting.sitemaps = dict.fromkeys(range(1_000, 1_000 + sitemaps), T)
    assert (capture.audits() == []) is waits
    assert len(drawn) == 5


def test_that_a_page_changed_is_seen_by_its_first_two_downloads() -> None:
    capture, _ = lone_kind()
    (first,) = capture.audits()
    capture.again(first, "A")
    capture.again(first, "A", at=END)
    assert len(capture.audits()) == 1
