"""An audit by bytes of pages that are claimed on the server's word: which to download again, and what it supports.

Trust is about how a class of pages is made, so each class (*stratum*) has a sample of its own, drawn blindly within it:
a page whose lastmod lies looks cold, and a sample of the hot ones would miss it. Where a lie is found, no page of its
stratum is claimed on the server's word. What the others' samples bound is exact: hypergeometric, over all of them;
where the server can watch the sample being drawn, page by page, it is what a fair bet shows, whatever the server does.
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
LEAST = 5  #: pages audited of a stratum, where there are as many
#: the same, of strata that never owned up to a change and of others; the first that is no more than MOST of the pages,
#: but of the former an eighth, or LEAST
LEASTS = ((LEAST, LEAST), (LEAST, 4), (LEAST, 3), (LEAST, 2), (LEAST, 1), (3, 1), (2, 1), (1, 1))
MOST = 0.09
OWN = 40, 40, 40  #: pages from which on a kind of URLs has a stratum of its own, coarse to fine: an eighth is LEAST
SMALL = 12, 12, 40  #: the same, where strata may have as few as one page audited
_WORD = re.compile(r"[^\W\d_]+")
_ROUNDED = 1e-12
MOST_UNSHOWN = 1_000  #: pages of a stratum that the bound counts one by one
STOPS = 0.25  #: the less, the more a page unshown costs, and the less a stratum caught
ESCAPES = 0.25  #: where a server watches: lies that are drawn, of those that should be, if some are unshown
ASIDE = 0.125  #: staked on that, and on some strata alone
LASTMODS, CONDITIONALS = "lastmod", "304"  #: what an audit, or a stratum of it, is of


class Stratum(NamedTuple):
    """Pages whose server's word is trusted, or not, as one."""

    claimed: int  #: claimed on the server's word
    confirmed: int  #: drawn, and shown by bytes to have been as claimed
    unshown: int = 0  #: drawn, and neither shown to have been so nor a lie
    withdrawn: int = 0  #: could have been drawn, and was not; not claimed any more
    chance: float = 0.0  #: with which each page was drawn, where the server watches


class Sampled(NamedTuple):
    """What the samples of all strata found: the input of :func:`bound`.

    ``watched``: each page is drawn by its own lot once its server has given its word, so the server learns which are
    audited as it goes. Else so many of each stratum are, when all words are given.
    """

    kept: list[Stratum]
    caught: int = 0  #: strata in which a drawn page was a lie: no page of them is claimed
    watched: bool = False


def row(of: str, label: str, claimed: Counter[str], shown: Counter[str], lies: Counter[str]) -> dict[str, Any]:
    """A stratum, as a report tells it."""
    numbers = {"claimed": claimed[label], "confirmed": shown[label], "caught": lies[label]}
    return {"of": of, "label": label, **numbers}


def strata(
    urls: Mapping[int, str], own: tuple[int, int, int] = OWN, classes: Iterable[str] | None = None
) -> dict[int, str]:
    """The stratum of each page: the finest kind of URLs that ``own`` of them are of. ``classes``: theirs, if known.

    Kinds, from coarse to fine: first folder and extension; with the depth of the path and the names of the parameters;
    with how the last part begins (``category-sports``). Kinds of fewer pages share the stratum of what they are kinds
    of, or one (``""``) among themselves.

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
            if count >= size and (not label or rest >= size):  # what remains is large enough to be one, too
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
    """How many pages are claimed of kinds of which the audit confirmed none: kinds may share a stratum, and its sample.

    >>> kinds = {0: "/a/*", 1: "/a/*", 2: "/b/*"}
    >>> unaudited({1, 2}, {0}, kinds.get)
    1
    """
    seen = {kind(page) for page in shown}
    return sum(kind(page) not in seen for page in claimed)


def sample(labels: Mapping[int, str], share: float, seed: int | str, fit: Container[int] | None = None) -> set[int]:
    """The pages to download once more, of those that ``fit``: of each stratum that share, :data:`LEAST` at least.

    Always the same.

    >>> labels = {n: "/a/*" if n < 90 else "" for n in range(100)}
    >>> drawn = sample(labels, 0.1, seed=1)
    >>> len(drawn), sum(n < 90 for n in drawn), sample(labels, 0.0, seed=1)
    (14, 9, set())
    """
    groups: dict[str, list[bytes]] = defaultdict(list)
    for page, label in labels.items():
        groups[label].append(_lot(page, seed) + page.to_bytes(8))  # a million texts are sorted sooner than pairs
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
    """Of the pages drawn, ``most`` at most, from each stratum in proportion, with :data:`LEASTS`; always the same.

    ``honest``: the strata that have owned up to changes; ``room``: for so many pages the least of each may be greater.
    A stratum of no more than that ``share`` of the pages adds no more to the bound, audited or not: an eighth of it
    is enough.

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
    """The pages to download once more, each drawn by its own lot; and the chance of each stratum's.

    That share of a stratum is expected, :data:`LEAST` at least. ``known``: chances that it had before.

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
    """With 95 % confidence no more pages are wrongly claimed, of the strata that are kept, in all samples together.

    Believed are as many wrong pages as are drawn so seldom, or more seldom, with a probability of 5 % or more. What a
    drawn page does not show, it may hide: each that is ``unshown`` may be a wrong one. Of a stratum with too many of
    these all may be wrong. Where strata were ``caught``, or pages unshown, that is one of several outcomes, and a share
    of the 5 % is its own. So the bound holds whatever the server does.

    >>> bound(Sampled([Stratum(claimed=96, confirmed=4)])), bound(Sampled([Stratum(0, 50)]))
    (51, 0)
    >>> two = [Stratum(46, 4), Stratum(56, 4)]
    >>> bound(Sampled(two)), bound(Sampled(two, caught=1))
    (33, 45)
    >>> [bound(Sampled([Stratum(450, 50 - unshown, unshown)])) for unshown in (0, 1, 5, 17)]
    [27, 57, 114, 450]
    >>> [bound(Sampled([Stratum(450, 50, unshown, chance=0.1)], watched=True)) for unshown in (0, 1, 5)]
    [30, 82, 151]
    """
    parts = [(_bounded_watched if one.watched else _bounded)(one) for one in samples]
    unbounded = sum(one.claimed for sampled in samples for one in sampled.kept)
    unbounded -= sum(one.claimed for found, _, _ in parts for one in found)
    threshold = math.log(1 - confidence) + sum(share for _, share, _ in parts) - _ROUNDED
    steps = [steps(one, threshold) for found, _, steps in parts for one in found if one.claimed]
    return unbounded + (_undetected(steps, threshold) if steps else 0)


Steps = Callable[[Stratum, float], "NDArray[np.float64]"]


def _bounded(sampled: Sampled) -> tuple[list[Stratum], float, Steps]:
    """The strata whose wrong pages are bounded; the share of their outcome; what each wrong page makes less likely."""
    drawn = [one for one in sampled.kept if one.confirmed or one.unshown]
    found = [one for one in drawn if one.unshown <= min(one.confirmed / 3, MOST_UNSHOWN)]
    unshown = sum(one.unshown for one in found)
    return found, _share(len(found), sampled.caught + len(drawn) - len(found), unshown), _steps


def _share(found: int, caught: int, unshown: int) -> float:
    """The logarithm of that share of the 5 % which the outcomes with as many strata caught, and pages unshown, have.

    Of outcomes that exceed their bound the least (of which none holds another) have shares of no more than one
    together. That is so of the chances that a walk drawn by lot passes an outcome, since it passes at most one of
    these: it catches stratum after stratum, stops before each with the chance STOPS, and then leaves page after page of
    the others unshown. Such walks can pass all outcomes of as many pages equally often (LYM inequality: these are a
    product of chains).
    """
    outcomes = math.comb(found + caught, caught) / (1 - STOPS) ** caught
    if unshown:
        outcomes *= math.comb(found + unshown - 1, unshown) / STOPS
    return -math.log(outcomes)


def _bounded_watched(sampled: Sampled) -> tuple[list[Stratum], float, Steps]:
    """The same, where a server sees each audit before it gives its next word, and may choose by that when to lie.

    A bet on each lie: the stakes grow by 1 / (1 - chance) where it is not drawn, and are lost where it is. Whatever the
    server does, they are no more than at the beginning, on average, so they grow twentyfold in 5 % of captures at most
    (Ville's inequality). Most is staked so. A part, ASIDE, is staked on lies that are drawn as much more seldom than
    they should be (ESCAPES; it keeps that share of itself with each); and of each part some on other strata alone.
    """
    found = [one for one in sampled.kept if one.chance and one.unshown <= one.confirmed / 3]
    unshown = sum(one.unshown for one in found)
    given_up = sampled.caught + len(sampled.kept) - len(found)
    escapes = ESCAPES if unshown else 0.0
    share = math.log(ASIDE) + unshown * math.log(ESCAPES) if unshown else math.log(1 - ASIDE)
    apart = ASIDE / max(1, len(sampled.kept) + sampled.caught)
    share += given_up * math.log(apart) + len(found) * math.log(1 - apart)
    return found, share, partial(_steps_watched, escapes)


def _steps_watched(escapes: float, stratum: Stratum, threshold: float) -> NDArray[np.float64]:
    """By how much each further wrong page lowers the log of the stakes' inverse."""
    grow = math.log((1 - escapes * stratum.chance) / (1 - stratum.chance)) if stratum.chance < 1 else math.inf
    return np.full(min(stratum.claimed, 1 + int(-threshold / grow)), -grow)


def _undetected(steps: Sequence[NDArray[np.float64]], threshold: float) -> int:
    """The most wrong pages of which, with that logarithm of a probability at least, no more are drawn than is unshown.

    Each further wrong page of a stratum makes that less likely than the one before, so the cheapest are taken first.
    """
    cheapest = np.sort(np.concatenate(steps))[::-1]
    return int(np.searchsorted(-np.cumsum(cheapest), -threshold, side="right"))


def _steps(stratum: Stratum, threshold: float) -> NDArray[np.float64]:
    """By how much each further wrong page lowers the log of the chance that so few were drawn; as far as needed."""
    most = min(1_000, stratum.claimed)
    while (chances := _chances(stratum, most))[-1] > threshold and most < stratum.claimed:
        most = min(4 * most, stratum.claimed)
    return np.diff(chances)


def _chances(stratum: Stratum, most: int) -> NDArray[np.float64]:
    """The log of the chance that no more wrong pages were drawn than is unshown, where 0 to ``most`` are wrong."""
    drawn = stratum.confirmed + stratum.unshown
    wrong = np.arange(most + 1, dtype=np.float64)
    right = stratum.claimed + stratum.withdrawn - wrong  # of those that were not drawn, if no wrong one was
    chance = np.concatenate(([0.0], np.cumsum(np.log(right[:-1] / (right[:-1] + drawn)))))
    chances = chance.copy()
    with np.errstate(divide="ignore"):  # of one wrong page no two are drawn
        for number in range(1, stratum.unshown + 1):
            ways = np.maximum(wrong - number + 1, 0) * (drawn - number + 1)
            chance += np.log(ways / (number * (right + number)))
            np.logaddexp(chances, chance, out=chances)
    return chances
