"""Sites whose addresses are made up, and crawls of them."""

from __future__ import annotations

import random
import re
import string
from itertools import product
from zlib import crc32

from sharc_crawler.addresses.unlikely import looked_at, with_sayings
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.model import Document, Sighting, Slot
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

ROOT, TRUE = "http://h/", 30
LOWER, MIXED, BASE36 = string.ascii_lowercase, string.ascii_letters, string.ascii_lowercase + string.digits


class Made(World):
    """``pattern``: of addresses that are made up; ``names``: what of; ``links`` to them on a trap's page."""

    says = False  #: are its words read, as those of served pages are, and told to whoever asks once more?

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
        outcome = super().answer(fetch)._replace(fingerprint=content)
        if not self.says:
            return outcome
        said = (crc32(word.encode()) for word in re.findall(r"\w+", content))
        words = with_sayings(content, said) if looked_at(fetch.url) else content
        return outcome._replace(document=Document(0, 0, len(links), words=words))


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


def captured(world, visited):
    """The true pages among them."""
    of = getattr(world, "of", None)
    return {of[url] for url in visited if url in of} if of else set(visited) & set(world.true)


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
