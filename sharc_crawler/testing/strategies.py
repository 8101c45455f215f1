"""Conformance tests of a strategy: subclass :class:`StrategyContract`, make yours in ``make``; pytest collects them.

.. code-block:: python

    class TestMine(StrategyContract):
        def make(self, setting):
            return Mine(setting)
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

from sharc_crawler.model import Slot, Visit
from sharc_crawler.strategies.base import Candidates, Setting, Strategy
from sharc_crawler.strategies.refused import fault_of


class Crawl:
    """One site capture without a network, checked at every step.

    Page 0 is the seed; each captured first visit discovers the next ``links`` pages. ``late`` visits are in flight at
    a time. Pages in ``failing`` have no content. Pages in ``embedding`` have resources, so T should come after them.
    """

    def __init__(
        self,
        strategy: Strategy,
        rates: Sequence[float],
        *,
        links: int = 3,
        late: int = 1,
        failing: frozenset[int] = frozenset(),
        embedding: frozenset[int] = frozenset(),
    ) -> None:
        assert hasattr(strategy, "setting"), "its __init__ does not call super().__init__(setting)"
        self.strategy = strategy
        self.visits: list[Visit] = []
        self._rates = rates
        self._links = links
        self._late = late
        self._failing = failing
        self._embedding = embedding
        self._known = 0
        self._in_flight: deque[Visit] = deque()
        self._firsts: set[int] = set()
        self._seconds: set[int] = set()
        self._finished: list[Visit] = []
        self.discover(1)

    def discover(self, pages: int) -> None:
        """Discover the site's next pages, all at once."""
        new = range(self._known, min(self._known + pages, len(self._rates)))
        self._known = new.stop
        attested = [page % 2 == 0 for page in new]
        self.strategy.add(Candidates.of([*new], [self._rates[page] for page in new], attested=attested))

    def run(self, steps: float = math.inf) -> Crawl:
        """Make ``steps`` visits, or visit until nothing is left."""
        while len(self.visits) < steps:
            if len(self._in_flight) < self._late and (visit := self.strategy.next(float(len(self.visits)))):
                self._check(visit)
                self.visits.append(visit)
                self._in_flight.append(visit)
            elif self._in_flight:
                self._finish(self._in_flight.popleft())
            else:
                break
        return self

    def _check(self, visit: Visit) -> None:
        assert not fault_of(visit), f"{visit}: {fault_of(visit)}"
        page, slot = visit.page, visit.slot
        if slot is Slot.SECOND:
            assert page in self._firsts, f"{visit}: revisited before it was visited"
            assert page not in self._seconds, f"{visit}: revisited twice"
            assert page not in self._failing, f"{visit}: revisited, but there is no content"
            unfinished = [one for one in self._in_flight if one.slot is not Slot.SECOND]
            assert self.strategy.past_reference, f"{visit}: handed out before the reference instant"
            assert not any(one.slot is Slot.FIRST for one in unfinished), f"{visit}: {unfinished} are not finished"
            self._seconds.add(page)
        else:
            assert page < self._known, f"{visit}: never added"
            assert page not in self._firsts, f"{visit}: visited twice"
            assert slot is Slot.ONLY or not self._seconds, f"{visit}: a first visit after a revisit"
            self._firsts.add(page)

    def _finish(self, visit: Visit) -> None:
        captured = visit.page not in self._failing
        asked = visit.slot is Slot.ONLY and visit.page in self._embedding
        if asked and self.strategy.revisit_after_all(visit.page):
            first = Visit(visit.page, Slot.FIRST, visit.plan)
            self.visits[self.visits.index(visit)] = visit = first
        self.strategy.finished(visit, captured)
        self._finished.append(visit)
        open_ = self.strategy.accepts_late or not self.strategy.past_reference
        if captured and visit.slot is not Slot.SECOND and open_:
            self.discover(self._links)

    def restart(self, strategy: Strategy) -> None:
        """Restart after a crash: a new strategy is told the finished visits."""
        self.strategy = strategy
        known, self._known = self._known, 0
        self.discover(known)
        for visit in self._finished:
            strategy.finished(visit, visit.page not in self._failing)
        revisited = any(visit.slot is Slot.SECOND for visit in self._finished)
        assert strategy.past_reference or not revisited, "a revisit that was made does not put T into the past"
        lost = [*self._in_flight]
        self.visits = [visit for visit in self.visits if visit not in lost]
        self._firsts = {visit.page for visit in self.visits if visit.slot is not Slot.SECOND}
        self._seconds = {visit.page for visit in self.visits if visit.slot is Slot.SECOND}
        self._in_flight.clear()

    def check_complete(self) -> None:
        """Check that every discovered page was visited, and revisited if it has a second slot."""
        assert self._firsts == set(range(self._known)), "pages were never visited"
        assert len(self.strategy) == 0, f"{len(self.strategy)} visits are said to be left"
        assert self.strategy.next(math.inf) is None, "a visit after the last"
        slots = {visit.page: visit.slot for visit in self.visits if visit.slot is not Slot.SECOND}
        due = {page for page in self._firsts - self._failing if slots[page] is Slot.FIRST}
        assert due <= self._seconds, f"pages were never revisited: {due - self._seconds}"
        assert not self._seconds or self.strategy.revisits, "revisits by a strategy that says it makes none"


class StrategyContract(ABC):
    """The tests that every strategy must pass; each is a short crawl."""

    @abstractmethod
    def make(self, setting: Setting) -> Strategy:
        """Make a new strategy for one capture."""

    def crawl(self, rates: Sequence[float], size: int | None = None, **options: object) -> Crawl:
        """Run and check a complete crawl of a site with these rates."""
        strategy = self.make(Setting(size=len(rates) if size is None else size))
        crawl = Crawl(strategy, rates, **options).run()  # type: ignore[arg-type]
        crawl.check_complete()
        return crawl

    def rates(self, pages: int, seed: int = 0) -> list[float]:
        """Rates from 1e-4 to 1 changes per second, log-uniform."""
        draw = random.Random(seed)
        return [10 ** draw.uniform(-4, 0) for _ in range(pages)]

    def test_every_page_once_whatever_the_way_it_is_found(self) -> None:
        for links in (1, 2, 7, 60):
            assert self.crawl(self.rates(60), links=links)._known == 60

    def test_late_answers(self) -> None:
        for late in (2, 5, 100):
            self.crawl(self.rates(40), late=late)

    def test_failures(self) -> None:
        for seed in range(5):
            failing = frozenset(random.Random(seed).sample(range(1, 40), 12))
            self.crawl(self.rates(40), links=6, late=1 + seed, failing=failing)

    def test_nothing_can_be_captured(self) -> None:
        crawl = self.crawl([0.1], failing=frozenset([0]))
        assert len(crawl.visits) == 1

    def test_wrong_size(self) -> None:
        for size in (0, 1, 10, 39, 41, 400):
            self.crawl(self.rates(40), size=size)

    def test_equal_and_extreme_rates(self) -> None:
        for rates in ([0.1] * 30, [0.0] * 30, [1e9] * 30, [0.0, 1e-300, 1e300, 1.0] * 8):
            self.crawl(rates)

    def test_no_page(self) -> None:
        strategy = self.make(Setting())
        assert strategy.next(0.0) is None
        assert len(strategy) == 0
        strategy.add(Candidates.of([], []))
        assert strategy.next(0.0) is None

    def test_one_page(self) -> None:
        crawl = self.crawl([0.1])
        assert {visit.page for visit in crawl.visits} == {0}

    def test_length_counts_down(self) -> None:
        """If all pages are known and captured, the length is the number of remaining visits."""
        strategy = self.make(Setting(size=25))
        crawl = Crawl(strategy, self.rates(25))
        crawl.discover(24)
        total = len(strategy)
        for step in range(total):
            assert len(strategy) == total - step
            crawl.run(step + 1)
        crawl.run().check_complete()
        assert len(crawl.visits) == total

    def test_a_page_found_last_does_not_spare_the_seed_its_revisit(self) -> None:
        """A seed handed out as the only known page is revisited like the others when there are others."""
        crawl = self.crawl([0.1, 0.1, 0.1], links=2)
        slots = [visit.slot for visit in crawl.visits if visit.page == 0]
        assert slots in ([Slot.ONLY], [Slot.ONLY, Slot.SECOND], [Slot.FIRST, Slot.SECOND])
        if crawl.strategy.revisits:
            assert sum(visit.slot is Slot.SECOND for visit in crawl.visits) >= 1

    def test_a_page_that_brings_resources_is_revisited_where_that_is_agreed(self) -> None:
        for pages in (1, 2, 9):
            for steps in range(2 * pages):
                crawl = Crawl(self.make(Setting(size=pages)), self.rates(pages), embedding=frozenset(range(pages)))
                crawl.run(steps).restart(self.make(Setting(size=pages)))
                crawl.run().check_complete()

    def test_repricing(self) -> None:
        strategy = self.make(Setting(size=30))
        crawl = Crawl(strategy, self.rates(30), links=10)
        for step in range(30):
            for page in range(30):
                if page < crawl._known:
                    strategy.reprice(page, 1e-3 * (page + step))
            crawl.run(step)
        crawl.run().check_complete()

    def test_restart(self) -> None:
        for steps in (1, 5, 20, 29, 30, 31, 45, 59):
            crawl = Crawl(self.make(Setting(size=30)), self.rates(30), late=3, failing=frozenset([3, 9])).run(steps)
            crawl.restart(self.make(Setting(size=30)))
            crawl.run().check_complete()

    def test_the_same_calls_bring_the_same_visits(self) -> None:
        assert self.crawl(self.rates(50), late=2).visits == self.crawl(self.rates(50), late=2).visits

    def test_the_reference_instant_is_passed_once(self) -> None:
        strategy = self.make(Setting(size=20))
        crawl, passed = Crawl(strategy, self.rates(20)), []
        for step in range(1, 41):
            crawl.run(step)
            passed.append(strategy.past_reference)
        assert passed == sorted(passed)
        assert not passed[0]
        assert passed[-1] or not strategy.revisits, "past_reference is not set when the first revisit is handed out"
