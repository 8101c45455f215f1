"""The bound that an audit states beside what is really wrong: whole captures of random sites, in virtual time.

    python benchmarks/bench_audit_bound.py --captures 400
    python benchmarks/bench_audit_bound.py --world cms --captures 100

Each capture is the frontier's own, by ``sharc-attested``, of one to eight kinds of pages: 3 to 120 of each, hot or
cold, whose lastmods tell the truth, or lie on a share of them. ``--world``: of a site of ``bench_audit.py`` instead,
each with audits and without. A claim is false if none of the page's downloads shows it as it was at T.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.bench_audit import AGES, WORLDS, Page, poisson, words
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Done, Fetch, Hints, Kind, Outcome, Result, Sighting, Verdict
from sharc_crawler.state.spec import AUDIT, CaptureSpec
from sharc_crawler.storage.memory import MemoryStore

ROOT = "http://h"
START = 1_800_000_000.0
TOOK = 0.01  #: seconds for an answer


def any_site(rng: random.Random) -> dict[str, Page]:
    """Kinds of pages, some of which share a folder and are told apart by how their names begin."""
    pages = {}
    for kind in range(rng.randint(1, 8)):
        prefix = rng.choice([f"/kind{kind}/", f"/kind{kind}/view?id=", f"/{'abc'[kind % 3]}/list{kind}-"])
        every, lies = rng.choice([20.0, 60.0, 200.0, 1_000.0]), rng.choice([0.0, 0.0, 0.02, 0.1, 0.3, 0.6, 1.0])
        for number in range(rng.randint(3, 120)):
            changes = poisson(rng, START, every * rng.choice([0.3, 1.0, 3.0]))
            pages[f"{prefix}{number}"] = Page(changes, owns_up=int(rng.random() >= lies))
    return pages


class Found(NamedTuple):
    captured: int
    claimed: int
    bound: int
    false: int
    audited: int
    requests: int


def capture(pages: dict[str, Page], delay: float, audit: float) -> Found:
    """One capture, from robots.txt to its judgements."""
    texts = {path: words(path) for path in pages}
    store, now = MemoryStore(), START
    frontier = Frontier(Politeness(delay=delay), store)
    frontier.open(CaptureSpec("h", (f"{ROOT}/",), "sharc-attested", audit=audit), now)
    while not isinstance(decision := frontier.next(now), Done):
        if isinstance(decision, Fetch):
            frontier.finished(decision, *answer(pages, texts, decision, now))
        else:
            now = decision.until
    state = store.load()
    (row,) = state.captures.values()
    assert row.reference is not None and row.audit is not None
    versions: dict[int, set[int]] = {}
    for visit in state.visits:
        path = state.pages[visit.page].url.removeprefix(ROOT)
        if path in pages and visit.outcome.result is Result.OK:
            versions.setdefault(visit.page, set()).add(pages[path].version(visit.outcome.started))
    told = [
        one.page
        for one in state.judgements
        if one.verdict is Verdict.COHERENT and one.evidence.dated and one.page in versions
    ]
    false = sum(
        pages[state.pages[page].url.removeprefix(ROOT)].version(row.reference) not in versions[page] for page in told
    )
    return Found(
        len(versions), row.audit["claimed"], row.audit["bound"], false, row.audit["audited"], len(state.visits)
    )


def answer(pages: dict[str, Page], texts: dict[str, str], fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
    clock = {"started": now, "ended": now + TOOK, "date": now // 1}
    path = fetch.url.removeprefix(ROOT)
    if fetch.kind is Kind.ROBOTS:
        return Outcome(Result.OK, status=200, robots=f"Sitemap: {ROOT}/sitemap.xml", **clock), []
    if fetch.kind is Kind.SITEMAP:
        said = ((name, Hints(page.lastmod(now, START) // 1, 1.0)) for name, page in pages.items())
        return Outcome(Result.OK, status=200, **clock), [
            Sighting(ROOT + name, via="map", hints=one) for name, one in said
        ]
    shown = "home" if path == "/" else f"{texts[path]} {pages[path].version(now)}"
    return Outcome(Result.OK, status=200, digest=f"sha1:{shown}", fingerprint=shown, **clock), []


def bounds(options: argparse.Namespace) -> None:
    found = []
    for seed in range(options.captures):
        rng = random.Random(seed)
        pages = any_site(rng)
        for page in pages.values():
            page.age = rng.uniform(*AGES)
        found.append(capture(pages, options.delay, options.audit))
    over = [one for one in found if one.false > one.bound]
    lied, worst = sum(one.false > 0 for one in found), max(one.false / max(one.bound, 1) for one in found)
    print(
        f"{len(found)} captures, {lied} with false claims; more than the bound in {len(over)}; most: {worst:.2f} of it"
    )
    for name in Found._fields:
        print(f"  {name}: {statistics.mean(getattr(one, name) for one in found):.1f} on average")


def with_and_without(options: argparse.Namespace) -> None:
    more, wrong, stated, bare = [], [], [], []
    for seed in range(options.captures):
        made = []
        for share in (options.audit, 0.0):
            rng, ages = random.Random(seed), random.Random(seed + 1_000)
            pages = WORLDS[options.world](rng, START)
            for page in pages.values():
                page.age = ages.uniform(*AGES)
            made.append(capture(pages, options.delay, share))
        audited, without = made
        more.append(audited.requests / without.requests - 1)
        wrong.append(audited.false)
        stated.append(audited.bound)
        bare.append(without.false)
    print(f"{len(more)} captures, requests more: {statistics.mean(more):.1%}, {min(more):.1%} to {max(more):.1%};"
          f" above 10 % in {sum(one > 0.1 for one in more)}")  # fmt: skip
    over = sum(one > two for one, two in zip(wrong, stated, strict=True))
    print(f"false claims: {sum(wrong)} in {sum(map(bool, wrong))} captures; bound {statistics.mean(stated):.0f} on"
          f" average, exceeded in {over}; without audits {min(bare)} to {max(bare)} each")  # fmt: skip


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captures", type=int, default=400)
    parser.add_argument("--world", choices=WORLDS)
    parser.add_argument("--delay", type=float, default=0.1)
    parser.add_argument("--audit", type=float, default=AUDIT)
    options = parser.parse_args()
    with_and_without(options) if options.world else bounds(options)


if __name__ == "__main__":
    main()
