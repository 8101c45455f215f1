"""A partition of somebody else's that fails, or answers badly, is named at that step."""

from __future__ import annotations

from itertools import repeat

import pytest

from sharc_crawler.errors import DataError
from sharc_crawler.subsites.base import KnownPages
from sharc_crawler.subsites.make import make_division
from sharc_crawler.subsites.path import ByPath

KNOWN = KnownPages(["http://h/a", "http://h/b"], [(), ()])
SAID = {
    "raises": "raised ValueError: careless",
    "nothing": "raised TypeError: ",
    "too few": "gave labels for less than 2 pages",
    "without end": "gave labels for more than 2 pages",
    "no tuple": "gave 'h': the names of a page's parts",
    "no part": r"gave \(\): the names",
    "numbers": r"gave \(1,\): the names",
    "half a letter": r"gave \('\\ud800',\): the names",
}


class Careless:
    by_links = False
    how = ""

    def labels(self, known):
        if self.how == "raises":
            raise ValueError("careless")
        if self.how == "without end":
            return repeat(("h",))
        one = {"no tuple": "h", "no part": (), "numbers": (1,), "half a letter": ("\ud800",)}
        return {"nothing": None, "too few": [("h",)]}.get(self.how, [one.get(self.how)] * 2)

    def label(self, url, sitemaps, found_on):
        return self.labels(KNOWN) and self.labels(KNOWN)[0]


@pytest.mark.parametrize("how", SAID)
def test_it_is_named(how, monkeypatch):
    monkeypatch.setattr(Careless, "how", how)
    partition = make_division(f"{__name__}.Careless:share=0.5").partition
    with pytest.raises(DataError, match=f"subsites='{__name__}.Careless' {SAID[how]}.* a fault of this plug-in"):
        partition.labels(KNOWN)
    if how not in ("nothing", "too few", "without end"):
        with pytest.raises(DataError, match=SAID[how]):
            partition.label("http://h/c", (), ())


class Unmakeable:
    def __init__(self, more):
        pass


class NoPartition:
    pass


@pytest.mark.parametrize("name", ["Unmakeable", "NoPartition"])
def test_what_is_none_is_named_before_the_crawl(name):
    with pytest.raises(DataError, match=f"{name}' does not make a partition: "):
        make_division(f"{__name__}.{name}")


def test_ours_go_unguarded():
    assert type(make_division("path").partition) is ByPath
