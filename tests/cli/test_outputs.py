"""What cannot be written is told before any work is done: option, value, way out; and nothing is left behind."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from sharc_crawler import cli
from sharc_crawler.archive import drafts
from sharc_crawler.cli import _outputs, main
from sharc_crawler.model import Result
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore

FILES = [
    ("temporal", "none.log", "-o", "FILE"),
    ("temporal", "none.log", "--curves", "FILE"),
    ("seeds", "rank", "none.cdx", "-o", "FILE"),
    ("simulate", "--schedule", "FILE"),
    ("masks", "none", "-o", "FILE"),
    ("rates", "train", "none.db", "-o", "FILE"),
    ("demo", "--truth", "FILE"),
]
FOLDERS = [
    ("temporal", "none.log", "--pictures", "FOLDER"),
    ("seeds", "evaluate", "none.cdx", "--choose-from", "2020-01-01", "--score-from", "2021-01-01",
     "--until", "2022-01-01", "-o", "FOLDER"),
]  # fmt: skip


def told(words, place):
    done = CliRunner().invoke(main, [str(place) if word in ("FILE", "FOLDER") else word for word in words])
    assert done.exit_code == 2, done.output
    assert done.stderr.startswith("sharc: error: -"), "the option is named"
    assert str(place) in done.stderr
    return done.stderr


@pytest.mark.parametrize("words", FILES, ids=lambda words: " ".join(words[:2]))
def test_a_file_that_cannot_be_written(words, tmp_path):
    assert "does not exist; make it" in told(words, tmp_path / "no" / "file")
    assert "is a folder; name a file in it" in told(words, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", FOLDERS, ids=lambda words: " ".join(words[:2]))
def test_a_folder_that_cannot_be_made(words, tmp_path):
    (tmp_path / "file").write_text("kept")
    assert "cannot be used as a folder" in told(words, tmp_path / "file")
    assert "cannot be used as a folder" in told(words, tmp_path / "file" / "in" / "it")
    assert "cannot be used as a folder" in told(words, "/proc/none")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.slow
def test_what_is_only_tried_stays_as_it_was(tmp_path):
    kept, folder = tmp_path / "seeds.txt", tmp_path / "new" / "pictures"
    kept.write_text("kept")
    CliRunner().invoke(main, ["temporal", "none.log", "-o", str(kept), "--pictures", str(folder)])
    assert kept.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [kept]


WRITTEN = [
    ("seeds", "rank", "a.cdx", "-o", "FILE"),
    ("temporal", "a.csv", "--top", "1", "-o", "FILE"),
    ("temporal", "a.csv", "--top", "1", "--curves", "FILE"),
    ("masks", "a.html", "b.html", "-o", "FILE"),
    ("diff", "a.html", "b.html", "--html", "FILE"),
    ("rates", "show", "example.org", "--history", "a.db", "--changes", "FILE"),
    ("simulate", "--world", "size=20", "--jobs", "1", "--schedule", "FILE"),
]


@pytest.mark.parametrize("words", WRITTEN, ids=lambda words: f"{words[0]} {words[-2]}")
def test_what_is_not_written_whole_leaves_what_was_there(words, tmp_path, monkeypatch):
    """A full disk is told at the latest when the file is synced; a kill by then is like it."""
    looks = (f"org,a)/ 2020010{day}000000 http://a.org/ text/html 200 {day:032} 9\n" for day in range(1, 9))
    (tmp_path / "a.cdx").write_text("".join(looks))
    views = "".join(f"http://a.org/p{page},9,900,90,{',0' * 26}\n".replace(",,", ",") for page in range(40))
    (tmp_path / "a.csv").write_text(f"page,{','.join(f'2026-01-{day:02}' for day in range(1, 30))}\n{views}")
    for name in ("a", "b"):
        (tmp_path / f"{name}.html").write_text(f"<p>of {name}</p>")
    with ObservationStore(tmp_path / "a.db") as store:
        seen = (Observation("example.org", "http://example.org/", time * 1e5, Result.OK) for time in range(3))
        store.append(seen)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept").write_text("as it was")
    before = sorted(tmp_path.iterdir())
    words = ["link" if word == "FILE" else word for word in words]
    (tmp_path / "link").symlink_to("kept")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(drafts.os, "fsync", full)
        done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (2, "sharc: error: 'link': No space left on device")
    assert (tmp_path / "kept").read_text() == "as it was"
    assert CliRunner().invoke(main, words).exit_code == 0
    assert (tmp_path / "kept").read_text() != "as it was"
    (tmp_path / "link").unlink()
    assert sorted(tmp_path.iterdir()) == before
    assert CliRunner().invoke(main, [*words[:-1], "-"]).exit_code == 0
    assert sorted(tmp_path.iterdir()) == before


def test_who_may_read_a_file_may_read_what_is_written_there_again(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    for mode in (0o600, 0o664):
        kept.chmod(mode)
        with _outputs.written(kept) as file:
            file.write("again")
        assert (kept.read_text(), kept.stat().st_mode & 0o777) == ("again", mode)


def test_a_file_of_a_folder_that_takes_no_other_is_written_where_it_is(tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    kept.write_text("as it was")
    before = kept.stat().st_ino
    monkeypatch.setattr(os, "access", lambda place, _: place != tmp_path)  # root may write anywhere
    with _outputs.written(kept) as file:
        file.write("again")
    assert (kept.read_text(), kept.stat().st_ino) == ("again", before)


def test_a_file_that_standard_output_goes_to_is_not_replaced_under_it():
    with _outputs.written(Path("/dev/stdout")) as file:
        assert file is sys.stdout


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errno.ENOSPC, "what it writes cannot be written: No space left on device"),
        (errno.EIO, "a disk that it reads or writes fails: Input/output error"),
    ],
)
def test_of_a_full_or_failing_disk_behind_what_a_command_does_it_says_so_in_a_line(error, said, monkeypatch):
    @click.command()
    def full():
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(cli._Commands, "get_command", lambda *_: full)
    done = CliRunner().invoke(main, ["verify"])
    assert (done.exit_code, done.stderr) == (1, f"sharc: error: {said}\n")
