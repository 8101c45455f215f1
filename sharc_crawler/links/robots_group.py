"""Which lines of a robots.txt count for one crawler (RFC 9309, 2.2.1), read as leniently as search engines do.

A group is one or more lines that name crawlers, and the rules after them; all groups that name a crawler are one. Only
a rule (Allow, Disallow) ends the naming: lines that are not understood, Sitemap and Crawl-delay do not (2.2.4).
A Crawl-delay or Request-rate is for the crawlers named directly before it, as it is no part of the standard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        """One record after the other."""
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
            self.rules.append(f"{_NAMES[kind]}: {value}")


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
