"""robots.txt by RFC 9309: Protego matches paths, this decides what an answer (or none) means.

Its bytes become text where documents are read (:mod:`~sharc_crawler.links.robots_text`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from protego import Protego

from sharc_crawler.links.robots_group import group_of
from sharc_crawler.model import Result

if TYPE_CHECKING:
    from sharc_crawler.links.robots_many import ManyRules
    from sharc_crawler.model import Outcome, Seconds

MAX_AGE: Seconds = 86_400.0  #: RFC 9309, 2.4: rules are read again after a day
MAX_REDIRECTS = 5  #: RFC 9309, 2.3.1.2
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


class RobotsRules:
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
        self.delay: Seconds = _delay(self._parsed)
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


ALLOW_ALL = ""
DISALLOW_ALL = "User-agent: *\nDisallow: /"


def rules_text(outcome: Outcome) -> str:
    """What a finished fetch of robots.txt comes to (RFC 9309, 2.3.1): its text, or all allowed, or nothing.

    2xx: the text. 4xx, or more redirects than are followed: everything is allowed. 5xx, 304 or no answer: nothing is.
    """
    if outcome.result is Result.OK:
        return outcome.robots or ALLOW_ALL
    return DISALLOW_ALL if missing(outcome) else ALLOW_ALL


def leads_on(outcome: Outcome, hops: int) -> bool:
    """Whether the rules are to be read elsewhere, after so many redirects."""
    return outcome.result is Result.REDIRECTED and bool(outcome.location) and hops < MAX_REDIRECTS


def missing(outcome: Outcome) -> str:
    """Why there are no rules to obey, so that nothing may be fetched; empty: there are, or all may."""
    unasked = outcome.result is Result.REFUSED and outcome.status is None  # it redirects to an address that is closed
    if outcome.result not in (Result.FAILED, Result.NOT_MODIFIED) and not unasked:  # a 304 was never asked for
        return ""
    asked = f", Retry-After: {outcome.retry_after:.0f} s" if outcome.retry_after else ""
    return f"could not be had ({outcome.error or f'status {outcome.status}'}{asked})"
