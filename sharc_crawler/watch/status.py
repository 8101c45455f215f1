"""A crawl's last answer to orders (:mod:`sharc_crawler.control`), as it lies in its folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sharc_crawler.control import STATUS
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import UnionType

#: what stands in an answer, and in it of each capture
_ANSWER = {"progress": str, "order": str, "time": str, "paused": bool, "captures": list} | dict.fromkeys(
    ("delay", "longest"), int | float
)
_CAPTURE = {"site": str, "phase": str, "reference": str | None} | dict.fromkeys(("pages", "visits", "revisits"), int)


def read_status(folder: Path) -> dict[str, Any]:
    """The crawl's last answer; empty where there is none, or what is there is not as a crawl writes it."""
    try:
        status = json.loads((folder / STATUS).read_text(encoding="utf-8"))
        _check(status, _ANSWER)
        unix(status["time"])
        for capture in status["captures"]:
            _check(capture, _CAPTURE)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return {}
    return dict(status)


def _check(document: Any, kinds: Mapping[str, type | UnionType]) -> None:
    if wrong := [name for name, kind in kinds.items() if not isinstance(document[name], kind)]:
        raise ValueError(", ".join(wrong))
