"""What is read of a crawl from outside."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from sharc_crawler.cli import main
from sharc_crawler.collection.terms import FILE as COLLECTION
from sharc_crawler.control import STATUS, write
from sharc_crawler.errors import DataError
from sharc_crawler.instants import iso
from sharc_crawler.storage.folders import RUNNING
from sharc_crawler.storage.gathered import folders_text
from sharc_crawler.storage.sqlite import FILE_NAME
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.tail import LOG, LogTail
from sharc_crawler.watch.tally import Watched
from sharc_crawler.watch.terminal import drawn, headline

if TYPE_CHECKING:
    from pathlib import Path


def entry(number: int, url: str = "http://h.example/", **other: Any) -> dict[str, Any]:
    """A line of a log."""
    usual = {
        "number": number,
        "url": url,
        "kind": "page",
        "slot": "first",
        "attempt": 1,
        "started": iso(float(number)),
        "result": "ok",
        "status": 200,
        "error": None,
        "bytes": 100,
        "verdict": None,
    }
    return {**usual, **other}


def append(path: Path, *entries: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in entries)


def status(folder: Path, **other: Any) -> None:
    capture = {"site": "h.example", "phase": "visit", "reference": None, "pages": 9, "visits": 2, "revisits": 0}
    usual = {"time": iso(100.0), "progress": "visit 2/9 pages", "order": "", "paused": False}
    write(folder, STATUS, {**usual, "delay": 1.0, "longest": 300.0, "captures": [capture], **other})


def test_each_line_of_a_log_is_read_once_though_files_are_put_aside(tmp_path: Path) -> None:
    log, tail = tmp_path / LOG, LogTail(tmp_path)
    assert list(tail.entries()) == []
    append(log, entry(1), entry(2))
    with log.open("a") as file:
        file.write('{"number": 3')
    assert [one["number"] for one in tail.entries()] == [1, 2]
    with log.open("a") as file:
        file.write("}\n")
    log.rename(tmp_path / "crawl-00001.jsonl")
    append(log, entry(4))
    assert [one["number"] for one in tail.entries()] == [3, 4]
    assert list(tail.entries()) == []
    assert [one["number"] for one in LogTail(tmp_path).entries()] == [1, 2, 3, 4]


def test_a_log_that_is_made_anew_in_the_same_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    """By the same inode, as after `rm -r`, and a crawl that is begun again."""
    log, tail = tmp_path / LOG, LogTail(tmp_path)
    append(log, entry(1), entry(2))
    assert len(list(tail.entries())) == 2
    for lines in ([entry(7), entry(8), entry(9)], [entry(5)]):
        log.write_text("")
        append(log, *lines)
        assert [one["number"] for one in tail.entries()] == [one["number"] for one in lines]
    append(log, entry(6))
    assert [one["number"] for one in tail.entries()] == [6]


def test_requests_hosts_errors_and_verdicts_add_up(tmp_path: Path) -> None:
    status(tmp_path)
    append(
        tmp_path / LOG,
        entry(1),
        entry(2, "http://h.example/x", result="failed", status=503),
        entry(3, "http://h.example/no", result="refused", attempt=0, bytes=None),
        entry(4, slot="second", verdict="coherent"),
    )
    (tmp_path / "other").mkdir()
    append(tmp_path / "other" / LOG, entry(1, "http://other.example/"))
    watched = Watched(tmp_path)
    watched.look()
    watched.look()
    told = facts(watched, 101.0)
    assert (told["requests"], told["bytes"], told["verdicts"]) == (4, 400, {"coherent": 1})
    assert told["results"] == {"ok": 3, "failed": 1, "refused": 1}
    first, second = told["hosts"]
    assert (first["host"], first["requests"], first["errors"], first["last_error"]) == ("h.example", 3, 1, "status 503")
    assert second["host"] == "other.example"
    assert [1.0, 4.0] in told["pages"]
    assert told["headline"] == "visit 2/9 pages"
    json.dumps(told)
    append(tmp_path / LOG, entry(5, slot="second", result="not-modified", status=304))
    watched.look()
    assert facts(watched, 102.0)["counts"].endswith("; 1 coherent, 1 not modified (304: judged at the end)")


def test_that_a_guessed_address_is_not_there_is_no_error_of_the_host(tmp_path: Path) -> None:
    gone = {"result": "gone", "status": 404}
    status(tmp_path)
    append(
        tmp_path / LOG,
        entry(1, "http://h.example/robots.txt", kind="robots", **gone),
        entry(2, "http://h.example/sitemap.xml", kind="sitemap", **gone),
        entry(3, "http://h.example/no-such", kind="probe", **gone),
        entry(4, "http://b.example/x", **gone),
        entry(5, "http://b.example/sitemap.xml", kind="sitemap", result="failed", status=503),
    )
    watched = Watched(tmp_path)
    watched.look()
    hosts = {host["host"]: (host["errors"], host["last_error"]) for host in facts(watched, 101.0)["hosts"]}
    assert hosts == {"h.example": (0, ""), "b.example": (2, "status 503")}


OPENED = """
import sys
from pathlib import Path
from sharc_crawler.watch.facts import facts
from sharc_crawler.watch.tally import Watched

folder, met = Path(sys.argv[1]), []
sys.addaudithook(lambda name, given: met.append((name, *map(str, given))))
watched = Watched(folder)
watched.look()
facts(watched, 101.0)
opened = [one for one in met if one[0] == "open" and one[1].startswith(str(folder))]
print(sorted((Path(path).name, mode) for _, path, mode, _ in opened))
print([one for one in met if one[0].startswith(("fcntl.", "os.", "socket.", "sqlite3.", "signal."))
       and not one[0].startswith(("os.scandir", "os.listdir"))])
"""


def test_a_crawl_has_no_work_with_being_watched(tmp_path: Path) -> None:
    """Whoever watches reads two files, and locks, writes, asks and signals nothing."""
    status(tmp_path)
    append(tmp_path / LOG, entry(1))
    done = subprocess.run([sys.executable, "-c", OPENED, tmp_path], capture_output=True, text=True, check=True)
    opened, other = done.stdout.splitlines()
    assert opened == str(sorted([(LOG, "r"), (STATUS, "r")]))
    assert other == "[]"


def test_what_sites_say_steers_no_terminal(tmp_path: Path) -> None:
    hostile = "\x1b]0;x\x07\x1b[2J\u202e"
    capture = {"site": hostile, "phase": f"{hostile}[red]", "reference": f"2026-01-01T{hostile}"}
    status(tmp_path, progress=hostile, captures=[capture | {"pages": 9, "visits": 2, "revisits": 0}])
    append(tmp_path / LOG, entry(1, f"http://h.example/{hostile}[red]", result="failed", error=hostile))
    append(tmp_path / LOG, entry(2, slot="second", verdict=hostile), entry(3, status=hostile, result=hostile))
    watched = Watched(tmp_path)
    watched.look()
    console = Console(width=100, record=True, force_terminal=False, quiet=False)
    with console.capture() as out:
        console.print(drawn(watched, 101.0))
    assert not [sign for sign in ("\x1b", "\x07", "\u202e") if sign in out.get()]
    assert out.get().count("[red]") == 2, "nor is it markup"


def test_the_headline_tells_life_from_death(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.look()
    assert headline(watched, 0.0).startswith("No crawl has begun")
    for time, ended, told in (
        (101.0, None, "visit 2/9 pages"),
        (160.0, None, "No sign of life for 60 s"),
        (160.0, "finished", "The crawl is over: finished"),
        (160.0, "shutdown", "The crawl is over: stopped (shutdown)"),
    ):
        status(tmp_path, **({"ended": ended} if ended else {}))
        watched.look()
        assert headline(watched, time).startswith(told)


def test_the_headline_names_the_report_that_is_there(tmp_path: Path) -> None:
    status(tmp_path, ended="finished")
    watched = Watched(tmp_path)
    watched.look()
    assert headline(watched, 160.0) == "The crawl is over: finished."
    for name in ("report.html", "index.html"):
        (tmp_path / name).touch()
        if name == "index.html":
            (tmp_path / "sites.json").write_text(folders_text({"a.example": "a"}))
        assert headline(watched, 160.0).endswith(f"Its report: {tmp_path / name}")


def test_a_folder_without_its_crawl_says_where_that_is(tmp_path: Path) -> None:
    (tmp_path / "sites.json").write_text(folders_text({"a.example": "a"}))
    for name, told in (("a", f"sharc watch {tmp_path}"), ("moved", "holds a capture, but no crawl to watch")):
        (tmp_path / name).mkdir()
        append(tmp_path / name / LOG, entry(1))
        assert told in headline(Watched(tmp_path / name), 0.0)


def test_of_a_collection_the_capture_under_way_is_watched(tmp_path: Path) -> None:
    (tmp_path / COLLECTION).write_text("sites: [http://h.example/, http://i.example/]\n")
    asked = CliRunner().invoke(main, ["watch", str(tmp_path), "--json"])
    assert json.loads(asked.stdout)["headline"].startswith("No crawl has begun")
    for site, day in (("h.example", 1), ("h.example", 2), ("i.example", 3)):
        folder = tmp_path / "captures" / site / f"2026010{day}T000000Z"
        folder.mkdir(parents=True)
        (folder / FILE_NAME).write_bytes(b"state")
        status(folder, progress=f"visit {day}/9 pages")
        last = folder
    asked = CliRunner().invoke(main, ["watch", str(tmp_path), "--json"])
    assert json.loads(asked.stdout)["captures"][0]["visits"] == 2
    assert asked.stderr == f"{last}\n"
    former = tmp_path / "captures" / "h.example" / "20260102T000000Z"
    (former / RUNNING).touch()
    asked = CliRunner().invoke(main, ["watch", str(tmp_path), "--json"])
    assert asked.stderr == f"{former}\n", "it runs, and the other is over"


def test_the_pace_is_not_that_of_a_pause(tmp_path: Path) -> None:
    append(tmp_path / LOG, *(entry(second) for second in (1, 3, 5, 905, 907)))
    watched = Watched(tmp_path)
    watched.look()
    assert watched.seen.hosts["h.example"].gap == 2.0


@pytest.mark.parametrize("line", ["no json", '{"result": "ok"}', "[1]", "\x00"])
def test_a_log_that_no_crawl_wrote_is_said(tmp_path, line):
    (tmp_path / LOG).write_text(f"{line}\n")
    with pytest.raises(DataError, match="no crawl wrote"):
        Watched(tmp_path).look()


def test_that_a_page_which_cannot_exist_is_not_there_is_no_error(tmp_path: Path) -> None:
    asked = {"kind": "probe", "result": "gone", "status": 404}
    append(tmp_path / LOG, entry(0, **asked), entry(1, **{**asked, "result": "failed", "status": 503}))
    append(tmp_path / LOG, entry(2, result="gone", status=404))
    watched = Watched(tmp_path)
    watched.look()
    (host,) = facts(watched, 200.0)["hosts"]
    assert (host["requests"], host["errors"]) == (3, 2)


def test_a_capture_that_kept_no_status_is_over_once_it_is_sealed(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    watched.look()
    assert not watched.ended
    (tmp_path / "certificate.json").touch()
    assert headline(watched, 0.0) == "The crawl is over: finished."
    status(tmp_path)
    watched.look()
    assert not watched.ended, "it goes on, as it says"
