"""Which pages are asked again for their links."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls
from sharc_crawler.model import Kind
from sharc_crawler.traps.fleeting import FleetingLinks, named_first
from tests.traps.tables import add, table


class Pages:
    """A front page that names two others."""

    parents, kinds = (-1, 0, 0), (Kind.PAGE,) * 3

    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize("answered", [False, True])
def test_a_page_is_asked_again_once(answered):
    """Before its answer has come, and after a restart, which tells of answers alone."""
    links = FleetingLinks(Copies(), SimpleNamespace())
    assert links.wants(1, Pages())
    if answered:
        links.answered(0, None, (), Pages())
    else:
        links.asked(0)
    assert not links.wants(2, Pages())


class Copies(SimpleNamespace):
    """Those that are known to be echoes."""

    def __init__(self, first: SeenUrls | None = None) -> None:
        first = SeenUrls() if first is None else first
        super().__init__(echoes={}, copies={}, first=first, barren=SimpleNamespace(leads=lambda page: False))


class Site:
    """A front page names five, of which the first names five more; ``errors``: texts of error pages."""

    def __init__(self, *errors: str) -> None:
        self.pages = table("a", "b", "c", "d", "e")
        self.below = [add(self.pages, f"a/{number}", 1) for number in range(5)]
        add(self.pages, "a.css", 1, Kind.RESOURCE)
        self.first = SeenUrls()
        self.echoes = Copies(self.first)
        self.links = FleetingLinks(self.echoes, SimpleNamespace(why_not=lambda content: content in errors or None))
        self.first.add("front", 0)
        self.first.add("a", 1)
        self.first.add("the trap", 2)

    def echo(self, page: int, content: str = "the trap") -> None:
        """A page shows what another had shown."""
        self.echoes.echoes[page] = self.echoes.copies[page] = hash(content)
        self.links.saw(page, content, self.pages, new=False)

    def left(self, page: int) -> bool:
        return self.links.why_not(page, self.pages) is not None


def test_two_copies_whose_links_are_gone_tell_that_such_links_are_left():
    site = Site()
    site.links.answered(1, "a", site.below[:2], site.pages)
    assert not any(map(site.left, site.below))
    site.echo(site.below[2])
    assert not any(map(site.left, site.below))
    assert site.links.why_not_named(site.below[2]) is None
    site.echo(site.below[3])
    assert [site.left(page) for page in site.below] == [False, False, True, True, True]
    assert not site.left(2), "its page was not asked again"
    assert "only pages link it whose own links" in site.links.why_not_named(site.below[2])
    assert site.links.why_not_named(0) is None


def test_one_copy_suffices_where_a_name_that_nobody_gave_shows_the_same():
    asked_before, asked_after = Site("the trap"), Site()
    for site in (asked_before, asked_after):
        site.links.answered(1, "a", site.below[:2], site.pages)
        site.links.shown("the trap")
        assert not site.left(site.below[3]), "no link was gone so far"
        site.echo(site.below[2])
    asked_after.links.shown("another")
    assert asked_before.left(asked_before.below[3])
    assert not asked_after.left(asked_after.below[3])
    asked_after.links.shown("the trap")
    assert asked_after.left(asked_after.below[3])


def test_copies_of_what_a_seed_shows_and_of_two_texts_are_no_sign():
    site = Site()
    site.links.answered(1, "a", site.below[:1], site.pages)
    site.first.add("another", 3)
    site.echo(site.below[1])
    site.echo(site.below[2], "another")
    for page in site.below[3:]:
        site.echo(page, "front")
    site.links.saw(site.below[1], "the trap", site.pages, new=False)
    assert site.left(site.below[3]), "the same text twice"
    other = Site()
    other.links.answered(1, "a", other.below[:1], other.pages)
    for page in other.below[1:]:
        other.echo(page, "front")
    assert not other.left(other.below[3])


def test_where_something_new_is_behind_a_link_that_was_gone_no_more_is_left():
    site = Site()
    site.links.answered(1, "a", site.below[:1], site.pages)
    for page in site.below[2:4]:
        site.echo(page)
    assert site.left(site.below[4])
    site.links.saw(site.below[0], "news", site.pages, new=True)
    assert site.left(site.below[4]), "its link stayed"
    site.links.saw(3, "news", site.pages, new=True)
    assert site.left(site.below[4]), "nobody asked its page again"
    assert site.links.wants(2, site.pages)
    site.links.saw(site.below[1], "more news", site.pages, new=True)
    assert not site.left(site.below[4])
    assert site.links.why_not_named(site.below[2]) is None
    assert not site.links.wants(2, site.pages)
    assert not site.links.told(site.below[4], site.pages)


def test_where_all_links_stay_few_copies_are_no_sign_and_after_three_such_looks_none_is_made():
    site = Site()
    site.links.answered(1, "a", site.below, site.pages)
    assert site.links.stay
    assert site.links.told(2, site.pages)
    for page, content in ((3, None), (4, "another")):
        assert site.links.wants(2, site.pages)
        site.links.answered(page, content, [0], site.pages)
    assert not site.links.wants(2, site.pages)


@pytest.mark.parametrize(("content", "named"), [(None, [0]), ("another", [0]), ("a", [])])
def test_an_answer_of_something_else_or_without_links_tells_nothing(content, named):
    site = Site()
    for _ in range(3):
        assert site.links.wants(2, site.pages)
        site.links.answered(1, content, named, site.pages)
    assert not site.links.stay
    assert not site.links.told(site.below[0], site.pages)
    assert not site.links.wants(2, site.pages)


def test_looks_go_on_as_long_as_one_in_three_tells_something():
    site = Site()
    for _ in range(3):
        for _ in range(2):
            site.links.answered(1, "another", [0], site.pages)
        assert site.links.wants(2, site.pages)
        site.links.answered(1, "a", site.below[:4], site.pages)
        assert site.links.told(site.below[4], site.pages)
    assert site.links.wants(2, site.pages)
    assert not site.links.told(2, site.pages)
    for page in site.below[:3]:
        assert site.links.wants(2, site.pages)
        site.echo(page)
    assert not site.links.wants(2, site.pages), "copies behind links that stay tell nothing, either"


def test_a_page_whose_link_stays_and_that_is_no_copy_makes_up_for_looks_that_told_nothing():
    site = Site()
    site.links.answered(1, "a", site.below[:4], site.pages)
    for page in site.below[:2]:
        site.echo(page)
    site.links.saw(site.below[2], "news", site.pages, new=True)
    for page in site.below[:2]:
        site.echo(page)
    assert site.links.wants(2, site.pages)


def test_an_echo_that_shows_what_it_had_shown_is_the_same_page():
    site = Site()
    site.echoes.copies[3] = hash("the trap")
    below = add(site.pages, "c/x", 3)
    site.links.answered(3, "the trap", [0], site.pages)
    assert site.links.told(below, site.pages)


def test_a_page_that_is_not_known_is_no_look():
    site = Site()
    for _ in range(9):
        site.links.answered(UNSEEN, None, (), site.pages)
    assert site.links.wants(2, site.pages)


def test_what_a_sitemap_names_is_asked_for_by_nobody():
    site = Site()
    sitemap = add(site.pages, "sitemap.xml", 0, Kind.SITEMAP)
    assert not site.links.wants(add(site.pages, "f", sitemap), site.pages)
    assert site.links.wants(site.below[0], site.pages)


def test_nothing_is_asked_of_what_copies_named_whose_links_are_gone():
    site = Site()
    site.links.answered(1, "a", site.below[:2], site.pages)
    below = add(site.pages, "a/2/x", site.below[2])
    site.echo(site.below[2])
    assert site.links.wants(below, site.pages)
    site.echo(site.below[3])
    assert not site.links.wants(below, site.pages)


def test_a_thousand_pages_are_asked_again():
    site = Site()
    for page in range(10, 1_009):
        site.links.asked(page)
    assert site.links.wants(2, site.pages)
    site.links.asked(1_009)
    assert not site.links.wants(2, site.pages)


def test_three_copies_behind_links_of_several_pages_that_are_gone_tell_the_same_as_two_of_one():
    site = Site()
    others = [add(site.pages, f"{parent}/x", parent) for parent in (3, 4, 5, 5)]
    for page, text in ((3, "c"), (4, "d"), (5, "e")):
        site.first.add(text, page)
        site.links.answered(page, text, [0], site.pages)
    for page in others[:2]:
        site.echo(page)
    assert not site.left(others[3])
    site.echo(others[2])
    assert site.left(others[3])


def test_a_copy_that_leads_on_is_looked_at_whatever_looks_told_and_shows_its_texts_by_turns():
    """Its text may be another at each answer: that it is one of theirs suffices."""
    site, copies = Site(), {3, 4, 5}
    site.echoes.barren.leads = copies.__contains__
    for page in copies:
        site.first.add(f"text {page}", page)
    for _ in range(3):
        site.links.answered(1, None, (), site.pages)
    below = [add(site.pages, f"{page}/x", page) for page in copies]
    assert not site.links.wants(site.below[0], site.pages)
    assert all(site.links.wants(page, site.pages) for page in below)
    site.links.answered(3, "text 4", [below[0]], site.pages)
    assert site.links.stay
    assert not site.links.steady, "one look says little"
    site.links.answered(4, "text 4", [below[1]], site.pages)
    assert site.links.steady
    assert not site.links.wants(below[2], site.pages)
    site.links.answered(5, "text 5", [0], site.pages)
    assert not site.links.steady, "a link was gone"


def test_where_the_links_of_true_pages_alone_stay_nothing_is_known_of_copies():
    site = Site()
    for page in (1, 2):
        site.links.answered(page, ("a", "the trap")[page - 1], range(len(site.pages)), site.pages)
    site.links.answered(1, "a", site.below, site.pages)
    assert site.links.stay
    assert not site.links.steady
    site.echoes.barren.leads = {3, 4}.__contains__
    site.first.add("c", 3)
    for _ in range(4):
        assert site.links.wants(add(site.pages, "c/x", 4), site.pages)
        site.links.answered(3, "something else", (), site.pages)
    assert not site.links.wants(add(site.pages, "c/x", 4), site.pages)


def test_what_pages_named_first_is_looked_up_without_going_through_all_pages():
    pages = table("a", "b")
    assert [*named_first(0, pages)] == [1, 2]
    more = [add(pages, f"a/{name}", 1) for name in ("one", "two")]
    asked = []
    pages.parents = type("Asked", (), {"__getitem__": lambda _, page: asked.append(page) or 1})()
    assert [*named_first(1, pages)] == more
    assert asked == more, "those that are known since"
    assert [*named_first(2, pages)] == []
    assert [*named_first(0, table("c"))] == [1], "another table's"
