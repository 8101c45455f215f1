"""An HTML page with two versions of a page side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, NamedTuple

from sharc_crawler import __version__
from sharc_crawler.archive.archived_pages import FetchedPage
from sharc_crawler.changes.difference import Difference, LinePair, difference
from sharc_crawler.instants import second
from sharc_crawler.report.html import environment
from sharc_crawler.traps.made_up import made_up

CONTEXT = 3  #: lines shown around a line that differs
VERDICTS = {
    (True, False): "The same bytes",
    (False, False): "The bytes differ; what counts as content is the same",
    (False, True): "What counts as content changed",
}
_Words = list[tuple[bool, str]]  # runs of words: whether they differ, and the words


class DataDifference(NamedTuple):
    """Two versions of a piece of data that a page's scripts fetched."""

    url: str
    found: Difference | None  #: ``None``: there is only one version
    verdict: str
    changed: bool
    before: str = ""  #: the URL of the older version, if it is another one


def of_data(old: Mapping[str, FetchedPage], new: Mapping[str, FetchedPage]) -> list[DataDifference]:
    """Compare the data of two downloads by their URLs; pieces that differ come first.

    URLs that differ only in a made-up part are compared if the match is unambiguous.
    """
    pairs = paired(old, new)
    rows = [_compared(then, now, old[then], new[now]) for then, now in pairs.items()]
    before, after = _alike(old.keys() - pairs.keys()), _alike(new.keys() - set(pairs.values()))
    for asked, others, when in ((before, after, "before"), (after, before, "later")):
        for form, urls in asked.items():
            rows += [_alone(url, when, alike=form in others) for url in urls]
    return sorted(rows, key=lambda row: (not row.changed, row.found is not None and row.found.equal_bytes, row.url))


def paired(old: Iterable[str], new: Iterable[str]) -> dict[str, str]:
    """Which data of two downloads to compare: old URL → new URL.

    >>> paired(["http://h/a?_=1764166000123", "/b", "/c"], ["http://h/a?_=1764169999123", "/b", "/d"])
    {'/b': '/b', 'http://h/a?_=1764166000123': 'http://h/a?_=1764169999123'}
    """
    earlier, later = set(old), set(new)
    before, after = _alike(earlier - later), _alike(later - earlier)
    told = [form for form in before.keys() & after.keys() if len(before[form]) == len(after[form]) == 1]
    return {url: url for url in earlier & later} | {before[form][0]: after[form][0] for form in told}


def _alone(url: str, when: str, *, alike: bool) -> DataDifference:
    why = "; not compared: more than one address is like it" if alike else ""
    return DataDifference(url, None, f"Asked for {when} only{why}", changed=False)


def _alike(urls: Iterable[str]) -> dict[str, list[str]]:
    """Group URLs by what is left of them without made-up parts."""
    found: dict[str, list[str]] = {}
    for url in sorted(urls):
        form = url
        while parts := made_up(form):
            form = parts[0].rest
        found.setdefault(form, []).append(url)
    return found


def _compared(then: str, now: str, old: FetchedPage, new: FetchedPage) -> DataDifference:
    found = difference(old.body, new.body, new.media_type)
    said, changed = VERDICTS[found.equal_bytes, found.changed], found.changed
    if old.status != new.status:
        said, changed = f"Answered with status {old.status}, then {new.status}", True
    return DataDifference(now, found, said, changed, then if then != now else "")


def page(found: Difference, old: FetchedPage, new: FetchedPage, data: Sequence[DataDifference] = ()) -> str:
    """The page; everything from outside is escaped by the template."""
    return (
        environment()
        .get_template("difference.html")
        .render(
            generator={"name": "sharc-crawler", "version": __version__},
            url=new.url,
            times=[second(old.time), second(new.time)],
            verdict=verdict(found, data),
            same=found.equal_bytes,
            content=_shown(found.content),
            edits=found.edits,
            ignored=found.ignored,
            data=[(row, _shown(row.found.content) if row.found else []) for row in data],
        )
    )


def verdict(found: Difference, data: Sequence[DataDifference] = ()) -> str:
    """The result of the comparison in a few words, of the document and of its data."""
    own = VERDICTS[found.equal_bytes, found.changed]
    if any(row.changed for row in data):
        return f"{own}; what its scripts fetched changed"
    if any(row.found is None for row in data):
        return f"{own}; its scripts requested other data"
    if any(row.found and not row.found.equal_bytes for row in data):
        return f"{own}; the bytes of what its scripts fetched differ, its content does not"
    return f"{own}; what its scripts fetched is the same" if data else own


def _shown(rows: Sequence[LinePair]) -> list[dict[str, Any]]:
    """The lines that differ with their context; of other runs of lines only the number."""
    near = {i + step for i, row in enumerate(rows) if not row.same for step in range(-CONTEXT, CONTEXT + 1)}
    shown: list[dict[str, Any]] = []
    for hidden, group in groupby(enumerate(rows), key=lambda item: item[0] not in near):
        lines = [row for _, row in group]
        shown += [{"skipped": len(lines)}] if hidden else [{"same": row.same, "sides": _sides(row)} for row in lines]
    return shown


def _sides(row: LinePair) -> tuple[_Words, _Words]:
    """Both sides of a line, with the words that differ marked."""
    old, new = (row.old or "").split(), (row.new or "").split()
    sides: tuple[_Words, _Words] = ([], [])
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        sides[0].append((tag != "equal", " ".join(old[a:b])))
        sides[1].append((tag != "equal", " ".join(new[c:d])))
    return sides
