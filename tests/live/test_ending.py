"""What a crawl leaves behind: a person is told how far that is."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from benchmarks.made_capture import Maker
from sharc_crawler.certificate import writing
from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.live import ending
from sharc_crawler.live.config import Config
from sharc_crawler.live.ending import leave
from sharc_crawler.report import pages
from sharc_crawler.report.pages import WALKS
from sharc_crawler.storage.folders import SITES
from sharc_crawler.storage.gathered import folders_text
from sharc_crawler.storage.sqlite import SqliteStore

KNOWN = 8


def test_the_ends_of_many_sites_are_told_site_by_site(tmp_path):
    folders = {site: tmp_path / site for site in ("a.example", "b.example", "c.example")}
    (tmp_path / SITES).write_text(folders_text({site: site for site in folders}))
    for folder in folders.values():
        folder.mkdir()
    told = []

    def unreadable():
        raise StoreUnavailable("its disk is gone")

    left = leave(
        [(folder, unreadable) for folder in folders.values()],
        tmp_path,
        "",
        Config.from_settings(Settings()),
        lambda *share: told.append(share),
    )
    assert len(left.unwritten) == 3
    assert told == [(number, 3, "writing reports and certificates of the sites") for number in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize(("few", "walks"), [(0, WALKS), (KNOWN, 2)], ids=["pages by the thousand", "a few pages"])
def test_of_many_sites_each_is_walked_over_no_oftener_than_it_must(few, walks, tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "FEW", few)
    folders = {site: tmp_path / site for site in ("a.example", "b.example")}
    for folder in folders.values():
        folder.mkdir()
        Maker(folder, KNOWN, 2).make()  # so few changes teach nothing
    (tmp_path / SITES).write_text(folders_text({site: site for site in folders}))
    made, read = [], []
    whole = writing.certificate
    monkeypatch.setattr(writing, "certificate", lambda *given: made.append(given) or whole(*given))
    monkeypatch.setattr(ending, "summary", None)  # their index has a line of each
    urls = SqliteStore.urls
    monkeypatch.setattr(SqliteStore, "urls", lambda *asked: (read.append(row) or row for row in urls(*asked)))
    stores = [SqliteStore(folder) for folder in folders.values()]
    left = leave(
        [(folder, lambda own=store: own) for folder, store in zip(folders.values(), stores, strict=True)],
        tmp_path,
        "",
        Config.from_settings(Settings()),
        lambda *_: None,
    )
    for store in stores:
        store.close()
    assert (left.unwritten, left.refuted) == ([], False)
    assert [len(list(folder.glob("certificate.json"))) for folder in folders.values()] == [1, 1]
    assert len(made) == len(folders), "no second one for what is known of its files alone"
    assert len(read) == walks * KNOWN * len(folders), "so progress is told right"
