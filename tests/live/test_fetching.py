"""``sharc seeds fetch`` against an archive that answers, and fails, as the Wayback Machine does."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.histories.fetched import AnswerFolder
from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.archive.histories.servers import TimeMap, Wayback
from sharc_crawler.bucket import TokenBucket
from sharc_crawler.cli import main
from sharc_crawler.cli.seeds.fetch import _summary
from sharc_crawler.live.clock import Clock
from sharc_crawler.live.fetching import work as work_module
from sharc_crawler.live.fetching.client import Answer, Client, Patience, PostponedError, SilentError
from sharc_crawler.live.fetching.work import SILENT, FetchPlan, Tally, Work
from sharc_crawler.seeds.hacs.updates import digest_change, link_addition
from tests.live import warm
from tests.live.wayback_stub import Archive, serving
from tests.live.wire_servers import handler, in_loop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HOT, COLD, NEVER = "http://a.example/hot", "http://b.example/", "http://c.example/never"


def page(*links: str) -> bytes:
    return b"".join(b'<a href="%s">x</a>' % link.encode() for link in links)


def archive() -> Archive:
    hot = [(f"202001{day:02d}120000", f"D{day // 2}", page("/same", f"new{day // 2}")) for day in range(1, 9)]
    cold = [(f"202001{day:02d}120000", "SAME", page("/same")) for day in range(1, 5)]
    return Archive({HOT: hot, COLD: cold})


def command(folder: Path, server: str, *more: object) -> list[str]:
    seeds = folder / "seeds.txt"
    seeds.write_text(f"{HOT}\n# a comment\n{COLD}\nnonsense\n{NEVER}\n")
    options = ("--from", server, "-o", folder / "out", "--rate", 60_000, "--json", *more)
    return ["seeds", "fetch", str(seeds), *map(str, options)]


def run(folder: Path, server: str, *more: object) -> tuple[int, dict, str]:
    done = warm.finished(command(folder, server, *more), folder, os.environ, program=warm.SHARC)
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


def test_histories_come_by_resume_keys_in_spite_of_every_fault(tmp_path):
    with serving(archive()) as server:
        server.captures["http://b.example/x/y"] = [("20200104000000", "Y", b"")]
        server.faults.extend(["429 1", "html", "truncated", "", "short", "500", "moved"])
        code, tally, err = run(tmp_path, server.cdx, "--since", "2020-01-02", "--level", "website")
        assert (code, tally["fetched"], tally["unknown"], tally["failures"]) == (0, 3, 1, []), (tally, err)
        assert "seeds.txt:4: not a web address: 'nonsense'" in err
        assert server.log[1].time - server.log[0].time >= 0.9  # Retry-After: 1
        assert {asked.query["url"] for asked in server.log} == {HOT, COLD, NEVER}
        assert {asked.query["from"] for asked in server.log} == {"20200102000000"}
        assert all(asked.agent.startswith("sharc-crawler/") for asked in server.log)
    found = read_history([tmp_path / "out"])
    assert found.problems.count == 0
    captures = found.captures
    counts = dict(zip(captures.urls, (captures.offsets[1:] - captures.offsets[:-1]).tolist(), strict=True))
    assert counts == {HOT: 7, COLD: 3, "http://b.example/x/y": 1}
    assert digest_change(captures).tolist() == [-1, 0, 1, 0, 1, 0, 1, -1, 0, 0, -1]


def test_an_index_that_goes_round_ends_with_its_seed_named(tmp_path):
    with serving(archive()) as server:
        server.faults.extend(["again"] * 2_000)
        code, tally, _ = run(tmp_path, server.cdx)
        assert (code, tally["fetched"], len(tally["failures"])) == (5, 0, 3), tally
        assert "goes round in its index of http://a.example/hot" in tally["failures"][0]
        assert tally["requests"] < 12


def test_a_wrong_address_is_said_and_asked_again_once_it_is_right(tmp_path):
    with serving(archive()) as server:
        server.faults.extend(["404"] * 3)
        code, tally, err = run(tmp_path, server.cdx)
        assert (code, tally["fetched"], tally["unknown"], tally["missing"]) == (4, 0, 0, 3), (tally, err)
        server.faults.append("404")  # the true answer for one seed of an archive that knows others
        code, tally, err = run(tmp_path, server.cdx)
        assert (code, tally["fetched"], tally["unknown"], tally["missing"]) == (0, 3, 2, 0), (tally, err)
        assert run(tmp_path, server.cdx)[1]["requests"] == 0


def test_mementos_give_link_additions_and_each_content_is_fetched_once(tmp_path):
    with serving(archive()) as server:
        server.faults.extend([""] * 6 + ["429 0", "moved"])
        code, tally, err = run(tmp_path, server.cdx, "--mementos")
        assert (code, tally["mementos"]) == (0, 6), (tally, err)
        replayed = [asked.path for asked in server.log if asked.path.startswith("/web/")]
        assert len(set(replayed)) == 6
        assert f"/web/20200102120000id_/{HOT}" in replayed
        assert f"/web/20200103120000id_/{HOT}" not in replayed  # the digest of the day before
        assert run(tmp_path, server.cdx, "--mementos")[1]["requests"] == 0
    found = read_history([tmp_path / "out"], links=True).captures
    assert found.urls == [HOT, COLD]
    assert found.links[0] == {"http://a.example/same", "http://a.example/new0"}  # neither banner nor archive
    assert link_addition(found).tolist() == [-1, 1, 0, 1, 0, 1, 0, 1, -1, 0, 0, 0]
    assert read_history([tmp_path / "out"]).problems.count == 0


def test_killed_it_goes_on_and_asks_nothing_twice(tmp_path):
    with serving(archive()) as server:
        server.delay = 0.2
        going = warm.Scrapy(command(tmp_path, server.cdx, "--mementos"), tmp_path, os.environ, program=warm.SHARC)
        deadline = time.monotonic() + 240
        while len(server.log) < 8 and time.monotonic() < deadline:
            time.sleep(0.02)
        going.kill()
        going.wait(280)
        before = len(server.log)
        assert before >= 8
        server.delay = 0.0
        code, tally, err = run(tmp_path, server.cdx, "--mementos")
        assert (code, tally["fetched"], tally["mementos"]) == (0, 3, 6), (tally, err)
        paths = [asked.path for asked in server.log]
        assert len(paths) - len(set(paths)) <= 1  # what was in flight
    assert read_history([tmp_path / "out"], links=True).problems.count == 0


def test_interrupted_it_says_so_and_ends_with_5(tmp_path):
    with serving(archive()) as server:
        server.faults.append("429 60")
        words = command(tmp_path, server.cdx)
        going = warm.Scrapy(words, tmp_path, os.environ, apart=True, program=warm.SHARC)
        deadline = time.monotonic() + 240
        while not server.log and time.monotonic() < deadline:
            time.sleep(0.02)
        going.send_signal(signal.SIGINT)
        out, err = going.communicate(timeout=280)
        assert (going.returncode, json.loads(out)["stopped"]) == (5, "interrupted"), err


@pytest.mark.parametrize(
    ("server", "options", "code", "message"),
    [
        ("ftp://x.example/", [], 2, "is no web address"),
        ("https://archive.example/cdx", [], 2, "SHARC_OPERATOR"),
        ("http://127.0.0.1:9/cdx/search/cdx", ["--dialect", "waybak"], 2, "did you mean 'wayback'?"),
        ("http://127.0.0.1:9/cdx/search/cdx", ["--allow", "intern"], 2, "is not a network"),
        ("http://127.0.0.1:9/cdx/search/cdx", [], 2, "holds answers to other questions (since='20200104000000')"),
    ],
)
def test_what_cannot_be_used_stops_before_the_first_request(tmp_path, server, options, code, message):
    AnswerFolder(
        tmp_path / "out", {"server": server, "dialect": "wayback", "level": "homepage", "since": "20200104000000"}
    )
    ran = CliRunner().invoke(main, command(tmp_path, server, *options))
    assert (ran.exit_code, message in ran.stderr) == (code, True), ran.stderr


@asynccontextmanager
async def client(attempts: int = 3) -> AsyncIterator[Client]:
    async with handler() as tap:
        clock = Clock()
        bucket = TokenBucket(1e3, 4)
        yield Client(tap.download_request, bucket, clock, Patience(attempts=attempts, back_off=0.01))


@in_loop
async def test_what_never_answers_is_given_up():
    with serving(archive()) as server:
        server.faults.extend(["500", "html", "500"])
        async with client() as asks:
            with pytest.raises(SilentError, match=r"status 500 \(3 attempts\)"):
                await asks.ask(f"{server.cdx}?url={HOT}", Wayback(server.cdx).check)
        assert len(server.log) == 3


@in_loop
async def test_what_answers_the_same_nonsense_again_is_given_up():
    with serving(archive()) as server:
        server.faults.extend(["html", "html", "html"])
        async with client() as asks:
            with pytest.raises(SilentError, match=r"an HTML page instead of an index \(2 attempts\)"):
                await asks.ask(f"{server.cdx}?url={HOT}", Wayback(server.cdx).check)
        assert len(server.log) == 2


@in_loop
async def test_a_break_that_is_too_long_ends_it():
    with serving(archive()) as server:
        server.faults.append("429 86400")
        async with client() as asks:
            with pytest.raises(PostponedError, match="asks to come back in 86400 s"):
                await asks.ask(f"{server.cdx}?url={HOT}")


@in_loop
async def test_a_redirect_to_another_server_is_not_followed():
    with serving(archive()) as server, serving(archive()) as other:
        server.faults.append(f"to {other.url.replace('127.0.0.1', '127.0.0.2')}")
        async with client() as asks:
            assert (await asks.ask(f"{server.cdx}?url={HOT}")).status == 302
        assert not other.log


@pytest.mark.slow
def test_a_private_archive_that_was_named_opens_no_other_port_of_its_machine(tmp_path):
    with serving(archive()) as server, serving(archive()) as other:
        server.faults.extend([f"to {other.cdx}?url={HOT}"] * 9)
        _, _, err = run(tmp_path, server.cdx)
        assert not other.log, err
    assert "a loopback address, which is not crawled" in err


class Scripted:
    """An archive that refuses one seed, says nothing of another, and is down for the rest."""

    requests = 0

    async def ask(self, url: str, check: object = None, longest: int = 0) -> Answer:
        if "refused" in url:
            return Answer(403, b"", ())
        if "fine" in url:
            return Answer(200, b"[]", ())
        raise SilentError(f"{url}: status 500 (4 attempts)")


@in_loop
async def test_an_archive_that_is_down_is_not_asked_for_every_seed(tmp_path):
    seeds = ("http://refused.example/", "http://fine.example/", *(f"http://{n}.example/" for n in range(9)))
    plan = FetchPlan(Wayback("http://x.example/cdx/search/cdx"), seeds)
    work = Work(plan, AnswerFolder(tmp_path, {}), None, lambda *_: None)
    await work.run(Scripted())
    assert (work.tally.fetched, work.tally.unknown, len(work.tally.failures)) == (1, 1, 1 + SILENT)
    assert "status 403" in work.tally.failures[0]
    assert work.tally.stopped.startswith("5 questions in a row without an answer")


class Endless(Scripted):
    """An archive that always has more."""

    async def ask(self, url: str, check: object = None, longest: int = 0) -> Answer:
        self.requests += 1
        return Answer(200, b'[["a"],[],["%d"]]' % self.requests, ())


@in_loop
async def test_an_index_that_never_ends_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(work_module, "MOST_ANSWERS", 5)
    plan = FetchPlan(Wayback("http://x.example/cdx/search/cdx"), (HOT, COLD))
    work = Work(plan, AnswerFolder(tmp_path, {}), None, lambda *_: None)
    await work.run(Endless())
    said = [f"{seed}: 5 answers, and there is more: does its index ever end?" for seed in (HOT, COLD)]
    assert (work.tally.requests, work.tally.failures, work.tally.stopped) == (10, said, None)


def test_an_answer_that_is_too_long_is_not_asked_for_again(tmp_path):
    """Neither one that is so on the wire, nor one that grows when it is unpacked."""
    with serving(archive()) as server:
        server.faults.extend(["bomb", "huge"])
        code, tally, err = run(tmp_path, server.cdx)
        assert (code, tally["fetched"], tally["requests"]) == (5, 1, 3), (tally, err)
    assert all("longer than is read (16,777,216 bytes, unpacked)" in one for one in tally["failures"])


@in_loop
async def test_a_timemap_of_another_url_is_no_answer(tmp_path):
    class Other(Scripted):
        async def ask(self, url: str, check: object = None, longest: int = 0) -> Answer:
            return Answer(200, b'<http://WWW.a.example:80/hot/>; rel="original"', ())

    plan = FetchPlan(TimeMap("http://x.example/timemap/link/"), (HOT, COLD))
    work = Work(plan, folder := AnswerFolder(tmp_path, {}), None, lambda *_: None)
    await work.run(Other())
    assert work.tally.fetched == 1
    assert work.tally.failures == [f"a TimeMap of http://WWW.a.example:80/hot/, not of {COLD}"]
    assert [folder.complete(seed) for seed in (HOT, COLD)] == [True, False]


def test_a_failure_of_any_length_is_said_in_short(tmp_path):
    assert len(_summary(Tally(1, failures=["x" * 1_000_000]), tmp_path)) < 2_000


def test_all_answered_404_is_said_in_words(tmp_path):
    assert "all answered 404 (1 seed), nothing kept: is --from right?" in _summary(Tally(1, missing=1), tmp_path)
