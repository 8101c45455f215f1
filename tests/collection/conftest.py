"""A real collection of a small site that is edited between its two captures, crawled once for all tests."""

from __future__ import annotations

import time
from typing import NamedTuple

import pytest

from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.terms import FILE
from tests.live.conftest import run_crawl, static  # noqa: F401

HEAD = "<!doctype html><meta charset=utf-8><link rel=stylesheet href=style.css>"
ALWAYS = {
    "tides.html": f"{HEAD}<title>Tides</title><p>High water at nine, says the old lighthouse.",
    "style.css": "h1 { color: #163a70 }",
}
LINKS = "<h1>Harbour</h1><a href=tides.html>tides</a>"
EDITIONS = (
    {
        **ALWAYS,
        "index.html": f"{HEAD}{LINKS} <a href=gone.html>gone</a>",
        "gone.html": f"{HEAD}<p>A cormorant, for a while.",
    },
    {
        **ALWAYS,
        "index.html": f"{HEAD}{LINKS} <a href=new.html>new</a>",
        "new.html": f"{HEAD}<p>A kittiwake &amp; her <b>Möwe</b>.<script>var hidden = 'albatross'</script>",
    },
)


class Collected(NamedTuple):
    collection: Collection
    url: str
    folders: list


@pytest.fixture(scope="session")
def collected(run_crawl, static, tmp_path_factory):  # noqa: F811
    place = tmp_path_factory.mktemp("collected")
    (place / "site").mkdir()
    with static(place / "site") as url:
        (place / "kept").mkdir()
        (place / "kept" / FILE).write_text(f"title: The harbour\nsites: ['{url}']\n")
        collection = Collection(place / "kept")
        (name,) = (site.name for site in collection.terms.sites)
        for number, edition in enumerate(EDITIONS):
            for file in (place / "site").iterdir():
                if file.name not in edition:
                    file.unlink()
            for file, text in edition.items():
                if number == 0 or EDITIONS[0].get(file) != text:  # what is as it was keeps its date
                    (place / "site" / file).write_text(text, encoding="utf-8")
            folder = collection.capture_folder(name, time.time() - 86_400 + 43_200 * number)
            done = run_crawl(
                place, url=url, output=str(folder), history=str(collection.history), dedup="site", sitemap="off",
                delay="0",
            )  # fmt: skip
            assert done.code == 0, done.err
    return Collected(collection, url, [one.folder for one in collection.captures()])
