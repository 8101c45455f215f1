"""What captures on the server's word keep as evidence, what they judge by, and what a restart knows of it."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from types import SimpleNamespace

import pytest

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.hosts import TAKEN, Task
from sharc_crawler.frontier.modes.by_lastmods import ByLastmods
from sharc_crawler.frontier.opening import LastSeen
from sharc_crawler.model import Hints, Judgement, Kind, Outcome, Phase, Result, Slot, Validators, Verdict
from sharc_crawler.rates.history import SiteHistory
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, ByLastmods)
OK = Outcome(Result.OK, 5.0, 6.0, 200, fingerprint="shown")

COHERENT = Judgement(Verdict.COHERENT, Evidence.VALIDATOR, "by 304")
UNKNOWN = Judgement(Verdict.UNKNOWN, Evidence.NONE, "by 304")


def begun(**capture) -> ByLastmods:
    """A mode at the beginning of a capture."""
    told = SimpleNamespace(spec=SimpleNamespace(audit=0.1, lag=0.0, hints=0.1), **capture)
    return ByLastmods(None, told, SiteHistory.empty(), None, None)


def test_sitemaps_are_listened_to_and_no_hub_is_polled():
    mode = begun()
    assert (mode.listens, mode.takes_hubs, mode.compares) == (True, False, True)


def test_at_first_nothing_is_held_and_t_is_yet_to_be_asked_for():
    for sitemaps in YES_OR_NO:
        mode = begun(reference=None)
        mode._read_sitemaps = lambda found=sitemaps: found
        assert mode._begin_reference() is sitemaps
    mode = begun(reference=None)
    door = SimpleNamespace(next=lambda now: "the strategy's", past_reference=False)
    assert mode.next(door, 9.0) == "the strategy's"


def test_at_first_sitemaps_are_read_at_two_fifths_of_the_visits():
    noted = Noted()
    mode = begun(counts=SimpleNamespace(visits=40), budget=SimpleNamespace(spare=lambda now: 0.0))
    mode._passed = noted.one("passed", 1)
    door = SimpleNamespace(first_visits_left=60)
    assert mode._reads_on_the_way(door, 9.0) is False
    mode._capture.counts.visits, door.first_visits_left = 39, 61
    assert mode._reads_on_the_way(door, 9.0) is False
    assert noted.calls == [("passed", door)], "from two fifths on, and then not before four fifths"


def test_after_all_else_the_sitemaps_are_read_once():
    mode = begun(reference=5.0, phase=Phase.CHECK)
    mode.attestations.downloads = [1]
    mode._audits = mode._embeds = lambda reference: False
    noted = Noted()
    mode._read_sitemaps = noted.one("read", True)
    assert [mode.owes_more(9.0) for _ in range(2)] == [True, False]
    assert len(noted.calls) == 1


def test_pages_are_attestable_by_what_was_said_so_far():
    known = SimpleNamespace(attestable=lambda page, url, now: (page, url, now) == (2, "two", 9.0))
    mode = bare(attestations=known, _ledger=SimpleNamespace(pages=SimpleNamespace(urls={1: "one", 2: "two"})))
    assert mode.attestable([1, 2], 9.0) == [False, True]


def test_words_are_evidence_with_their_precision():
    noted = Noted()
    mode = bare(attestations=SimpleNamespace(ingest=noted.one("said")))
    mode.ingest(3, 7.0, Hints(lastmod=100.0, lastmod_precision=60.0))
    mode.recall_lastmod(SimpleNamespace(page=4, read=8.0, lastmod=90.0, precision=1.0))
    assert noted.calls == [("said", 3, 7.0, 100.0, 60.0), ("said", 4, 8.0, 90.0, 1.0)]
    mode.recall_pages([SimpleNamespace(source="last-modified")])
    assert len(noted.calls) == 2, "what sitemaps said is told apart"


@pytest.mark.parametrize("kind", [Kind.PAGE, Kind.RESOURCE])
@pytest.mark.parametrize("slot", [Slot.ONLY, Slot.FIRST])
@pytest.mark.parametrize("attempt", [TAKEN, 1])
def test_downloads_are_evidence_by_how_often_they_are_made_and_what_a_former_capture_has(kind, slot, attempt):
    noted = Noted()
    mode = bare(attestations=SimpleNamespace(visited=noted.one("visited")), _shown=noted.one("shown"), _seen=None)
    task = Task(3, slot, attempt=attempt)
    mode.visited(task, kind, OK._replace(result=Result.FAILED))
    assert not noted.calls
    mode.visited(task, kind, OK)
    shown = [("shown", 3, OK)] * (kind is Kind.PAGE)
    assert noted.calls == [("visited", 3, kind, OK, slot is Slot.ONLY, attempt == TAKEN), *shown]


@pytest.mark.parametrize(
    ("seen", "changed"),
    [
        (None, {}),
        (LastSeen(1.0, "old"), {3: 1.0}),
        (LastSeen(1.0, "new"), {}),
        (LastSeen(1.0, "old", "shown"), {}),
        (LastSeen(1.0, "old", "edited"), {3: 1.0}),
        (LastSeen(1.0, "old", "edited+01"), {}),  # under other masks nobody can tell
    ],
)
@pytest.mark.parametrize("dated", YES_OR_NO)
def test_what_sitemaps_date_is_held_against_what_a_former_capture_saw(seen, changed, dated):
    known = SimpleNamespace(visited=lambda *_: None, lastmods={3: []} if dated else {}, changed={})
    capture, asked = SimpleNamespace(started=4.0), []
    table = SimpleNamespace(pages=SimpleNamespace(urls={3: "three"}))
    mode = bare(attestations=known, _shown=lambda *_: None, _capture=capture, _ledger=table)
    mode._seen = lambda *what: asked.append(what) or seen
    mode.visited(Task(3, Slot.ONLY), Kind.PAGE, OK._replace(digest="new"))
    assert (known.changed, asked) == ((changed, [("three", 4.0)]) if dated else ({}, []))


def revisiting(once: bool, by_304: bool, by_word: bool):
    noted = Noted()
    mode = bare(
        attestations=SimpleNamespace(once={3} if once else set(), revisited=noted.one("word", by_word)),
        _by_304=SimpleNamespace(revisited=noted.one("304", by_304)),
        _drew=True,
        _alike=lambda page, outcome: True,
    )
    return mode, noted


@pytest.mark.parametrize("once", YES_OR_NO)
@pytest.mark.parametrize("by_304", YES_OR_NO)
@pytest.mark.parametrize("by_word", YES_OR_NO)
def test_a_page_is_left_open_by_the_servers_word_or_by_a_304_to_its_second_visit(once, by_304, by_word):
    """Who is visited once has no second visit: its revisit is an audit."""
    mode, noted = revisiting(once, by_304, by_word)
    assert mode.audits(3) is once
    visit = OK._replace(validators=Validators('"1"', None))
    assert mode.revisited(3, Kind.PAGE, visit, OK, COHERENT) is (by_word or (by_304 and not once))
    assert [name for name, *_ in noted.take()] == ["304"] * (not once) + ["word"]
    assert mode.revisited(3, Kind.DATA, visit, OK, COHERENT) is by_304, "no sitemap tells of data"
    assert [name for name, *_ in noted.take()] == ["304"]
    assert mode.revisited(3, Kind.RESOURCE, visit, OK, COHERENT) is False
    assert not noted.calls


def judging(by_304: dict, **given):
    """Pages 0 to 2, a resource, data; what the judges are asked is noted."""
    noted = Noted()
    kinds = [Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.RESOURCE, Kind.DATA]
    mode = bare(
        _capture=SimpleNamespace(reference=9.0),
        _ledger=SimpleNamespace(pages=SimpleNamespace(kinds=kinds, urls=[f"url {page}" for page in range(5)])),
        _by_304=SimpleNamespace(
            judge=lambda pages: {page: one for page, one in by_304.items() if page in pages},
            summary=lambda: "304s",
            beside=lambda audit, sampled: [audit, sampled],
            open=by_304,
        ),
        attestations=SimpleNamespace(
            judge=noted.one("pages", ({0: "attested"}, "audit")),
            judge_embedded=noted.one("embedded", {3: "embedded"}),
            sampled="sampled",
            doubts={},
        ),
    )
    vars(mode).update(given)
    return mode, noted


def test_before_t_nothing_is_judged():
    mode, noted = judging({}, _capture=SimpleNamespace(reference=None))
    assert mode.judge([0, 1]) == {}
    assert not noted.calls


def test_at_the_end_304s_that_are_believed_stand_and_lastmods_judge_the_others():
    mode, noted = judging({1: COHERENT, 2: UNKNOWN, 4: UNKNOWN})
    assert mode.judge([0, 1, 2, 3, 4]) == {0: "attested", 1: COHERENT, 3: "embedded", 4: UNKNOWN}
    assert mode.attestations.doubts == {2: UNKNOWN}, "a page whose 304 is not believed is doubted by its lastmod"
    assert noted.calls == [
        ("pages", {0: "url 0", 2: "url 2"}, 9.0),
        ("embedded", {3: "url 3", 4: "url 4"}, 9.0),
    ]
    assert mode.audit == ["audit", "sampled"]
    assert mode.rebuilt("door", []) == {1, 2, 4}, "left open by 304s, or doubted"


def test_data_by_a_304_that_is_believed_is_not_asked_about_again():
    mode, noted = judging({4: COHERENT})
    assert mode.judge([0, 4]) == {0: "attested", 3: "embedded", 4: COHERENT}
    assert noted.calls[1] == ("embedded", {}, 9.0)


def test_without_304s_the_audit_is_that_of_lastmods():
    mode, _ = judging({}, _by_304=None)
    assert mode.judge([0]) == {0: "attested", 3: "embedded"}
    assert mode.audit == "audit"
    assert mode.rebuilt("door", []) == frozenset()


# -- words are weighed beside the crawl --------------------------------------------------------------------------------


class Work(Future):
    """Nobody waits for it."""

    def result(self, timeout: float | None = 0.0):
        return super().result(timeout)


def test_words_are_weighed_once_beside_the_crawl():
    noted, work = Noted(), Work()
    capture = SimpleNamespace(weighing=False)
    mode = bare(
        _capture=capture,
        _weighing=None,
        _aside=noted.one("aside", work),
        _ledger=SimpleNamespace(pages=SimpleNamespace(urls=["zero", "one", "two"])),
        attestations=SimpleNamespace(
            downloads=[1, 2, 3],
            since_visit=lambda *given: given,
            lost=lambda url, reference: [url(2), reference],
        ),
    )
    door = SimpleNamespace(revisits_ahead=lambda: [2, 0])
    for _ in range(2):
        assert mode._weighed(door, 9.0) is None
        assert capture.weighing is True
    ((_, weigh, pages),) = noted.calls
    assert pages == 3
    work.set_result(weigh())
    assert mode._weighed(door, 9.0) == ({2: (2, "two", 9.0), 0: (0, "zero", 9.0)}, ["two", 9.0])
    assert capture.weighing is False


# -- after a restart ---------------------------------------------------------------------------------------------------


def test_visits_lie_on_both_sides_of_t():
    assert bare(_capture=SimpleNamespace(reference=5.0)).reference_of(None) is None


@pytest.mark.parametrize(("visits", "left", "passed"), [(39, 61, 0), (40, 60, 1), (79, 21, 1), (80, 20, 2), (9, 0, 2)])
def test_after_a_restart_sitemaps_are_not_read_again_where_they_may_have_been(visits, left, passed):
    for reference in (None, 5.0):
        noted = Noted()
        mode = bare(
            _capture=SimpleNamespace(reference=reference, counts=SimpleNamespace(visits=visits)),
            _read_sitemaps=noted.one("read"),
        )
        mode.went_on(SimpleNamespace(first_visits_left=left, reference_passed=noted.one("passed")))
        assert mode._readings == passed
        assert noted.calls == ([] if reference is None else [("passed",), ("read", 5.0)])
