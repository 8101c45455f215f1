"""T waits for what failed and is tried again, or leaves it behind, where more would change meanwhile."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.hosts import Host, Politeness, Task
from sharc_crawler.frontier.trying_again import leaves_behind
from sharc_crawler.model import Kind, Outcome, Phase, Plan, Result, Slot, Visit
from sharc_crawler.state.lifecycle import Event
from sharc_crawler.state.pages import NO_PARENT, PageTable
from tests.traps.tables import add

SEED, NOW, DUE = 10.0, 100.0, 160.0
OFTEN = 1.0  #: a page that changes each second has changed by then


class Behind:
    """A seed that never changes and pages, visited at these times, named by these; one has failed, and waits, which
    is named by ``of``."""

    def __init__(self, *visits: float, named_by: tuple[int, ...] = (), rate: float = OFTEN, of: int = 0) -> None:
        self.pages, self.told = PageTable(), []
        for place, started in enumerate(visits):
            parent = (*named_by, *[0] * len(visits))[place - 1] if place else NO_PARENT
            self.visit(add(self.pages, f"page{place}", parent), started, rate if place else 0.0)
        self.capture = SimpleNamespace(
            phase=Phase.VISIT,
            mode=SimpleNamespace(whole=True),
            owed=SimpleNamespace(pending=1, unread=set()),
            again=frozenset({99}),
            later=[],
        )
        self.hosts = [Host(name, Politeness()) for name in "ab"]
        self.strategy = SimpleNamespace(
            revisits=True, attests=False, finished=lambda visit, *, captured: self.told.append((visit, captured))
        )
        self.failed = self.fail(of)

    def visit(self, page: int, started: float, rate: float) -> None:
        for event in (Event.LEASE, Event.CAPTURED):
            self.pages.move(page, event)
        self.pages.remember(page, Outcome(Result.OK, started, started, 200))
        self.pages.rates[page] = rate

    def fail(self, parent: int, kind: Kind = Kind.PAGE, attempt: int = 2, due: float = DUE) -> int:
        page = add(self.pages, f"failed{len(self.pages)}", parent, kind)
        self.hosts[page % 2].retry(Task(page, Slot.FIRST, Plan.HOPELESS, attempt), due)
        return page

    def leaves(self) -> bool:
        self.told.clear()
        before = self.capture.again
        ledger = SimpleNamespace(capture=self.capture, pages=self.pages, hosts=self.hosts)
        left = leaves_behind(ledger, self.strategy, NOW)
        self.told[:0] = [set(self.capture.again)] if self.capture.again != before else []
        return left


def test_where_more_pages_would_change_than_are_tried_again_these_come_after_t():
    site = Behind(SEED, NOW, NOW, NOW)
    assert site.leaves()
    assert site.told == [{99, site.failed}, (Visit(site.failed, Slot.FIRST, Plan.HOPELESS), False)]
    assert not Behind(SEED, NOW).leaves(), "one page for one"
    assert not Behind(SEED, NOW, NOW, NOW, rate=1e-9).leaves()
    assert not Behind(SEED, 50.0, 50.0, 50.0).leaves(), "they have changed already"


def test_nothing_is_asked_for_once_more_while_another_is_under_way_or_where_nothing_failed():
    for later, pending in (([(DUE, Task(1, Slot.FIRST, Plan.HOPELESS, 4))], 2), ([], 0)):
        site = Behind(SEED, NOW, NOW, NOW)
        site.capture.later, site.capture.owed.pending = later, pending
        site.leaves()
        assert site.capture.later is later


@pytest.mark.parametrize(("rate", "leaves"), [(0.0075, False), (0.0078, True)])
def test_what_is_expected_to_change_is_what_has_not_yet(rate, leaves):
    """Of three that are as they were by a chance of e^-0.1, so many change within a minute."""
    site = Behind(SEED, *[NOW - 0.1 / rate] * 3, rate=rate)
    assert site.leaves() is leaves


@pytest.mark.parametrize(
    "change",
    [
        lambda site: setattr(site.capture, "phase", Phase.REVISIT),
        lambda site: setattr(site.capture.mode, "whole", False),
        lambda site: setattr(site.strategy, "revisits", False),
        lambda site: setattr(site.strategy, "attests", True),
        lambda site: setattr(site.capture.owed, "pending", 2),  # something else is under way
        lambda site: setattr(site.capture, "again", frozenset({site.failed})),
        lambda site: site.visit(site.failed, NOW, OFTEN),  # it was visited: another look
        lambda site: site.pages.urls and [host.retries.clear() for host in site.hosts],
    ],
)
def test_otherwise_t_waits(change):
    site = Behind(SEED, NOW, NOW, NOW)
    change(site)
    assert not site.leaves()
    assert not site.told


def test_neither_a_resource_nor_a_page_whose_turn_comes_later_is_left_behind():
    site = Behind(SEED, NOW, NOW, NOW)
    site.fail(0, Kind.RESOURCE)
    site.fail(0, attempt=1)
    site.capture.owed.pending = 3
    assert site.leaves()
    assert site.told[0] == {99, site.failed}
    assert len(site.told) == 2


def test_of_several_the_first_that_is_due_counts_and_each_is_left_behind():
    site = Behind(SEED, *[NOW] * 3)
    other = site.fail(0, due=DUE + 10.0)
    assert site.leaves()
    assert site.told[0] == {99, site.failed, other}
    assert len(site.told) == 3
    site = Behind(SEED, *[NOW] * 3, rate=0.02)
    assert site.leaves(), "2.1 are expected to change"
    site.fail(0, due=NOW + 20.0)
    assert not site.leaves(), "one within 20 seconds"


@pytest.mark.parametrize(
    ("visits", "named_by", "leaves"),
    [
        ((95.0, 96.0, 97.0, 98.0), (0, 0, 1), True),  # two of four came after the last that led on
        ((95.0, 96.0, 97.0, 98.0), (0, 0, 2), False),
        ((95.0, 96.0, 97.0, 98.0, 99.0), (0, 0, 0, 2), False),
        ((95.0, 96.0, 97.0, 98.0, 99.0), (0, 0, 0, 1), True),
    ],
)
def test_what_leads_to_others_is_waited_for(visits, named_by, leaves):
    site = Behind(*visits, named_by=named_by, rate=0.2)
    assert site.leaves() is leaves


def test_resources_that_late_pages_bring_are_no_pages_they_lead_to():
    site = Behind(SEED, NOW, NOW, NOW)
    add(site.pages, "style.css", 2, Kind.RESOURCE)
    assert site.leaves()


def test_pages_that_nobody_named_lead_to_none_however_early_they_were_visited():
    assert Behind(*[0.5] * 9, named_by=(NO_PARENT,) * 8, rate=0.01, of=NO_PARENT).leaves()


def test_a_hot_page_visited_long_after_a_retry_fell_due_is_no_overflow():
    site = Behind(SEED, NOW, NOW)
    for host in site.hosts:
        host.retries.clear()
    site.failed = site.fail(0, due=NOW - 2_000)
    assert not site.leaves(), "what would change while it waits for nothing?"
