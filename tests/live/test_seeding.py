"""``scrapy crawl site -a ranker=…``: chooses, crawls in that order, and says afterwards how many had changed."""

from __future__ import annotations

import hashlib
import json
import time
from base64 import b32encode
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.surt import surt
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.live.setup.arguments import Arguments
from sharc_crawler.model import Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.report.selection import lines
from sharc_crawler.seeds.hacs.selection import SeedChoice, SelectedSeed, Selection
from sharc_crawler.storage.observations import ObservationStore
from tests.live.warm import Scrapy, site_words

if TYPE_CHECKING:
    from pathlib import Path

LOOPBACK = "SHARC_ALLOWED_ADDRESSES=127.0.0.0/8"
SITES = 12
HOT = 6  #: sites that changed at each of their captures; the others never
CHANGED = {0, 1, 2, 3, 10}  #: sites whose page is not what it was at the last capture


def body(site: int, version: int = 0) -> bytes:
    return b"<html><body><p>Site %d, version %d</p></body></html>" % (site, version)


def digest(data: bytes) -> str:
    return b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def index(urls: list[str]) -> str:
    """Captures until yesterday, one each day for ten days; site n's history is two days longer than that of n + 1."""
    lines = []
    for site, url in enumerate(urls):
        start = datetime.now(UTC) - timedelta(days=11 + 2 * (SITES - site))
        for day in range(10 + 2 * (SITES - site)):
            stamp = (start + timedelta(days=day)).strftime("%Y%m%d%H%M%S")
            old = day if site < HOT else 0
            last = day == 9 + 2 * (SITES - site)
            text = body(site, 0 if last and site not in CHANGED else 100 + old)
            if site >= HOT:
                text = body(site, 100 if site in CHANGED else 0)
            lines.append(f"{surt(url)} {stamp} {url} text/html 200 {digest(text)} 9\n")
    return "".join(lines) + "nonsense\n"


@pytest.fixture
def sites(tmp_path, static):
    """Twelve sites of a page each, folders of one server: their URLs and the archive's index of them."""
    for site in range(SITES):
        folder = tmp_path / "www" / f"site{site}"
        folder.mkdir(parents=True)
        (folder / "index.html").write_bytes(body(site))
    with static(tmp_path / "www") as root:
        urls = [f"{root}site{site}/" for site in range(SITES)]
        (tmp_path / "seeds.txt").write_text("\n".join(reversed(urls)))
        (tmp_path / "archive.cdx").write_text(index(urls))
        yield urls


def given(tmp_path: Path, **more: object) -> dict[str, str]:
    chosen = {"seeds": tmp_path / "seeds.txt", "timemaps": tmp_path / "archive.cdx", "ranker": "hacs"}
    fast = {"delay": "0", "sitemap": "off", "strategy": "sharc-online", "scope": "prefix"}
    return {**fast, **{name: str(value) for name, value in {**chosen, **more}.items()}}


def test_the_chosen_are_crawled_in_order_and_judged(tmp_path, sites, crawl):
    done = crawl(**given(tmp_path, theta=0.5, explore=0.3), settings=[LOOPBACK])
    assert done.code == 0, done.err
    seeds = done.index["seeds"]
    by_url = {one["url"]: one for one in seeds["seeds"]}
    assert {sites.index(url) for url, one in by_url.items() if one["chosen"]} == set(range(HOT))
    assert seeds["chosen"] == {"seeds": 6, "judged": 6, "changed": 4}
    assert seeds["precision"] == pytest.approx(4 / 6)
    explored = [one for one in seeds["seeds"] if one["explored"]]
    assert seeds["explored"]["seeds"] == len(explored) == 2
    assert all(
        one["changed"] == (sites.index(one["url"]) in CHANGED) for one in seeds["seeds"] if one["changed"] is not None
    )
    crawled = [one["url"] for one in seeds["seeds"] if one["chosen"]] + [one["url"] for one in explored]
    values = [one["value"] for one in seeds["seeds"]]
    assert values == sorted(values, reverse=True)
    assert [capture["seeds"][0] for capture in done.captures] == crawled
    begun = sorted((page["visit"]["started"], page["url"]) for capture in done.captures for page in capture["pages"])
    assert [url for _, url in begun] == crawled
    assert seeds["malformed"] == 1
    for line in ("6 of 12 seeds chosen by hacs (p ≥ 0.5), 6 left out", "of the chosen seeds 4 of 6 had changed",
                 "precision 66.7 %", "left out: 6 seeds below θ", "1 malformed line"):  # fmt: skip
        assert line in done.out
    html = (done.folder / "index.html").read_text()
    assert "The seeds" in html
    again = CliRunner().invoke(main, ["report", str(done.folder), "--json"])
    assert json.loads(again.stdout)["seeds"] == seeds


def test_own_history_is_as_good(tmp_path, sites, crawl):
    """Our own captures on three days, between which one site changed; then the ranker knows."""
    (tmp_path / "seeds.txt").write_text("\n".join(sites[:3]))
    history = tmp_path / "history.sqlite"
    with ObservationStore(history) as store:
        for site, url in enumerate(sites[:3]):
            for day in range(3):
                seen = "sha1:" + digest(body(site, 7 + day if site == 1 else 0))
                taken = (datetime.now(UTC) - timedelta(days=3 - day)).timestamp()
                store.append([Observation("s", Url(url), taken, Result.OK, digest=seen)])
    arguments = given(tmp_path, history=history, budget=1, explore=1)
    del arguments["timemaps"]
    done = crawl(**arguments, settings=[LOOPBACK])
    assert done.code == 0, done.err
    seeds = done.index["seeds"]
    assert [(one["url"], one["changed"]) for one in seeds["seeds"] if one["chosen"]] == [(sites[1], True)]
    assert (seeds["precision"], seeds["explored"]) == (1.0, {"seeds": 2, "judged": 2, "changed": 0})
    assert seeds["recall"]["estimate"] == 1.0


def test_dry_run_shows_the_choice_and_sends_nothing(tmp_path, sites, crawl):
    done = crawl(**given(tmp_path, ranker="frequency", budget=2), dry_run="1", settings=[LOOPBACK])
    assert done.code == 0, done.err
    assert "2 of 12 seeds chosen by frequency (at most 2), 10 left out" in done.out
    assert "beyond the budget" in done.out
    assert not done.folder.exists()


def test_killed_it_goes_on_with_the_seeds_it_had_chosen(tmp_path, sites, crawl):
    arguments = given(tmp_path, theta=0.5, explore=0.5, delay=0.1, output=tmp_path / "capture")
    going = Scrapy(site_words(LOOPBACK, **arguments), tmp_path)
    deadline = time.monotonic() + 240
    while not list((tmp_path / "capture").rglob("*.warc.gz.open")) and time.monotonic() < deadline:
        time.sleep(0.02)
    going.kill()
    going.wait(240)
    begun = Selection.of_json((tmp_path / "capture" / "seeds.json").read_text())
    assert not any(one.changed for one in begun.seeds)
    (tmp_path / "archive.cdx").write_text(index(sites)[1:])  # the archive goes on meanwhile
    done = crawl(**arguments, settings=[LOOPBACK])
    assert done.code == 0, done.err
    seeds = done.index["seeds"]["seeds"]
    assert [(one["url"], one["explored"]) for one in seeds] == [(one.url, one.explored) for one in begun.seeds]
    assert {sites.index(one["url"]) for one in seeds if one["changed"]} >= {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"ranker": "hac"}, "did you mean 'hacs'"),
        ({"theta": "1.5"}, "theta='1.5' must be a number from 0 to 1"),
        ({"explore": "much"}, "explore='much' must be a number from 0 to 1"),
        ({"budget": "-1"}, "budget='-1' must be a whole number"),
        ({"updates": "digests"}, "did you mean 'digest'"),
        ({"ranker": "frequency", "theta": "0.5"}, "gives no probabilities; choose by budget instead"),
        ({"timemaps": "absent.cdx"}, "absent.cdx' is not there"),
        ({"timemaps": ""}, "needs the seeds' history"),
        ({"seeds": None, "url": "http://a.example/"}, "add seeds=FILE"),
        ({"ranker": None, "theta": "0.7"}, "is only for -a ranker=NAME"),
    ],
)
def test_what_cannot_be_used(tmp_path, more, message):
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    (tmp_path / "archive.cdx").write_text("")
    arguments = {name: value for name, value in (given(tmp_path) | more).items() if value is not None}
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        Arguments.parse(arguments)


def test_nothing_chosen_or_known_is_an_error(tmp_path, sites):
    with pytest.raises(UsageError, match="of 12 seeds none is chosen; the first of the order"):
        Arguments.parse(given(tmp_path, budget=0)).chosen(tmp_path / "out")
    (tmp_path / "archive.cdx").write_text("nonsense\n")
    with pytest.raises(DataError, match=r"archive\.cdx:1: 1 field;"):
        Arguments.parse(given(tmp_path)).chosen(tmp_path / "out")


def test_a_folder_keeps_to_its_choice(tmp_path, sites):
    begun, selection = Arguments.parse(given(tmp_path, theta=0.5, explore=0.5)).chosen(tmp_path)
    selection.save(tmp_path)
    (tmp_path / "archive.cdx").write_text("")  # not needed any more
    again, _ = Arguments.parse(given(tmp_path, theta=0.5, explore=0.5)).chosen(tmp_path)
    assert again.urls == begun.urls
    with pytest.raises(UsageError, match=r"chosen with theta=0\.5; give that"):
        Arguments.parse(given(tmp_path, theta=0.6, explore=0.5)).chosen(tmp_path)


def seed(place: int, *, chosen: bool, explored: bool = False, changed: bool | None = None) -> SelectedSeed:
    return SelectedSeed(f"http://{place}/", place, 0.5, 0.5, None, 3, True, chosen, explored, "", changed)


def test_recall_is_estimated_from_the_sample():
    seeds = [seed(n, chosen=True, changed=n < 6) for n in range(8)]
    seeds += [seed(8 + n, chosen=False, explored=n < 10, changed=(n < 1) if n < 10 else None) for n in range(100)]
    outcome = Selection(SeedChoice("hacs"), 0.0, tuple(seeds)).outcome()
    assert outcome.precision == 6 / 8
    assert outcome.recall.estimate == pytest.approx(6 / (6 + 100 / 10))
    assert outcome.recall.low < outcome.recall.estimate < outcome.recall.high
    none = Selection(SeedChoice("hacs"), 0.0, tuple(seeds[:8])).outcome()
    assert none.recall is None


def test_what_was_drawn_and_never_asked_for_is_not_called_crawled():
    drawn = replace(seed(2, chosen=False, explored=True), why_not="not captured")
    seeds = (seed(0, chosen=True, changed=True), seed(1, chosen=False, explored=True, changed=False), drawn)
    told = lines(Selection(SeedChoice("hacs"), 0.0, seeds))
    assert "2 seeds of those left out drawn at random, to be crawled anyway; 1 of them not captured" in told
    assert "not judged: 1 seed, not captured" in told


def test_a_selection_is_the_same_after_a_round_trip():
    selection = Selection(SeedChoice("hacs", 0.7, timemaps=("a", "b")), 3.5, (seed(1, chosen=True),), 2, ("note",))
    assert Selection.of_json(selection.to_json()) == selection
