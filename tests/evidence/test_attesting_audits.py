"""What an audit tells: who is downloaded again, who lied. The bound at 95 % rests on these counts."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from sharc_crawler.evidence import audit
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Outcome, Result, Validators, Verdict
from tests.evidence.attested import AFTER_T, AGAIN, BEFORE_T, END, STILL, VISIT, Capture, T


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
    assert told["bound"] == audit.bound(audit.Sampled([audit.Stratum(left, 7), audit.Stratum(len(undrawn), 0)]))
    assert told["bound"] > audit.bound(audit.Sampled([audit.Stratum(left + len(undrawn), 7)]))


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


def test_pages_that_no_sitemap_told_of_yet_have_a_stratum():
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
        capture.attesting.draw_more({page: url})
    audited = capture.attesting.sample(T)
    assert 30 <= len(audited) <= 40, "a tenth of those that have a word"
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


def test_a_drawn_page_that_says_after_the_audit_that_it_changed_since_may_have_been_wrong() -> None:
    """A server that lies may date what it is asked for a second time."""
    for changed in (0, 1):
        capture = Capture(share=0.1)
        for _ in range(60):
            capture.page(STILL, "A")
        drawn = capture.audited()
        for page in drawn:
            capture.again(page, "B" if page in drawn[:changed] else "A", at=END + 30.0)
        for page in drawn[:changed]:
            capture.attesting.ingest(page, END + 60.0, END + 20.0, 1.0)
        _, told = capture.judged()
        assert (told["changed"], told["lies"], told["unshown"]) == (
            changed,
            0,
            {"since": changed, "lost": 0, "alike": 0},
        )
        assert told["claimed"] == 60 - len(drawn) + changed
        left = 60 - len(drawn) + changed
        assert told["bound"] == audit.bound(audit.Sampled([audit.Stratum(left, len(drawn) - changed, changed)]))


@pytest.mark.parametrize(("noisy", "believed"), [(0, True), (3, True), (4, False), (6, False)])
def test_other_bytes_with_the_same_content_prove_nothing(noisy: int, believed: bool) -> None:
    """What a script shows, or a mask hides, is no content to us, and may be what the page says."""
    capture = Capture(share=0.1)
    for _ in range(60):
        capture.page(STILL, "A", content="story")
    drawn = capture.audited()
    assert len(drawn) == 6
    for page in drawn:
        capture.again(page, "B" if page in drawn[:noisy] else "A", content="story")
    judged, told = capture.judged()
    assert (told["audited"], told["changed"], told["lies"]) == (6, 0, 0)
    assert told["unshown"] == {"since": 0, "lost": 0, "alike": noisy}
    assert all(judged[page] == by_bytes for page in drawn[:noisy] if (by_bytes := capture.attesting._further[page]))
    others = {one.verdict for page, one in judged.items() if page not in drawn}
    assert others == {Verdict.COHERENT if believed else Verdict.UNKNOWN}
    assert told["bound"] == audit.bound(audit.Sampled([audit.Stratum(54, 6 - noisy, noisy)])) * believed
    if not believed:
        why = f"{noisy} audited had other bytes and the same content, more than the same bytes"
        reason = Reason.NOT_BELIEVED.of(f"/a/*.html are not believed: {why}")
        assert {one.reason for page, one in judged.items() if page not in drawn} == {reason}


def test_a_kind_in_which_a_lie_was_caught_counts_as_if_nothing_of_it_had_been_confirmed() -> None:
    capture = Capture()
    lied, confirmed, claimed, *others = (capture.page(STILL, "A") for _ in range(6))
    strata = dict.fromkeys((lied, confirmed, claimed), "a") | dict.fromkeys(others, "b")
    capture.attesting._strata = strata
    sampled = capture.attesting._sampled({claimed, others[0]}, {confirmed, *others[1:]}, set(), {lied})
    assert sorted(sampled.kept) == [audit.Stratum(1, 0), audit.Stratum(1, 2)]
    assert sampled.caught == 1


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
    for pages in (1000, 10):
        assert capture.attesting._fewer({page}, pages, again=7) == {page}
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


@pytest.mark.parametrize("why", ["refused", "copy", "other ETag", "later date"])
def test_drawn_pages_of_which_nothing_shows_whether_they_changed_are_counted_and_widen_the_bound(why) -> None:
    capture = Capture(share=0.1)
    pages = [capture.page(STILL, "A") for _ in range(60)]
    for page in pages:
        capture.visits[page] = capture.visits[page]._replace(validators=Validators('"1"'))
    capture.audited()
    lost, *others = capture.audits(told=True)
    again = {
        "refused": {"result": Result.REFUSED},
        "copy": {"age": 300.0},
        "other ETag": {"etag": '"2"'},
        "later date": {"etag": None, "modified": formatdate(AGAIN, usegmt=True)},
    }[why]
    doubted = {"other ETag": Reason.OTHER_ETAG, "later date": Reason.LATER_MODIFIED}
    for page in others:
        capture.again(page, "A", etag='"1"')
    capture.again(lost, "A", **{"etag": '"1"', **again})
    judged, told = capture.judged()
    assert (told["audited"], told["changed"], told["unshown"]) == (len(others), 0, {"since": 0, "lost": 1, "alike": 0})
    assert told["claimed"] == 60 - len(others) - (why in doubted)
    assert told["bound"] == audit.bound(audit.Sampled([audit.Stratum(told["claimed"], len(others), 1)]))
    if why in doubted:
        assert judged[lost].reason == doubted[why], "it may have changed and changed back"


@pytest.mark.parametrize(("told", "caught"), [([], 1), ([VISIT - 50.0], 0)])
def test_what_changed_since_a_former_capture_and_keeps_its_lastmod_is_a_lie_where_no_such_change_was_told(told, caught):
    """Those of one kind whose sitemap is late are told of in part."""
    capture = Capture()
    hidden, beside = (capture.page(STILL, "A") for _ in range(2))
    elsewhere = capture.page(STILL, "A", folder="b")
    others = [capture.page(lastmod, "A") for lastmod in told]
    for page in (hidden, *others):
        capture.attesting.changed[page] = VISIT - 100.0
    judged, found = capture.judged()
    assert [(one["label"], one["caught"]) for one in found["strata"] if one["caught"]] == [("/a/*.html", 1)] * caught
    assert [judged[page].verdict is Verdict.COHERENT for page in (hidden, beside)] == [not caught] * 2
    assert judged[elsewhere].verdict is Verdict.COHERENT
