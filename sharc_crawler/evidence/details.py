"""What can be said of single pages only when all are known: blur, what they embed, redirects to what was captured."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.evidence.blurring import Blur
from sharc_crawler.evidence.figures import payload_of
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from sharc_crawler.evidence.facts import PageFacts
    from sharc_crawler.evidence.figures import Figures
    from sharc_crawler.model import Kind, Url, Verdict

BATCH = 1024  #: pages that are looked at together


class Detail(NamedTuple):
    """What a page has beside its facts."""

    complete: Verdict | None  #: with everything it embeds counted in
    stochastic_blur: float | None
    actual_blur: float | None
    moved: bool  #: not captured, and redirects to what was: nothing is missing


class Details:
    """A second walk over the pages of a capture, and what it brought; :meth:`walk` is one more, page by page."""

    def __init__(self, pages: Iterable[PageFacts], figures: Figures) -> None:
        self._pages = pages
        self._figures = figures
        self.blur = Blur(figures.observed, figures.whole.expected.swings.group)
        self.complete: Counter[Verdict] = Counter()
        self.alike = ""  #: one of the pages whose payload is the commonest
        self._moved = self._look()
        self.missing = figures.missing.copy()  #: kinds and reasons of what was not captured, but for redirects
        self.redirects: Counter[Kind] = Counter()  #: to what was captured
        for url in self._moved:
            kind, reason, _ = figures.redirects[url]
            self.missing[kind, reason] -= 1
            self.redirects[kind] += 1
        self.missing = +self.missing  # without zeros

    def _look(self) -> Set[Url]:
        payloads = self._figures.payloads
        commonest = max(payloads, key=payloads.__getitem__, default=None)
        targets = {url: target for url, (_, _, target) in self._figures.redirects.items()}
        wanted = {name for target in targets.values() for name in (target, canonical(target))}
        captured: set[str] = set()
        for batch in _batches(self._pages):
            self.blur.add(self.blur.of(batch))
            for page in batch:
                if (complete := self._figures.completeness.of(page)) is not None:
                    self.complete[complete] += 1
                    if not self.alike and payload_of(page) == commonest:
                        self.alike = page.archived_as or page.url
                if page.verdict is not None and page.url in wanted:
                    captured.add(page.url)
        return _moved(targets, captured)

    def walk(self) -> Iterator[tuple[PageFacts, Detail]]:
        """Each URL of the capture with its details."""
        for batch in _batches(self._pages):
            for page, blurs in zip(batch, self.blur.of(batch), strict=True):
                complete, moved = self._figures.completeness.of(page), page.url in self._moved
                yield page, Detail(complete, blurs.stochastic, blurs.actual, moved)


def _batches(pages: Iterable[PageFacts]) -> Iterator[list[PageFacts]]:
    source = iter(pages)
    while batch := list(islice(source, BATCH)):
        yield batch


def _moved(targets: Mapping[Url, str], captured: Set[str]) -> set[Url]:
    """The URLs that redirect to one that was captured, at once or over others.

    >>> sorted(_moved({"http://h/a": "http://h/b#top", "http://h/b": "http://h/c"}, {"http://h/c"}))
    ['http://h/a', 'http://h/b']
    """
    by_target: dict[str, list[Url]] = defaultdict(list)
    for url, target in targets.items():
        for name in {target, canonical(target) or target}:
            by_target[name].append(url)
    found: set[Url] = set()
    waiting = list(captured)
    while waiting:
        for url in by_target.get(waiting.pop(), ()):
            if url not in found:
                found.add(url)
                waiting.append(url)
    return found
