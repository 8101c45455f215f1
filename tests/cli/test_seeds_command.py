"""``sharc seeds``: what it prints and writes, and how it fails."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran

from sharc_crawler.cli import main
from sharc_crawler.model import Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from pathlib import Path

DIGESTS = "AABBCDDEFF"


def cdx(folder: Path) -> Path:
    file = folder / "a.cdx"
    rows = [
        f"org,a)/{page} 202001{day:02d}000000 http://a.org/{page} text/html 200 {digest if page == 'hot' else 'X'} 9\n"
        for page in ("hot", "cold")
        for day, digest in enumerate(DIGESTS, 1)
    ]
    file.write_text("".join(rows) + "garbage\n")
    return file


def run(*arguments: object) -> Ran:
    return CliRunner().invoke(main, ["seeds", *map(str, arguments)])


@pytest.mark.slow
def test_a_rate_that_captures_bound_from_below_alone_is_told_as_such(tmp_path: Path) -> None:
    """Ten captures, a month apart, that all differ: nobody can tell how often in between."""
    file = tmp_path / "a.cdx"
    digests = {"always": "ABCDEFGHIJ", "once": "AAAAABBBBB", "never": "AAAAAAAAAA"}
    rows = [
        f"org,a)/{page} 2020{month:02d}01000000 http://a.org/{page} text/html 200 {digest} 9\n"
        for page, all_of_them in digests.items()
        for month, digest in enumerate(all_of_them, 1)
    ]
    file.write_text("".join(sorted(rows)))
    table = run("rank", file, "--now", "2020-10-05").stdout
    assert re.search(r"≤ 30 days .* http://a.org/always", table)
    assert table.count("≤") == 2, "and what that means"
    found = {one["url"]: one for one in json.loads(run("rank", file, "--now", "2020-10-05", "--json").stdout)["seeds"]}
    assert found["http://a.org/always"]["rate_least"] == pytest.approx(9 / (274 * 86_400))
    assert found["http://a.org/once"]["rate_least"] is found["http://a.org/never"]["rate_least"] is None
    assert "≤" not in run("rank", file, "--ranker", "last-obs").stdout, "no rate is claimed"
    [old] = [one for one in run("rank", file, "--weeks", "1").stdout.splitlines() if "/always" in one]
    assert "≤ 30 days" in old, "the window has no capture: its rate is made of older ones"
    [prior] = [
        one
        for one in run("rank", file, "--weeks", "1", "--ranker", "hacs-plain").stdout.splitlines()
        if "/always" in one
    ]
    assert "≤" not in prior
    assert "?" in prior, "the prior's rate"


@pytest.mark.slow
def test_rank(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text(
        "# ours\nhttp://a.org/cold\nhttp://a.org/hot\nhttp://a.org/never # ours\nnot a url\nhttp://a.org/,http://b.org/\n"
    )
    picture, chosen = tmp_path / "p.svg", tmp_path / "next.txt"
    common = ("rank", cdx(tmp_path), "--seeds", seeds, "--now", "2020-01-12", "--theta", "0.7")
    result = run(*common, "--json", "--picture", picture, "-o", chosen)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    places = [one["url"] for one in found["seeds"]]
    assert places == ["http://a.org/never", "http://a.org/hot", "http://a.org/cold"]
    assert found["problems"]["count"] == 3
    named = [re.search(r"([\w.]+):\d+: ", name)[1] for name in found["problems"]["named"]]
    assert named == ["a.cdx", "seeds.txt", "seeds.txt"]
    assert chosen.read_text().splitlines() == [one["url"] for one in found["seeds"] if one["chosen"]]
    assert picture.read_text().startswith("<?xml")
    table = run(*common)
    assert "3 seeds" in table.output
    assert "3 malformed lines; the rest is used." in table.stderr


@pytest.mark.slow
def test_what_was_ranked_is_read_again_where_keys_end_in_a_slash(tmp_path: Path) -> None:
    file, chosen = cdx(tmp_path), tmp_path / "next.txt"
    file.write_text("".join(line.replace(" ", "/ ", 1) + "\n" for line in file.read_text().splitlines()[:-1]))
    first = json.loads(run("rank", file, "--now", "2020-01-12", "-o", chosen, "--json").stdout)
    again = json.loads(run("rank", file, "--now", "2020-01-12", "--seeds", chosen, "--json").stdout)
    assert len(chosen.read_text().splitlines()) == 2
    assert again["seeds"] == first["seeds"]


def test_a_capture_that_is_dated_after_now_is_counted_among_the_problems(tmp_path: Path) -> None:
    file = cdx(tmp_path)
    before = json.loads(run("rank", file, "--now", "2020-01-12", "--json").stdout)
    with file.open("a") as lines:
        lines.write("org,a)/hot 20300101000000 http://a.org/hot text/html 200 X 9\n")
    result = run("rank", file, "--now", "2020-01-12", "--json")
    found = json.loads(result.stdout)
    why = "dated after now, 2020-01-12T00:00:00Z"
    assert found["seeds"] == before["seeds"]
    assert found["problems"]["left_out"] == {**before["problems"]["left_out"], why: 1}
    assert f"1 capture left out: {why}." in result.stderr


def test_rank_by_website_and_other_rankers(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://a.org/\n")
    for ranker in ("hacs-plain", "frequency", "last-obs", "random", "all"):
        options = ("--seeds", seeds, "--level", "website", "--ranker", ranker, "--now", "2020-01-12", "--json")
        result = run("rank", cdx(tmp_path), *options)
        assert result.exit_code == 0, result.output
        (one,) = json.loads(result.stdout)["seeds"]
        assert one["captures"] == 20


@pytest.mark.parametrize(
    ("ranker", "since"), [("hacs", "it was last seen"), ("hacs-plain", "its last update that was seen")]
)
def test_a_probability_says_from_when_on_updates_count(ranker: str, since: str, tmp_path: Path) -> None:
    result = run("rank", cdx(tmp_path), "--ranker", ranker, "--now", "2020-01-12")
    assert f"p: the probability that a seed has changed since {since}, by " in " ".join(result.output.split())


def test_rank_by_our_own_captures(tmp_path: Path) -> None:
    with ObservationStore(tmp_path / "s.sqlite") as store:
        store.append(
            Observation("a.org", Url("http://a.org/"), 1_577_836_800.0 + 86_400.0 * day, Result.OK, digest=digest)
            for day, digest in enumerate(DIGESTS)
        )
    result = run("rank", "--store", tmp_path / "s.sqlite", "--now", "2020-01-12", "--json")
    (one,) = json.loads(result.stdout)["seeds"]
    assert (one["captures"], one["known"]) == (10, True)


def test_pages_are_what_was_captured_as_html(tmp_path: Path) -> None:
    rows = [("", "text/html", 200), ("b", "-", 200), ("robots.txt", "text/plain", 200), ("c.png", "image/png", 200)]
    rows += [("d.css", "-", 200), ("gone", "text/html", 404), ("sitemap.xml", "text/html", 200)]
    file = tmp_path / "a.cdx"
    file.write_text(
        "".join(
            f"org,a)/{path} 2020010{day}000000 http://a.org/{path} {media} {status} {day}{path or 0} 9\n"
            for path, media, status in rows
            for day in (1, 2)
        )
    )
    result = run("rank", file, "--now", "2020-01-12", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert sorted(one["url"] for one in found["seeds"]) == ["http://a.org/", "http://a.org/b"]
    left_out = {"robots.txt or a sitemap": 2, "not HTML": 2, "no capture with status 200": 1}
    assert found["problems"]["no_seeds"] == left_out
    assert "2 URLs are no seeds: not HTML" in result.stderr
    (seeds := tmp_path / "seeds.txt").write_text("http://a.org/\nhttp://a.org/c.png\n")
    result = run("rank", file, "--seeds", seeds, "--level", "website", "--now", "2020-01-12", "--json")
    found = json.loads(result.stdout)
    assert {one["url"]: one["captures"] for one in found["seeds"]} == {"http://a.org/": 4, "http://a.org/c.png": 6}
    file.write_text("org,a)/c.png 20200101000000 http://a.org/c.png image/png 200 A 9\n")
    result = run("rank", file)
    assert result.exit_code == 3
    assert "it holds 1 URL, and no page (1 not HTML); name the seeds" in result.stderr


def test_timemaps_alone_rank_by_when(tmp_path: Path) -> None:
    file = tmp_path / "timemap"
    mementos = ", ".join(
        f'<http://x.example/2020010{day}/http://a.org/>; rel="memento"; datetime="Wed, 0{day} Jan 2020 00:00:00 GMT"'
        for day in (1, 2, 3)
    )
    file.write_text(f'<http://a.org/>; rel="original", {mementos}\n')
    refused = run("rank", file)
    assert refused.exit_code == 3
    assert "--ranker last-obs" in refused.stderr
    (one,) = json.loads(run("rank", file, "--ranker", "last-obs", "--json").stdout)["seeds"]
    assert (one["captures"], one["known"]) == (3, True)
    (tmp_path / "seeds").write_text("http://b.org/\n")
    other = run("rank", file, "--ranker", "last-obs", "--seeds", tmp_path / "seeds", "--json")
    assert json.loads(other.stdout, parse_constant=pytest.fail)["seeds"][0]["value"] is None, "never seen: infinite"


def test_what_rank_cannot_use(tmp_path: Path) -> None:
    file = cdx(tmp_path)
    empty = tmp_path / "empty"
    empty.write_text("")
    others = tmp_path / "others"
    others.write_text("http://other.example/\n")
    for arguments, code, message in (
        ((file, "--ranker", "hac"), 2, "did you mean 'hacs'?"),
        ((file, "--updates", "digests"), 2, "did you mean 'digest'?"),
        ((file, "--updates", "link-addition"), 2, "needs archived documents"),
        ((file, "--ranker", "all", "--theta", "0.5"), 2, "no probabilities"),
        ((file, "--seeds", empty), 2, "names no web address"),
        ((file, "--seeds", tmp_path / "none"), 2, "cannot be read"),
        ((file, "--now", "2019-01-01"), 3, "a later now"),
        (
            (file, "--seeds", others),
            3,
            "none of the seeds has a capture in them before now, 'http://other.example/' neither",
        ),
        ((file, "--picture", "ranking.xyz"), 2, "end its name with .png"),
        ((empty,), 3, "no usable capture"),
        ((), 3, "no usable capture"),
    ):
        result = run("rank", *arguments)
        assert result.exit_code == code, (arguments, result.output)
        assert message in result.stderr


@pytest.mark.slow
def test_evaluate(tmp_path: Path) -> None:
    period = ("--choose-from", "2020-01-03", "--score-from", "2020-01-11", "--until", "2020-01-20", "--weeks", "1")
    result = run("evaluate", cdx(tmp_path), *period, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert re.search(r"Histories, 1 week of history: HACS at θ = \d\.\d+ has F1 \d\.\d+;", result.stdout)
    assert "## Histories" in (tmp_path / "out" / "hacs-evaluation.md").read_text()
    assert len(list((tmp_path / "out" / "pictures").glob("*.svg"))) == 2


def test_evaluate_websites(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("http://a.org/\n")
    period = ("--choose-from", "2020-01-03", "--score-from", "2020-01-11", "--until", "2020-01-20", "--weeks", "1")
    result = run("evaluate", cdx(tmp_path), *period, "--seeds", seeds, "--level", "website")
    assert result.exit_code == 0, result.output
    (study,) = json.loads(result.stdout)
    assert study["seeds"] == {"1": 1.0}
    assert "1 malformed line; the rest is used." in result.stderr


def test_what_evaluate_cannot_use(tmp_path: Path) -> None:
    period = ("--choose-from", "2020-01-03", "--score-from", "2020-01-01", "--until", "2020-01-20")
    for arguments, message in (
        (period, "Missing argument 'HISTORY...'"),
        ((cdx(tmp_path), *period), "each must be later than the one before"),
    ):
        result = run("evaluate", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
