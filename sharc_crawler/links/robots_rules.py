"""The rules of a robots.txt: the lines for one crawler, of which Protego matches the paths."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from protego import Protego

from sharc_crawler.links.robots import Rules
from sharc_crawler.model import Seconds

CUT = "# longer than 500 KiB"  #: line in place of the rules that are not read
MANY = 1_000  #: with more rules, those that may match are looked up first

_MARKUP = re.compile(r"\s*<[!?a-z]", re.IGNORECASE)
_RULE = re.compile(r"(?:^|\r)[ \t]*(?:user-agent|(?:dis)?allow|site-?map)[ \t]*:", re.IGNORECASE | re.MULTILINE)
_SITEMAP = re.compile(r"(?:^|\r)[ \t\ufeff]*site-?map[ \t]*:[ \t]*([^\s#]+)", re.IGNORECASE | re.MULTILINE)
MOST = 1_000  #: most rules that are matched for a URL
LONGEST = 12  #: characters of a word that are used for the look-up
_HEAD = "User-agent: *"
_WORD = re.compile(r"[A-Za-z0-9_.~/-]+")  # characters that percent-encoding does not change
_INDEX = "index.html"  # a rule that allows it also allows its folder


def is_page(text: str) -> bool:
    r"""Is it an HTML page without any rule? Some sites answer every request with one.

    >>> is_page("<!doctype html><title>App</title>"), is_page("<html>\nUser-agent: *\nDisallow: /")
    (True, False)
    """
    return _MARKUP.match(text) is not None and _RULE.search(text) is None


def cut(rules: str, whole: str, *, ended: bool) -> str:
    r"""The obeyed rules of a long robots.txt, and the sitemaps in the rest; ``ended``: ``whole`` includes its end.

    >>> cut("User-agent: *\n", "User-agent: *\nDisallow: /\nSitemap: /a\nSitemap: /b", ended=False).split("\n")[1:]
    ['# longer than 500 KiB', 'Sitemap: /a', '']
    """
    rest = whole[len(rules) :]
    named = _SITEMAP.findall(rest if ended else rest[: max(rest.rfind("\n"), rest.rfind("\r")) + 1])
    return "\n".join((f"{rules}{CUT}", *(f"Sitemap: {url}" for url in named), ""))


def noted(url: str, text: str) -> str:
    """The report's note on a robots.txt; empty: none.

    >>> noted("http://h/robots.txt", "User-agent: *")
    ''
    """
    if is_page(text):
        return f"{url} is an HTML page, not a robots.txt: nothing in it counts, all may be fetched"
    if f"{CUT}\n" in text:
        return f"{url} is longer than 500 KiB: rules behind these are not obeyed (RFC 9309 asks for no more)"
    return ""


class RobotsRules(Rules):
    r"""The rules of a host for one agent.

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
    """The sitemaps in a robots.txt as absolute URLs, without duplicates.

    >>> robots_sitemaps("SITEMAP: /a.xml # main", "http://h/robots.txt")
    ('http://h/a.xml',)
    """
    named = _SITEMAP.findall(text)
    if not named:
        return ()
    from sharc_crawler.links.found import Resolver  # not needed without sitemaps

    return Resolver(url).all(named)[0]


def _delay(parsed: Protego) -> Seconds:
    """The longer of Crawl-delay and the pause by Request-rate."""
    crawl_delay = float(parsed.crawl_delay("*") or 0.0)
    rate = parsed.request_rate("*")
    return max(crawl_delay, rate.seconds / rate.requests if rate and rate.requests else 0.0)


# -- the lines for one crawler (RFC 9309, 2.2.1), parsed as leniently as search engines do -----------------------------

# A group has one or more lines that name crawlers, followed by rules; all groups that name a crawler are joined. Only
# a rule (Allow, Disallow) ends the names: unknown lines, Sitemap and Crawl-delay do not (2.2.4). Crawl-delay and
# Request-rate, which are not in the standard, apply to the crawlers named directly before them.

LONGEST_LINE = 8 * 2083  #: most characters of a line that are read, as in Google's parser

_LINE_END = re.compile(r"\r\n|\r|\n")
#: The colon may be missing; common misspellings are accepted, as by Google.
_RECORD = re.compile(
    r"\s*(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>dis+al+ow|diasllow|disallaw)"
    r"|(?P<delay>crawl[- ]delay)|(?P<rate>request[- ]rate))\s*[:\s]\s*(?P<value>[^#]*)",
    re.IGNORECASE,
)
_NAMES = {"allow": "Allow", "disallow": "Disallow", "delay": "Crawl-delay", "rate": "Request-rate"}
_DELAYS = {"delay", "rate"}
_ENDLESS = re.compile(r"(?<![\d.])\d{10,}")  #: numbers too large to be parsed
#: characters that Protego would read as line ends
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def group_of(text: str, agent: str) -> str:
    r"""The rules for one crawler, as a robots.txt with a single group for all crawlers; empty: there are none.

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
    """Collects the rules for one name from all its groups."""

    def __init__(self) -> None:
        self.named = False  #: was the name found?
        self.rules: list[str] = []
        self._in_group = self._directly = False  # is the name in the present group; and directly before this line?
        self._ruled = self._told = False  # has a rule, or any record, followed the names?

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
    """Kind and value of each line that can be parsed."""
    for line in _LINE_END.split(text):
        if record := _RECORD.match(line[:LONGEST_LINE]):
            kind = next(kind for kind, found in record.groupdict().items() if found)
            yield kind, _CONTROL.sub(lambda char: quote(char[0]), record["value"].strip())


def _product(value: str) -> str:
    """The name in a User-agent line, without version and anything after it."""
    words = value.lower().partition("/")[0].split()
    if not words:
        return ""
    return words[0] if words[0] == "*" else words[0].replace("*", "")


class _Rule(NamedTuple):
    line: str
    words: list[str]


class ManyRules:
    r"""A group with thousands of rules, of which only those are matched whose words occur in the URL.

    To match 24,000 rules with wildcards would take more than half a second per URL. A URL can match a rule only if it
    contains the rule's literal words, so these are looked up first. If more than :data:`MOST` rules remain, the URL is
    not fetched.

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
