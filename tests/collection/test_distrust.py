"""Servers that are asked in full, since their 304s were caught to lie."""

from __future__ import annotations

import os

import pytest

from sharc_crawler.collection.distrust import NAME, distrust, distrusted
from sharc_crawler.errors import DataError


def test_a_site_is_trusted_until_it_is_caught_and_again_when_somebody_has_said_since_what_does_not_count(tmp_path):
    masks = tmp_path / "a.json"
    masks.write_text("{}")
    assert not distrusted(tmp_path, "a", None)
    distrust(tmp_path, "a", 3, capture=1000.0)
    assert not distrusted(tmp_path, "b", None)
    for changed, asked_in_full in ((999.0, True), (1001.0, False)):
        os.utime(masks, (changed, changed))
        assert bool(distrusted(tmp_path, "a", masks)) is asked_in_full
    assert distrusted(tmp_path, "a", None)
    distrust(tmp_path, "a", 1, capture=2000.0)
    assert distrusted(tmp_path, "a", masks), "caught with these masks"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for damage in ("[", '{"a": 3}', '{"a": {"capture": "soon"}}', "[1]"):
        (tmp_path / NAME).write_text(damage)
        with pytest.raises(DataError, match="to trust all again"):
            distrusted(tmp_path, "a", None)


def test_what_was_caught_and_when_is_said(tmp_path):
    distrust(tmp_path, "a", 3, capture=1000.0)
    words = distrusted(tmp_path, "a", None)["words"]
    assert "in the capture of 1970-01-01T00:16:40Z: for 3 pages it said" in words
    assert "ask it for all pages in full" in words
    assert f"take the site out of {NAME}" in words
