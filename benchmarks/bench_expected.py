"""Expected against found: how often what came of a capture lies between what is said of four captures in five.

    python benchmarks/bench_expected.py HISTORY.csv.gz … [--starts 10] [--orders 1]  # captures of real sites' histories
    python benchmarks/bench_expected.py --looks                            # posteriors of made rates, known exactly
    python benchmarks/bench_expected.py --worlds [--seeds 5]               # captures of made sites
    python benchmarks/bench_expected.py --dated [--seeds 5]                # first captures of made sites

Captures of a day, a fortnight, a month begin at instants spread evenly over a history. Pages are visited in a random
order, and revisited in the reverse order. Rates are counted from weekly captures of the year before, or learned from
them as a crawl does (`captures`); from one capture a fortnight before, whose two visits lay a day apart; or are told by
lastmods alone. `first` and `second`: as such captures go about it, with a sitemap of lastmods; a second one knows how
long it will take, a first one does not. 80 % should lie between ``low`` and ``high``; z is in deviations, which hold no
rebuilds. Whole numbers from ``low`` to ``high`` hold more than 80 %, the more, the fewer pages change. ``fair`` counts
the part of the last number on each side that 80 % need; of a true forecast it is 80 %.
``--looks``: the share of pages whose true rate lies in the 80 % interval of its posterior; rates are Gamma.
``--worlds``: both, of sites with bursts and with groups edited together, too (expected_worlds.py). ``--dated``: first
captures of such sites, which a sitemap of lastmods tells of.
``--json`` prints one object a line, of the same cells.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from expected_worlds import KINDS, World
from fair_share import fair

from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.measures import Expected
from sharc_crawler.lab.history import HistorySpec, read_history
from sharc_crawler.lab.published import captures as captured
from sharc_crawler.lab.published import weekly_captures
from sharc_crawler.lab.rates import SOURCES, believe, posterior
from sharc_crawler.model import Hints, Kind, Result, Sighting, Slot, Url, Verdict
from sharc_crawler.rates.chain import Chain, default_chain
from sharc_crawler.rates.counted import counted_rates
from sharc_crawler.rates.estimators.gamma_poisson import GammaPoisson
from sharc_crawler.rates.history import Histories, SiteHistory
from sharc_crawler.rates.ranges import shortest
from sharc_crawler.rates.rebuilds import own_changes, seen_rebuilds
from sharc_crawler.rates.sitemap import SitemapRates
from sharc_crawler.rates.sources import HistoryRates
from sharc_crawler.rates.swings import KNOTS, Swings
from sharc_crawler.rates.swings_learned import learned_swings

if TYPE_CHECKING:
    from sharc_crawler.lab.site import Site

DAY = 86_400.0
DAYS = (1, 14, 30)
AGO = 14 * DAY
SURE = 1.2816  #: deviations: 80 % lie within
Rates = tuple[np.ndarray, np.ndarray, Swings]  #: means, shapes


def windows(path: Path, starts: int) -> list[Site]:
    """Each is long enough for the longest capture; shorter ones begin with it."""
    lives = read_history(path)
    times = [life.changes for life in lives if life.changes]
    first, last = min(one[0] for one in times), max(one[-1] for one in times)
    stays = max((one for one in lives if one.alive_at_start and not one.deleted), key=lambda one: len(one.changes))
    longest = max(DAYS) * DAY
    begins = np.linspace(first, last - longest, starts).tolist()
    return [HistorySpec(str(path), stays.page, begin, begin + longest).build() for begin in begins]


def by_year(site: Site, _days: int) -> Rates:
    """Of pages that no weekly capture has seen: the prior."""
    history = own_changes(weekly_captures(site))
    intervals = history.histories()
    ranker = GammaPoisson().fit(intervals)
    means, shapes = np.full(len(site.urls), ranker.prior_.mean), np.full(len(site.urls), ranker.prior_.shape)
    number = {url: page for page, url in enumerate(site.urls)}
    pages = [number[url] for url in history.urls]
    found = ranker.estimate(intervals)
    means[pages], shapes[pages] = found.rate, found.shape
    return means, shapes, swings(weekly_captures(site), site.start)


def swings(history: SiteHistory, now: float) -> Swings:
    found, seen = learned_swings(history), seen_rebuilds(history, now)
    return found._replace(rebuilds=seen.rate, touched=seen.touched) if seen else found


def as_a_crawl(site: Site, _days: int) -> Rates:
    found = believe(site, "captures")
    return found.rates, found.shapes, swings(weekly_captures(site), site.start)


def by_one_look(site: Site, days: int) -> Rates:
    return by_looks(site, days, 1)


def by_three_looks(site: Site, days: int) -> Rates:
    return by_looks(site, days, 3)


def by_looks(site: Site, days: int, captures: int) -> Rates:
    """By captures a week apart, the last one a fortnight ago, each of two visits a day apart."""
    begins = site.start - AGO - 7 * DAY * np.arange(captures)[::-1]
    history = captured(site, np.add.outer(begins, DAY * np.arange(2)).ravel())
    history = replace(history, lastmods=np.full(len(history.times), np.nan))
    return _asked(site, Chain([HistoryRates(history, days * DAY)]), dated=False)


def by_lastmods(site: Site, _days: int) -> Rates:
    return *SOURCES["lastmod"](site), Swings.usual()


def first(site: Site, _days: int) -> Rates:
    return _asked(site, default_chain())


def second(site: Site, days: int) -> Rates:
    history = captured(site, site.start - AGO + DAY * np.arange(2))
    return _asked(site, Chain([HistoryRates(history, days * DAY), SitemapRates()]))


def _asked(site: Site, chain: Chain, *, dated: bool = True) -> Rates:
    """By a sitemap that has lastmods alone, or by none."""
    last = zip(site.urls, site.created, site.past.latest(site.created).tolist(), strict=True)
    listed = [Sighting(url, hints=Hints(at) if dated and created < site.start else None) for url, created, at in last]
    found = chain.rates(listed, site.start)
    told = chain.swings() or Swings.usual()
    return np.array([one.rate for one in found]), np.array([one.shape for one in found]), told


BELIEFS = {
    "a year": (by_year, "history"),
    "captures": (as_a_crawl, "history"),
    "one look": (by_one_look, "history"),
    "three looks": (by_three_looks, "history"),
    "lastmods": (by_lastmods, "lastmod"),
    "first": (first, "lastmod"),
    "second": (second, "history"),
}
OF_A_LENGTH = ("one look", "three looks", "second")


def score(site: Site, days: int, rates: Rates, source: str, rng: np.random.Generator) -> dict[str, float]:
    """What :class:`Expected` says of a capture of so many days, as a report would."""
    known, middle = site.known, site.start + days * DAY / 2
    half = days * DAY / 2 * (rng.permutation(len(known)) + 0.5) / len(known)
    expected, chance = Expected(None, rates[2]), Expected(None, Swings((0.0,) * len(KNOTS), rates[2].group))
    changes, shapes = 2.0 * half * rates[0][known], np.minimum(np.broadcast_to(rates[1], rates[0].shape)[known], 1e9)
    moved = changes * (1.0 + changes / shapes) ** (-shapes - 1.0)
    for page, reach in zip(known, half.tolist(), strict=True):
        begin, end = site.changes.offsets[page], site.changes.offsets[page + 1]
        stayed = not (np.abs(site.changes.times[begin:end] - middle) <= reach).any()
        looks = [
            VisitFacts(slot, Result.OK, at, at)
            for slot, at in ((Slot.FIRST, middle - reach), (Slot.SECOND, middle + reach))
        ]
        facts = PageFacts(
            Url(site.urls[page]),
            Kind.PAGE,
            "",
            0,
            float(rates[0][page]),
            source,
            visit=looks[0],
            revisit=looks[1],
            verdict=Verdict.COHERENT if stayed else Verdict.CHANGED,
            rate_shape=float(rates[1][page]),
        )
        expected.add(facts)
        chance.add(facts)
    found = expected.totals()
    return found | {"fair": fair(expected, found), "chance": chance.totals()["deviation"], "moved": float(moved.sum())}


def needed(found: list[dict[str, float]]) -> float:
    """The swing under which 80 % would have lain within, had there been neither rebuilds nor a cap."""
    chance, moved = (np.array([one[what] for one in found]) for what in ("chance", "moved"))
    errors = np.array([one["counted"] - one["coherent"] for one in found]) / SURE
    return float(np.quantile(np.sqrt(np.maximum(errors**2 - chance**2, 0.0)) / moved, 0.8))


class Table:
    """Rows of cells by name, as Markdown or JSON, printed as they come."""

    def __init__(self, as_json: bool) -> None:
        self._json = as_json
        self._begun = False

    def row(self, **cells: str | float) -> None:
        """One more; the first one's names head the table."""
        if self._json:
            print(json.dumps(cells), flush=True)
            return
        if not self._begun:
            print("| " + " | ".join(name.replace("_", " ") for name in cells) + " |")
            print("|" + "---|" * len(cells))
            self._begun = True
        print("| " + " | ".join(str(cell) for cell in cells.values()) + " |", flush=True)


def within(z: np.ndarray) -> dict[str, float]:
    return {
        "within_80": round(float(np.mean(np.abs(z) < SURE)), 3),
        "z_mean": round(float(z.mean()), 2),
        "z_sd": round(float(z.std()), 2),
    }


def captures(paths: list[Path], starts: int, beliefs: list[str], table: Table, orders: int = 1) -> None:
    for path in paths:
        sites = windows(path, starts)
        for name in beliefs:
            belief, source = BELIEFS[name]
            for days in DAYS:
                if days == DAYS[0] or name in OF_A_LENGTH:
                    held = [belief(site, days) for site in sites]
                rng = np.random.default_rng(days)
                pairs = list(zip(sites, held, strict=True)) * orders
                found = [score(site, days, rates, source, rng) for site, rates in pairs]
                swings = [rates[2].at(days * DAY) for rates in held]
                z = np.array([(one["counted"] - one["coherent"]) / one["deviation"] for one in found])
                inside = [one["low"] <= one["counted"] <= one["high"] for one in found]
                lost = [np.mean([one["pages"] - one[what] for one in found]) for what in ("coherent", "counted")]
                table.row(
                    site=path.name.split(".")[0],
                    rates_from=name,
                    days=days,
                    captures=len(z),
                    **within(z),
                    low_to_high=round(float(np.mean(inside)), 3),
                    fair=round(float(np.mean([one["fair"] for one in found])), 3),
                    swing=round(float(np.median(swings)), 2),
                    needed=round(needed(found), 2),
                    expected=round(float(lost[0]), 1),
                    found=round(float(lost[1]), 1),
                )


def made(world: World, days: int, seed: int) -> tuple[float, float, float]:
    """Of one capture of a made site: z, share of pages whose true rate lies in its 80 % interval, and the swing."""
    rng = np.random.default_rng([seed, days, world.looks, int(10 * world.shape), KINDS.index(world.kind)])
    history, rates, lengths, changed = world.draw(days, rng)
    found = counted_rates(history)
    swing = learned_swings(history).at(float(lengths.max()))
    changes = found.rate * lengths
    stay = (1.0 + changes / found.shape) ** -found.shape
    moved = float((changes * stay / (1.0 + changes / found.shape)).sum())
    deviation = math.hypot(math.sqrt(float((stay * (1.0 - stay)).sum())), swing * moved)
    low, high = shortest(found.rate, found.shape)
    true = world.true_rates(rates)
    return float((~changed).sum() - stay.sum()) / deviation, float(np.mean((low <= true) & (true <= high))), swing


def worlds(seeds: int, table: Table) -> None:
    for kind in KINDS:
        for shape in (0.1, 0.3, 1.0, 3.0, 10.0):
            for count in (1, 2, 3, 10, 50):
                for days in DAYS:
                    found = [made(World(kind, shape, count), days, seed) for seed in range(seeds)]
                    z, cover, swing = np.array(found).T
                    table.row(
                        world=kind,
                        shape=shape,
                        looks=count,
                        days=days,
                        captures=seeds,
                        rates_covered=round(float(cover.mean()), 3),
                        **within(z),
                        swing=round(float(np.median(swing)), 2),
                    )


def foretold(world: World, days: int, seed: int) -> tuple[bool, float, float, int]:
    """Of a first capture of a made site: is it from low to high, how much is, pages expected to be lost, and lost."""
    rng = np.random.default_rng([seed, days, int(10 * world.shape), KINDS.index(world.kind)])
    lastmods, lengths, changed = world.dated(days, rng)
    source = HistoryRates()
    listed = [Sighting(Url(f"http://h/{page}"), hints=Hints(at)) for page, at in enumerate(lastmods.tolist())]
    rates = source.rates(listed, 0.0)
    expected = Expected(None, source.swings())
    for one, estimate, length, moved in zip(listed, rates, lengths.tolist(), changed.tolist(), strict=True):
        visit, revisit = (
            VisitFacts(slot, Result.OK, at, at) for slot, at in ((Slot.FIRST, 0.0), (Slot.SECOND, length))
        )
        verdict = Verdict.CHANGED if moved else Verdict.COHERENT
        known = {"visit": visit, "revisit": revisit, "verdict": verdict, "rate_shape": estimate.shape}
        expected.add(PageFacts(one.url, Kind.PAGE, "", 0, estimate.rate, "lastmod", **known))
    found = expected.totals()
    inside = found["low"] <= found["counted"] <= found["high"]
    return inside, fair(expected, found), found["pages"] - found["coherent"], int(changed.sum())


def dated(seeds: int, table: Table) -> None:
    for kind in KINDS:
        for shape in (0.3, 3.0):
            for days in DAYS:
                found = np.mean([foretold(World(kind, shape, 0), days, seed) for seed in range(seeds)], 0)
                names = ("low_to_high", "fair", "expected", "found")
                cells = {name: round(one, 3) for name, one in zip(names, found.tolist(), strict=True)}
                table.row(world=kind, shape=shape, days=days, captures=seeds, **cells)


def looks(table: Table, pages: int = 3_000) -> None:
    for shape in (0.3, 1.0, 3.0):
        for mean in (0.05, 0.5, 3.0):
            cells = {}
            for count in (1, 2, 3, 10):
                rng = np.random.default_rng(1)
                rates = rng.gamma(shape, mean / shape, pages)
                lengths = rng.lognormal(0.0, 1.0, (pages, count))
                bits = (rng.random(lengths.shape) < -np.expm1(-rates[:, None] * lengths)).astype(np.int8)
                means, shapes = posterior(Histories.of(list(lengths), list(bits)))
                low, high = shortest(means, shapes)
                cells[f"looks_{count}"] = round(float(np.mean((low <= rates) & (rates <= high))), 3)
            table.row(shape=shape, changes_a_look=mean, **cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="*", type=Path)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--orders", type=int, default=1, help="random orders of each capture's visits")
    parser.add_argument("--rates", nargs="+", default=[*BELIEFS], choices=[*BELIEFS])
    parser.add_argument("--looks", action="store_true")
    parser.add_argument("--worlds", action="store_true")
    parser.add_argument("--dated", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.looks:
        looks(Table(given.json))
    if given.worlds:
        worlds(given.seeds, Table(given.json))
    if given.dated:
        dated(given.seeds, Table(given.json))
    captures(given.histories, given.starts, given.rates, Table(given.json), given.orders)


if __name__ == "__main__":
    main()
