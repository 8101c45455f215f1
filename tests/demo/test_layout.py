"""The site's pages: how many, how hot, how linked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharc_crawler.demo import layout
from sharc_crawler.demo.layout import Parameters, build_images, build_pages
from sharc_crawler.errors import UsageError

ELSEWHERE = {layout.PRIVATE, layout.MISSING, *layout.REDIRECTS}


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(20, 1500), st.integers(0, 10))
def test_every_page_is_reached_from_home(pages: int, seed: int) -> None:
    site = build_pages(Parameters(pages=pages, seed=seed))
    assert len(site) == pages
    assert next(iter(site)) == "/"
    reached, queue = {"/"}, ["/"]
    while queue:
        new = set(site[queue.pop()].links) - reached - ELSEWHERE
        reached |= new
        queue += new
    assert reached == set(site)


def test_rates_follow_zipf() -> None:
    rates = sorted((page.rate for page in build_pages(Parameters(skew=1.2, scale=360)).values()), reverse=True)
    assert rates == pytest.approx([0.1 * rank**-1.2 for rank in range(1, 301)])


def test_a_short_crawl_sees_few_hot_pages_and_many_cold_ones() -> None:
    rates = np.array([page.rate for page in build_pages(Parameters()).values()])
    assert rates.max() == pytest.approx(1 / 5)
    assert np.mean(rates > 1 / 60) < 0.05
    assert np.mean(rates < 1 / 3600) > 0.7


@pytest.mark.slow
def test_news_is_hotter_than_docs() -> None:
    pages = build_pages(Parameters(pages=2000)).values()
    news, docs = ([p.rate for p in pages if p.target.startswith(folder)] for folder in ("/news/", "/docs/"))
    assert np.median(news) > 2 * np.median(docs)


def test_some_pages_are_found_by_links_alone() -> None:
    sections = Counter(page.section for page in build_pages(Parameters()).values())
    assert sections.keys() == {"site", "news", "docs", "projects", ""}
    assert 0.05 < sections[""] / 300 < 0.15


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_shares_hold(share: float) -> None:
    pages = build_pages(Parameters(pages=2000, no_validators=share, lying=share, script=share)).values()
    assert np.mean([not page.validators for page in pages]) == pytest.approx(share, abs=0.04)
    assert np.mean([page.lying for page in pages]) == pytest.approx(share, abs=0.04)
    assert np.mean([page.scripted for page in pages]) == pytest.approx(share, abs=0.04)


def test_more_liars_are_the_same_and_more() -> None:
    few, many = (
        {page.target for page in build_pages(Parameters(lying=share)).values() if page.lying} for share in (0.1, 0.4)
    )
    assert few < many


def test_images_hardly_ever_change() -> None:
    rates = list(build_images(Parameters()).values())
    assert len(rates) == 75
    assert 0 < np.count_nonzero(rates) < 0.1 * len(rates)


def test_equal_parameters_make_equal_sites_in_any_process() -> None:
    code = "from sharc_crawler.demo.layout import *; print(list(build_pages(Parameters(seed=7, pages=60)).values()))"
    environment = {**os.environ, "PYTHONHASHSEED": "12345"}
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=280
    )
    assert other.stdout.strip() == str(list(build_pages(Parameters(seed=7, pages=60)).values()))
    assert build_pages(Parameters(seed=8, pages=60)) != build_pages(Parameters(seed=7, pages=60))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pages", 19),
        ("pages", 50_001),
        ("skew", -0.1),
        ("skew", float("nan")),
        ("scale", 0.0),
        ("scale", float("inf")),
        ("no_validators", 1.1),
        ("lying", -0.1),
        ("script", 1.1),
        ("crawl_delay", -1.0),
        ("slow", float("nan")),
    ],
)
def test_what_makes_no_site_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=f"^{name}={value!r} is no living site: it must be "):
        Parameters(**{name: value})  # type: ignore[arg-type]
