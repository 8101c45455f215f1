"""Fields that programs read stand in the documents."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from sharc_crawler.cli.keep import _facts
from sharc_crawler.collection.keeper import kept_sites
from sharc_crawler.collection.overview import overview
from sharc_crawler.fleet.ledger import Bound, FleetStatus, SiteStatus, WorkerStatus
from sharc_crawler.storage.texts import Hit

DOCS = Path(__file__).parents[2] / "docs"


def missing(page: str, names: set[str]) -> set[str]:
    text = (DOCS / page).read_text()
    return {name for name in names if f"`{name}`" not in text}


def test_what_a_collection_tells_programs_is_documented(collected):
    index = overview(collected.collection)
    site = index["sites"][0]
    entry = site["captures"][-1]
    names = {*index, *site, *entry, *entry["totals"], *entry["changes"], *Hit._fields, "replay"}
    kept = {name for one in kept_sites(collected.collection) for name in _facts(one)}
    assert missing("collection.md", names | kept) == set()


def test_what_a_fleet_tells_programs_is_documented():
    names = {one.name for kind in (FleetStatus, SiteStatus, WorkerStatus) for one in fields(kind)} | {*Bound._fields}
    assert missing("fleet.md", names) == set()
