"""What an instant crawl decides of each page and hub."""

from __future__ import annotations

from functools import partial
from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.evidence.headers import UNTOLD
from sharc_crawler.frontier.modes.instant import Instantly
from sharc_crawler.model import Hints, Kind, Outcome, Result, Sighting
from sharc_crawler.polling.dates import Dating
from sharc_crawler.polling.site import SitePolls
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.rows import NoveltyRow
from tests.frontier.modes import stubs
from tests.frontier.modes.stubs import YES_OR_NO, Noted

bare = partial(stubs.bare, Instantly)
OK = Outcome(Result.OK, 50.0, 51.0, 200)
SAID = Sighting("http://h/1", hints=Hints(published=40.0, published_precision=4.0))


def test_all_sites_of_a_crawl_share_its_polls_that_begin_with_the_first():
    shared = SimpleNamespace(polls=None, terms=None)
    modes = []
    for started in (5.0, 8.0):
        ledger = SimpleNamespace(shared=shared, polls=None)
        modes.append(Instantly(ledger, SimpleNamespace(started=started), compares=False))
        assert type(ledger.polls) is SitePolls
        assert modes[-1].compares is False
        assert shared.polls.ends == 5.0 + shared.polls.terms.duration
    assert modes[0]._polls._polls is modes[1]._polls._polls is shared.polls
    assert (modes[0].seeds, modes[0].whole, modes[0].takes_hubs) == (Kind.HUB, False, True)


def test_a_crawl_goes_on_while_polls_are_to_be_made():
    for more in YES_OR_NO:
        assert bare(_polls=SimpleNamespace(open=lambda now, found=more: found)).owes_more(9.0) is more


@pytest.mark.parametrize(
    ("parent", "kind", "tried", "trial"),
    [
        (NO_PARENT, Kind.HUB, True, False),
        (0, Kind.PAGE, False, True),
        (0, Kind.HUB, True, True),
        (0, Kind.HUB, False, False),
    ],
)
def test_a_hub_is_on_trial_where_a_new_page_or_a_hub_on_trial_led_to_it(parent, kind, tried, trial):
    noted, asked = Noted(), []
    mode = bare(
        _ledger=SimpleNamespace(
            pages=SimpleNamespace(hosts=[1, 1, 1], parents=[9, 9, parent], kinds=[kind, kind, kind]),
            may_have_pages=asked.append,
        ),
        _polls=SimpleNamespace(add=noted.one("add"), on_trial=lambda page: tried),
    )
    mode.hub(2)
    assert noted.calls == [("add", 2, 1, trial)]
    assert asked == [1]


@pytest.mark.parametrize(
    ("kind", "polled", "listed", "lacked"),
    [
        (Kind.HUB, 20.0, 10.0, 20.0),
        (Kind.HUB, 0.0, 10.0, 0.0),
        (Kind.HUB, None, 10.0, 10.0),
        (Kind.HUB, None, None, None),
        (Kind.SITEMAP, 20.0, 10.0, None),
    ],
)
def test_a_hub_lacked_what_its_last_poll_or_its_reading_as_a_sitemap_did_not_name(kind, polled, listed, lacked):
    pages = SimpleNamespace(kinds=[kind], urls=["http://h/feed"])
    mode = bare(
        _ledger=SimpleNamespace(pages=pages),
        _polls=SimpleNamespace(last=lambda page: polled),
        _lists={},
        _dated={},
        _reaches={},
        _shown={},
        _dating=Dating(),
    )
    if listed is not None:
        fetch = SimpleNamespace(kind=Kind.SITEMAP, url="http://h/feed", page=0)
        mode.named(fetch, OK._replace(started=listed), [Sighting("http://h/feed", Kind.HUB)])
        mode.named(fetch, OK._replace(result=Result.FAILED, started=99.0), [])
    assert mode._lacked(0) == lacked


@pytest.mark.parametrize(
    ("kind", "attempt", "seeded", "awaited"),
    [
        (Kind.ROBOTS, 3, {"h"}, []),
        (Kind.ROBOTS, 4, {"h"}, [("visits wait", "h")]),
        (Kind.ROBOTS, 4, set(), []),
        (Kind.HUB, 4, {"h"}, []),
    ],
)
def test_a_robots_txt_that_nothing_waited_for_any_longer_is_read_before_the_next_visit(kind, attempt, seeded, awaited):
    noted = Noted()
    ledger = SimpleNamespace(politeness=SimpleNamespace(attempts=3), seeded=seeded)
    owed = SimpleNamespace(before_visits=noted.one("visits wait"))
    mode = bare(_ledger=ledger, _capture=SimpleNamespace(owed=owed), _lists={}, _dated={}, _shown={}, _dating=Dating())
    mode.named(SimpleNamespace(kind=kind, url="http://h/x", host="h", attempt=attempt), OK, [])
    assert noted.calls == awaited


def showing(**given):
    noted = Noted()
    told = {
        "_ledger": SimpleNamespace(
            pages=SimpleNamespace(states=[State.LATE] * 4 + [State.VISITED], kinds=[Kind.HUB] * 9, urls="012345678"),
            novelties={},
            novel=noted.one("novel"),
        ),
        "_polls": SimpleNamespace(news=noted.one("news"), last=lambda page: 30.0),
        "_reaches": dict.fromkeys("012345678", (OK, 30.0)),
        "_shown": {},
        "_dated": {},
        "_first": False,
        "_answer": OK,
        "_capture": SimpleNamespace(started=30.0, note=noted.one("note"), notes=[]),
        "_dating": Dating(),
    }
    return bare(**told | given), noted


def test_a_page_that_was_left_is_new_on_a_hub_that_had_not_shown_it():
    mode, noted = showing(_shown={"7": {1}})
    assert mode.reconsidered(8, [0, 1], 60.0) == [], "no hub, or none that has answered"
    assert mode.reconsidered(7, [3, 0, 1, 4], 60.0) == [0, 3]
    rows = [NoveltyRow(page, 7, 60.0, 30.0, None, None, None) for page in (0, 3)]
    assert [call[1] for call in noted.calls if call[0] == "novel"] == rows
    assert noted.calls.count(("news", 7)) == 2


def test_what_a_hub_shows_at_first_is_what_it_lacks_no_more():
    mode, noted = showing(_shown={"7": set()}, _first=True)
    assert mode.reconsidered(7, [0, 1, 4], 60.0) == []
    assert mode._shown == {"7": {0, 1}}
    mode._first = False
    assert mode.reconsidered(7, [0, 1], 70.0) == []
    assert not noted.calls


def test_what_an_earlier_answer_said_of_dates_is_not_this_one_s():
    mode, noted = showing(_shown={"7": set()}, _first=True, _lists={})
    mode.dated(1, SAID)
    mode.named(SimpleNamespace(kind=Kind.SITEMAP, page=8, url="8", attempt=1), OK, [])
    assert mode.reconsidered(7, [1], 60.0) == []
    assert not noted.calls


def test_a_sitemap_that_names_others_as_hubs_is_none():
    mode = bare(_shown={}, _lists={}, _dated={}, _dating=Dating())
    links = [Sighting("http://h/feed", Kind.HUB), Sighting("http://h/sitemap")]
    mode.named(SimpleNamespace(kind=Kind.SITEMAP, page=8, url="http://h/sitemap", attempt=1), OK, links)
    assert not mode._lists


def test_of_what_a_hub_shows_at_first_dates_tell_what_another_had_shown_without():
    mode, noted = showing(_shown={"7": set()}, _first=True, _lists={}, _reaches={})
    mode._polls.last = lambda page: None
    for page, hints in ((0, Hints(published=29.0, published_precision=1.0)), (1, SAID.hints), (4, SAID.hints)):
        mode.dated(page, Sighting("http://h/1", hints=hints))
    assert mode.reconsidered(7, [0, 1, 3, 4], 60.0) == [1], "older, undated, or visited"
    assert noted.calls[0] == ("novel", NoveltyRow(1, 7, 60.0, None, 40.0, 40.0, 44.0))


def found(mode, noted) -> NoveltyRow:
    ((_, row),) = [call for call in noted.take() if call[0] == "novel"]
    return row


def test_a_new_page_is_told_with_its_hub_the_poll_before_and_its_date():
    mode, noted = showing()
    mode.queued([4], 2, [SAID], 60.0)
    assert ("news", 2) in noted.calls
    assert found(mode, noted) == NoveltyRow(4, 2, 60.0, 30.0, 40.0, 40.0, 44.0)
    mode.queued([4], 2, [Sighting("http://h/1")], 60.0)
    plain = found(mode, noted)
    assert plain == NoveltyRow(4, 2, 60.0, 30.0, None, None, None)
    mode._ledger.novelties[2] = plain
    mode.queued([3], 2, [SAID], 70.0)
    assert noted.calls == [("novel", plain._replace(page=3))], "what it redirects to is as new as it is"


def test_a_feed_dates_a_page_that_a_hub_without_dates_had_shown():
    mode, noted = showing()
    mode.dated(4, SAID)
    assert not noted.calls, "it is not new"
    row = mode._ledger.novelties[4] = NoveltyRow(4, 2, 60.0, 30.0, None, None, None)
    mode.dated(4, Sighting("http://h/1"))
    mode.dated(4, Sighting("http://h/1", hints=Hints(lastmod=3.0)))
    assert not noted.calls, "no date"
    mode.dated(4, SAID)
    dated = row._replace(published=40.0, earliest=40.0, latest=44.0)
    assert noted.take() == [("novel", dated)]
    mode._ledger.novelties[4] = dated
    mode.dated(4, SAID._replace(hints=Hints(published=45.0)))
    assert not noted.calls, "the first date stands"
    mode._answer = None
    mode._ledger.novelties[4] = row
    mode.dated(4, SAID)
    assert not noted.calls, "no answer is being read: its clock is not known"


def test_a_list_that_dates_pages_after_they_had_been_seen_is_not_believed():
    mode, noted = showing(_first=False, _lists={})
    rows = mode._ledger.novelties
    mode.named(SimpleNamespace(kind=Kind.HUB, page=2, url="2"), OK, [])
    mode.queued([4], 2, [SAID], 51.0)
    rows[4] = found(mode, noted)
    assert rows[4].published == 40.0
    for page, date in ((5, 40.0), (6, 40.0)):
        rows[page] = NoveltyRow(page, 1, 51.0, 30.0, date, date, date + 4.0)
    later = Outcome(Result.OK, 60.0, 61.0, 200)
    mode.named(SimpleNamespace(kind=Kind.HUB, page=2, url="2"), later, [])
    for page, date in ((4, 52.0), (5, 40.0)):  # as many are dated as before
        mode.dated(page, Sighting("http://h/1", hints=Hints(published=date)))
    mode._disproved("2")
    assert not noted.calls
    mode.dated(6, Sighting("http://h/1", hints=Hints(published=52.0)))
    mode._disproved("2")
    assert noted.calls[0] == ("novel", rows[4]._replace(published=None, earliest=None, latest=None))
    assert noted.calls[1] == ("note", "2 dates pages after they had been seen: no delay rests on its dates")
    noted.take()
    mode.queued([3], 2, [SAID], 62.0)
    assert found(mode, noted) == NoveltyRow(3, 2, 62.0, 30.0, None, None, None)
    mode._disproved("2")
    assert not noted.calls, "it is said once"


def test_an_old_copy_of_a_hub_names_what_may_have_come_at_any_time():
    mode, noted = showing(_answer=OK._replace(age=20.0))
    mode.queued([4], 2, [Sighting("http://h/1")], 60.0)
    assert found(mode, noted).since == 30.0
    mode._answer = OK._replace(age=22.0)
    mode.queued([4], 2, [Sighting("http://h/1")], 60.0)
    assert found(mode, noted).since is None


def test_a_hub_names_pages_and_a_new_page_names_what_it_needs_and_what_may_be_hubs():
    links = [Sighting("http://h/1"), Sighting("http://h/2.css", Kind.RESOURCE)]
    mode = bare(_shown={}, _lists={}, _dated={}, _first=None, _hubs_among=lambda links: ["a hub"], _dating=Dating())
    for kind, result, first in (
        (Kind.HUB, Result.FAILED, None),
        (Kind.SITEMAP, Result.OK, None),
        (Kind.HUB, Result.OK, True),
        (Kind.HUB, Result.OK, False),
    ):
        outcome = OK._replace(result=result)
        assert mode.named(SimpleNamespace(kind=kind, page=7, url="http://h/"), outcome, links) is links
        assert mode._answer is outcome
        assert mode._first is first
        assert mode._shown == ({} if first is None else {"http://h/": set()})
    page = SimpleNamespace(kind=Kind.PAGE, page=8, url="http://h/8")
    assert mode.named(page, OK, links) == [links[1], "a hub"]


@pytest.mark.parametrize("state", [State.LEASED, State.LEASED_AGAIN, State.LOST])
@pytest.mark.parametrize("answers", YES_OR_NO)
@pytest.mark.parametrize("barren", YES_OR_NO)
def test_after_a_poll_the_next_one_falls_due_or_the_hub_is_none(state, answers, barren):
    noted = Noted()
    mode = bare(
        _ledger=SimpleNamespace(pages=SimpleNamespace(states=[state], urls="h", polled=lambda *_: answers)),
        _capture=SimpleNamespace(counts=SimpleNamespace(polled=noted.one("counted"))),
        _note_reach=noted.one("tells"),
        _polls=SimpleNamespace(polled=noted.one("polled"), missed=noted.one("missed"), barren=lambda page: barren),
        _overflown=noted.one("overflown"),
        _wavers=noted.one("wavers"),
        _disproved=noted.one("disproved"),
        _alone=noted.one("alone", "alone"),
        closed=noted.one("closed"),
    )
    mode.polled(0, OK._replace(status=404), [4])
    if answers:
        calls = [("counted",)] * (state is State.LEASED)
        calls += [
            ("overflown", 0, OK._replace(status=404), [4]),
            ("wavers", 0, OK._replace(status=404), [4]),
            ("disproved", "h"),
            ("tells", "h", OK._replace(status=404)),
        ]
        calls += [("alone", 0, [4]), ("polled", 0, 50.0, "alone")]
        calls += [("closed", 0, "other hubs showed everything that it showed")] * barren
    else:
        calls = [("closed", 0, "status 404") if state is State.LOST else ("missed", 0, 50.0)]
    assert noted.calls == calls


def test_a_copy_tells_of_its_hub_up_to_when_it_was_made():
    mode = bare(_reaches={})
    for started, date, age, until in (
        (50.0, 50.0, None, 50.0),
        (60.0, 55.0, 5.0, 54.0),  # an Age is cut to the second
        (70.0, 62.0, 20.0, 54.0),  # older than what is known
        (80.0, 62.0, None, 70.0),  # its Date was seen at 70
        (90.0, 62.0, None, 70.0),
        (95.0, 95.0, UNTOLD, 70.0),
        (96.0, None, None, 96.0),
    ):
        mode._note_reach("h", OK._replace(started=started, date=date, age=age))
        assert mode._reaches["h"][1] == until


def test_why_a_hub_is_lost_is_said_in_the_words_of_its_error():
    noted = Noted()
    mode = bare(
        _ledger=SimpleNamespace(pages=SimpleNamespace(states=[State.LOST], polled=lambda *_: False)),
        _polls=None,
        closed=noted.one("closed"),
    )
    mode.polled(0, OK._replace(status=None, error="no such host"), [])
    assert noted.calls == [("closed", 0, "no such host")]


@pytest.mark.parametrize(
    ("since", "first", "alone"),
    [
        (None, [True], False),
        (50.0, [True], True),
        (60.0, [True], False),  # it was shown then
        (50.0, [True, False], False),  # half of them
        (50.0, [True, True, False], True),
        (50.0, [], False),
    ],
)
def test_a_hub_shows_news_alone_where_most_of_them_were_on_it_first(since, first, alone):
    novelties = {
        page: NoveltyRow(page, 7 if own else 8, 60.0, None, None, None, None) for page, own in enumerate(first)
    }
    novelties[90] = NoveltyRow(90, 8, 40.0, None, None, None, None)  # before its last poll
    novelties[91] = novelties[92] = novelties[90]
    mode = bare(_ledger=SimpleNamespace(novelties=novelties), _polls=SimpleNamespace(last=lambda page: since))
    assert mode._alone(7, [*range(len(first)), 80, 90, 91, 92]) is alone


def test_a_list_of_news_alone_is_noted_where_the_hub_named_something_before():
    for seen, listing, linked in product((51.0, 40.0, None), YES_OR_NO, ([0], [])):
        noted = Noted()
        row = NoveltyRow(0, 7, seen, None, None, None, None) if seen else None
        mode = bare(
            _ledger=SimpleNamespace(novelties={0: row} if row else {}, pages=SimpleNamespace(urls={7: "http://h/"})),
            _capture=SimpleNamespace(note=noted.one("note")),
            _listing={7} if listing else set(),
        )
        mode._overflown(7, OK, linked)
        assert len(noted.calls) == (listing and seen == OK.ended and bool(linked))
        assert mode._listing == ({7} if listing or linked else set())


def test_a_hub_that_is_none_is_polled_no_more_and_a_reader_is_told():
    noted = Noted()
    mode = bare(
        _ledger=SimpleNamespace(pages=SimpleNamespace(hosts=[3], urls=["http://h/"])),
        _polls=SimpleNamespace(drop=noted.one("drop")),
        _capture=SimpleNamespace(note=noted.one("note")),
    )
    mode.closed(0, "gone")
    assert noted.calls == [("drop", 0, 3), ("note", "http://h/ is not polled: gone")]
