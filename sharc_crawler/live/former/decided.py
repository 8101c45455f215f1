"""When, in which slot and by which plan each recorded exchange was decided: the WARC files and the log together."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.instants import unix
from sharc_crawler.model import Instant, Kind, Plan, Slot
from sharc_crawler.urls import canonical

if TYPE_CHECKING:
    from sharc_crawler.archive.archived import ArchivedExchange

LOGS = ("crawl*.jsonl", "crawl*.log")


class DecidedExchange(NamedTuple):
    """An exchange, and when and as what it was decided."""

    archived: ArchivedExchange
    key: str  #: its URL
    decided: Instant
    ended: Instant
    slot: Slot | None  #: None: no log tells
    plan: Plan
    again: bool  #: another attempt
    sitemap: bool  #: as the log tells


def key_of(url: str) -> str:
    """A URL, however it is spelt."""
    return canonical(url) or url


def decided(folder: Path, every: list[ArchivedExchange], attempts: int) -> list[DecidedExchange]:
    """The exchanges with what the log tells of them, in the order in which they were decided."""
    logged = _logged(folder)
    failed: dict[str, int] = defaultdict(int)  # attempts in a row
    steps = []
    for one in every:
        line, key = logged.get((one.ref.file, one.ref.offset)), key_of(one.url)
        again = line["attempt"] > 1 if line else 0 < failed[key] < attempts
        failed[key] = failed[key] * again + 1 if one.failed else 0
        steps.append(
            DecidedExchange(
                one,
                key,
                unix(line["decided"]) if line else one.started,
                unix(line["time"]) if line else one.started,
                Slot(line["slot"]) if line else None,
                Plan(line["plan"]) if line else Plan.HOPEFUL,
                again,
                sitemap=line is not None and line["kind"] == Kind.SITEMAP,
            )
        )
    return sorted(steps, key=lambda step: (step.decided, step.archived.started))


def before_any_again(steps: list[DecidedExchange]) -> list[DecidedExchange]:
    """Those before a URL was downloaded again that had been: where T is that of a sitemap, all before T.

    A further attempt, and a robots.txt, which is read anew each day, are none. Nor are sitemaps read on the way to T:
    what is downloaded next has not been before.
    """
    seen: set[str] = set()
    end = 0
    for number, step in enumerate(steps, 1):
        if step.key not in seen or step.again or step.key.endswith("/robots.txt"):
            end = number
        elif not step.sitemap:
            break
        if not step.archived.failed:
            seen.add(step.key)
    return steps[:end]


def _logged(folder: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Lines of the log by the place of their record; those that are damaged are passed over."""
    lines = (
        line
        for path in sorted(folder.glob(LOGS[0]))
        for text in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if (line := _line(text))
    )
    return {(line["warc"], line["offset"]): line for line in lines}


def _line(text: str) -> dict[str, Any] | None:
    try:
        line: dict[str, Any] = json.loads(text)
        _ = line["warc"], line["offset"], unix(line["decided"]), unix(line["time"]), line["attempt"] > 1
        _ = Slot(line["slot"]), Plan(line["plan"]), Kind(line["kind"])
    except (ValueError, KeyError, TypeError):
        return None
    return line
