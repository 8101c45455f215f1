"""Schemas hold the codes and counts of their tables."""

from __future__ import annotations

from sharc_crawler.evidence.claim import Limit, Statement
from sharc_crawler.evidence.measures import COUNTS, PageTally
from sharc_crawler.evidence.schemas import schema


def test_a_reports_schema_has_all_that_a_tally_counts() -> None:
    tally = schema("sharc_crawler.report", "report.schema.json")["$defs"]["tally"]
    assert set(tally["required"]) == tally["properties"].keys() == PageTally().totals().keys()
    for row in COUNTS:
        assert tally["properties"][row.name] == {"description": row.meaning, "type": "integer", "minimum": 0}


def test_codes_are_those_of_the_tables() -> None:
    codes = schema("sharc_crawler.certificate", "certificate.schema.json")["$defs"]
    assert codes["statement"]["enum"] == [one.value for one in Statement]
    assert codes["limit"]["enum"] == [one.value for one in Limit]
    assert "" in codes["reason"]["enum"], "a page that was captured as it should be needs none"
