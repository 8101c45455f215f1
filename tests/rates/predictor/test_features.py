from __future__ import annotations

import math

import numpy as np
import pytest

from sharc_crawler.model import Document, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.rates.history import CHANGED, UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.predictor.examples import Examples, page_facts
from sharc_crawler.rates.predictor.features import PageTraits, offline_features, online_features

DAY = 86_400.0
NAN = math.nan


def test_the_papers_online_features_of_a_url():
    table = online_features([PageTraits("http://www.h.org:80/News/2011/my_page;a,b~c:d%20.html?q=1")])
    assert {name: column[0] for name, column in table.words.items()} == {
        "domain": "www.h.org",
        "media type": "text/html",
        "word 1": "news",
        "word 2": "2011",
        "word 3": "my",
    }
    numbers = {name: column[0] for name, column in table.numbers.items()}
    assert numbers.pop("URL length") == 57
    assert numbers.pop("depth") == 3
    assert set(numbers.values()) == {1.0}  # every special character is there
    assert len(numbers) == 7


def test_a_short_url_has_fewer_words_and_no_special_characters():
    table = online_features([PageTraits("http://h/", media_type="text/plain")])
    assert [table.words[f"word {k}"] for k in (1, 2, 3)] == [[""], [""], [""]]
    assert table.words["media type"] == ["text/plain"]
    assert sum(column[0] for name, column in table.numbers.items() if name not in ("depth", "URL length")) == 0


def test_offline_features_add_counts_and_age_and_may_be_missing():
    known = PageTraits("http://h/a", idle=2 * DAY, images=3, tables=0, outlinks=7, inlinks=1)
    table = offline_features([known, PageTraits("http://h/b")])
    rows = {name: column.tolist() for name, column in table.numbers.items()}
    assert rows["days since change"][0] == 2.0
    assert [rows[name][0] for name in ("images", "tables", "outlinks", "inlinks")] == [3, 0, 7, 1]
    assert all(math.isnan(rows[name][1]) for name in ("days since change", "images", "tables", "outlinks", "inlinks"))
    assert known.offline and not PageTraits("http://h/b", media_type="text/html").offline


def history() -> SiteHistory:
    """A page that changed on day 8 by its lastmod, one that never did, one seen once."""
    times = np.array([0.0, 7.0, 14.0, 0.0, 7.0, 14.0, 14.0]) * DAY
    bits = np.array([UNKNOWN, UNCHANGED, CHANGED, UNKNOWN, UNCHANGED, UNCHANGED, UNKNOWN], np.int8)
    lastmods = np.array([NAN, NAN, 8 * DAY, NAN, NAN, NAN, NAN])
    nothing = np.full(7, NAN)
    urls = [Url("http://h/hot"), Url("http://h/calm"), Url("http://h/new")]
    return SiteHistory("h", urls, np.array([0, 3, 6, 7]), times, bits, lastmods, np.zeros(7), nothing)


def test_what_captures_know_of_pages():
    seen = Observation("h", Url("http://h/hot"), 0.0, Result.OK, media_type="text/html", document=Document(1, 2, 30))
    links = [("http://h/hot", "http://h/calm"), ("http://h/hot", "http://h/calm"), ("http://h/hot", "http://h/hot")]
    hot, calm, new = page_facts(history(), links, {seen.url: seen}, 20 * DAY)
    # The captures saw the change on day 14 at the latest; nobody can say more than that the lastmod is older.
    assert (hot.idle, hot.media_type, hot.images, hot.tables, hot.outlinks) == (6 * DAY, "text/html", 1, 2, 30)
    assert (hot.inlinks, calm.inlinks, calm.outlinks) == (0, 1, 0)
    assert calm.idle == 20 * DAY  # at least
    assert new.idle is None
    assert page_facts(history(), None, {}, 20 * DAY)[1].inlinks is None


def test_examples_are_the_pages_seen_twice():
    facts = page_facts(history(), None, {}, 20 * DAY)
    examples = Examples.of(history(), facts)
    assert [page.url for page in examples.pages] == ["http://h/hot", "http://h/calm"]
    assert examples.rates[0] > 0 == examples.rates[1]
    assert examples.posterior.rate[0] > examples.posterior.rate[1] > 0
    both = Examples.together([examples, examples])
    assert len(both) == len(both.rates) == len(both.posterior) == 4
    assert len(Examples.together([])) == 0


@pytest.mark.parametrize("rows", [[], [1], [1, 0, 1]])
def test_tables_are_cut_by_rows(rows: list[int]):
    pages = [PageTraits("http://h/a/1"), PageTraits("http://h/b/2", idle=DAY)]
    whole = offline_features(pages)
    part = whole.select(np.array(rows, np.int64))
    assert len(part) == len(rows)
    assert part.words["word 1"] == [whole.words["word 1"][row] for row in rows]
    np.testing.assert_array_equal(part.numbers["days since change"], whole.numbers["days since change"][rows])
