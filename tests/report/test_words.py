"""How an unfinished crawl is gone on with, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.report.unfinished import going_on

if TYPE_CHECKING:
    from pathlib import Path


def test_a_capture_of_a_collection_is_found_by_its_command(tmp_path: Path) -> None:
    (tmp_path / "news" / "collection.yaml").parent.mkdir()
    (tmp_path / "news" / "collection.yaml").touch()
    assert going_on(tmp_path / "news" / "captures" / "a.example" / "20261126T000000Z") == "the same command resumes it"
    assert "-a output=" in going_on(tmp_path / "other")
