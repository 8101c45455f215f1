"""Captures whose records do not bear out what was judged of their pages: they have no certificate."""

from __future__ import annotations

import json
from pathlib import Path

from sharc_crawler.evidence.claim import Statement


def refuted_in(report: Path) -> set[str]:
    """The sites of which a ``report.json`` says so."""
    try:
        told = json.loads(report.read_bytes())["captures"]
        return {one["site"] for one in told if one["claim"]["code"] == Statement.REFUTED}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # there is none, or it is of another kind
        return set()
