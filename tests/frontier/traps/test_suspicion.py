"""On a site with pages that look like a trap's, what is fresh by its words is taken, and the rest waits or is left."""

from __future__ import annotations

from types import SimpleNamespace

from sharc_crawler.frontier.lifecycle import Event
from sharc_crawler.frontier.traps.barren import Barren
from sharc_crawler.frontier.traps.rules import Traps
from sharc_crawler.frontier.traps.suspicion import Suspicion
from tests.frontier.traps.tables import ROOT, add, table


class Suspected:
    """A site of so many contents; ``kqzv/story`` and ``other`` are known, and name ``wmdk/story``."""

    def __init__(self, why: str | None = "an echo", waits: bool = True) -> None:
        echoes = SimpleNamespace(echoes={}, first=range(400), why_not=lambda *given: why, doubts=lambda *given: waits)
        echoes.barren = Barren()
        self.pages = table("kqzv/story", "other")
        self.traps = SimpleNamespace(echoes=echoes, fleeting=None, idle=None)
        self.suspicion = Suspicion(self.traps, self.pages)
        self.why_not("wmdk/story", 2)

    def why_not(self, path: str, parent: int = 1) -> str | None:
        return self.suspicion.why_not(ROOT + path, parent)

    def waits(self, path: str) -> bool:
        return self.suspicion.doubts(add(self.pages, path, 1))


def test_what_is_fresh_by_its_words_is_taken_and_does_not_wait():
    site = Suspected()
    assert site.why_not("qjxe/story") is None
    assert site.why_not("qjxe") == "an echo", "it shares no word"
    assert not site.waits("ptrn/story")
    assert site.waits("ptrn")
    assert Suspected(why=None).why_not("qjxe") is None


def test_what_copies_show_makes_their_words_no_longer_fresh():
    site = Suspected()
    for event in (Event.LEASE, Event.CAPTURED):
        site.pages.move(1, event)
    site.suspicion.saw(1, new=False)
    assert site.why_not("qjxe/story") == "an echo"


def test_what_no_echo_speaks_against_waits_where_its_place_may_mean_nothing():
    site, asked = Suspected(waits=False), []
    assert not site.waits("ptrn"), "no place is watched"
    site.traps.idle = SimpleNamespace(doubts=lambda *given: asked.append(given) or True)
    assert site.waits("qjxe")
    assert asked == [(f"{ROOT}qjxe", site.suspicion.words)]


def test_it_is_told_of_each_page_from_then_on():
    told, pages, traps = [], table("a"), Traps()
    traps.suspicion = SimpleNamespace(saw=lambda page, *, new: told.append((page, new)))
    for page in (1, 0):
        traps.showed(page, pages.urls[page], "text", pages, lambda: False)
    assert told == [(1, True), (0, False)]
