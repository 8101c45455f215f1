"""What could not be read: counted, and named with file and line, while the rest is used."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

NAMED = 10_000  #: problems kept one by one; more are counted


class Problem(NamedTuple):
    """A line (or record) that is not what it should be."""

    file: str
    line: int  #: from 1; of a WARC: the record
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason}"


@dataclass(slots=True)
class Problems:
    """The malformed lines of a reading, and what was well formed but is no capture of a page's content.

    >>> problems = Problems()
    >>> problems.add("a.cdx", 3, "impossible date")
    >>> problems.count, str(problems.named[0])
    (1, 'a.cdx:3: impossible date')
    """

    count: int = 0
    named: list[Problem] = field(default_factory=list)  #: the first of them
    left_out: Counter[str] = field(default_factory=Counter)  #: why → captures
    no_seeds: Counter[str] = field(
        default_factory=Counter
    )  #: why → URLs that are no seeds, as no page is captured there

    def add(self, file: str, line: int, reason: str) -> None:
        """Count a malformed line, and keep where the first ones are."""
        self.count += 1
        if len(self.named) < NAMED:
            self.named.append(Problem(file, line, reason))
