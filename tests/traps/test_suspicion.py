"""On a site with pages that look like a trap's, what is fresh by its words is taken, and the rest waits or is left."""

from __future__ import annotations

from itertools import islice
from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.unlikely import is_nobodys, nobodys
from sharc_crawler.traps.barren import Barren
from sharc_crawler.traps.rules import Traps
from sharc_crawler.traps.suspicion import Suspicion
from tests.traps.tables import ROOT, add, table


class Suspected:
    """A site of so many contents; ``kqzv/story`` and ``other`` are known, and name ``wmdk/story``."""

    def __init__(self, why: str | None = "an echo", waits: bool = True) -> None:
        echoes = SimpleNamespace(echoes={}, first=range(400), why_not=lambda *given: why, doubts=lambda *given: waits)
        echoes.barren = Barren()
        self.pages = table("kqzv/story", "other")
        self.traps = SimpleNamespace(echoes=echoes, fleeting=None, idle=None, words=None, twice=bytearray())
        self.suspicion = Suspicion(self.traps, self.pages)
        self.suspicion.words.name(f"{ROOT}wmdk/story", 2)

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
    site.traps.echoes.echoes[1] = 0
    site.suspicion.saw(1, new=False)
    assert site.why_not("qjxe/story") == "an echo"


@pytest.mark.parametrize(("contents", "most"), [(0, 4), (16, 4), (20, 5), (79, 19), (80, 20), (400, 20)])
def test_after_so_many_fresh_pages_that_showed_what_was_shown_none_is_taken_for_fresh(contents, most):
    words = [f"word{number}" for number in range(45)]
    site = Suspected()
    site.traps.echoes.first = range(contents)
    for parent in (1, 2):
        site.suspicion.words.name(ROOT + "/".join(words), parent)
    misses = iter(range(2 * most))
    for at in islice(misses, most):
        assert site.suspicion.fresh(f"{ROOT}last/word44")
        site.suspicion.saw(add(site.pages, f"word{at}/x{at}", 1), new=False)
    assert not site.suspicion.fresh(f"{ROOT}last/word44")
    site.suspicion.saw(1, new=True)
    for at in misses:
        assert site.suspicion.fresh(f"{ROOT}last/word44")
        site.suspicion.saw(add(site.pages, f"word{at}/x{at}", 1), new=False)
    assert not site.suspicion.fresh(f"{ROOT}last/word44")


def test_what_a_former_process_had_visited_is_no_miss():
    site = Suspected()
    former = [add(site.pages, f"word{at}/x{at}", 1) for at in range(30)]
    for parent in (1, 2):
        site.suspicion.words.name(ROOT + "/".join(f"word{at}" for at in range(30)), parent)
    for page in former:
        site.suspicion.words.visited(page)
    for page in former:
        site.suspicion.saw(page, new=False)
    assert site.suspicion.fresh(f"{ROOT}qjxe/story")


def test_what_no_echo_speaks_against_waits_where_its_place_may_mean_nothing():
    site, asked = Suspected(waits=False), []
    assert not site.waits("ptrn"), "no place is watched"
    site.traps.idle = SimpleNamespace(doubts=lambda *given: asked.append(given) or True)
    assert site.waits("qjxe")
    assert asked == [(f"{ROOT}qjxe", site.suspicion.words)]


def test_it_is_told_of_each_page_from_then_on():
    told, pages, traps = [], table("a"), Traps()
    saw = lambda page, *, new: told.append((page, new))  # noqa: E731
    traps.suspicion = SimpleNamespace(saw=saw, why_not=lambda *_: None)
    for page in (1, 0):
        traps.showed(page, pages.urls[page], "text", pages, lambda: False)
    assert told == [(1, True), (0, False)]


class Named:
    """Copies that lead on, of a site whose links stay or not; ``asked``: what nobody names and is asked for."""

    def __init__(self, steady: bool = True) -> None:
        self.pages, self.traps = table("one", "two"), Traps()
        self.suspicion = self.traps.suspicion = Suspicion(self.traps, self.pages)
        self.steady = steady
        self.weigh()

    def weigh(self) -> bool:
        self.suspicion.weigh(SimpleNamespace(steady=self.steady))
        return self.traps.echoes.barren.patient

    def copy(self, path: str, text: str = "a photo") -> None:
        page = add(self.pages, path, 1)
        self.traps.echoes.first.add(text, page)
        self.traps.echoes.echoes[page] = 0
        self.suspicion.saw(page, new=False)

    @property
    def asked(self) -> list[str]:
        return self.traps.wanted


def test_an_address_that_nobody_names_is_made_of_two_copies_of_a_shape_once_links_stay():
    site = Named(steady=False)
    for path in ("photo/kqzv", "photo/wmdk", "photo/qjxe", "msg7.html", "s/1/a"):
        site.copy(path)
    site.suspicion.saw(1, new=False)
    assert not site.asked, "it would tell nothing"
    site.steady = True
    assert not site.weigh(), "its answer has not come"
    assert site.asked == [nobodys(f"{ROOT}photo/wmdk", f"{ROOT}photo/kqzv")]
    site.copy("msg12.html")
    for path in ("a/b/c", "d/e/f", "g/h/i/j", "k/l/m/n"):
        site.copy(path)
    assert len(site.asked) == 3
    assert all(map(is_nobodys, site.asked))


@pytest.mark.parametrize(
    ("content", "absent", "patient"),
    [(None, True, True), (None, False, False), ("another", False, True), ("a photo", False, False)],
)
def test_copies_are_there_before_they_are_named_where_such_an_address_is_not(content, absent, patient):
    site = Named()
    site.copy("photo/kqzv")
    site.copy("photo/wmdk")
    site.suspicion.answered(f"{ROOT}another", None, absent=False)
    assert not site.weigh()
    site.suspicion.answered(site.asked[0], content, absent=absent)
    assert site.weigh() is patient
    assert site.suspicion.made is (content == "a photo")
    site.copy("msg7.html")
    site.copy("msg12.html")
    assert not site.weigh(), "one more is asked for"
    site.suspicion.answered(site.asked[1], None, absent=True)
    assert site.weigh() is patient
    site.steady = False
    assert not site.weigh()


def test_words_of_what_is_left_last_once_two_pages_named_them():
    site = Suspected()
    assert site.why_not("qjxe/ptrn", 1) == "an echo"
    assert site.why_not("bnwt/ptrn", 1) == "an echo"
    assert site.why_not("bnwt/ptrn", 2) is None
