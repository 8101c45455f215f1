"""| Which pages need a browser (``browser=auto``): a few of each class of URLs are compared with and without. Pure."""

from __future__ import annotations

import json

from sharc_crawler.evidence.judgement import class_of

SAMPLE = 3  #: equal pages of a class, after which its others are taken to be equal, too


class ShownClasses:
    """Classes of URLs (host, first folder, extension), and whether a browser changes their pages.

    >>> classes = ShownClasses()
    >>> for number in range(SAMPLE): classes.learned(f"http://h/blog/{number}", differs=False)
    >>> classes.learned("http://h/app/1", differs=True)
    >>> [classes.wants(url) for url in ("http://h/blog/9", "http://h/app/9", "http://h/new/9")]
    [False, True, True]
    >>> classes.note()
    'shown by a browser: /app/*; the same without: /blog/*'
    >>> ShownClasses(classes.kept()).note() == classes.note()
    True
    """

    def __init__(self, kept: str = "") -> None:
        self._same: dict[tuple[str, str], set[str]] = {}  # pages that did not differ, up to the number that is needed
        self._differ: set[tuple[str, str]] = set()
        for host, path, urls in json.loads(kept or "[]"):
            if urls is None:
                self._differ.add((host, path))
            else:
                self._same[host, path] = set(urls)

    def wants(self, url: str) -> bool:
        """Is a page with this URL to be shown?"""
        own = class_of(url)
        return own in self._differ or len(self._same.get(own, ())) < SAMPLE

    def learned(self, url: str, *, differs: bool) -> None:
        """Record a comparison; a page with scripts and nothing else counts as different."""
        if differs:
            self._differ.add(class_of(url))
        elif len(same := self._same.setdefault(class_of(url), set())) < SAMPLE:
            same.add(url)  # after a kill a page may be shown again

    def kept(self) -> str:
        """The state, as JSON."""
        differ = [[*own, None] for own in sorted(self._differ)]
        return json.dumps([*differ, *([*own, sorted(urls)] for own, urls in self._same.items())])

    def note(self) -> str:
        """What is known by now, in words; "": nothing."""
        plain = {own for own, urls in self._same.items() if len(urls) >= SAMPLE} - self._differ
        parts = [
            f"{what}: {', '.join(sorted({path for _, path in found}))}"
            for what, found in (("shown by a browser", self._differ), ("the same without", plain))
            if found
        ]
        return "; ".join(parts)
