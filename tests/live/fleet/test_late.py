"""An owner that was stopped, and comes back when the site is another's, puts nothing in its place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.mirror import Mirror
from sharc_crawler.archive.objects import ObjectFolder
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.owners import mark_of, own_name
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.errors import Superseded
from sharc_crawler.live.fleet.keeping import SharedFolder, SharedObjects
from tests.archive.readback import INFO, page

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.live.fleet.keeping import Keeping

SITE = "a.example"


def ended(kept: Keeping, epoch: int) -> Path:
    """What an owner has made ready at a site's end."""
    kept.take_over(kept.folder / SITE, epoch, None)
    ready = kept.folder / SITE / own_name(epoch) / SITE
    ready.mkdir(parents=True)
    for name in ("certificate.json", "report.html"):
        (ready / name).write_text(f"of epoch {epoch}")
    return ready


def deliver(kept: Keeping, ready: Path, check=lambda: None) -> None:
    kept.deliver(kept.folder / SITE, ready, {}, check)


def test_a_report_in_a_shared_folder_stays_the_later_owners(tmp_path: Path):
    kept, checks = SharedFolder(tmp_path), []

    def check() -> None:
        checks.append("it is ours")
        if len(checks) == 2:  # it is stopped just after it was told so, before its report
            deliver(kept, ended(kept, 2))

    with pytest.raises(Superseded, match="taken over by another worker"):
        deliver(kept, ended(kept, 1), check)
    assert (tmp_path / SITE / "report.html").read_text() == "of epoch 2"
    with pytest.raises(Superseded, match="later owner than epoch 1"):
        kept.take_over(tmp_path / SITE, 1, None)


class SlowObjects(ObjectFolder):
    """A store to which something happens while a file is on its way, or before it is moved."""

    def __init__(self, url: str, during: str, what) -> None:
        super().__init__(url)
        self.during, self.what = during, what

    def below(self, name: str) -> SlowObjects:
        return SlowObjects(f"{self.url}/{name}", self.during, self.what)

    def put_file(self, name: str, path: Path) -> None:
        self._now("put", name)
        super().put_file(name, path)

    def move(self, name: str, to: str) -> None:
        self._now("move", name)
        super().move(name, to)

    def _now(self, done: str, name: str) -> None:
        if done == self.during and name.endswith("report.html"):
            self.what()


@pytest.mark.parametrize("during", ["put", "move"])
def test_a_report_in_an_object_store_stays_the_later_owners(tmp_path: Path, during: str):
    url, over = f"memory://late-{during}-{os.getpid()}", []

    def taken_over() -> None:
        other = SharedObjects(ObjectFolder(url), tmp_path / "other")
        deliver(other, ended(other, 2))
        over.append(True)

    def check() -> None:
        if over:
            raise Superseded("its term is over")

    late = SharedObjects(SlowObjects(url, during, taken_over), tmp_path / "late")
    with pytest.raises((Superseded, OSError)):
        deliver(late, ended(late, 1), check)
    there = ObjectFolder(f"{url}/{SITE}")
    assert {there.get(name) for name in ("certificate.json", "report.html")} == {b"of epoch 2"}


def test_who_is_late_takes_no_file_from_a_later_owner(tmp_path: Path):
    kept = SharedFolder(tmp_path)
    kept.take_over(tmp_path / SITE, 2, None)
    (tmp_path / SITE / own_name(2)).mkdir()
    later = WarcWriter(tmp_path / SITE, SITE, "round-1.epoch-0002", INFO, WarcOptions())
    later.write(page())
    with pytest.raises(Superseded, match="later owner than epoch 1"):
        kept.take_over(tmp_path / SITE, 1, None)
    assert len(list((tmp_path / SITE).glob(f"*{OPEN}"))) == 1
    later.close()


def test_a_file_that_a_late_owner_begins_in_a_shared_folder_is_none(tmp_path: Path):
    kept, folder = SharedFolder(tmp_path), tmp_path / SITE
    kept.take_over(folder, 1, None)
    (folder / own_name(1)).mkdir()
    late = WarcWriter(folder, SITE, "round-1.epoch-0001", INFO, WarcOptions())
    kept.take_over(folder, 2, None)
    with pytest.raises(Superseded, match="of epoch 1 of its site, which is over"):
        late.write(page())
    assert list(folder.iterdir()) == []


class SlowPuts(ObjectFolder):
    """A store to which something happens while a WARC file, or a part of one, is on its way."""

    def __init__(self, url: str, what) -> None:
        super().__init__(url)
        self._what = what

    def put(self, name: str, data: bytes) -> None:
        self._what()
        super().put(name, data)

    def put_file(self, name: str, path: Path) -> None:
        self._what()
        super().put_file(name, path)


@pytest.mark.parametrize("finished", [False, True])
def test_a_warc_file_that_a_late_owner_puts_is_none(tmp_path: Path, finished: bool):
    url, here = f"memory://late-warc-{finished}-{os.getpid()}", tmp_path / "late" / SITE
    SharedObjects(ObjectFolder(url), tmp_path / "late").take_over(here, 1, None)
    (here / own_name(1)).mkdir()

    def taken_over() -> None:
        SharedObjects(ObjectFolder(url), tmp_path / "other").take_over(tmp_path / "other" / SITE, 2, None)

    writer = WarcWriter(here, SITE, "round-1.epoch-0001", INFO, WarcOptions())
    writer.write(page())
    writer.sync()
    mirror = Mirror(here, SlowPuts(f"{url}/{SITE}", taken_over))
    if finished:
        writer.close()
    mirror.synced()
    with pytest.raises(FileExistsError, match="came too late: epoch 1 of its site is over"):
        mirror.put(mirror.due()[0])
    assert set(ObjectFolder(f"{url}/{SITE}").names()) == {mark_of(2)}
    writer.abandon()
