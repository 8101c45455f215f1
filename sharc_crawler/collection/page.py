"""``index.html`` of a collection: its sites, their captures on a time line and in tables, changes in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from shlex import quote
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.replay import moment
from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.collection.overview import INDEX, overview
from sharc_crawler.instants import iso, unix
from sharc_crawler.report.html import MAX_LINK, environment
from sharc_crawler.report.html import NAME as REPORT
from sharc_crawler.report.listing import REPLAY
from sharc_crawler.report.words import size
from sharc_crawler.report.write import put, saying_where, to_json

if TYPE_CHECKING:
    from sharc_crawler.collection.folder import Collection

    Entry = Mapping[str, Any]

PAGE = "index.html"
WIDTH, HEIGHT = 1000.0, 36.0  #: of a time line
KINDS = ("coherent", "changed", "unknown")


def write_overview(collection: Collection, progress: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """Write ``index.json`` and ``index.html`` into the collection; returns the former. Raises UsageError."""
    found = overview(collection, progress)
    with saying_where(collection.folder), Drafts() as drafts:
        put(drafts, {collection.folder / INDEX: [to_json(found)], collection.folder / PAGE: render(found)})
    return found


def render(found: Mapping[str, Any]) -> Iterable[str]:
    """The page, in pieces, from the content of ``index.json``."""
    captures = [entry for site in found["sites"] for entry in site["captures"]]
    times = [unix(entry["time"]) for entry in captures]
    span = (min(times), max(times)) if times else (0.0, 0.0)
    template = environment().get_template("collection.html")
    return template.generate(
        generator=found["generator"],
        title=found["title"],
        sites=[
            {**site, **_summed(site["captures"]), "line": timeline(site["captures"], span)} for site in found["sites"]
        ],
        total=_summed(captures),
        ends=ends_of(*span) if times else ["", ""],
        own_name=own_name,
        meant=meant,
        problems=[entry for entry in captures if entry["problem"]],
        report=REPORT,
        size=size,
        replay=_replay,
        diff=_diff,
    )


def ends_of(first: float, last: float) -> list[str]:
    """The labels at the ends of a time line: days, or minutes if it is one day.

    >>> ends_of(1795000000.0, 1795100000.0), ends_of(1795000000.0, 1795000300.0)
    (['2026-11-18', '2026-11-19'], ['2026-11-18 11:06', '2026-11-18 11:11'])
    """
    texts = [iso(instant)[:16].replace("T", " ") for instant in (first, last)]
    days = [text[:10] for text in texts]
    return days if days[0] != days[1] else texts


def own_name(site: Mapping[str, Any]) -> str:
    """The name that a person gave a site; "": none."""
    return site["name"] if site["name"] not in (site["site"], safe_name(site["site"])) else ""


def meant(entry: Entry) -> int:
    """The pages that a capture was to have: captured ones, and those beyond its budget."""
    return int(entry["totals"]["captured"] + entry["left"]) if entry["totals"] else 0


def timeline(captures: Iterable[Entry], span: tuple[float, float]) -> dict[str, str]:
    """A path for each verdict: a vertical stroke per capture, as high as its share of pages.

    >>> totals = {"captured": 4, "coherent": 3, "changed": 1, "unknown": 0}
    >>> one = {"time": "1970-01-01T00:00:00Z", "totals": totals, "left": 0, "complete": True}
    >>> timeline([one], (0.0, 10.0))
    {'coherent': 'M2 36v-27', 'changed': 'M2 9v-9', 'unknown': '', 'cut': ''}
    >>> timeline([one | {"left": 4}], (0.0, 10.0))
    {'coherent': 'M2 36v-13.5', 'changed': 'M2 22.5v-4.5', 'unknown': '', 'cut': ''}
    """
    lines: dict[str, list[str]] = {name: [] for name in (*KINDS, "cut")}
    first, last = span
    for entry in captures:
        x = 2 + (WIDTH - 4) * ((unix(entry["time"]) - first) / (last - first) if last > first else 0.0)
        place, totals = HEIGHT, entry["totals"]
        for kind in KINDS if totals and totals["captured"] else ():
            part = HEIGHT * totals[kind] / meant(entry)
            if part:
                lines[kind].append(f"M{x:.6g} {place:.3g}v-{part:.3g}")
            place -= part
        if not entry["complete"]:
            lines["cut"].append(f"M{x:.6g} {HEIGHT + 3:g}v5")
    return {name: "".join(parts) for name, parts in lines.items()}


def _summed(captures: Iterable[Entry]) -> dict[str, Any]:
    listed = list(captures)
    return {
        "count": len(listed),
        "complete": sum(entry["complete"] for entry in listed),
        "bytes": sum(entry["bytes"] for entry in listed),
        "newest": listed[-1] if listed else None,
        "reported": _last(listed, complete=True) or _last(listed, complete=False),
    }


def _last(captures: list[Entry], *, complete: bool) -> Entry | None:
    """The last capture with pages, complete or not."""
    return next((one for one in reversed(captures) if one["totals"] and (one["complete"] or not complete)), None)


def _replay(entry: Entry) -> str:
    """Where ``sharc replay DIR --port 8090`` shows a capture; "": it has nothing to show."""
    if not entry["seed"] or len(entry["seed"]) > MAX_LINK or not entry["totals"]["captured"]:
        return ""
    return f"{REPLAY}{moment(unix(entry['reference'] or entry['time']))}/{entry['seed']}"


def _diff(entry: Entry) -> str:
    """The command that shows the changes of the first changed page."""
    changes = entry["changes"]
    if not changes or not changes["named"]:
        return ""
    return f"sharc diff {quote(entry['former'])} {quote(entry['folder'])} {quote(changes['named'][0])}"
