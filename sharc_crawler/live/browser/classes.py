"""Which pages need a browser (``browser=auto``): a few of each class of URLs are looked at both ways. Pure."""

from __future__ import annotations

from collections import Counter

from sharc_crawler.evidence.restless import class_of

SAMPLE = 3  #: pages of a class that are the same without a browser, before its others are believed to be


class ShownClasses:
    """Classes of URLs (host, first folder, extension): what a browser makes of their pages.

    >>> classes = ShownClasses()
    >>> for number in range(SAMPLE): classes.learned(f"http://h/blog/{number}", differs=False)
    >>> classes.learned("http://h/app/1", differs=True)
    >>> [classes.wants(url) for url in ("http://h/blog/9", "http://h/app/9", "http://h/new/9")]
    [False, True, True]
    >>> classes.note()
    'shown by a browser: /app/*; the same without: /blog/*'
    """

    def __init__(self) -> None:
        self._same: Counter[tuple[str, str]] = Counter()  # pages
        self._differ: set[tuple[str, str]] = set()

    def wants(self, url: str) -> bool:
        """Is a page of this URL to be shown?"""
        own = class_of(url)
        return own in self._differ or self._same[own] < SAMPLE

    def learned(self, url: str, *, differs: bool) -> None:
        """A page was shown; one that has scripts and nothing to show was never the same."""
        if differs:
            self._differ.add(class_of(url))
        else:
            self._same[class_of(url)] += 1

    def note(self) -> str:
        """What is known by now; empty: nothing."""
        plain = {own for own, number in self._same.items() if number >= SAMPLE} - self._differ
        said = [
            f"{what}: {', '.join(sorted({path for _, path in found}))}"
            for what, found in (("shown by a browser", self._differ), ("the same without", plain))
            if found
        ]
        return "; ".join(said)
