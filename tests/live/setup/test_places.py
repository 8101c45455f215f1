"""A site's folder: its state is let go for other sites' and opened again, unless somebody took it over meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scrapy.settings import Settings

from sharc_crawler.archive.open_files import OpenFiles
from sharc_crawler.errors import Superseded
from sharc_crawler.live.config import Config
from sharc_crawler.live.setup import places as module
from sharc_crawler.live.setup.places import DESCRIPTORS, Place, open_stores, site_paths
from sharc_crawler.model import Kind, Outcome, Phase, Plan, Result, Slot
from sharc_crawler.state.rows import Batch, CaptureRow, PageRow, VisitRow
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.folders import LOCK


@pytest.fixture
def places(tmp_path):
    """Three, of which one is open at a time."""
    stores = OpenFiles(1)
    config = replace(Config.from_settings(Settings()), log=("json",))
    paths = site_paths(tmp_path, ["a.example", "b.example", "c.example"])
    made = [Place(path, config, stores) for path in paths.values()]
    yield made
    for place in made:
        place.suspend()


def row(note):
    spec = CaptureSpec("a.example", ("http://a.example/",))
    return Batch(captures={0: CaptureRow(0, spec, Phase.VISIT, 1.0, None, None, (note,))})


def visited():
    url = "http://a.example/"
    page = PageRow(0, 0, url, url, Kind.PAGE, "a.example", 0, -1, "seed", 0, 1.0, "prior", 1.0, 1.0, None, "")
    outcome = Outcome(Result.OK, 1.0, 2.0, 200)
    visit = VisitRow(0, Slot.ONLY, Plan.HOPEFUL, 1, finished=True, lease=1, decided=0.5, outcome=outcome)
    return replace(row(""), pages=[page], visits=[visit])


def test_what_was_let_go_is_opened_again_with_all_that_was_written(places):
    for turn in range(3):
        for place in places:
            place.commit(row(f"turn {turn}"))
    assert sum(place._store is not None for place in places) == 1
    assert [place.store.load().captures[0].notes for place in places] == [("turn 2",)] * 3


def test_a_log_is_written_before_the_state_is_let_go_and_opens_none_again(places, monkeypatch):
    opened = []
    made = Place._opened
    monkeypatch.setattr(Place, "_opened", lambda self: opened.append(self) or made(self))
    for place in places:
        place.commit(visited())
    before = len(opened)
    for place in places:
        place.catch_up()
    assert len(opened) == before
    assert [len((place.folder / "crawl.jsonl").read_text().splitlines()) for place in places] == [1, 1, 1]


def test_nothing_is_written_where_another_had_it_meanwhile(places):
    first, second, _ = places
    first.commit(row("ours"))
    second.commit(row("ours"))
    (first.folder / LOCK).write_text("another process")
    with pytest.raises(Superseded, match="taken over"):
        first.commit(row("ours again"))
    (first.folder / LOCK).unlink()


def test_a_folder_that_is_missing_is_left_to_whoever_moved_it(places, tmp_path):
    places[0].suspend()
    places[0].folder.rename(tmp_path / "elsewhere")
    paths = site_paths(tmp_path, ["a.example", "b.example", "c.example"])
    assert set(paths) == {"b.example", "c.example"}
    (tmp_path / "elsewhere").rename(places[0].folder)


@pytest.mark.parametrize("descriptors", [20_000, 1_024])
def test_of_a_thousand_sites_each_keeps_its_state_open_where_there_are_descriptors(descriptors, monkeypatch):
    """To open one again takes longer than a page."""
    suspended = []

    class Site:
        def suspend(self):
            suspended.append(self)

    monkeypatch.setattr(module, "limit", lambda: descriptors)
    stores, sites = open_stores(16), [Site() for _ in range(1_000)]
    for site in sites:
        stores.use(site)
    still_open = DESCRIPTORS * (len(sites) - len(suspended))
    assert still_open == DESCRIPTORS * len(sites) or descriptors / 3 < still_open < descriptors / 2
