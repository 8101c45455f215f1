"""Two versions of a page side by side, as an HTML page of its own."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sharc_crawler import __version__
from sharc_crawler.instants import second
from sharc_crawler.report.html import environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sharc_crawler.archive.fetches import FetchedPage
    from sharc_crawler.changes.difference import Difference, LinePair

CONTEXT = 3  #: lines around a line that differs
VERDICTS = {
    (True, False): "The same bytes",
    (False, False): "The bytes differ; what counts as content is the same",
    (False, True): "What counts as content changed",
}
_Words = list[tuple[bool, str]]  # runs of words: whether they differ, and the words


def page(found: Difference, old: FetchedPage, new: FetchedPage) -> str:
    """The page; everything from outside is escaped by the template."""
    return (
        environment()
        .get_template("difference.html")
        .render(
            generator={"name": "sharc-crawler", "version": __version__},
            url=new.url,
            times=[second(old.time), second(new.time)],
            verdict=verdict(found),
            content=_shown(found.content),
            edits=found.edits,
            ignored=found.ignored,
        )
    )


def verdict(found: Difference) -> str:
    """What came of the comparison, in a few words."""
    return VERDICTS[found.equal_bytes, found.changed]


def _shown(rows: Sequence[LinePair]) -> list[dict[str, Any]]:
    """The lines that differ, each with some around it; of runs of the others only how many they are."""
    near = {i + step for i, row in enumerate(rows) if not row.same for step in range(-CONTEXT, CONTEXT + 1)}
    shown: list[dict[str, Any]] = []
    for hidden, group in groupby(enumerate(rows), key=lambda item: item[0] not in near):
        lines = [row for _, row in group]
        shown += [{"skipped": len(lines)}] if hidden else [{"same": row.same, "sides": _sides(row)} for row in lines]
    return shown


def _sides(row: LinePair) -> tuple[_Words, _Words]:
    """Both sides of a line with the words marked that differ."""
    old, new = (row.old or "").split(), (row.new or "").split()
    sides: tuple[_Words, _Words] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        sides[0].append((tag != "equal", " ".join(old[a:b])))
        sides[1].append((tag != "equal", " ".join(new[c:d])))
    return sides
