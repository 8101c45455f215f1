"""Activity in a page's surroundings: pages with the same words in their URLs, found near it, or linked with it.

Pages edited together, or by the same people, change together: surroundings distinguish pages not seen to change yet. A
page's own activity never counts in its surroundings.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+")
_END, _GAP = "\n", "\0"  # in no word
_WORD_OR_END = re.compile(f"{WORD.pattern}|{_END}")
_FACTOR = 0x9E3779B97F4A7C15  # odd, like its powers: no character is lost


def _kinds(letters: str, digits: str) -> NDArray[np.uint8]:
    """Return the class of each byte: a word continues while it stays the same; 0: in no word."""
    kinds = np.zeros(256, np.uint8)
    kinds[list(letters.encode())], kinds[list(digits.encode())] = 1, 2
    return kinds


_PLAIN = _kinds("abcdefghijklmnopqrstuvwxyz", "0123456789")
_APART = np.ones(256, np.uint8)
_APART[[ord(_END), ord(_GAP)]] = 0


def hashed(texts: Sequence[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hashes of all words of all texts, and the number of words of each text.

    >>> words, counts = hashed(["page-1.html", "", "NewPage_1"])
    >>> counts.tolist(), len(set(words.tolist()))
    ([3, 0, 3], 5)
    """
    text = "".join([f"{each}{_END}" for each in texts])
    if text.count(_END) > len(texts):
        text = "".join([each.replace(_END, " ") + _END for each in texts])
    kinds = _PLAIN
    if not text.isascii() or text.lower() != text:  # ends of words need the regular expression
        text, kinds = _GAP.join(_WORD_OR_END.findall(text)), _APART
    read = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    kind = kinds[read]
    begins = np.flatnonzero((kind > 0) & np.diff(kind, prepend=np.uint8(0)).astype(np.bool_))
    counts = np.diff(np.searchsorted(begins, np.flatnonzero(read == ord(_END))), prepend=0)
    if not len(begins):
        return np.zeros(0, np.uint64), counts
    places = np.arange(len(read))
    first = np.zeros(len(read), np.int64)
    first[begins] = begins
    offsets = places - np.maximum.accumulate(first)
    powers = np.cumprod(np.full(int(offsets[kind > 0].max()) + 1, _FACTOR, np.uint64))
    terms = np.where(kind > 0, read * powers[np.minimum(offsets, len(powers) - 1)], np.uint64(0))
    return np.add.reduceat(terms, begins), counts


NEAR = 101  #: window of pages in the order of discovery
WORD_PRIOR = 10.0  #: pages of mean activity added to every word
NEAR_PRIOR = 5.0
BLOCK = 1 << 13  #: pages processed together


def _words_of(urls: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]:
    """Return the number of different words of each URL; the words by number, URL by URL; hashes by number.

    Words of a folder are looked up once.
    """
    cuts = [url.rfind("/", 0, -1) + 1 for url in urls]
    places: dict[str, int] = {}
    folders = np.array([places.setdefault(url[:cut], len(places)) for url, cut in zip(urls, cuts, strict=True)])
    shared, sizes = hashed(list(places))
    own, owns = hashed([url[cut:] for url, cut in zip(urls, cuts, strict=True)])
    known, numbers = np.unique(np.concatenate([shared, own]), return_inverse=True)
    many = sizes[folders]
    starts = np.repeat((np.cumsum(sizes) - sizes)[folders] - (np.cumsum(many) - many), many)
    words = np.concatenate([numbers[starts + np.arange(len(starts))], numbers[len(shared) :]])
    pages = np.concatenate([np.repeat(np.arange(len(urls)), counts) for counts in (many, owns)])
    pairs = np.sort(pages * len(known) + words)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # unique; np.unique takes ten times as long
    counts = np.bincount(pairs // max(len(known), 1), minlength=len(urls))
    return counts.astype(np.int32), (pairs % max(len(known), 1)).astype(np.int32), known


class Surroundings:
    """Relations between a site's pages, and the activity of each page's relatives.

    Parameters
    ----------
    urls:
        in the order of discovery
    links:
        source and target page of every link between them, if known

    Examples
    --------
    >>> site = Surroundings(["/news/1", "/news/2", "/about/us"])
    >>> by_words, by_discovery = site.columns(np.array([1.0, 0.0, 0.0])).T
    >>> bool(by_words[1] > by_words[2])
    True

    """

    def __init__(self, urls: Sequence[str], links: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None) -> None:
        self.size, self.links = len(urls), links
        source, counts, numbered, known = iter(urls), array("i"), array("i"), [np.zeros(0, np.uint64)]
        while some := list(islice(source, BLOCK)):
            many, own, hashes = _words_of(some)
            counts.frombytes(many.tobytes())
            numbered.frombytes(own.tobytes())
            known.append(hashes)
        self._counts, self._word = np.frombuffer(counts, np.int32), np.frombuffer(numbered, np.int32)
        each, numbers = np.unique(np.concatenate(known), return_inverse=True)
        total, at = np.zeros(len(each), np.int64), 0
        for (_, words), hashes in zip(self._blocks(), known[1:], strict=True):
            place = numbers[at : at + len(hashes)].astype(np.int32)
            total[place] += np.bincount(words, minlength=len(hashes))
            words[:] = place[words]
            at += len(hashes)
        self._others = total - 1 + WORD_PRIOR  # other pages with each word
        self._own = self._of_pages(np.reciprocal(self._others))

    @property
    def relations(self) -> int:
        """The number of columns of :meth:`columns`."""
        return 2 if self.links is None else 3

    def columns(self, activity: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log activity of relatives, one column per relation: words, discovery and, if known, links."""
        found = [self._by_words(activity), self._by_discovery(activity)]
        if self.links is not None:
            found.append(self._by_links(activity))
        columns = np.stack(found, axis=1)
        columns += 1e-3
        return np.log(columns, out=columns)

    def place(self) -> NDArray[np.float64]:
        """Return the logarithms of each page's rank of discovery and, if links are known, of its degrees."""
        columns = [np.arange(self.size)]
        if self.links is not None:
            columns += [np.bincount(ends, minlength=self.size) for ends in self.links]
        return np.log1p(np.stack(columns, axis=1))

    def _by_words(self, activity: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean, over a page's words, of the mean activity of other pages with the word."""
        mean, total = activity.mean() if self.size else 0.0, np.zeros(len(self._others))
        for pages, words in self._blocks():
            total += np.bincount(words, np.repeat(activity[pages], self._counts[pages]), len(total))
        values = self._of_pages((total + WORD_PRIOR * mean) / self._others) - activity * self._own
        return np.where(self._counts > 0, values / np.maximum(self._counts, 1), mean)

    def _of_pages(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of a value per word over the words of each page."""
        sums = np.zeros(self.size)
        for pages, words in self._blocks():
            counts = self._counts[pages]
            some = counts > 0
            if some.any():
                sums[pages][some] = np.add.reduceat(values[words], (np.cumsum(counts) - counts)[some])
        return sums

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Yield blocks of pages with their words, to bound memory."""
        ends = np.concatenate([[0], np.cumsum(self._counts, dtype=np.int64)])
        for start in range(0, self.size, BLOCK):
            end = min(start + BLOCK, self.size)
            yield slice(start, end), self._word[ends[start] : ends[end]]

    def _by_discovery(self, activity: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean activity of the pages found just before and after."""
        sums = np.concatenate([np.zeros(1), np.cumsum(activity)])
        place = np.arange(self.size)
        low, high = np.maximum(place - NEAR // 2, 0), np.minimum(place + NEAR // 2 + 1, self.size)
        mean = float(activity.mean()) if self.size else 0.0
        total = np.asarray(sums[high] - sums[low], np.float64) - activity + NEAR_PRIOR * mean
        return total / (high - low - 1 + NEAR_PRIOR)

    def _by_links(self, activity: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the activity of pages linked with each page; pages with many links count less."""
        assert self.links is not None, "called only if links are known"
        source, target = self.links
        degree = np.bincount(source, minlength=self.size) + np.bincount(target, minlength=self.size)
        shared = activity / np.sqrt(1.0 + degree)
        out, back = (np.bincount(a, shared[b], self.size) for a, b in ((source, target), (target, source)))
        return np.asarray(out + back, np.float64)
