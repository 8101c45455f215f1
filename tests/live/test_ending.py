"""What a crawl leaves behind: a person is told how far that is."""

from __future__ import annotations

from scrapy.settings import Settings

from sharc_crawler.errors import StoreUnavailable
from sharc_crawler.live.config import Config
from sharc_crawler.live.ending import leave
from sharc_crawler.storage.folders import SITES, folders_text


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
