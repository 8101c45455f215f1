"""JSON Schemas, completed with codes and counts from their tables."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from sharc_crawler.evidence.claim import Limit, Statement
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import COUNTS
from sharc_crawler.evidence.reasons import Reason


def schema(package: str, name: str) -> dict[str, Any]:
    """Load the schema ``name`` of a package, with the codes in ``$defs``.

    >>> schema("sharc_crawler.certificate", "certificate.schema.json")["$defs"]["evidence"]["enum"][0]
    'bytes'
    """
    document: dict[str, Any] = json.loads(files(package).joinpath(name).read_text("utf-8"))
    codes = {
        "evidence": [*Evidence],
        "reason": [*Reason, ""],
        "statement": [*Statement],
        "limit": [*Limit],
    }
    defined = {kind: {"enum": [*map(str, values)]} for kind, values in codes.items()}
    known = document.get("$defs", {})
    tally = {"tally": _counted(known["tally"])} if "tally" in known else {}
    return {**document, "$defs": {**known, **tally, **defined}}


def _counted(tally: dict[str, Any]) -> dict[str, Any]:
    """Add the table's counts to the schema of a tally."""
    rows = {row.name: {"description": row.meaning, "type": "integer", "minimum": 0} for row in COUNTS}
    return {**tally, "properties": {**tally["properties"], **rows}, "required": [*tally["required"], *rows]}
