"""JSON Schemas, with the codes that they refer to filled in from their tables."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from sharc_crawler.evidence.claim import Limit, Statement
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason


def schema(package: str, name: str) -> dict[str, Any]:
    """The schema ``name`` of a package, complete: ``$defs`` holds the codes.

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
    return {**document, "$defs": {**document.get("$defs", {}), **defined}}
