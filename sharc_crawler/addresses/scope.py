"""Which URLs belong to a site capture, and which are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern
from typing import Literal, get_args

from sharc_crawler.addresses.known_urls import UNSEEN, SeenUrls
from sharc_crawler.addresses.urls import host_of, require
from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.plural import counted

ScopeKind = Literal["host", "domain", "prefix"]


@dataclass(frozen=True, slots=True)
class TrapLimits:
    """Bounds that hardly any real page exceeds, but endless ones do."""

    length: int = 2_083  #: characters of a URL, the longest that all browsers took
    depth: int = 20  #: path segments
    repeats: int = 3  #: occurrences of one path segment


DEFAULT_LIMITS = TrapLimits()
MOST_FOLDERS = 10_000  #: open folders remembered


def trap(url: str, limits: TrapLimits = DEFAULT_LIMITS) -> str | None:
    """Return why a canonical URL looks like one of endlessly many, else ``None``.

    >>> trap("http://h/a/b/a/b/a/b/a/b/")
    'a path segment occurs 4 times (limit 3)'
    """
    if len(url) > limits.length:
        return f"{counted(len(url), 'character')} (limit {limits.length})"
    segments = url.partition("?")[0].split("/")[3:]
    if len(segments) <= limits.repeats:
        return None
    if len(segments) > limits.depth:
        return f"path of {counted(len(segments), 'segment')} (limit {limits.depth})"
    if len(set(segments)) == len(segments):
        return None
    often = max(Counter(filter(None, segments)).values(), default=0)
    return f"a path segment occurs {often} times (limit {limits.repeats})" if often > limits.repeats else None


class Scope:
    """The URLs of a site, given its seeds (all methods take canonical URLs).

    ``host``: the seeds' hosts, port included; ``www.`` in front makes no difference, nor does http or https.
    ``domain``: all hosts under the seeds' registrable domains (by the public suffix list that is installed, never
    fetched; hosts of private suffixes such as ``github.io`` are sites of their own).
    ``prefix``: the seeds' hosts, below each seed's last ``/``.

    ``include`` keeps only URLs that match one of its patterns; ``exclude`` drops those that match one of its own. A
    seed is admitted unless excluded.

    >>> scope = Scope(["http://www.example.org/"], exclude=["print="])
    >>> scope.why_not("https://example.org/a"), scope.why_not("http://example.org/a?print=1")
    (None, "excluded by 'print='")
    """

    def __init__(
        self,
        seeds: Iterable[str],
        kind: ScopeKind = "host",
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        limits: TrapLimits = DEFAULT_LIMITS,
    ) -> None:
        if kind not in get_args(ScopeKind):
            raise unknown_name("scope", kind, get_args(ScopeKind))
        self.kind = kind
        self.seeds = frozenset(require(seed) for seed in seeds)
        self._include = [_compiled("include", text) for text in include]
        self._exclude = [_compiled("exclude", text) for text in exclude]
        self._limits = limits
        self._hosts = frozenset(_site_of(host_of(seed), kind) for seed in self.seeds)
        self._prefixes = tuple(_below(seed) for seed in self.seeds)
        self._all = not (self._include or self._exclude)
        self._open: set[str] = set()  # folders whose direct URLs are all in scope

    def widened(self, seed: str) -> Scope:
        """Return this scope with one more seed."""
        scope = copy(self)
        scope.seeds = self.seeds | {require(seed)}
        scope._hosts = self._hosts | {_site_of(host_of(require(seed)), self.kind)}
        scope._open = set()
        scope._prefixes = (*self._prefixes, _below(require(seed)))
        return scope

    def why_not(self, url: str) -> str | None:
        """Return why the URL is not of the site, in one phrase, else ``None``."""
        folder = url[: url.rfind("/", 8) + 1]  # after the scheme
        if folder in self._open and len(url) <= self._limits.length:
            return None
        why, parts = self.why_not_anew(url), folder.split("/")
        roomy = len(parts) <= self._limits.depth + 3 and max(Counter(parts).values()) < self._limits.repeats
        if why is None and roomy and folder and self._all and "?" not in folder and len(self._open) < MOST_FOLDERS:
            self._open.add(folder)
        return why

    def outside(self, urls: Collection[str]) -> dict[str, str]:
        """Return those URLs that are not of the site, each with the reason."""
        folders = {url[: url.rfind("/", 8) + 1] for url in urls}
        known = folders <= self._open and max(map(len, urls), default=0) <= self._limits.length
        return {url: why for url in (() if known else urls) if (why := self.why_not(url))}

    def why_not_anew(self, url: str) -> str | None:
        """Do the work of :meth:`why_not` without the memory of open folders."""
        if _site_of(host_of(url), self.kind) not in self._hosts:
            return f"another {'domain' if self.kind == 'domain' else 'host'}"
        if self.kind == "prefix" and not _without_scheme(url).startswith(self._prefixes):
            return "outside the prefix"
        for pattern in self._exclude:
            if pattern.search(url):
                return f"excluded by '{pattern.pattern}'"
        if url in self.seeds:
            return None
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return "matches no include pattern"
        return trap(url, self._limits)


def site_of(url: str, kind: ScopeKind) -> str:
    """Return the name of the site that a seed spans: seeds of the same name are captured together.

    >>> site_of("https://www.example.org/a/b.html", "host"), site_of("https://www.example.org/a/b.html", "prefix")
    ('example.org', 'example.org/a/')
    """
    seed = require(url)
    return _below(seed) if kind == "prefix" else _site_of(host_of(seed), kind)


def _compiled(setting: str, text: str) -> Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise UsageError(f"{setting}={text!r} is not a regular expression: {error}") from error


@lru_cache(maxsize=65_536)
def _site_of(host: str, kind: ScopeKind) -> str:
    """Return what all hosts of one site have in common."""
    if kind != "domain":
        return host.removeprefix("www.")
    from sharc_crawler.addresses.domains import domain_of  # it loads the public suffix list

    return domain_of(host)


def _without_scheme(url: str) -> str:
    """Return host (without ``www.``), path and query."""
    return url.partition("://")[2].removeprefix("www.")


def _below(seed: str) -> str:
    """Return a seed up to the last ``/`` of its path."""
    return _without_scheme(seed).partition("?")[0].rpartition("/")[0] + "/"


MOST_LISTED = 20_000  #: URLs listed per capture; further ones are only counted
_FEW = 16  #: initial size: many sites leave out few URLs


class LeftOut:
    """URLs left out: counted by reason, and listed once each, up to a limit.

    Listed URLs are remembered by hash, in about 20 bytes each.

    >>> left = LeftOut(most=1)
    >>> left.add("http://a/", "scope"), left.add("http://a/", "scope"), left.add("http://b/", "scope")
    (True, False, False)
    >>> left.reasons["scope"]
    3
    """

    def __init__(self, most: int = MOST_LISTED) -> None:
        self.reasons: Counter[str] = Counter()  #: reason → number of sightings
        self._most = most
        self._listed = SeenUrls(_FEW)

    def add(self, url: str, reason: str) -> bool:
        """Count a URL; should it be listed (new, and within the limit)?"""
        self.reasons[reason] += 1
        return len(self._listed) < self._most and self._listed.add(url, 0) == UNSEEN

    def was_listed(self, url: str) -> None:
        """Remember a URL that a former process listed."""
        self._listed.add(url, 0)

    def restore(self, reasons: Mapping[str, int]) -> None:
        """Set the counts of former processes."""
        self.reasons = Counter(reasons)
