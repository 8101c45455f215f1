"""robots.txt by RFC 9309: Protego matches paths, this decides what an answer (or none) means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from protego import Protego
from w3lib.encoding import read_bom

from sharc_crawler.coding import unpack, unpacked
from sharc_crawler.links.robots_group import group_of
from sharc_crawler.links.sitemap import robots_sitemaps
from sharc_crawler.model import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.model import Outcome, Seconds

MAX_BYTES = 500 * 1024  #: RFC 9309, 2.5: parse at least this much
MAX_AGE: Seconds = 86_400.0  #: RFC 9309, 2.4: rules are read again after a day
MAX_REDIRECTS = 5  #: RFC 9309, 2.3.1.2


_MARKUP = re.compile(r"\s*<[!?a-z]", re.IGNORECASE)
_RULE = re.compile(r"^[ \t]*(?:user-agent|(?:dis)?allow|site-?map)[ \t]*:", re.IGNORECASE | re.MULTILINE)


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
        self._parsed = Protego.parse(group_of(text, agent))
        self.delay: Seconds = _delay(self._parsed)
        self.sitemaps = robots_sitemaps(text, base)

    def allows(self, url: str) -> bool:
        """May this agent fetch the URL?"""
        return bool(self._parsed.can_fetch(url, "*"))


def _delay(parsed: Protego) -> Seconds:
    """The longer of Crawl-delay and what Request-rate leaves between two requests."""
    crawl_delay = float(parsed.crawl_delay("*") or 0.0)
    rate = parsed.request_rate("*")
    return max(crawl_delay, rate.seconds / rate.requests if rate and rate.requests else 0.0)


def robots_text(body: bytes, codings: Sequence[bytes] = ()) -> tuple[str, str | None]:
    r"""What a robots.txt says, whole lines of its first 500 KiB; and why it cannot be read, where it cannot.

    UTF-8, or what a byte order mark says; of the mark some servers send a part. Null bytes (UTF-16 without mark, for
    one) are left out.

    >>> robots_text(b"\xef\xbb\xbfUser-agent: *\n")
    ('User-agent: *\n', None)
    >>> robots_text(b"\xff\xfe" + "Disallow: /".encode("utf-16-le"))[0]
    'Disallow: /'
    """
    data, problem = unpacked(body, codings, MAX_BYTES)
    if problem and len(data) < MAX_BYTES:
        return "", problem
    data, more = unpack(data, MAX_BYTES)  # a packed file, said to be none
    whole = not problem and not more
    encoding, mark = read_bom(data)
    text = data[len(mark or _part_of_mark(data)) :].decode(encoding or "utf-8", "replace").replace("\0", "")
    return text if whole else text[: max(text.rfind("\n"), text.rfind("\r")) + 1], None


def _part_of_mark(data: bytes) -> bytes:
    """The first bytes of UTF-8's byte order mark, where its end is missing."""
    return next((part for part in (b"\xef\xbb", b"\xef") if data.startswith(part)), b"")


ALLOW_ALL = ""
DISALLOW_ALL = "User-agent: *\nDisallow: /"


def rules_text(outcome: Outcome) -> str:
    """What a finished fetch of robots.txt comes to (RFC 9309, 2.3.1): its text, or all allowed, or nothing.

    2xx: the text. 4xx, or more redirects than are followed: everything is allowed. 5xx or no answer: nothing is.
    """
    if outcome.result is Result.OK:
        return outcome.robots or ALLOW_ALL
    return DISALLOW_ALL if outcome.result is Result.FAILED else ALLOW_ALL


def leads_on(outcome: Outcome, hops: int) -> bool:
    """Whether the rules are to be read elsewhere, after so many redirects."""
    return outcome.result is Result.REDIRECTED and bool(outcome.location) and hops < MAX_REDIRECTS


def missing(outcome: Outcome) -> str:
    """Why there are no rules to obey, so that nothing may be fetched; empty: there are, or all may."""
    if outcome.result is not Result.FAILED:
        return ""
    return f"could not be had ({outcome.error or f'status {outcome.status}'})"
