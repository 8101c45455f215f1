"""Endless sites whose addresses tell nothing end within three times their true pages; honest ones lose no page."""

from __future__ import annotations

import random
import re
import string
from itertools import product
from types import SimpleNamespace

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.frontier.traps.echoes import Echoes, _EchoGroup, path_of, shape
from sharc_crawler.known_urls import SeenUrls
from sharc_crawler.model import Kind, Sighting, Slot
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT, TRUE = "http://h/", 30
LOWER, MIXED, BASE36 = string.ascii_lowercase, string.ascii_letters, string.ascii_lowercase + string.digits


class Made(World):
    """``pattern``: of addresses that are made up; ``names``: what of; ``links`` to them on a trap's page."""

    def __init__(self, pattern: str, names: str, links: int = 10) -> None:
        super().__init__()
        self.pattern, self.names, self.number = pattern, names, links
        self.dice = random.Random(5)
        self.first_named: list[Sighting] = []  # by the front page

    def made(self) -> str:
        one = self.pattern
        while "{}" in one:
            one = one.replace("{}", "".join(self.dice.choices(self.names, k=self.dice.randint(6, 11))), 1)
        return ROOT + one

    def content(self, url: str) -> tuple[str, list[str]]:
        """What its page shows, and what it links to."""
        return url, [ROOT]

    def answer(self, fetch):
        content, links = self.content(re.sub(r"[?&]no-such-page-[a-z]+$", "", fetch.url))
        self.links[fetch.url] = [Sighting(link) for link in links]
        if fetch.url == ROOT and not self.first_named:
            self.first_named = self.links[ROOT]
        return super().answer(fetch)._replace(fingerprint=content)


class Beside(Made):
    """A site with pages of its own; one link on each fifth leads into a trap whose pages all say the same."""

    true = tuple(f"{ROOT}{'story/' * (n % 2)}{a}{b}" for n, (a, b) in enumerate(product("abcdef", "vwxyz")))

    def content(self, url):
        if url == ROOT:
            return url, [self.made(), *self.true[:6]]
        if url in self.true:
            at = self.true.index(url)
            more = [self.made()] if at % 5 == 0 else []
            return url, [ROOT, *more, *self.true[at * 2 : at * 2 + 6]]
        return "the trap", [ROOT, *(self.made() for _ in range(self.number))]


class Everywhere(Made):
    """Each page names ten made-up addresses."""

    true = Beside.true

    def content(self, url):
        if url in self.true or url == ROOT:
            return url, [*self.true, *(self.made() for _ in range(self.number))]
        return "the trap", [*(self.made() for _ in range(self.number)), ROOT]


class Behind(Made):
    """All that is true lies behind made-up addresses."""

    def __init__(self, *args) -> None:
        super().__init__(*args)
        self.of: dict[str, int] = {}
        self.true: tuple[int, ...] = tuple(range(TRUE))

    def address(self, number: int) -> str:
        url = self.made()
        self.of[url] = number
        return url

    def content(self, url):
        number = self.of.get(url, 0)
        if "no-such-page" in url:
            return url, []
        return f"story {number}", [self.address(other) for other in self.true]


def crawl(world, politeness, strategy="bfs", **spec):
    store = MemoryStore()
    frontier = Frontier(politeness, store)
    given = {"sitemaps": (), "hops": 0, "limit": 2_000, **spec}
    capture = frontier.open(CaptureSpec("h", (ROOT,), strategy=strategy, **given), world.now)
    world.run(frontier, most=9_000)
    return [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND], capture


def cases():
    """Each kind of site, of name and of pattern is in some quick case; all of them together are long."""
    quick = {
        (Beside, "{}", LOWER),
        (Everywhere, "x/{}/{}", MIXED),
        (Behind, "{}/{}", LOWER),
        (Beside, "p?q={}&r={}", BASE36),
    }
    for site, pattern, names in product(
        [Beside, Everywhere, Behind], ["{}", "x/{}", "{}/{}", "x/{}/{}", "p?q={}&r={}"], [LOWER, MIXED, BASE36]
    ):
        if site is Behind and "?" in pattern:
            continue  # nothing would be left of its addresses
        for strategy in ("bfs", "sharc-selective", "dfs"):
            long = (site, pattern, names) not in quick or strategy == "dfs"
            yield pytest.param(site, pattern, names, strategy, marks=[pytest.mark.long] if long else [])


@pytest.mark.slow
@pytest.mark.parametrize(("site", "pattern", "names", "strategy"), list(cases()))
def test_sites_of_made_up_addresses_end(impolite, site, pattern, names, strategy):
    world = site(pattern, names)
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * (TRUE + 1)
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


def captured(world, visited):
    """The true pages among them."""
    of = getattr(world, "of", None)
    return {of[url] for url in visited if url in of} if of else set(visited) & set(world.true)


@pytest.mark.parametrize(
    ("site", "pattern"),
    [(Beside, "{}"), (Beside, "x/{}/{}"), (Beside, "p?q={}&r={}"), (Everywhere, "{}"), (Behind, "{}/{}")],
)
def test_sites_of_ten_pages_end(impolite, site, pattern):
    for strategy in ("bfs", "sharc-selective", "dfs"):
        world = site(pattern, LOWER)
        world.true = world.true[:10]
        visited, _ = crawl(world, impolite, strategy)
        assert captured(world, visited) == set(world.true)
        assert len(visited) <= 3 * (10 + 1)


@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
@pytest.mark.parametrize("site", [Beside, Everywhere, Behind])
@pytest.mark.parametrize("pages", [3, 4])
def test_sites_of_three_and_four_pages_end(impolite, site, strategy, pages):
    """Visits are counted: what is asked for to see a page's links once more is none."""
    world = site("{}/{}", LOWER)
    world.true = world.true[: pages - 1]
    visited, _ = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len({url for url in visited if "no-such-page" not in url}) <= 3 * pages


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize("pattern", ["{}", "x/{}/{}", "p?q={}&r={}"])
@pytest.mark.parametrize("pages", [5, 6])
def test_sites_of_five_pages_that_name_ten_made_up_ones_each_end(impolite, pattern, strategy, pages):
    """The front page is one of them: its own made-up links alone are three times the four that are true."""
    world = Everywhere(pattern, LOWER)
    world.true = world.true[: pages - 1]
    visited, capture = crawl(world, impolite, strategy)
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * pages
    assert any("looks like a trap" in reason for reason in capture.left_out.reasons)


class SoftErrorsThatLeadAway(Made):
    """Each page names ten made-up addresses; their error page, of status 200, names others of another shape."""

    true = Beside.true

    def content(self, url):
        if url in self.true or url == ROOT:
            return url, [ROOT, *self.true, *(self.made() for _ in range(self.number))]
        return "Sorry", [ROOT, *(self.made().replace(ROOT, f"{ROOT}x/{number}/") for number in range(5))]


def run_through(world, impolite, strategy, every):
    """``every``: after so many steps the process is another; 0: never."""
    store = MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=strategy, hops=0), world.now)
    if every:
        world.run_restarted(frontier, impolite, store, every)
    else:
        world.run(frontier)
    return store


@pytest.mark.parametrize(("strategy", "every"), [("bfs", 0), ("dfs", 23)])
def test_error_pages_that_lead_to_others_of_another_shape_are_few(impolite, strategy, every):
    world = SoftErrorsThatLeadAway("{}", LOWER)
    run_through(world, impolite, strategy, every)
    visited = {fetch.url for _, fetch in world.requests if fetch.kind is Kind.PAGE}
    assert set(world.true) <= visited
    assert len(visited) <= 3 * (TRUE + 1)


@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
def test_links_of_an_honest_site_that_show_its_error_page_cost_no_page(impolite, strategy):
    """Dead links stay: the pages beside them are captured, and so are the dead links."""
    world = Made("{}", LOWER)
    true, dead = [world.made() for _ in range(60)], [world.made() for _ in range(60)]
    links = [one for pair in zip(dead, true, strict=True) for one in pair]
    world.content = lambda url: (url, [ROOT, *links]) if url in true or url == ROOT else ("Sorry", [ROOT, world.made()])
    visited, _ = crawl(world, impolite, strategy)
    assert set(true) | set(dead) <= set(visited)


class Sessions(Made):
    """Each link to one of twelve pages has something in its address that is made up at each answer."""

    true = range(12)

    def content(self, url):
        found = re.search(r"page(\d+)", url)
        at = int(found[1]) if found else 0
        near = [0, *self.true[max(at - 2, 0) : at], *self.true[at + 1 : at + 6]]
        return f"story {at}", [self.made().replace("PAGE", f"page{other}") for other in near]


@pytest.mark.parametrize(
    ("pattern", "names", "strategy"),
    [
        ("PAGE?a={}&b={}", LOWER, "bfs"),
        ("PAGE?a={}&b={}", LOWER, "sharc-selective"),
        ("PAGE?a=7{}7&b=7{}7", string.digits, "bfs"),
        ("PAGE?a=7{}7&b=7{}7", string.digits, "sharc-selective"),
        ("s/{}/PAGE", LOWER, "bfs"),
        ("s/{}/PAGE", LOWER, "sharc-selective"),
        ("s/{}/PAGE", LOWER, "dfs"),
        ("{}/PAGE/{}", LOWER, "bfs"),
        ("{}/PAGE/{}", LOWER, "sharc-selective"),
        ("{}/PAGE/{}", LOWER, "dfs"),
        ("PAGE/{}/{}", BASE36, "sharc-selective"),
        ("{}/{}/PAGE", "0123456789abcdef", "sharc-selective"),
    ],
)
def test_pages_behind_addresses_made_up_for_each_visitor_are_all_captured(impolite, pattern, names, strategy):
    world = Sessions(pattern, names)
    visited, _ = crawl(world, impolite, strategy)
    assert {int(found[1]) for url in visited if (found := re.search(r"page(\d+)", url))} == set(world.true)
    assert len({url for url in visited if "no-such-page" not in url}) <= 3 * len(world.true)


class Chain(Sessions):
    """Each page names the next one alone, by a parameter between others."""

    def content(self, url):
        content, (home, *_) = super().content(url)
        after = int(content.rpartition(" ")[2]) + 1
        return content, [home, *([self.made().replace("PAGE", f"page{after}")] if after in self.true else [])]


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_a_parameter_that_tells_pages_apart_is_known_beside_those_that_do_not(impolite, strategy):
    visited, _ = crawl(Chain("p?id=PAGE&s={}&t={}", LOWER), impolite, strategy)
    assert {int(found[1]) for url in visited if (found := re.search(r"page(\d+)", url))} == set(Chain.true)
    assert len({url for url in visited if "no-such-page" not in url}) <= 3 * len(Chain.true)


class SmallSessions(Sessions):
    true = range(6)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
@pytest.mark.parametrize("pattern", ["s/{}/PAGE", "PAGE?a={}&b={}", "{}/PAGE/{}"])
def test_six_pages_behind_such_addresses_take_eighteen_visits(impolite, pattern, strategy):
    world = SmallSessions(pattern, LOWER)
    visited, _ = crawl(world, impolite, strategy)
    assert {int(found[1]) for url in visited if (found := re.search(r"page(\d+)", url))} == set(world.true)
    assert len({url for url in visited if "no-such-page" not in url}) <= 3 * len(world.true)


class SessionTree(Sessions):
    """Each page names the one above and two below: half of them are named by one page alone."""

    true = range(8)

    def content(self, url):
        content, _ = super().content(url)
        at = int(content.rpartition(" ")[2])
        near = [other for other in dict.fromkeys((0, (at - 1) // 2, 2 * at + 1, 2 * at + 2)) if other in self.true]
        return content, [self.made().replace("PAGE", f"page{other}") for other in near if other != at]


@pytest.mark.parametrize(
    "seed", [0, 1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
@pytest.mark.parametrize("pattern", ["{}/PAGE/{}", "PAGE?a={}&b={}", "s/{}/PAGE"])
def test_pages_that_one_page_alone_names_are_captured_behind_such_addresses(impolite, pattern, strategy, seed):
    """Some names look made up, others do not: both tell that their place means nothing."""
    world = SessionTree(pattern, BASE36)
    world.dice = random.Random(seed)
    visited, _ = crawl(world, impolite, strategy)
    assert {int(found[1]) for url in visited if (found := re.search(r"page(\d+)", url))} == set(world.true) | {0}
    assert len({url for url in visited if "no-such-page" not in url}) <= 3 * len(world.true)


class ChainOfOneFolder(Made):
    """Each page names the next one alone, and ten made-up ones, which show three texts by turns."""

    true = tuple(f"{ROOT}stories/{one}" for one in ("history", "visit", "shop", "school", "theatre", "friends", "news"))

    def content(self, url):
        made = [self.made() for _ in range(10)]
        if url == ROOT or url in self.true:
            at = self.true.index(url) + 1 if url in self.true else 0
            return url, [ROOT, *self.true[at : at + 1], *made]
        return f"the trap {self.dice.randrange(3)}", [ROOT, *made]


@pytest.mark.parametrize("seed", range(4))
def test_a_folder_that_true_pages_share_makes_no_made_up_step_a_name(impolite, seed):
    world = ChainOfOneFolder("{}/{}", MIXED)
    world.dice = random.Random(seed)
    visited, _ = crawl(world, impolite, "bfs")
    assert set(world.true) <= set(visited)


class Documents(Made):
    """Each has three addresses under its own long name; two of them ask to log in, as all of their kind do."""

    def __init__(self) -> None:
        super().__init__("d/{}/", "0123456789abcdef")
        self.true = [self.made() + "0123456789/" for _ in range(90)]

    def content(self, url):
        own = re.match(r".*/d/\w+/\w+/", url)
        if own is None or not url.endswith("view"):
            return ("please log in" if own else "front"), [ROOT, self.true[0] + "view"]
        at = self.true.index(own[0])
        more = [self.true[other] + "view" for other in (2 * at + 1, 2 * at + 2) if other < len(self.true)]
        return url, [ROOT, own[0] + "edit", own[0] + "share", *more]


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective", "dfs"])
def test_documents_beside_pages_that_all_ask_to_log_in_are_captured(impolite, strategy):
    world = Documents()
    visited, _ = crawl(world, impolite, strategy)
    assert {one + "view" for one in world.true} <= set(visited)


class Tree(Made):
    """Each page names three that it alone names, and more that are made up."""

    true = tuple(f"{ROOT}{a}{b}{c}" for a, b, c in product("abcd", "lmnop", "stuvx"))

    def content(self, url):
        if url != ROOT and url not in self.true:
            return "the trap", [ROOT, *(self.made() for _ in range(10))]
        at = 0 if url == ROOT else self.true.index(url) + 1
        return url, [ROOT, *self.true[3 * at : 3 * at + 3], *(self.made() for _ in range(self.number))]


@pytest.mark.parametrize("strategy", ["bfs", pytest.param("sharc-selective", marks=pytest.mark.slow), "dfs"])
@pytest.mark.parametrize("links", [4, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("every", [0, pytest.param(23, marks=pytest.mark.long)])
def test_a_tree_that_names_more_made_up_pages_than_its_own_ends(impolite, links, strategy, every):
    world = Tree("{}", LOWER, links)
    run_through(world, impolite, strategy, every)
    visited = [fetch.url for _, fetch in world.requests if fetch.slot is not Slot.SECOND]
    assert set(world.true) <= set(visited)
    assert len(visited) <= 3 * (len(world.true) + 1)


class News(Tree):
    """Beside the made-up links, the front page names news, other ones at each answer."""

    news = tuple(f"{ROOT}news{a}{b}" for a, b in product(LOWER, "abc"))

    def content(self, url):
        if url in self.news:
            return url, [ROOT]
        content, links = super().content(url)
        return content, [*links, *(self.dice.sample(self.news, 20) if url == ROOT else ())]


@pytest.mark.parametrize("strategy", ["bfs", "dfs"])
def test_news_that_are_gone_when_their_page_is_asked_again_are_captured(impolite, strategy):
    world = News("{}", LOWER, 4)
    visited, _ = crawl(world, impolite, strategy)
    shown = {link.url for link in world.first_named}
    assert shown & set(world.news) <= set(visited)
    assert set(world.true) <= set(visited)


@pytest.mark.parametrize(("site", "strategy"), [(Beside, "bfs"), (Behind, "dfs")])
def test_what_was_seen_holds_after_a_restart(impolite, site, strategy):
    world, store = site("x/{}/{}", LOWER), MemoryStore()
    frontier = Frontier(impolite, store)
    frontier.open(CaptureSpec("h", (ROOT,), sitemaps=(), strategy=f"{strategy}:revisits=none", hops=0), world.now)
    world.run_restarted(frontier, impolite, store, every=9)
    visited = {fetch.url for _, fetch in world.requests}
    assert captured(world, visited) == set(world.true)
    assert len(visited) <= 3 * (TRUE + 1)


class Honest(Made):
    """``true`` pages with opaque addresses; others show one text, and name what is known or of another kind."""

    def __init__(self, kind: str) -> None:
        super().__init__("{}", MIXED + string.digits + "-_")
        self.kind = kind
        self.true = [self.made() for _ in range(120)]
        self.alike = [self.made() for _ in range(200)]

    def content(self, url):
        if url == ROOT:
            return url, [*self.alike[:150], self.true[0]]
        if url in self.true:
            at = self.true.index(url)
            return url, [ROOT, *self.true[at + 1 : at + 3], self.alike[at], self.alike[-at - 1]]
        if url in self.alike:
            own = url.removeprefix(ROOT)
            at = self.alike.index(url)
            return "one text", {
                "sold out": [ROOT, *self.alike[at + 1 : at + 2], *self.true[:3]],
                "wiki": [ROOT, f"{ROOT}index?title={own}&action=edit", f"{ROOT}index?title={own}&action=history"],
                "log in": [f"{ROOT}login?next={own}", *self.true[:1]],
                "next": [*self.alike[at + 1 : at + 2], *self.alike[max(at - 1, 0) : at]],
            }[self.kind]
        return "another text", [ROOT]


@pytest.mark.parametrize("strategy", ["bfs", pytest.param("dfs", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", ["sold out", "wiki", "log in", "next"])
def test_honest_pages_are_all_captured_beside_many_that_show_one_text(impolite, kind, strategy):
    world = Honest(kind)
    visited, _ = crawl(world, impolite, f"{strategy}:revisits=none")
    assert set(world.true) <= set(visited)
    assert set(world.alike) <= set(visited)


@pytest.mark.parametrize("strategy", ["bfs", "sharc-selective"])
def test_lists_that_all_show_one_text_are_followed_to_their_end(impolite, strategy):
    """Each names three pages of its own and the next list: nothing else does."""
    world = Made("{}", LOWER)
    pages = [world.made() for _ in range(100)]

    def content(url):
        if url not in pages:
            return url, pages[:1]
        at = pages.index(url)
        return ("a list", pages[at + 1 : at + 5]) if at % 4 == 0 else (url, [pages[at - at % 4]])

    world.content = content
    visited, capture = crawl(world, impolite, strategy)
    assert set(pages) <= set(visited)
    assert not capture.left_out.reasons


@pytest.mark.parametrize("strategy", ["bfs", pytest.param("sharc-selective", marks=pytest.mark.slow), "dfs"])
@pytest.mark.parametrize("empty", [1, 6])
def test_pages_that_others_with_one_text_alone_name_are_captured(impolite, empty, strategy):
    """Links that have expired name the new ones; terms that nobody has explained yet, the terms beside them."""
    world = Made("{}", LOWER)
    pages = [world.made() for _ in range(80)]

    def content(url):
        if url == ROOT:
            return url, pages[: empty + 1]
        if url not in pages:
            return "not found", [ROOT]
        at = pages.index(url)
        return ("nothing yet" if at % (empty + 1) < empty else url), [ROOT, *pages[at + 1 : at + 3]]

    world.content = content
    visited, _ = crawl(world, impolite, strategy)
    assert set(pages) <= set(visited)


@pytest.mark.slow
@pytest.mark.parametrize("address", ["watch?v={}", "{}", "{}/{}", "sku-{}.html"])
def test_no_page_with_a_content_of_its_own_is_left(impolite, address):
    world = Made(address, MIXED + string.digits + "-_")
    pages = [world.made() for _ in range(300)]
    world.content = lambda url: (url, pages[:10] if url == ROOT else pages[(at := pages.index(url)) : at + 12])
    visited, capture = crawl(world, impolite)
    assert set(pages) <= set(visited)
    assert not capture.left_out.reasons


def test_a_mirror_whose_pages_are_translated_in_part_is_captured_whole(impolite):
    """Its copies are of the same names in another folder: one place of the address explains them."""
    world = Made("{}", LOWER)
    names = [world.made().removeprefix(ROOT) for _ in range(90)]

    def content(url):
        if url == ROOT:
            return url, [f"{ROOT}{tongue}/{names[0]}" for tongue in ("en", "de")]
        tongue, name = url.removeprefix(ROOT).split("/")
        at = names.index(name)
        children = [f"{ROOT}{tongue}/{one}" for one in names[3 * at + 1 : 3 * at + 4]]
        return (url if at % 40 == 39 else name), children

    world.content = content
    visited, _ = crawl(world, impolite)
    assert {f"{ROOT}{tongue}/{name}" for tongue in ("en", "de") for name in names} <= set(visited)


def test_a_page_is_left_by_any_group_of_it_that_is_closed():
    echoes, pages = Echoes(SeenUrls(), ()), SimpleNamespace(parents={1: 0}, depths={0: 1}, kinds={0: Kind.PAGE})
    url = f"{ROOT}a/b1"
    echoes._groups = {shape(url): _EchoGroup(), path_of(url): _EchoGroup()}
    echoes._closed = True
    assert echoes.why_not(url, 0, pages) is None
    echoes._groups[path_of(url)].close(9, "")
    assert echoes.why_not(url, 0, pages).startswith("9 pages in a row")
