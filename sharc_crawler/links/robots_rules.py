"""The rules of a robots.txt: Protego matches paths, within the lines that count for one crawler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from protego import Protego

from sharc_crawler.links.robots import Rules
from sharc_crawler.links.robots_group import group_of

if TYPE_CHECKING:
    from sharc_crawler.links.robots_many import ManyRules
    from sharc_crawler.model import Seconds

MANY = 1_000  #: rules from which on those that may match are looked up first

_MARKUP = re.compile(r"\s*<[!?a-z]", re.IGNORECASE)
_RULE = re.compile(r"^[ \t]*(?:user-agent|(?:dis)?allow|site-?map)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_SITEMAP = re.compile(r"^[ \t\ufeff]*site-?map[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)


def is_page(text: str) -> bool:
    r"""Whether it is an HTML page without any rule, as sites send that answer every request with one.

    >>> is_page("<!doctype html><title>App</title>"), is_page("<html>\nUser-agent: *\nDisallow: /")
    (True, False)
    """
    return _MARKUP.match(text) is not None and _RULE.search(text) is None


class RobotsRules(Rules):
    r"""What one host allows one agent.

    >>> rules = RobotsRules("User-agent: *\nDisallow: /private/\nCrawl-delay: 2", "sharc", "https://example.org/robots.txt")
    >>> rules.allows("https://example.org/private/x"), rules.allows("https://example.org/"), rules.delay
    (False, True, 2.0)
    """

    def __init__(self, text: str, agent: str, base: str) -> None:
        group = group_of(text, agent)
        self._many: ManyRules | None = None
        if group.count("\n") > MANY:
            from sharc_crawler.links.robots_many import ManyRules  # hardly ever

            self._many = ManyRules(group)
            group = "\n".join(line for line in group.split("\n") if not line.startswith(("Allow: ", "Disallow: ")))
        self._parsed = Protego.parse(group)
        self.delay = _delay(self._parsed)
        self.sitemaps = robots_sitemaps(text, base)

    def allows(self, url: str) -> bool:
        """May this agent fetch the URL?"""
        return self._many.allows(url) if self._many else bool(self._parsed.can_fetch(url, "*"))


def robots_sitemaps(text: str, url: str) -> tuple[str, ...]:
    """The sitemaps that a robots.txt names, absolute, each once.

    >>> robots_sitemaps("SITEMAP: /a.xml # main", "http://h/robots.txt")
    ('http://h/a.xml',)
    """
    named = _SITEMAP.findall(text)
    if not named:
        return ()
    from sharc_crawler.links.found import Resolver  # many sites name none

    return Resolver(url).all(named)[0]


def _delay(parsed: Protego) -> Seconds:
    """The longer of Crawl-delay and what Request-rate leaves between two requests."""
    crawl_delay = float(parsed.crawl_delay("*") or 0.0)
    rate = parsed.request_rate("*")
    return max(crawl_delay, rate.seconds / rate.requests if rate and rate.requests else 0.0)
