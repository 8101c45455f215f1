"""What may be claimed on a server's lastmod: against servers whose every change is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sharc_crawler.changes.http import BROKEN
from sharc_crawler.evidence.intervals import AGE_PRECISION, DATE_PRECISION
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lastmods import (
    Download,
    Lastmod,
    _no_copy_of,
    anywhere,
    around,
    differ,
    header_lastmod,
    offset,
    weigh,
)
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

T = 1000.0
DAY = 86_400.0


class Server:
    """A page whose changes are known, behind a clock that is wrong by ``skew``; lastmods are cut to ``precision``.

    A day is one of its ``zone``, which the date does not say.
    """

    def __init__(
        self, changes: Sequence[float], skew: float, precision: float, raised: bool, zone: float = 0.0
    ) -> None:
        self.changes, self.skew, self.precision, self.raised = sorted(changes), skew, precision, raised
        self.zone = zone if precision >= DAY else 0.0

    def last(self, now: float) -> float:
        return max((t for t in self.changes if t <= now), default=-DAY) + self.skew

    def download(self, started: float, takes: float, waits: float) -> Download:
        """Made ``waits`` after the request, received ``takes`` after it."""
        made = started + waits * takes
        modified = math.ceil(self.last(made)) if self.raised else self.last(made) // 1
        date = (made + self.skew) // 1
        version = sum(t <= made for t in self.changes)
        return Download(started, started + takes, date, str(version), float(modified))

    def lastmod(self, started: float, takes: float, waits: float) -> Lastmod:
        last = self.last(started + waits * takes)
        earliest = (last + self.zone) // self.precision * self.precision
        return Lastmod(started, earliest, earliest + self.precision)


instants = st.floats(T - 30, T + 60)
latency = st.tuples(st.floats(0, 3), st.floats(0, 1))


@given(
    st.lists(instants, max_size=4),
    st.floats(-5000, 5000),
    st.sampled_from([1e-6, 1.0, 60.0, DAY]),
    st.booleans(),
    st.floats(1, 30),
    st.floats(0, 20),
    st.integers(-12, 14),
    *[latency] * 4,
)
@example([T - 5], 0.0, DAY, False, 10.0, 5.0, -12, (0, 0), (0, 0), (0, 0), (0, 0))
def test_an_honest_server_is_never_misread(changes, skew, precision, raised, before, after, zone, v, r, s, e):
    server = Server(changes, skew, precision, raised, zone * 3600.0)
    first = server.download(T - before - v[0], *v)
    second = server.download(T + after + s[0], *r)
    end = second.ended
    lastmods = [server.lastmod(T, *s), server.lastmod(end, *e)]

    def kept_still(a: float, b: float) -> bool:
        return not any(min(a, b) < t <= max(a, b) for t in changes)

    for downloads in ([first], [second], [first, second]):
        found = weigh(downloads, lastmods, T)
        assert not found.lies
        if found.comparison.change is Change.UNCHANGED:
            assert found.comparison.evidence is Evidence.ATTESTED
            # made somewhere between start and end: still throughout on one side of T
            assert any(kept_still(one.ended if one.ended <= T else one.started, T) for one in downloads)
        if found.comparison.change is Change.CHANGED:
            assert not all(kept_still(one.started if one.ended <= T else one.ended, T) for one in downloads)


@given(
    st.lists(instants, max_size=4),
    st.floats(-5000, 5000),
    st.floats(-5000, 5000),
    instants,
    st.floats(1, 30),
    st.floats(0, 20),
    *[latency] * 4,
)
@example([T - 5], 0.0, -3600.0, T - 7, 10.0, 5.0, (0, 0), (0, 0), (0, 0), (0, 0))
@example([T + 2], 3600.0, 0.0, T + 3, 10.0, 5.0, (0, 0), (0, 0), (0, 0), (0, 0))
def test_a_server_that_sets_its_clock_in_between_is_never_misread(changes, skew, later, at, before, after, v, r, s, e):
    early, late = Server(changes, skew, 1.0, False), Server(changes, later, 1.0, False)
    stamps = {t: t + (skew if t < at else later) for t in changes}

    class Both:
        """Each change is dated by the clock of its time, each answer by the clock of its own."""

        def last(self, now: float) -> float:
            return stamps[max(t for t in changes if t <= now)] if any(t <= now for t in changes) else -DAY

        def of(self, started: float) -> Server:
            server = early if started < at else late
            server.last = self.last
            return server

    both = Both()
    first = both.of(T - before - v[0]).download(T - before - v[0], *v)
    second = both.of(T + after + s[0]).download(T + after + s[0], *r)
    reads = [(T - before - v[0], (0, 0)), (T, s), (second.ended, e)]
    lastmods = [both.of(read).lastmod(read, *takes) for read, takes in reads]
    clock = around(
        found for read, takes in reads if (found := offset(both.of(read).download(read, *takes))) is not None
    )
    for downloads in ([first], [second], [first, second]):
        found = weigh(downloads, lastmods, T, clock=clock)
        assert not found.lies
        still = [not any(min(one.started, T) < t <= max(one.ended, T) for t in changes) for one in downloads]
        if found.comparison.change is Change.UNCHANGED:
            assert any(still)
        if found.comparison.change is Change.CHANGED:
            assert not all(still)


@given(st.floats(2.5, 50), st.floats(2.5, 50))
def test_what_stands_still_is_attested(before, after):
    server = Server([], skew=77.0, precision=1.0, raised=False)
    lastmods = [server.lastmod(T, 0.1, 0.5), server.lastmod(T + 99, 0.1, 0.5)]
    for start in (T - before, T + after):
        found = weigh([server.download(start, 0.1, 0.5)], lastmods, T)
        assert found.comparison.change is Change.UNCHANGED


def test_a_bare_date_attests_only_once_its_day_is_over_in_all_zones():
    for now, change in ((1.5 * DAY, Change.UNKNOWN), (1.5 * DAY + 100.0, Change.UNCHANGED)):
        download = Download(now, now + 0.1, now)
        assert weigh([download], [Lastmod(now + 500.0, 0.0, DAY)], now + 500.0).comparison.change is change


def test_a_lastmod_read_too_early_or_without_a_date_decides_nothing():
    download = Download(10.0, 10.1, 10.0)
    assert weigh([download], [Lastmod(9.0, 1.0, 2.0)], 20.0).comparison.change is Change.UNKNOWN
    assert weigh([download._replace(date=None)], [Lastmod(20.0, 1.0, 2.0)], 20.0).comparison.change is Change.UNKNOWN
    assert weigh([], [], 20.0).comparison.change is Change.UNKNOWN


def test_a_page_dated_to_its_own_delivery_says_nothing():
    download = Download(30.0, 30.1, 30.0, modified=30.0)
    assert weigh([download], [Lastmod(40.0, 5.0, 6.0)], 20.0) == weigh(
        [download._replace(modified=None)], [Lastmod(40.0, 5.0, 6.0)], 20.0
    )


@pytest.mark.parametrize(
    ("downloads", "lastmods", "lie"),
    [
        ([Download(10, 11, 10, "A"), Download(30, 31, 30, "B")], [Lastmod(40, 1, 2)], "two downloads saw"),
        ([Download(10, 11, 10, "A"), Download(30, 31, 30, "B", modified=2.0)], [], "two downloads saw"),
        ([Download(10, 11, 10, "A"), Download(11, 12, 11, "B", modified=2.0)], [], "two downloads saw"),
        ([Download(10, 11, 10, "A")], [Lastmod(20, 1, 2), Lastmod(40, 15, 16)], "another one belies"),
        ([Download(10, 11, 10, "A")], [Lastmod(20, 7, 8), Lastmod(40, 1, 2)], "another one belies"),
    ],
)
def test_lies(downloads, lastmods, lie):
    found = weigh(downloads, lastmods, 20.0)
    assert found.lies
    assert all(lie in text for text in found.lies)


def test_what_is_no_lie():
    downloads = [Download(10, 11, 10, "A"), Download(30, 31, 30, "B")]
    assert not weigh(downloads, [Lastmod(20, 1, 2), Lastmod(40, 25, 26)], 20.0).lies, "it changed after T, as it says"
    assert not weigh(downloads[:1], [Lastmod(20, 1, 2), Lastmod(40, 1, 2)], 20.0).lies
    assert not weigh(downloads, [Lastmod(20, 1, 2)], 20.0).lies, "nobody was asked after the change"
    just_then = [Lastmod(20, 1, 2), Lastmod(40, 18, 19.5)]  # by the server's clock, which is up to a second behind
    assert not weigh(downloads[:1], just_then, 20.0).lies


def test_a_header_means_a_second_on_either_side():
    """Servers cut fractions, or raise them."""
    assert header_lastmod(Download(10.0, 11.0, 10.0, modified=5.0)) == Lastmod(10.0, 4.0, 6.0)


@pytest.mark.parametrize(
    ("age", "date", "change"), [(0, 1100, "unchanged"), (150, 1100, "unknown"), (0, 900, "unknown")]
)
def test_a_copy_s_own_last_modified_says_nothing_of_the_time_since_it_was_made(
    age: float, date: float, change: str
) -> None:
    visit = Download(900.0, 900.1, 900.0, "A", modified=300.0)
    copy = Download(1100.0, 1100.1, float(date), "A", modified=300.0, age=float(age))
    assert weigh([visit, copy], (), T).comparison.change.value == change


def test_a_bare_date_may_be_of_any_zone_there_is() -> None:
    day = Lastmod(9e5, 0.0, 86_400.0)
    assert anywhere(day) == Lastmod(9e5, -14 * 3600.0, 86_400.0 + 12 * 3600.0)
    for said in (Lastmod(9e5, 1.0, 86_399.0), Lastmod(9e5, 61.5, 62.0)):
        assert anywhere(said) == said


BEFORE, AFTER, AROUND = Download(50, 51, 50, "A"), Download(120, 121, 120, "A"), Download(99, 101, 99, "A")
OPEN, EARLY = (
    (Change.UNKNOWN, Evidence.NONE, Reason.LASTMOD_OPEN),
    (Change.UNKNOWN, Evidence.NONE, Reason.LASTMOD_TOO_EARLY),
)
STAYED = (Change.UNCHANGED, Evidence.ATTESTED, Reason.LASTMOD_BEFORE_VISIT)
STOOD = (Change.UNCHANGED, Evidence.ATTESTED, Reason.LASTMOD_BEFORE_T)
MOVED = (Change.CHANGED, Evidence.ATTESTED, Reason.LASTMOD_BETWEEN)
STALE, UNDATED = ((Change.UNKNOWN, Evidence.NONE, one) for one in (Reason.STALE, Reason.NO_DATE))


@pytest.mark.parametrize(
    ("download", "said", "lag", "expected"),
    [
        # made before T = 100; the server's clock is ours, known to three seconds
        (BEFORE, (100, 40, 48.9), 0, STAYED),
        (BEFORE, (100, 40, 49), 0, OPEN),  # at the visit itself, perhaps
        (BEFORE, (99.9, 40, 48.9), 0, EARLY),
        (BEFORE, (100, 53.1, 98.9), 0, MOVED),
        (BEFORE, (100, 53, 98.9), 0, OPEN),
        (BEFORE, (100, 53.1, 99), 0, OPEN),
        (BEFORE, (100, 99, 101), 0, OPEN),
        (BEFORE, (109.9, 40, 48.9), 10, (STAYED[0], Evidence.PROVISIONAL, STAYED[2])),
        (BEFORE, (110, 40, 48.9), 10, STAYED),
        (BEFORE._replace(former=True), (110, 40, 48.9), 10, (STAYED[0], Evidence.FORMER, STAYED[2])),
        (BEFORE._replace(former=True), (109, 40, 48.9), 10, (STAYED[0], Evidence.PROVISIONAL, STAYED[2])),
        (BEFORE._replace(modified=40.0), (99, 40, 48.9), 0, EARLY),  # its own word is of then
        (BEFORE._replace(age=5.0), (100, 40, 43.9), 0, STAYED),  # it shows the page of 45
        (BEFORE._replace(age=5.0), (100, 40, 44), 0, OPEN),
        (Download(98, 100, 98, "A"), (100, 40, 95.9), 0, STAYED),
        # made after T
        (AFTER, (120, 40, 98.9), 0, STOOD),
        (AFTER, (120, 40, 99), 0, OPEN),
        (AFTER, (119.9, 40, 98.9), 0, EARLY),
        (AFTER, (120, 102.1, 118.9), 0, MOVED),
        (AFTER, (120, 102, 118.9), 0, OPEN),
        (AFTER, (120, 102.1, 119), 0, OPEN),
        (AFTER, (129.9, 40, 98.9), 10, (STOOD[0], Evidence.PROVISIONAL, STOOD[2])),
        (AFTER._replace(modified=50.0), (0, 0, 0), 10, STOOD),  # its own word came with it, and is not late
        (AFTER._replace(age=20.0), (120, 40, 98.9), 0, STOOD),
        (AFTER._replace(age=20.1), (120, 40, 98.9), 0, STALE),
        # made around T
        (AROUND, (120, 40, 48), 0, EARLY),
        (AROUND._replace(age=1.0), (120, 40, 48), 0, STALE),
        (BEFORE._replace(date=None), (100, 40, 48.9), 0, UNDATED),
    ],
)
def test_what_one_download_and_one_lastmod_show_of_the_page_at_t(download, said, lag, expected) -> None:
    assert weigh([download], [Lastmod(*said)], 100.0, lag).comparison == expected


def test_of_several_downloads_the_best_word_counts() -> None:
    """What is shown for good before what is provisional, this capture's own download before a former one's."""
    old = BEFORE._replace(former=True)
    for downloads, lag, evidence in (
        ([old, AFTER], 0, Evidence.ATTESTED),
        ([old], 0, Evidence.FORMER),
        ([old, AFTER], 25, Evidence.FORMER),  # the other rests on a word that may be late
        ([BEFORE._replace(away=True), AFTER], 0, Evidence.ATTESTED),
    ):
        found = weigh(downloads, [Lastmod(125.0, 40.0, 48.0)], 100.0, lag).comparison
        assert (found.change, found.evidence) == (Change.UNCHANGED, evidence)
    assert weigh([BEFORE._replace(away=True)], [], 100.0).comparison.reason == Reason.NO_DOWNLOAD


def dated(started: float, ended: float, digest: str = "A", **more) -> Download:
    """By a server whose clock is ours, to the second."""
    return Download(started, ended, started, digest, **more)


def test_a_last_modified_as_long_before_the_date_as_dates_are_precise_is_no_repeated_date() -> None:
    modified = 100.0 - DATE_PRECISION
    assert header_lastmod(dated(100.0, 101.0, modified=modified)) == Lastmod(100.0, modified - 1.0, modified + 1.0)
    assert header_lastmod(dated(100.0, 101.0, modified=modified + 0.5)) is None
    copy = header_lastmod(dated(100.0, 101.0, modified=50.0, age=5.0))
    assert copy == Lastmod(100.0 - 5.0 - AGE_PRECISION, 49.0, 51.0)


def test_a_later_download_of_the_same_date_may_be_no_copy_if_little_time_has_passed() -> None:
    first, soon = dated(100.0, 100.1), 100.0 + DATE_PRECISION
    later = ((soon, 100.0), (soon + 0.5, 100.0), (soon + 0.5, 101.0))
    ages = [_no_copy_of(first, Download(at, at, date)).age for at, date in later]
    assert ages == [0.0, DATE_PRECISION + 0.5, 0.0]


@pytest.mark.parametrize(("read", "change"), [(T - 1.0, Change.UNKNOWN), (T, Change.UNCHANGED)])
def test_of_a_visit_that_ends_at_t_only_what_is_read_from_then_on_speaks(read: float, change: Change) -> None:
    assert weigh([dated(T - 2.0, T)], [Lastmod(read, 5.0, 6.0)], T).comparison.change is change


@pytest.mark.parametrize(
    ("read", "latest", "lies"),
    [(201.0, 98.0, 1), (200.5, 98.0, 0), (201.0, 98.9, 1), (201.0, 99.0, 0), (201.0, 100.5, 0)],
)
def test_a_lie_dates_a_change_that_bytes_show_before_the_first_of_them(read: float, latest: float, lies: int) -> None:
    """The first was asked for at 100, and its server's clock is a second behind ours at most."""
    first, second = dated(100.0, 101.0), dated(200.0, 201.0, "B")
    assert len(weigh([first, second], [Lastmod(read, 5.0, latest)], 150.0).lies) == lies


@pytest.mark.parametrize(
    ("earliest", "latest", "lies"), [(7.0, 8.0, 1), (6.0, 8.0, 0), (7.0, 498.9, 1), (7.0, 499.0, 0)]
)
def test_a_lastmod_that_another_one_belies_dates_no_change_into_a_time_that_it_calls_still(earliest, latest, lies):
    """The first was read at 500: until 499, by the server's clock, nothing had changed since 6."""
    said = [Lastmod(500.0, 5.0, 6.0), Lastmod(900.0, earliest, latest)]
    assert len(weigh([dated(100.0, 101.0)], said, 150.0).lies) == lies


def test_what_could_not_be_unpacked_shows_no_change() -> None:
    whole, part = (dated(1.0, 1.1)._replace(digest=one) for one in ("sha1:A", f"{BROKEN}sha1:B"))
    assert not differ(whole, part)
    assert not differ(part, whole)


def test_a_page_that_is_away_differs_from_one_that_is_not_whatever_came() -> None:
    here, away = dated(1.0, 1.1), dated(9.0, 9.1, away=True)
    assert [differ(one, other) for one in (here, away) for other in (here, away)] == [False, True, True, False]


@pytest.mark.parametrize(("start", "since"), [(T - 20.0, T), (T + 20.0, T + 40.0)])
def test_of_two_sitemaps_the_one_that_was_left_behind_decides_nothing(start, since):
    """One that keeps old lastmods, or those of something else of the page."""
    seen = Server([], 0.0, 1.0, False).download(start, 0.1, 0.5)._replace(modified=None)
    old, today = Lastmod(since, T - 500 * DAY, T - 500 * DAY + 1.0), Lastmod(since, T - DAY / 2, T + DAY / 2)

    def found(*said):
        return weigh([seen], [lastmod if isinstance(lastmod, Lastmod) else Lastmod(*lastmod) for lastmod in said], T)

    assert found(old).comparison.change is Change.UNCHANGED
    for other in (today, today._replace(read=start - 99.0), today._replace(read=since + 99.0)):
        for said in ((old, other), (other, old)):
            assert found(*said).comparison.reason == Reason.LASTMOD_OPEN
    exact = (since, T - 30.0, T - 29.0)
    assert found(old, today, exact).comparison.change is Change.UNCHANGED, "the same change, to the second"
    later = (since + 99.0, since + 50.0, since + 51.0)
    assert found(old, later).comparison.change is Change.UNCHANGED, "a change after all that is asked about"
    assert found(old, (since, T - 300.0, T - 299.0)).comparison.change is Change.UNCHANGED


@pytest.mark.parametrize("zone", [-12, -3.5, 0, 5.5, 14])
@pytest.mark.parametrize("changed", [T - 10.0, T + 3.0])
def test_a_day_that_was_written_as_a_midnight_somewhere_says_no_more_than_the_day(zone, changed):
    """As many a site generator writes dates: the change itself may have been at any time of it."""
    midnight = (changed + zone * 3600.0) // DAY * DAY - zone * 3600.0
    visit = Download(T - 30.0, T - 29.9, T - 30.0, "A")
    late = Download(T + 10.0, T + 10.1, T + 10.0, "A")
    said = Lastmod(T + 20.0, midnight, midnight + 1.0)
    for download in (visit, late):
        assert weigh([download], [said], T).comparison.change is Change.UNKNOWN
    assert (
        weigh([visit], [Lastmod(T + 20.0, midnight - 9 * DAY, midnight - 9 * DAY + 1.0)], T).comparison.change
        is Change.UNCHANGED
    )


def test_a_time_cut_to_the_minute_says_no_more_than_that():
    visit = Download(990.0, 990.1, 990.0, "A")
    for earliest, change in ((900.0, Change.UNCHANGED), (960.0, Change.UNKNOWN), (961.0, Change.UNCHANGED)):
        assert weigh([visit], [Lastmod(T, earliest, earliest + 1.0)], T).comparison.change is change
