from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.together import SitemapColumns
from sharc_crawler.rates.trust import believed, classes, dated, trust

DAY = 86_400.0


def site(pages: dict[str, list[tuple[float, int, float]]], precision: float = 0.0) -> SiteHistory:
    """URL → (time, bit, lastmod) of each access."""
    rows = np.array([row for accesses in pages.values() for row in accesses], np.float64).reshape(-1, 3)
    offsets = np.concatenate([[0], np.cumsum([len(a) for a in pages.values()])]).astype(np.int64)
    return SiteHistory(
        "s",
        list(pages),
        offsets,
        rows[:, 0],
        rows[:, 1].astype(np.int8),
        rows[:, 2],
        np.full(len(rows), precision),
        np.full(len(rows), np.nan),
    )


def honest(count: int = 40) -> dict[str, list[tuple[float, int, float]]]:
    """Pages seen on day 0 and day 10; every second one changed on day 3 or so."""
    rows = {}
    for i in range(count):
        changed = i % 2 == 0
        second = (10 * DAY, CHANGED if changed else UNCHANGED, 3 * DAY + i if changed else -i * DAY)
        rows[f"http://h/{i}"] = [(0.0, UNKNOWN, -i * DAY), second]
    return rows


def test_of_no_pages_nothing_is_believed():
    assert believed(site({})).tolist() == []


def test_the_class_of_a_url_is_that_of_the_url_alone():
    ends = (
        "a.html",
        "b.HTML",
        "c",
        "d.",
        ".x",
        "e.html?x=1.5",
        "e.php?x=1.5",
        "f#a.b",
        "",
        "..",
        "g.tar.gz",
        "h;j=1.2",
    )
    urls = [f"http://h{folder}/{end}" for folder in ("", "/a", "/a/b", "/c.d/e") for end in ends] * 2
    numbers, names = classes([*urls, "http://h", "http://i.html"])
    assert [names[number] for number in numbers] == list(map(url_class, [*urls, "http://h", "http://i.html"]))


def test_honest_lastmods_are_believed():
    (verdict,) = trust(site(honest()))
    assert verdict.believed
    assert (verdict.values, verdict.checks, verdict.lies) == (80, 20, 0)
    assert verdict.bound == pytest.approx(1 - 0.05 ** (1 / 20))


def test_one_lie_is_enough():
    pages = honest()
    pages["http://h/0"][1] = (10 * DAY, CHANGED, -5 * DAY)
    (verdict,) = trust(site(pages))
    assert not verdict.believed
    assert verdict.bound == 1.0
    assert verdict.reason == "1 of 20 changes is newer than the lastmod that should tell of them"


def test_what_the_next_look_tells_was_late_and_no_lie():
    """A sitemap that is made anew once a day calls a page still for hours."""
    for told, lies in ((9 * DAY, 0), (-5 * DAY, 1), (11 * DAY, 1)):  # of that change; of none; of another one
        pages = honest()
        pages["http://h/0"][1] = (10 * DAY, CHANGED, -5 * DAY)
        pages["http://h/0"].append((20 * DAY, UNCHANGED, told))
        assert trust(site(pages))[0].lies == lies


def test_a_bare_date_of_the_day_of_the_access_before_is_no_lie():
    pages = {"http://h/": [(0.5 * DAY, UNKNOWN, 0.0), (0.9 * DAY, CHANGED, 0.0)]}
    assert trust(site(pages, precision=DAY))[0].believed
    assert not trust(site(pages))[0].believed


def test_all_equal():
    pages = {f"http://h/{i}": [(10 * DAY, UNKNOWN, 3 * DAY)] for i in range(20)}
    assert trust(site(pages))[0].reason == "nearly all values are equal"


def test_always_now():
    pages = {f"http://h/{i}": [(10 * DAY + i, UNKNOWN, 10 * DAY + i - 1)] for i in range(20)}
    assert trust(site(pages))[0].reason == "nearly all values are of now"


def test_the_header_stands_in_where_the_sitemap_is_silent_or_lies():
    rng = np.random.default_rng(1)
    headers = -rng.integers(1, 10**6, 40).astype(float)
    silent = site({f"http://h/{i}": [(0.0, UNKNOWN, np.nan if i % 2 else -7.0 * i)] for i in range(40)})
    told = dated(replace(silent, modified=headers))
    np.testing.assert_array_equal(told.lastmods, np.where(np.arange(40) % 2, headers, -7.0 * np.arange(40)))
    np.testing.assert_array_equal(told.precisions, np.arange(40) % 2)
    equal = replace(site({f"http://h/{i}": [(0.0, UNKNOWN, -5.0)] for i in range(40)}), modified=headers)
    np.testing.assert_array_equal(dated(equal).lastmods, headers)
    now = replace(silent, modified=np.zeros(40))
    np.testing.assert_array_equal(dated(now).lastmods, silent.lastmods)


def test_judged_by_class_of_url():
    pages = honest() | {f"http://h/wiki/{i}": [(10 * DAY, UNKNOWN, 3 * DAY)] for i in range(20)}
    history = site(pages)
    assert classes(history.urls)[1] == ["/*", "/wiki/*"]
    assert believed(history).tolist() == [True] * 40 + [False] * 20


def test_nothing_said():
    (verdict,) = trust(site({"http://h/": [(0.0, UNKNOWN, np.nan)]}))
    assert not verdict.believed
    assert trust(SiteHistory.empty()) == []
    assert believed(SiteHistory.empty()).tolist() == []


def test_rates_go_by_equal_lastmods_where_others_have_moved_since_and_claims_do_not():
    pages = {f"http://h/wiki/{i}": [(10 * DAY, UNKNOWN, 3 * DAY)] for i in range(20)}
    for later, told in ((5, 0), (6, 20)):
        others = {f"http://h/{i}": [(10 * DAY, UNKNOWN, (4 if i < later else 2) * DAY + i)] for i in range(20)}
        history = site(others | pages)
        assert np.count_nonzero(~np.isnan(dated(history).lastmods[20:])) == told
        assert not believed(history)[20:].any()
    lie = pages | {"http://h/wiki/0": [(9 * DAY, UNKNOWN, 3 * DAY), (10 * DAY, CHANGED, 3 * DAY)]}
    assert np.isnan(dated(site(others | lie)).lastmods[20:]).all()


def test_headers_are_judged_only_where_a_server_sent_one(monkeypatch: pytest.MonkeyPatch):
    judged: list[SiteHistory] = []
    monkeypatch.setattr("sharc_crawler.rates.trust.trust", lambda told: judged.append(told) or trust(told))
    silent = site(honest())
    dated(silent)
    assert len(judged) == 1
    dated(replace(silent, modified=silent.times - DAY))
    assert len(judged) == 3


def test_all_of_a_history_is_itself_so_that_its_classes_are_known_again():
    history, pages = site(honest()), np.arange(40)
    assert history.select(pages) is history
    assert history.select(pages[::-1]).urls == history.urls[::-1]
    said = SitemapColumns(history.urls, np.zeros(40), np.zeros(40), {})
    assert said.select(pages) is said
    assert said.select(pages[5:]).urls == history.urls[5:]
