"""The demo site's newsroom: sections publish articles as Poisson processes, some often, most rarely.

What is published, and when, depends only on the seed and on time, so a crawler's delay in finding an article is known
exactly.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from sharc_crawler.demo import answers, content, process
from sharc_crawler.demo.answers import Response
from sharc_crawler.demo.content import WORDS
from sharc_crawler.instants import second
from sharc_crawler.model import Instant, Rate

HOUR = 3600.0
FRONT = "/newsroom/"
FEED = "/newsroom/feed.xml"
SITEMAP = "/newsroom/news-sitemap.xml"
LISTED = {"section": 20, "front": 30, "feed": 30, "sitemap": 100}  #: latest articles that are listed

LIST = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
{feed}
</head>
<body>
<h1>{title}</h1>
<nav>{nav}</nav>
<ul>
{items}
</ul>
</body>
</html>
"""


class Article(NamedTuple):
    """An article, by when it was published."""

    published: Instant
    path: str

    @property
    def title(self) -> str:
        """A headline, constant for an article."""
        return content.prose(self.path, 1).rstrip(".")


@dataclass(frozen=True)
class Newsroom:
    """All sections together publish ``hourly`` articles an hour; the section of rank r a share of r^-skew.

    >>> news = Newsroom(seed=1, hourly=60, count=3, skew=1.0)
    >>> [round(HOUR * news.rate(name)) for name in news.sections]
    [33, 16, 11]
    >>> first = news.articles(1e9, 1e9 + 600)[0]
    >>> news.answer(first.path, "http://h", {}, first.published - 1).status
    404
    >>> news.answer(first.path, "http://h", {}, first.published + 1).status
    200
    """

    seed: int
    hourly: float
    count: int
    skew: float
    feeds: bool = True  #: a feed, named by the front page, and a news sitemap, named by robots.txt

    @property
    def sections(self) -> tuple[str, ...]:
        """Paths of the sections, the busiest first."""
        names = random.Random(f"{self.seed} newsroom").sample(WORDS, self.count)
        return tuple(f"{FRONT}{name}/" for name in names)

    def rate(self, section: str) -> Rate:
        """Articles a second."""
        shares: list[float] = [rank**-self.skew for rank in range(1, self.count + 1)]
        return self.hourly / HOUR * shares[self.sections.index(section)] / sum(shares)

    def articles(self, start: Instant, end: Instant) -> list[Article]:
        """All articles published in (start, end], in order."""
        return sorted(article for section in self.sections for article in self._published(section, start, end))

    def _published(self, section: str, start: Instant, end: Instant) -> list[Article]:
        instants = process.changes(f"{self.seed} {section}", self.rate(section), start, end)
        return [Article(float(t), f"{section}{math.floor(t * 1e6)}.html") for t in instants]

    def latest(self, sections: Iterable[str], now: Instant, most: int) -> list[Article]:
        """The last ``most`` articles of some sections, newest first."""
        return heapq.nlargest(most, (article for section in sections for article in self._last(section, now, most)))

    def _last(self, section: str, now: Instant, most: int) -> list[Article]:
        span = 2 * most / self.rate(section)
        while len(found := self._published(section, now - span, now)) < most:
            span *= 2
        return found[-most:]

    # -- answers -------------------------------------------------------------------------------------------------

    def answer(self, path: str, base: str, headers: Mapping[str, str], now: Instant) -> Response:
        """The response to a request below :data:`FRONT`; ``headers`` by lower-case names."""
        if path in (FRONT, *self.sections):
            return self._list(path, headers, now)
        if self.feeds and path in (FEED, SITEMAP):
            return self._dated(path, base, headers, now)
        return self._article(path, headers, now)

    def _list(self, path: str, headers: Mapping[str, str], now: Instant) -> Response:
        front = path == FRONT
        shown = self.latest(self.sections if front else [path], now, LISTED["front" if front else "section"])
        return answers.conditional(_claim(path, shown), headers, now, path, lambda: self._html(path, shown))

    def _html(self, path: str, shown: list[Article]) -> bytes:
        discovery = f'<link rel="alternate" type="application/rss+xml" href="{FEED}">'
        return LIST.format(
            title="The newsroom" if path == FRONT else path.split("/")[-2].capitalize(),
            feed=discovery if self.feeds and path == FRONT else "",
            nav=" ".join(f'<a href="{link}">{link.split("/")[-2]}</a>' for link in (FRONT, *self.sections)),
            items="\n".join(f'<li><a href="{article.path}">{escape(article.title)}</a></li>' for article in shown),
        ).encode()

    def _dated(self, path: str, base: str, headers: Mapping[str, str], now: Instant) -> Response:
        shown = self.latest(self.sections, now, LISTED["feed" if path == FEED else "sitemap"])
        write = _rss if path == FEED else _sitemap
        return answers.conditional(_claim(path, shown), headers, now, path, lambda: write(base, shown))

    def _article(self, path: str, headers: Mapping[str, str], now: Instant) -> Response:
        section, _, name = path.rpartition("/")
        stem = name.removesuffix(".html")
        if f"{section}/" not in self.sections or not stem.isdecimal():
            return answers.MISSING
        near = int(stem) / 1e6
        there = [a for a in self._published(f"{section}/", near - 1e-3, min(near + 1e-3, now)) if a.path == path]
        if not there:
            return answers.MISSING
        claim = answers.StatedState(path, there[0].published)
        return answers.conditional(claim, headers, now, path, lambda: _page(there[0], f"{section}/"))


def _claim(path: str, shown: list[Article]) -> answers.StatedState:
    return answers.StatedState(path, shown[0].published)


def _page(article: Article, section: str) -> bytes:
    return content.page(article.title, article.path, article.published, [FRONT, section], [])


def _rss(base: str, shown: list[Article]) -> bytes:
    items = "".join(
        f"<item><title>{escape(article.title)}</title><link>{escape(base + article.path)}</link>"
        f"<pubDate>{answers.http_date(article.published)}</pubDate></item>\n"
        for article in shown
    )
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>News</title>\n{items}</channel></rss>\n'.encode()


def _sitemap(base: str, shown: list[Article]) -> bytes:
    entries = "".join(
        f"<url><loc>{escape(base + article.path)}</loc><news:news><news:publication_date>"
        f"{second(article.published)}</news:publication_date>"
        f"<news:title>{escape(article.title)}</news:title></news:news></url>\n"
        for article in shown
    )
    spaces = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    news = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {spaces} {news}>\n{entries}</urlset>\n'.encode()
