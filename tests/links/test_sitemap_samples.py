"""The samples in ``sitemaps/`` are read as the JSON beside them says."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sharc_crawler.links.sitemap import read

if TYPE_CHECKING:
    from sharc_crawler.links.entries import Entry

SAMPLES = Path(__file__).parents[2] / "sitemaps"
EXPECTED = sorted(SAMPLES.glob("*.expected.json"))
URL = "https://www.example.org/sitemap.xml"


def as_json(entry: Entry) -> dict[str, Any]:
    said: dict[str, Any] = {"loc": entry.loc}
    if entry.hints.lastmod is not None:
        said["lastmod"] = datetime.fromtimestamp(entry.hints.lastmod, UTC).isoformat().replace("+00:00", "Z")
        said["precision"] = entry.hints.lastmod_precision
    if entry.hints.changefreq is not None:
        said["changefreq"] = entry.hints.changefreq
    if entry.hints.priority is not None:
        said["priority"] = entry.hints.priority
    return said


def test_every_sample_has_its_expected_reading() -> None:
    samples = {path.name.split(".")[0] for path in SAMPLES.iterdir() if path.suffix not in {".json", ".md"}}
    assert samples == {path.name.split(".")[0] for path in EXPECTED}


@pytest.mark.parametrize("path", EXPECTED, ids=lambda path: path.name.split(".")[0])
def test_sample(path: Path) -> None:
    name = path.name.removesuffix("expected.json")
    (sample,) = (found for found in SAMPLES.glob(f"{name}*") if found != path)
    expected = json.loads(path.read_text())
    sitemap = read(sample.read_bytes(), URL)
    assert [as_json(entry) for entry in sitemap.entries] == expected["entries"]
    assert (sitemap.kind, list(sitemap.problems)) == (expected["kind"], expected["problems"])
