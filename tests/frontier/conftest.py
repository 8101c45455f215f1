"""A small world for the frontier: documents by URL, virtual time, a request takes 10 ms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Done, Fetch, Kind, Outcome, Result, Sighting, Validators, Wait

if TYPE_CHECKING:
    from sharc_crawler.storage.memory import MemoryStore

LATENCY = 0.01

RESTARTED = 1_000  #: a host that refuses all is asked again by each frontier, and never found to do so by some


@dataclass
class World:
    """``links``: what a URL names; ``answers``: outcomes by (URL, attempt) that differ from 200 with its own digest."""

    links: dict[str, list[Sighting]] = field(default_factory=dict)
    answers: dict[str, list[dict]] = field(default_factory=dict)
    requests: list[tuple[float, Fetch]] = field(default_factory=list)
    robots: dict[str, str] = field(default_factory=dict)
    now: float = 1000.0

    def answer(self, fetch: Fetch) -> Outcome:
        scripted = self.answers.get(fetch.url, [])
        fields = {"result": Result.OK, "status": 200, "digest": f"sha1:{fetch.url}"}
        if fetch.kind is Kind.ROBOTS:
            host = fetch.url.split("/")[2]
            fields = (
                {"result": Result.OK, "status": 200, "robots": self.robots[host]}
                if host in self.robots
                else {
                    "result": Result.GONE,
                    "status": 404,
                }
            )
        elif fetch.kind is Kind.SITEMAP and fetch.url not in self.links:
            fields = {"result": Result.GONE, "status": 404}
        made = sum(before.url == fetch.url for _, before in self.requests) if scripted else 0
        if made < len(scripted):
            fields = {**fields, **scripted[made]}
        return Outcome(started=self.now, ended=self.now + LATENCY, **fields)

    def run(self, frontier: Frontier, most: int = 2000) -> list[Fetch]:
        """Crawl until done; the fetches in order."""
        for _ in range(most):
            if not self.step(frontier):
                one = isinstance(frontier, Frontier) and frontier.polls is None
                assert frontier.done or not one, "it waits for nothing"
                return [fetch for _, fetch in self.requests]
        raise AssertionError(f"not done after {most} decisions")

    def run_restarted(self, frontier: Frontier, politeness: Politeness, store: MemoryStore, every: int) -> None:
        """Crawl until done, by another frontier after each so many requests, of the first :data:`RESTARTED`."""
        while self.step(frontier):
            if len(self.requests) % every == 0 and len(self.requests) < RESTARTED:
                frontier = Frontier(politeness, store)
                frontier.restore(store.load(), self.now)
        assert frontier.done

    def step(self, frontier: Frontier) -> bool:
        """One decision; is there more to come?"""
        decision = frontier.next(self.now)
        if isinstance(decision, Done):
            return False
        if isinstance(decision, Wait):
            assert decision.until > self.now, "the frontier would spin"
            self.now = decision.until
            return True
        outcome = self.answer(decision)
        self.requests.append((self.now, decision))
        frontier.finished(decision, outcome, self.links.get(decision.url, ()) if outcome.result is Result.OK else ())
        self.now += LATENCY
        return True


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def impolite() -> Politeness:
    """No robots.txt, no delay: for tests about something else."""
    return Politeness(delay=0.0, obey_robots=False, back_off=1.0)


@pytest.fixture
def validators() -> Validators:
    return Validators('"1"', None)
