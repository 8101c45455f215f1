"""Audits by bytes of pages claimed on the server's word: which pages to download again, and the resulting bound.

Trust depends on how a class of pages is made, so each class (*stratum*) has its own sample, drawn blindly: a page whose
lastmod lies looks cold, and a sample of hot pages would miss it. If a lie is found, no page of its stratum is claimed
on the server's word. For the other strata the bound is exact: hypergeometric, over all of them together. If the server
can watch the draw, page by page, the bound is that of a fair bet, whatever the server does.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.addresses.urls import url_class

CONFIDENCE = 0.95
LEAST = 5  #: minimum of audited pages per stratum
#: minima for strata whose lastmods never changed, and for others: the first pair that needs at most MOST of the pages
#: is taken; of the former strata at least an eighth, up to LEAST
LEASTS = ((LEAST, LEAST), (LEAST, 4), (LEAST, 3), (LEAST, 2), (LEAST, 1), (3, 1), (2, 1), (1, 1))
MOST = 0.09
OWN = 40, 40, 40  #: minimum of pages for a stratum of its own, from coarse to fine kinds of URLs
SMALL = 12, 12, 40  #: the same, if strata may have as few as one audited page
_WORD = re.compile(r"[^\W\d_]+")
_ROUNDED = 1e-12
MOST_UNSHOWN = 1_000  #: unshown pages of a stratum that the bound counts one by one
STOPS = 0.25  #: the smaller, the more an unshown page costs, and the less a caught stratum
ESCAPES = 0.25  #: if the server watches and pages are unshown: assumed share of due lies that are drawn
ASIDE = 0.125  #: share staked on that, and on single strata
LASTMODS, CONDITIONALS = "lastmod", "304"  #: subjects of audits and strata


class Stratum(NamedTuple):
    """Pages for which the server's word is trusted or not as a whole."""

    claimed: int  #: claimed on the server's word
    confirmed: int  #: drawn, and shown by bytes to be as claimed
    unshown: int = 0  #: drawn, but neither confirmed nor a lie
    withdrawn: int = 0  #: not drawn, though possible, and no longer claimed
    chance: float = 0.0  #: probability that each page was drawn, if the server watches


class Sampled(NamedTuple):
    """The samples of all strata: the input of :func:`bound`.

    ``watched``: each page is drawn by its own lot after the server's answer, so the server learns which pages are
    audited. Else a number of each stratum is drawn after all answers.
    """

    kept: list[Stratum]
    caught: int = 0  #: strata with a lie among drawn pages: no page of them is claimed
    watched: bool = False


def row(of: str, label: str, claimed: Counter[str], shown: Counter[str], lies: Counter[str]) -> dict[str, Any]:
    """Return a stratum as in the report."""
    numbers = {"claimed": claimed[label], "confirmed": shown[label], "caught": lies[label]}
    return {"of": of, "label": label, **numbers}


def strata(
    urls: Mapping[int, str], own: tuple[int, int, int] = OWN, classes: Iterable[str] | None = None
) -> dict[int, str]:
    """Return each page's stratum: the finest kind of URLs with at least ``own`` pages. ``classes``: theirs, if known.

    Kinds, from coarse to fine: first folder and extension; with the depth of the path and the names of the parameters;
    with the beginning of the last segment (``category-sports``). Smaller kinds share the stratum of their coarser kind,
    or the stratum ``""``.

    >>> urls = {n: f"http://h/{'news' if n % 3 else 'list'}-{n}" for n in range(9)}
    >>> [sorted(set(strata(urls, (own,) * 3).values())) for own in (3, 9, 10)]
    [['/*', '/* 1 list-'], ['/*'], ['']]
    """
    coarse = map(url_class, urls.values()) if classes is None else classes
    same: dict[str, str] = {}  # one object for all pages of a kind
    levels: tuple[list[str], ...] = ([], [], [])
    for found in map(_kinds, urls.values(), coarse):
        for level, kind in zip(levels, found, strict=True):
            level.append(same.setdefault(kind, kind))
    labels = [""] * len(urls)
    for size, kinds in zip(own, levels, strict=True):
        left, own_of = Counter(labels), {}
        for pair, count in sorted(Counter(zip(labels, kinds, strict=True)).items()):
            label, kind = pair
            rest = left[label] - count
            if count >= size and (not label or rest >= size):  # the rest must be large enough, too
                left[label], own_of[pair] = rest, kind
        labels = [own_of.get(pair, pair[0]) for pair in zip(labels, kinds, strict=True)]
    return dict(zip(urls, labels, strict=True))


def _kinds(url: str, coarse: str) -> tuple[str, str, str]:
    path, _, query = url.partition("?")
    path = path.rstrip("/")
    depth = path.count("/") - 2  # those of "http://"
    last = path.rpartition("/")[2] if depth else ""
    names = "&".join(sorted({pair.partition("=")[0] for pair in query.split("&")})) if query else ""
    middle = f"{coarse} {depth}{'?' if names else ''}{names}"
    word = _WORD.match(last)
    begins = f"{word[0]}{last[word.end() : word.end() + 1]}" if word and word.end() < len(last) else "…"
    return coarse, middle, f"{middle} {begins}"


def unaudited(claimed: Iterable[int], shown: Iterable[int], kind: Callable[[int], object]) -> int:
    """Return how many claimed pages are of kinds without a confirmed page: kinds may share a stratum.

    >>> kinds = {0: "/a/*", 1: "/a/*", 2: "/b/*"}
    >>> unaudited({1, 2}, {0}, kinds.get)
    1
    """
    seen = {kind(page) for page in shown}
    return sum(kind(page) not in seen for page in claimed)


def sample(labels: Mapping[int, str], share: float, seed: int | str, fit: Container[int] | None = None) -> set[int]:
    """Draw the pages to download once more: a share of each stratum, at least :data:`LEAST`, from those that ``fit``.

    The same input gives the same pages.

    >>> labels = {n: "/a/*" if n < 90 else "" for n in range(100)}
    >>> drawn = sample(labels, 0.1, seed=1)
    >>> len(drawn), sum(n < 90 for n in drawn), sample(labels, 0.0, seed=1)
    (14, 9, set())
    """
    groups: dict[str, list[bytes]] = defaultdict(list)
    for page, label in labels.items():
        groups[label].append(_lot(page, seed) + page.to_bytes(8))  # sorting bytes is faster than sorting pairs
    drawn: set[int] = set()
    for lots in groups.values():
        size = max(math.ceil(share * len(lots)), LEAST) if share > 0 else 0
        pages = (int.from_bytes(lot[8:]) for lot in sorted(lots))
        drawn.update(islice((page for page in pages if fit is None or page in fit), size))
    return drawn


def fewer(
    labels: Mapping[int, str],
    drawn: Collection[int],
    most: int,
    seed: int | str,
    honest: Collection[str],
    room: int,
    share: float,
) -> set[int]:
    """Keep at most ``most`` drawn pages, in proportion to strata, with the minima :data:`LEASTS`; deterministic.

    ``honest``: strata whose lastmods showed changes; ``room``: larger minima are taken up to so many pages. An eighth
    is enough of a stratum with at most ``share`` of the pages: audited or not, it adds no more to the bound.

    >>> labels = {n: "/a/*" if n < 90 else "/b/*" for n in range(100)}
    >>> [len(fewer(labels, labels, most, 1, ["/a/*"], room=8, share=0.02)) for most in (200, 50, 0)]
    [100, 50, 8]
    >>> len(fewer(labels, labels, 0, 1, ["/a/*"], room=10, share=0.1))  # five and one
    6
    """
    sizes = Counter(labels.values())
    enough = {label: max(1, size // 8) if size <= share * len(labels) else size for label, size in sizes.items()}
    for others, least in LEASTS:
        few = {label: least if label in honest else max(others, min(LEAST, size // 8)) for label, size in sizes.items()}
        kept = _fewer(labels, drawn, most, seed, {label: min(few[label], enough[label]) for label in sizes})
        if len(kept) <= room:
            break
    return kept


def _fewer(
    labels: Mapping[int, str], drawn: Collection[int], most: int, seed: int | str, least: Mapping[str, int]
) -> set[int]:
    groups: dict[str, list[tuple[bytes, int]]] = defaultdict(list)
    for page in drawn:
        groups[labels[page]].append((_lot(page, seed), page))
    kept: set[int] = set()
    for label, lots in groups.items():
        size = max(len(lots) * most // len(drawn), least[label])
        kept.update(page for _, page in sorted(lots)[:size])
    return kept


def by_lots(
    labels: Mapping[int, str], share: float, seed: int | str, known: Mapping[str, float]
) -> tuple[set[int], dict[str, float]]:
    """Draw pages to download once more, each by its own lot; return them, and the chance by stratum.

    The expected share of a stratum is ``share``, at least :data:`LEAST` pages. ``known``: chances of former draws.

    >>> drawn, chances = by_lots({n: "/a/*" if n < 90 else "" for n in range(100)}, 0.1, 1, {})
    >>> len(drawn), chances
    (13, {'/a/*': 0.1, '': 0.5})
    """
    sizes = Counter(labels.values())
    chances = {label: min(1.0, max(share, LEAST / size)) if share > 0 else 0.0 for label, size in sizes.items()}
    chances |= {label: chance for label, chance in known.items() if label in sizes}
    drawn = {page for page, label in labels.items() if int.from_bytes(_lot(page, seed)) < chances[label] * 2**64}
    return drawn, chances


def _lot(page: int, seed: int | str) -> bytes:
    return hashlib.blake2b(f"{seed} {page}".encode(), digest_size=8).digest()


def bound(*samples: Sampled, confidence: float = CONFIDENCE) -> int:
    """Return the 95 % confidence bound on wrongly claimed pages in the strata kept, over all samples together.

    It is the largest number of wrong pages of which so few, or fewer, are drawn with a probability of at least 5 %.
    Each ``unshown`` page may be wrong; in a stratum with too many of them, all pages may be. If strata were ``caught``,
    or pages unshown, this is one of several outcomes, which share the 5 %. So the bound holds whatever the server does.

    >>> bound(Sampled([Stratum(claimed=96, confirmed=4)])), bound(Sampled([Stratum(0, 50)]))
    (51, 0)
    >>> two = [Stratum(46, 4), Stratum(56, 4)]
    >>> bound(Sampled(two)), bound(Sampled(two, caught=1))
    (33, 45)
    >>> [bound(Sampled([Stratum(450, 50 - unshown, unshown)])) for unshown in (0, 1, 5, 17)]
    [27, 57, 114, 450]
    >>> [bound(Sampled([Stratum(450, 50, unshown, chance=0.1)], watched=True)) for unshown in (0, 1, 5)]
    [30, 82, 151]
    >>> bound(Sampled([Stratum(164, 0, chance=0.03)], watched=True))  # by chance none was drawn
    164
    """
    if not any(stratum.confirmed for sampled in samples for stratum in sampled.kept):
        return sum(stratum.claimed for sampled in samples for stratum in sampled.kept)
    parts = [(_bounded_watched if sampled.watched else _bounded)(sampled) for sampled in samples]
    unbounded = sum(stratum.claimed for sampled in samples for stratum in sampled.kept)
    unbounded -= sum(stratum.claimed for found, _, _ in parts for stratum in found)
    threshold = math.log(1 - confidence) + sum(share for _, share, _ in parts) - _ROUNDED
    steps = [steps(stratum, threshold) for found, _, steps in parts for stratum in found if stratum.claimed]
    return unbounded + (_undetected(steps, threshold) if steps else 0)


Steps = Callable[[Stratum, float], "NDArray[np.float64]"]


def _bounded(sampled: Sampled) -> tuple[list[Stratum], float, Steps]:
    """Return the strata to bound, the log of the outcome's share of 5 %, and a function of the steps per wrong page."""
    drawn = [kept for kept in sampled.kept if kept.confirmed or kept.unshown]
    found = [kept for kept in drawn if kept.unshown <= min(kept.confirmed / 3, MOST_UNSHOWN)]
    unshown = sum(kept.unshown for kept in found)
    return found, _share(len(found), sampled.caught + len(drawn) - len(found), unshown), _steps


def _share(found: int, caught: int, unshown: int) -> float:
    """Return the log of the share of the 5 % that an outcome gets, by its caught strata and unshown pages.

    The minimal outcomes that exceed their bound (none contains another) must have shares that sum to at most one. This
    holds if a share is the probability that a random walk passes the outcome, since a walk passes at most one of them.
    The walk catches stratum after stratum, stops before each with probability STOPS, and then leaves page after page of
    the others unshown. It can pass all outcomes with the same number of pages equally often (LYM inequality for a
    product of chains).
    """
    outcomes = math.comb(found + caught, caught) / (1 - STOPS) ** caught
    if unshown:
        outcomes *= math.comb(found + unshown - 1, unshown) / STOPS
    return -math.log(outcomes)


def _bounded_watched(sampled: Sampled) -> tuple[list[Stratum], float, Steps]:
    """Do the same if the server sees each audit before its next answer, and may choose accordingly when to lie.

    Each lie is a bet: the stake grows by 1 / (1 - chance) if it is not drawn, and is lost if it is. Whatever the server
    does, the expected stake never grows, so it grows twentyfold in at most 5 % of captures (Ville's inequality). Most
    is staked so. A part, ASIDE, is staked on lies being drawn less often than they should (ESCAPES: it keeps that share
    of itself with each), and a part of each on single strata.
    """
    found = [kept for kept in sampled.kept if kept.chance and kept.unshown <= kept.confirmed / 3]
    unshown = sum(kept.unshown for kept in found)
    given_up = sampled.caught + len(sampled.kept) - len(found)
    escapes = ESCAPES if unshown else 0.0
    share = math.log(ASIDE) + unshown * math.log(ESCAPES) if unshown else math.log(1 - ASIDE)
    apart = ASIDE / max(1, len(sampled.kept) + sampled.caught)
    share += given_up * math.log(apart) + len(found) * math.log(1 - apart)
    return found, share, partial(_steps_watched, escapes)


def _steps_watched(escapes: float, stratum: Stratum, threshold: float) -> NDArray[np.float64]:
    """Return by how much each further wrong page lowers the log of the stake's inverse."""
    grow = math.log((1 - escapes * stratum.chance) / (1 - stratum.chance)) if stratum.chance < 1 else math.inf
    return np.full(min(stratum.claimed, 1 + int(-threshold / grow)), -grow)


def _undetected(steps: Sequence[NDArray[np.float64]], threshold: float) -> int:
    """Return the largest number of wrong pages that may stay undetected with at least this log probability.

    Each further wrong page of a stratum costs more than the one before, so the cheapest are taken first.
    """
    cheapest = np.sort(np.concatenate(steps))[::-1]
    return int(np.searchsorted(-np.cumsum(cheapest), -threshold, side="right"))


def _steps(stratum: Stratum, threshold: float) -> NDArray[np.float64]:
    """Return by how much each further wrong page lowers the log chance that so few were drawn, as far as needed."""
    most = min(1_000, stratum.claimed)
    while (chances := _chances(stratum, most))[-1] > threshold and most < stratum.claimed:
        most = min(4 * most, stratum.claimed)
    return np.diff(chances)


def _chances(stratum: Stratum, most: int) -> NDArray[np.float64]:
    """Return the log chance that at most ``unshown`` wrong pages were drawn, for 0 to ``most`` wrong pages."""
    drawn = stratum.confirmed + stratum.unshown
    wrong = np.arange(most + 1, dtype=np.float64)
    right = stratum.claimed + stratum.withdrawn - wrong  # right pages not drawn, if no wrong one was drawn
    chance = np.concatenate(([0.0], np.cumsum(np.log(right[:-1] / (right[:-1] + drawn)))))
    chances = chance.copy()
    with np.errstate(divide="ignore"):  # log(0): more drawn than wrong
        for number in range(1, stratum.unshown + 1):
            ways = np.maximum(wrong - number + 1, 0) * (drawn - number + 1)
            chance += np.log(ways / (number * (right + number)))
            np.logaddexp(chances, chance, out=chances)
    return chances
