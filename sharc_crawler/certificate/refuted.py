"""Captures without a certificate, because their records contradict what was judged of their pages."""

from __future__ import annotations

import json
from pathlib import Path

from sharc_crawler.errors import MALFORMED
from sharc_crawler.evidence.claim import Statement


def refuted_in(report: Path) -> set[str]:
    """The sites that a ``report.json`` says this of."""
    try:
        told = json.loads(report.read_bytes())["captures"]
        return {one["site"] for one in told if one["claim"]["code"] == Statement.REFUTED}
    except (OSError, *MALFORMED):  # there is none, or it is of another kind
        return set()
