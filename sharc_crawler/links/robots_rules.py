"""The rules of a robots.txt: Protego matches paths, within the lines that count for one crawler."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from protego import Protego

from sharc_crawler.links.robots import Rules
from sharc_crawler.model import Seconds

CUT = "# longer than 500 KiB"  #: stands for what is not read
MANY = 1_000  #: rules from which on those that may match are looked up first

_MARKUP = re.compile(r"\s*<[!?a-z]", re.IGNORECASE)
_RULE = re.compile(r"(?:^|\r)[ \t]*(?:user-agent|(?:dis)?allow|site-?map)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_SITEMAP = re.compile(r"(?:^|\r)[ \t\ufeff]*site-?map[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)
MOST = 1_000  #: rules that are matched for one address
LONGEST = 12  #: characters of a word that are looked up
_HEAD = "User-agent: *"
_WORD = re.compile(r"[A-Za-z0-9_.~/-]+")  # what stands for itself, however it is quoted
_INDEX = "index.html"  # where it is allowed, so is its folder


def is_page(text: str) -> bool:
    r"""Whether it is an HTML page without any rule, as sites send that answer every request with one.

    >>> is_page("<!doctype html><title>App</title>"), is_page("<html>\nUser-agent: *\nDisallow: /")
    (True, False)
    """
    return _MARKUP.match(text) is not None and _RULE.search(text) is None


def cut(rules: str, whole: str, *, ended: bool) -> str:
    r"""Of a long robots.txt the rules that are obeyed, and the sitemaps that the rest names; ``ended``: to its end.

    >>> cut("User-agent: *\n", "User-agent: *\nDisallow: /\nSitemap: /a\nSitemap: /b", ended=False).split("\n")[1:]
    ['# longer than 500 KiB', 'Sitemap: /a', '']
    """
    rest = whole[len(rules) :]
    named = _SITEMAP.findall(rest if ended else rest[: max(rest.rfind("\n"), rest.rfind("\r")) + 1])
    return "\n".join((f"{rules}{CUT}", *(f"Sitemap: {url}" for url in named), ""))


def noted(url: str, text: str) -> str:
    """What a reader of the report must know of a robots.txt; empty: nothing.

    >>> noted("http://h/robots.txt", "User-agent: *")
    ''
    """
    if is_page(text):
        return f"{url} is an HTML page, not a robots.txt: nothing in it counts, all may be fetched"
    if f"{CUT}\n" in text:
        return f"{url} is longer than 500 KiB: rules behind these are not obeyed (RFC 9309 asks for no more)"
    return ""


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


# -- which lines count for one crawler (RFC 9309, 2.2.1), read as leniently as search engines do -----------------------

# A group is one or more lines that name crawlers, and the rules after them; all groups that name a crawler are one.
# Only a rule (Allow, Disallow) ends the naming: lines that are not understood, Sitemap and Crawl-delay do not (2.2.4).
# A Crawl-delay or Request-rate is for the crawlers named directly before it, as it is no part of the standard.

LONGEST_LINE = 8 * 2083  #: characters, as Google's parser has it: the rest of a line is left out

_LINE_END = re.compile(r"\r\n|\r|\n")
#: A colon may be missing; misspellings that are common enough for Google to know them.
_RECORD = re.compile(
    r"\s*(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>dis+al+ow|diasllow|disallaw)"
    r"|(?P<delay>crawl[- ]delay)|(?P<rate>request[- ]rate))\s*[:\s]\s*(?P<value>[^#]*)",
    re.IGNORECASE,
)
_NAMES = {"allow": "Allow", "disallow": "Disallow", "delay": "Crawl-delay", "rate": "Request-rate"}
_DELAYS = {"delay", "rate"}
_ENDLESS = re.compile(r"(?<![\d.])\d{10,}")  #: centuries, of which no number may be made
#: what Protego would take for the end of a line
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def group_of(text: str, agent: str) -> str:
    r"""The rules for one crawler, as the only group of a robots.txt, for all; empty: there are none.

    >>> group_of("User-agent: Sharc/2.1\nCrawl-delay: 9\nUser-agent: *\nDisallow: /a # but", "sharc")
    'User-agent: *\nCrawl-delay: 9\nDisallow: /a'
    """
    own, anybody = _Group(), _Group()
    for kind, value in _records(text):
        for group, name in ((own, agent.partition("/")[0].lower()), (anybody, "*")):
            group.read(kind, value, name)
    found = own if own.named else anybody
    return "\n".join(("User-agent: *", *found.rules)) if found.named else ""


class _Group:
    """What is for one name, in all groups that have it."""

    def __init__(self) -> None:
        self.named = False  #: somewhere
        self.rules: list[str] = []
        self._in_group = self._directly = False  # is it one of those named last; and just before
        self._ruled = self._told = False  # has a rule, or any record, followed the names

    def read(self, kind: str, value: str, name: str) -> None:
        """Read the next record."""
        if kind == "agent":
            self._in_group = self._in_group and not self._ruled
            self._directly = self._directly and not self._told
            self._ruled = self._told = False
            if _product(value) == name:
                self.named = self._in_group = self._directly = True
            return
        self._told = True
        self._ruled = self._ruled or kind not in _DELAYS
        if value and (self._directly if kind in _DELAYS else self._in_group):
            self.rules.append(f"{_NAMES[kind]}: {_ENDLESS.sub('9' * 9, value) if kind in _DELAYS else value}")


def _records(text: str) -> Iterator[tuple[str, str]]:
    """Kind and value of each line that is understood."""
    for line in _LINE_END.split(text):
        if record := _RECORD.match(line[:LONGEST_LINE]):
            kind = next(kind for kind, found in record.groupdict().items() if found)
            yield kind, _CONTROL.sub(lambda char: quote(char[0]), record["value"].strip())


def _product(value: str) -> str:
    """The name in a User-agent line, without a version or whatever else follows it."""
    words = value.lower().partition("/")[0].split()
    if not words:
        return ""
    return words[0] if words[0] == "*" else words[0].replace("*", "")


class _Rule(NamedTuple):
    line: str
    words: list[str]


class ManyRules:
    r"""The rules of one group of robots.txt that has thousands: those are matched whose words an address has.

    Matched one by one, 24,000 rules with wildcards cost more than half a second for each address. What a rule names
    literally has to stand in an address that it matches. That is looked up, so that an address costs as many look-ups
    as the rules have words. Where more than :data:`MOST` rules have no other words than an address, it is not fetched.

    >>> rules = ManyRules("User-agent: *\nDisallow: /*a*b$\nDisallow: /c\nAllow: /c/d")
    >>> [rules.allows(f"http://h/{path}") for path in ("xaxb", "xa", "c", "c/d")]
    [False, True, False, True]
    """

    def __init__(self, group: str) -> None:
        lines = group.split("\n")
        self._rules = [_Rule(line, _words(line)) for line in lines if line.startswith(("Allow: ", "Disallow: "))]

    def allows(self, url: str) -> bool:
        """May the URL be fetched?"""
        address = "/" + unquote(url).partition("://")[2].partition("/")[2]
        ends = range(1, LONGEST + 1)
        found = {address[at : at + size] for at in range(len(address)) for size in ends}
        lines = [line for line, words in self._rules if found.issuperset(words)]
        return len(lines) <= MOST and bool(Protego.parse("\n".join((_HEAD, *lines))).can_fetch(url, "*"))


def _words(line: str) -> list[str]:
    value = unquote(line.partition(" ")[2]).removesuffix(_INDEX)
    return [word[:LONGEST] for word in _WORD.findall(value)]
