"""Reasons that are alike are told together."""

from __future__ import annotations

import pytest

from sharc_crawler.evidence.worded import grouped


@pytest.mark.parametrize(("number", "told"), [(3, 3), (4, 1)])
def test_redirects_to_many_places_of_a_host_are_told_as_one(number, told):
    places = [(f"redirected: https://cdn.example/{one}.mp3?t={one}", 1) for one in range(number)]
    found = grouped([*places, ("redirected: http://h/login", 2), ("gone: 404", 1)])
    assert found["redirects to http://h/login"] == 2
    assert found["redirects to https://cdn.example/…"] == (number if told == 1 else 0)
    assert len(found) == told + 2
