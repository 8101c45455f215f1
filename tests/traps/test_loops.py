"""Few pages again and again under ever other addresses: they wait, and the others come first."""

from __future__ import annotations

import random
import re
import string
from types import SimpleNamespace

import pytest

from benchmarks import bench_traps
from benchmarks.trap_sites import story
from tests.traps.made_sites import LOWER, Made, crawl

TRUE = 40
PATTERNS = ("{}/PAGE", LOWER), ("s/{}/PAGE", LOWER), ("PAGE?r={}", string.digits)


def near(at: int) -> list[int]:
    """What a page names."""
    return [one for one in (3 * at + 1, 3 * at + 2, 3 * at + 3, at + 7) if one < TRUE] + [(at - 1) // 3] * (at > 0)


class Web(Made):
    """Each answer makes up all its links, and says something else than before."""

    says = True

    def content(self, url):
        found = re.search(r"page(\d+)", url)
        at = int(found[1]) if found else 0
        return f"story {at} {self.dice.random()}", [self.made().replace("PAGE", f"page{one}") for one in near(at)]


class Html:
    """One folder, or query, is made up for each answer. A name that nobody gave is not there."""

    def __init__(self, pattern: str, names: str) -> None:
        self.pattern, self.names, self.dice = pattern, names, random.Random(0)
        self.lost = set(range(TRUE))

    def answer(self, path: str) -> SimpleNamespace:
        asked = path.partition("?")[0] if "?" in self.pattern else path
        found = re.fullmatch(r"(?:/s)?(?:/[^/?]+)?/page/?(\d+)|/", asked)
        at = int(found[1] or 0) if found else TRUE
        if at >= TRUE:
            return SimpleNamespace(status=404, html=b"")
        self.lost.discard(at)
        made = "".join(self.dice.choices(self.names, k=10))
        links = [self.pattern.replace("{}", made).replace("PAGE", f"page/{one}") for one in near(at)]
        text = "".join(f"<a href='/{link}'>{link}</a> " for link in links)
        return SimpleNamespace(status=200, html=f"<title>Page {at}</title><p>{story(at)}</p>{text}".encode())


class Scripts(Made):
    """Each document names three more by their numbers, which stay."""

    def __init__(self) -> None:
        super().__init__("doc?id={}", "0123456789abcdef")
        self.true = [self.made() for _ in range(120)]

    def content(self, url):
        at = self.true.index(url) if url in self.true else -1
        return url, self.true[3 * at + 3 : 3 * at + 6]


def numbers(visited: list[str]) -> set[int]:
    found = [re.search(r"page(\d+)", url) for url in visited if "no-such-page" not in url]
    return {int(one[1]) for one in found if one}


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize(("pattern", "names"), PATTERNS)
def test_no_true_page_is_lost_where_each_answer_makes_up_its_links(impolite, pattern, names, strategy):
    visited, _ = crawl(Web(pattern, names), impolite, strategy, limit=10 * TRUE)
    assert numbers(visited) >= set(range(1, TRUE))
    assert len(visited) <= 2 * TRUE


@pytest.mark.parametrize(("pattern", "names"), [("{}/PAGE", LOWER), ("s/{}/PAGE", LOWER), ("PAGE?r=0.{}", "123456789")])
def test_true_pages_come_before_the_same_ones_under_other_addresses(monkeypatch, pattern, names):
    monkeypatch.setattr(bench_traps, "MOST", 3 * TRUE)
    site = Html(pattern, names)
    bench_traps.Run(site, "sharc-selective")
    assert not site.lost


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_documents_by_one_script_are_all_captured(impolite, strategy):
    world = Scripts()
    visited, capture = crawl(world, impolite, strategy)
    assert set(world.true) <= set(visited)
    assert not capture.left_out.reasons
