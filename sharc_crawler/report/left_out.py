"""What was not followed, in few words: of reasons that differ in places and numbers alone one is told for all."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from sharc_crawler.model import HowMade
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FEW = 3  #: alike that are told one by one
_PLACE = re.compile(r"\d[\d,]* pages? (with something made up in|of) (\S+) had \d[\d,]* contents?")
_PROBE = re.compile(r"(?<=a page that cannot exist )\((http\S+)\)")


def told(skipped: Mapping[str, int]) -> Iterator[HowMade]:
    """A note for each reason why links were not followed, and one for many that are alike; report.json has each.

    >>> why = "looks like a trap: 20 pages of /{}/*/print had 1 content (traps=0 takes them)"
    >>> [str(note) for note in told({why.format(number): 5 for number in range(9)})]
    ['links not followed, looks like a trap: 20 pages of /0/*/print had 1 content, and so in 8 other places (traps=0 ...
    """
    alike = defaultdict(list)
    for why, number in sorted(skipped.items()):
        alike[_PLACE.sub("", why)].append((why, number))
    for reasons in alike.values():
        if len(reasons) > FEW:
            reasons = [_together(reasons)]
        for why, number in reasons:
            yield HowMade(f"links not followed, {why}: named {counted(number, 'time')}")


def _together(reasons: Sequence[tuple[str, int]]) -> tuple[str, int]:
    most = max(reasons, key=lambda one: one[1])[0]
    words = _PLACE.sub(lambda found: f"{found[0]}, and so in {len(reasons) - 1:,} other places", most)
    return words, sum(number for _, number in reasons)


def probed(notes: Sequence[str]) -> list[str]:
    """Notes of a capture; those that differ in which folder was asked for an error page alone are one."""
    alike = defaultdict(list)
    for note in notes:
        alike[_PROBE.sub("", note)].append(note)
    return [note for group in alike.values() for note in (group if len(group) <= FEW else [_of_all(group)])]


def _of_all(notes: Sequence[str]) -> HowMade:
    more = counted(len(notes) - 1, "other folder")
    return HowMade(_PROBE.sub(lambda found: f"({found[1]}, and so in {more})", notes[0]))
