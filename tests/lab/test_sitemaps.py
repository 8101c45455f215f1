"""Simulated sites with a sitemap: what the frontier makes of it, against the truth."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from statistics import fmean

import numpy as np
import pytest

from sharc_crawler.lab import plan, web
from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.prospect import Prospect
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.lab.web import Published, Web
from tests.lab.small import small_site, write_history, write_lines

SITE = SyntheticSpec(size=400, skew=1.2)


def simulated(strategy: str, seed: int = 0, **more: object) -> dict:
    return run(RunSpec(replace(SITE, seed=seed), strategy, graph="known", seed=seed, **more)).facts


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["sharc-attested", "sharc-attested:visits=2"])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_an_honest_sitemap_is_never_misread(strategy, share):
    facts = simulated(strategy, attested=share, sitemap=True)
    assert facts["wrongly_coherent"] == 0
    assert sum(facts["judged"].values()) == facts["pages"] == 400


@pytest.mark.long
def test_revisits_planned_again_lose_fewer_pages():
    plain = [simulated("sharc-selective", seed)["incoherent"] for seed in range(3)]
    again = [simulated("sharc-selective", seed, sitemap=True) for seed in range(3)]
    assert all(facts["wrongly_coherent"] == 0 for facts in again)
    assert fmean(facts["incoherent"] for facts in again) < fmean(plain)


@pytest.mark.long
def test_what_changed_before_t_is_won_back_by_few_downloads_more():
    once = [simulated("sharc-offline", seed, attested=1.0) for seed in range(4)]
    again = [simulated("sharc-attested", seed, attested=1.0, audited=0.0) for seed in range(4)]
    assert all(facts["wrongly_coherent"] == 0 for facts in again)
    lost = [fmean(facts["incoherent"] for facts in runs) for runs in (once, again)]
    assert lost[1] < 0.8 * lost[0]
    more = fmean(facts["downloads"] for facts in again) - fmean(facts["downloads"] for facts in once)
    assert more < 2 * lost[0] + 3, "all visits lie before T, twice as far from it; and three sitemaps"


@pytest.mark.slow
def test_what_the_frontier_leaves_unknown_is_unknown():
    """Lies are caught by the audit, and nothing of their class is claimed."""
    facts = simulated("sharc-attested", attested=1.0, lying=0.3, audited=0.3)
    judged = facts["judged"]
    assert facts["unknown"] == judged["unknown, none"] > 100
    assert facts["coherent"] == sum(judged[name] for name in judged if name.startswith("coherent"))
    assert facts["evidence"] == "attested"


def wiki(folder, last_change, name="site.csv.gz"):
    """Twelve pages, of which the entry page links to seven."""
    pages = [f"/{number}" for number in range(12)]
    lines = [f"{page},-999,1,,{last_change(number)},{1500 + number}" for number, page in enumerate(pages)]
    links = [{"page": "/0", "out": pages[:8]}]
    return HistorySpec(
        str(write_history(folder, lines, name=name)),
        "/0",
        1000.0,
        2000.0,
        str(write_lines(folder / "links.jsonl", links)),
    )


def test_lastmods_that_are_all_equal_are_not_believed(tmp_path):
    """As in a live crawl: by the frontier, whose strategy then compares bytes."""
    sites = {"equal": wiki(tmp_path, lambda _: 100, "equal"), "own": wiki(tmp_path, lambda number: 100 + number, "own")}
    told = {
        name: run(RunSpec(site, "sharc-attested", graph="known", attested=1.0, audited=0.0)).facts
        for name, site in sites.items()
    }
    assert "attested" not in "".join(told["equal"]["judged"])
    assert any("attested" in name for name in told["own"]["judged"])
    assert told["equal"]["downloads"] > told["own"]["downloads"] + 3


@pytest.mark.parametrize("listed", [None, [True, False]])
def test_what_is_known_at_the_start_is_dated_where_the_sitemap_lists_it(listed):
    published = listed and Published(np.array(listed), np.zeros(2, np.bool_))
    web = Web(small_site([(), ()]), frozen=True, published=published, dated=True)
    assert [seed.hints is not None for seed in web.seeds([0, 1], 0.0)] == (listed or [True, True])


def test_a_sitemap_names_pages_that_no_link_leads_to(tmp_path):
    spec = RunSpec(wiki(tmp_path, lambda number: 100 + number), "sharc-attested", sitemap=True)
    assert run(spec).facts["pages"] == 12
    assert run(replace(spec, sitemap=False)).facts["pages"] == 8


@pytest.mark.slow
def test_the_frontiers_count_is_the_scores():
    facts = simulated("sharc-selective", sitemap=True)
    judged = facts["judged"]
    assert judged["coherent, bytes"] + judged["coherent, instant"] == facts["coherent"]


@pytest.mark.long
def test_hints_before_t_win_pages_back_and_an_hour_late_some_fewer():
    found = [
        [simulated("sharc-selective", seed, sitemap=True, late=late, hints=hints) for seed in range(2)]
        for late, hints in ((0.0, 0.0), (0.0, 0.1), (60.0, 0.1))
    ]
    lost = [fmean(facts["incoherent"] for facts in runs) for runs in found]
    assert lost[1] < lost[2] < lost[0]
    for facts in found[1]:
        assert facts["judged"]["coherent, bytes"] + facts["judged"]["coherent, instant"] == facts["coherent"]
        assert facts["downloads"] <= 1.1 * 2 * facts["pages"] + 10


def test_a_large_site_has_several_sitemaps_which_are_all_read_at_the_start_and_at_t(monkeypatch):
    """What is made of each entry of one on the way is held for the entries of one file, not for all."""
    monkeypatch.setattr(web, "PER_SITEMAP", 40)
    published = Published(np.ones(100, np.bool_), np.zeros(100, np.bool_))
    assert published.sitemaps == ["sitemap", "sitemap40", "sitemap80"]
    at_once, entries = [], Web.sitemap
    monkeypatch.setattr(Web, "sitemap", lambda *given: at_once.append(found := entries(*given)) or found)
    monkeypatch.setattr(plan, "MANY", 0)
    rates = np.full(100, 1e-9)
    prospect = Prospect("s", [f"http://h/{page}" for page in range(100)], rates, rates * 0 + 2.0, rates > 0)
    assert plan.foresee(prospect, "sharc-attested", 1.0, 1e9).expected_coherent > 99
    assert [len(found) for found in at_once[:3]] == [40, 40, 20]
    assert max(map(len, at_once)) == 40
    assert len({told.url for told in chain.from_iterable(at_once[-3:])}) == 100
