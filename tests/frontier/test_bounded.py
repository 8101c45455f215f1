"""What a capture may cost, step by step: room that is kept for revisits, seeds and tests of 304s."""

from __future__ import annotations

import math

import pytest

from sharc_crawler.frontier.bounded import SiteBudget
from sharc_crawler.frontier.capture import PREFIX, Spending
from sharc_crawler.frontier.hosts import Task
from sharc_crawler.frontier.opening import spending_of
from sharc_crawler.model import NO_VALIDATORS, Kind, Outcome, Result, Slot, Validators
from sharc_crawler.state.pages import PageTable
from sharc_crawler.testing.stores import page_row, visit_row
from tests.frontier.small import spec

AT, PDF, HTML = 1000.0, "http://a.example/x.pdf", "http://a.example/"
TOLD = Validators('"1"')


def first(page: int) -> Task:
    return Task(page, Slot.FIRST)


def second(page: int) -> Task:
    return Task(page, Slot.SECOND)


def bounded(**bounds) -> SiteBudget:
    return SiteBudget(spec(audit=0.0, **bounds), AT)


def done(budget: SiteBudget, task: Task, size: int = 0, url: str = HTML, *, kind=Kind.PAGE, result=Result.OK,
         validators: Validators = NO_VALIDATORS, finished: bool = True) -> None:  # fmt: skip
    budget.leased(task, kind)
    budget.ended(task, url, Outcome(result, AT, AT + 1.0, length=size, validators=validators), finished)


def may(budget: SiteBudget, task: Task, url: str = HTML, kind: Kind = Kind.PAGE, now: float = AT) -> bool:
    return budget.why_not(task, kind, url, now) is None


def test_each_visit_keeps_a_request_for_its_revisit():
    budget = bounded(max_requests=5)
    done(budget, first(0))
    assert budget.spare(AT) == 3  # four are left, one of them is due
    assert may(budget, first(1))
    done(budget, first(1))
    assert budget.spare(AT) == 1
    assert not may(budget, first(2)), "one is left beyond what is due, and a visit needs two"
    assert may(budget, Task(2, Slot.ONLY), kind=Kind.RESOURCE), "what is downloaded once needs one"
    assert budget.why_not(first(2), Kind.PAGE, HTML, AT) == f"{PREFIX}max_requests=5 has no room left for it"
    again = budget.why_not(first(2)._replace(attempt=3), Kind.PAGE, HTML, AT)
    assert again == f"{PREFIX}max_requests=5 has no room left for it, asked 2 times in vain"
    for page in (0, 1):
        assert may(budget, second(page))
        done(budget, second(page))
    assert may(budget, Task(3, Slot.ONLY), kind=Kind.SITEMAP) is False, "of what is left sitemaps take half"
    assert may(budget, Task(3, Slot.ONLY), kind=Kind.RESOURCE)
    done(budget, Task(3, Slot.ONLY), kind=Kind.RESOURCE)
    assert budget.spare(AT) == 0
    assert may(budget, Task(9, Slot.ONLY), kind=Kind.ROBOTS), "robots.txt is read as long as there is time"


def test_a_visit_that_brings_nothing_or_is_not_made_keeps_nothing():
    for how in ("gone", "forgone"):
        budget = bounded(max_requests=4)
        done(budget, first(0), result=Result.GONE if how == "gone" else Result.OK)
        if how == "forgone":
            budget.forgone(second(0), f"{PREFIX}max_requests=4 has no room left for it")
            assert budget.unproven == {0: "never-revisited: max_requests=4 has no room left for it"}
        assert budget.spare(AT) == 3


def test_an_attempt_that_is_made_again_keeps_its_room():
    budget = bounded(max_requests=10)
    done(budget, first(0), finished=False)
    assert budget.spare(AT) == 8
    done(budget, first(0))
    assert budget.spare(AT) == 7


def test_room_is_kept_for_seeds_until_they_are_visited():
    budget = bounded(max_requests=8)
    budget.keep_room([0, 1])
    assert budget.spare(AT) == 4
    assert may(budget, first(5))
    done(budget, first(5))
    assert may(budget, first(6)), "seven are left, one is due, four are for seeds"
    done(budget, first(6))
    assert not may(budget, first(7))
    assert may(budget, first(0))
    done(budget, first(0))
    assert budget.spare(AT) == 5 - 3 - 2
    budget.forgone(first(1), PREFIX)
    assert budget.spare(AT) == 5 - 3


def test_of_pages_with_validators_so_many_are_tested_in_full():
    budget = SiteBudget(spec(audit=0.5, max_requests=1000), AT)
    for page in range(60):
        done(budget, first(page), validators=TOLD if page < 40 else NO_VALIDATORS)
    assert budget.spare(AT) == 940 - 60 - (20 + 12)
    few = SiteBudget(spec(audit=0.5, max_requests=100), AT)
    done(few, first(0), validators=TOLD)
    assert few.spare(AT) == 99 - 1 - 1, "no more than there are"


def test_bytes_are_expected_by_the_end_of_a_url_and_kept_for_revisits():
    budget = bounded(max_bytes=10_000)
    done(budget, first(0), 100)
    done(budget, first(1), 2_000, PDF)
    assert may(budget, first(2), PDF), "7,900 are left: 2,100 are due, 4,000 for another"
    done(budget, first(2), 2_400, PDF)
    assert budget.received == 4_500
    assert not may(budget, first(3), PDF), "5,500 are left: 4,500 are due, 4,400 for another"
    assert may(budget, first(3), HTML)
    assert may(budget, first(3), "http://a.example/new.xml"), "of an unknown kind: the lower of the two means"
    assert may(budget, second(1), PDF)
    done(budget, second(1), 2_000, PDF)
    assert budget.spare(AT) == pytest.approx((3_500 - 2_500) * 4 / 6_500)


def test_the_largest_lose_their_room_where_it_does_not_suffice_for_all():
    budget = bounded(max_bytes=1_000)
    done(budget, first(0), 10)
    done(budget, first(1), 400, PDF)
    done(budget, first(2), 250, PDF)  # 340 are left, 660 would be due
    assert may(budget, second(0))
    assert may(budget, second(2), PDF)
    assert not may(budget, second(1), PDF), "260 are due besides"
    assert budget.spare(AT) == pytest.approx((340 - 260) * 3 / 660)


def test_a_second_look_that_shows_nothing_leaves_the_revisit_due():
    budget = bounded(max_requests=10)
    done(budget, first(0))
    done(budget, first(0), result=Result.FAILED)
    assert budget.spare(AT) == 8 - 1


def test_time_is_expected_by_the_pace_so_far_and_stands_still_in_between():
    budget = bounded(max_time=100.0)
    assert budget.ends == AT + 100.0
    for page in range(10):
        done(budget, first(page))
    now = AT + 20.0  # two seconds each
    assert budget.spare(now) == pytest.approx(80.0 / 2.0 - 10)
    assert may(budget, first(99), now=AT + 45.0), "at 4.5 s each twelve take 54"
    assert not may(budget, first(99), now=AT + 46.0), "at 4.6 s each twelve take 55.2"
    assert may(budget, second(1), now=AT + 99.9)
    assert may(budget, second(1), kind=Kind.SITEMAP, now=AT + 49.9)
    assert not may(budget, second(1), now=AT + 100.0)
    assert not may(budget, Task(98, Slot.ONLY), kind=Kind.ROBOTS, now=AT + 100.0)
    budget.paused = 50.0
    assert budget.ends == AT + 150.0
    assert may(budget, second(1), now=AT + 149.0)
    assert budget.spare(AT + 70.0) == pytest.approx(80.0 / 2.0 - 10)


@pytest.mark.parametrize(("bounds", "room"), [({"max_requests": 20}, 10), ({"max_bytes": 500}, 250)])
def test_sitemaps_that_come_before_all_pages_take_half_at_most(bounds, room):
    budget = bounded(**bounds)
    made = 0
    while may(budget, Task(made, Slot.ONLY), kind=Kind.SITEMAP) and made < 99:
        done(budget, Task(made, Slot.ONLY), 25, kind=Kind.SITEMAP)
        made += 1
    assert made in (room, room // 25)


def test_of_time_they_take_half_at_most_too():
    budget = bounded(max_time=100.0)
    for number in range(40):
        done(budget, Task(number, Slot.ONLY), kind=Kind.SITEMAP)
    assert may(budget, Task(99, Slot.ONLY), kind=Kind.SITEMAP, now=AT + 48.0), "one takes 1.2 s of the 2 that are left"
    assert not may(budget, Task(99, Slot.ONLY), kind=Kind.SITEMAP, now=AT + 49.0)
    assert may(budget, first(99), now=AT + 49.0)


def test_of_a_capture_that_has_hardly_begun_all_is_known_that_can_be():
    assert bounded(max_bytes=1_000).spare(AT) == 1_000, "each takes a byte at least"
    assert may(bounded(max_bytes=1), first(0))
    assert bounded(max_time=100.0).spare(AT) > 1e9, "no pace is known"
    one = bounded(max_bytes=1_000)
    done(one, first(0), 100)
    assert one.spare(AT) == (900 - 100) / 100
    one = bounded(max_time=100.0)
    done(one, first(0))
    assert may(one, first(1), now=AT + 25.0), "at 25 s each three take the 75 that are left"
    assert not may(one, first(1), now=AT + 25.1)


def test_room_is_kept_for_what_sitemaps_name_before_other_pages_and_not_before_what_pages_embed():
    pages = PageTable()
    rows = [page_row(0, kind=Kind.SITEMAP), page_row(1, parent=0), page_row(2, parent=0), page_row(3, parent=1)]
    pages.extend(rows, dict.fromkeys((row.host for row in rows), 0))
    budget = bounded(max_requests=6)
    budget.keep_room([1])
    budget.keep_listed([1, 2, 3], pages)
    assert budget.spare(AT) == 2
    assert may(budget, first(3)), "two are for each of the others"
    done(budget, first(3))
    assert not may(budget, first(4))
    assert may(budget, Task(5, Slot.ONLY), kind=Kind.RESOURCE)
    budget.forgone(first(2), "robots.txt disallows it")
    assert may(budget, first(4))


def test_of_bytes_and_time_half_at_most_is_kept_for_what_sitemaps_name():
    """How much they take shows on the way."""
    pages = PageTable()
    rows = [page_row(0, kind=Kind.SITEMAP), *(page_row(number, parent=0) for number in range(1, 99))]
    pages.extend(rows, dict.fromkeys((row.host for row in rows), 0))
    for bound in ({"max_time": 60.0}, {"max_bytes": 6_000}):
        budget = bounded(**bound)
        budget.keep_listed(range(99), pages)
        done(budget, first(200), size=500)
        assert may(budget, first(201), now=AT + 5.0)
        assert may(budget, first(1), now=AT + 5.0)


def test_where_sitemaps_name_more_than_there_is_room_for_half_of_it_is_free():
    pages = PageTable()
    rows = [page_row(0, kind=Kind.SITEMAP), *(page_row(number, parent=0) for number in range(1, 99))]
    pages.extend(rows, dict.fromkeys((row.host for row in rows), 0))
    for needed, free in ((210, True), (230, False)):
        budget = bounded(max_bytes=1_500)
        budget.keep_listed(range(99), pages)
        done(budget, first(200), size=needed)
        assert may(budget, first(201)) is free


def test_bytes_are_kept_for_seeds_too():
    budget = bounded(max_bytes=1_000)
    budget.keep_room([8, 9])
    done(budget, first(0), 100)
    done(budget, first(1), 100)
    assert may(budget, first(2)), "800 are left: 200 are due, 200 for another and 400 for the seeds"
    done(budget, first(2), 100)
    assert not may(budget, first(3))
    assert may(budget, first(8))


def test_what_nobody_knows_the_size_of_is_taken_for_one_of_the_smaller_kind_and_for_nothing_at_its_revisit():
    budget = bounded(max_bytes=900)
    for number, (size, url) in enumerate([(100, HTML), (100, HTML), (150, PDF)]):
        done(budget, first(number), size, url)
    assert may(budget, first(3), "http://a.example/new.xml"), "550 are left: 350 are due, 200 for another"
    budget = bounded(max_bytes=100)
    done(budget, first(0), 50)
    assert may(budget, second(9)), "50 are left, all of which are due"


def test_a_visit_that_may_be_the_last_is_revisited_too_where_others_may_follow():
    budget = bounded(max_requests=10)
    done(budget, Task(0, Slot.ONLY))
    assert budget.spare(AT) == 8
    for all_revisited, spare in ((True, 8), (False, 9)):
        budget = bounded(max_requests=10)
        budget.all_revisited = all_revisited
        done(budget, Task(0, Slot.ONLY))
        assert budget.spare(AT) == spare


def test_without_bounds_nothing_is_refused_and_all_is_counted():
    budget = spending_of(spec(), AT)
    assert type(budget) is Spending
    assert type(spending_of(spec(max_bytes=1), AT)) is SiteBudget
    assert (budget.ends, budget.spare(AT)) == (math.inf, math.inf)
    assert budget.why_not(first(0), Kind.PAGE, HTML, AT) is None
    budget.ended(first(0), HTML, Outcome(Result.OK, AT, AT, length=7), finished=True)
    assert budget.received == 7


@pytest.mark.parametrize("bounds", [{}, {"max_requests": 100}])
def test_what_former_processes_spent_and_left_is_known_again(bounds):
    pages = PageTable()
    pages.extend([page_row(number) for number in range(4)], {"h.example": 0})
    visits = [visit_row(0), visit_row(1), visit_row(2), visit_row(0, Slot.SECOND)]
    left = [visit_row(3), visit_row(1, Slot.SECOND), visit_row(2, Slot.SECOND)]
    full = f"{PREFIX}max_requests=100"
    for place, error in enumerate((full, full, "robots.txt disallows it")):
        refused = left[place].outcome._replace(error=error, result=Result.REFUSED)
        left[place] = left[place]._replace(attempt=0, outcome=refused)
    budget = spending_of(spec(**bounds), 0.0)  # a capture begins before its visits
    budget.restore([*visits, *left], pages)
    assert budget.received == 4 * visit_row(0).outcome.length
    assert budget.unproven == {1: "never-revisited: max_requests=100"}
    if bounds:
        assert budget.spare(AT) == 96 - 1 - 3, "page 2 is due, and three were told validators"


def test_what_was_tried_before_a_capture_began_anew_costs_it_nothing():
    pages = PageTable()
    pages.extend([page_row(number) for number in range(2)], {"h.example": 0})
    budget = bounded(max_requests=7)
    budget.restore([visit_row(0)], pages)
    assert visit_row(0).outcome.started < AT
    assert (budget.room, budget.spare(AT), budget.received) == (7, 7, 0)


def test_a_sitemap_that_is_read_at_t_takes_one_request_and_none_where_all_bytes_are_spent():
    budget = bounded(max_requests=2, max_bytes=100)
    done(budget, first(0), 50)
    assert may(budget, second(1), kind=Kind.SITEMAP)
    done(budget, second(1), 49, kind=Kind.SITEMAP)
    assert not may(budget, second(2), kind=Kind.SITEMAP), "no request is left"
    for spent in (99, 100, 101):
        budget = bounded(max_bytes=201)  # half of it is for sitemaps
        done(budget, first(0), spent, result=Result.GONE)
        assert may(budget, second(1), kind=Kind.SITEMAP) is (spent < 101)
