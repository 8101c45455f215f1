"""What to do about addresses that a site's software makes by itself."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from sharc_crawler.software import of_note, together

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def left_out(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The words of a step, and what is to be given, for each software that a note tells of and nothing excludes."""
    given = str(report["settings"].get("exclude") or "")
    for software in filter(None, map(of_note, report["notes"])):
        if software.exclude not in given:
            ended = report["times"]["ended"] is not None
            way = (
                "A new capture leaves them out"
                if ended
                else "The same command goes on without them (what was captured stays)"
            )
            words = (
                f"Many addresses are of the making of {software.name} ({software.what}). {way}, with this beside it."
            )
            yield words, f"-a exclude={quote(together([given] if given else [], software))}"
