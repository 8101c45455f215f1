"""A kind of evidence is one row: claims, both schemas and words go by it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sharc_crawler.evidence import kinds
from sharc_crawler.evidence.claim import Limit, Statement
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.worded import code, in_words
from sharc_crawler.report import claim as words

ANOTHER = """
import sys, types
import sharc_crawler.evidence
from pathlib import Path
source = Path(sys.argv[1]).read_text()
row = '    MEMENTO = ("memento", "by a copy in another archive", "The other archive was believed.", True)\\n'
before = '    INSTANT = ('
assert before in source
module = types.ModuleType("sharc_crawler.evidence.kinds")
sys.modules[module.__name__] = module
exec(compile(source.replace(before, row + before), "kinds.py", "exec"), module.__dict__)

from sharc_crawler.certificate.document import certificate, entries
from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.schemas import schema
from sharc_crawler.model import Kind, Result, Slot, Verdict
from sharc_crawler.report.claim import in_words
from sharc_crawler.report.entries import page_entries
import jsonschema

pages = (PageFacts("http://h/a", Kind.PAGE, "seed", 0, 0.0, "prior", verdict=Verdict.COHERENT,
                   visit=VisitFacts(Slot.FIRST, Result.OK, 1.0, 2.0),
                   evidence=Evidence.MEMENTO, reason="equal-bytes"),)
facts = CaptureFacts("h", ("http://h/",), "bfs", 0.0, 9.0, 5.0, pages)
made = certificate(facts)
part = schema("sharc_crawler.certificate", "certificate.schema.json")
jsonschema.Draft202012Validator(
    {**part["$defs"]["page"]["properties"]["evidence"], "$defs": part["$defs"]}
).validate(next(entries(facts, {}.get))["evidence"])
assert "memento" in schema("sharc_crawler.report", "report.schema.json")["$defs"]["evidence"]["enum"]
assert next(page_entries(facts))["evidence"] == "memento"

from sharc_crawler.evidence.data import DataState, with_data
from sharc_crawler.model import Judgement
own, data = (Judgement(Verdict.COHERENT, kind, "equal-bytes") for kind in (Evidence.BYTES, Evidence.MEMENTO))
assert with_data(own, 5.0, ["/api"], {"/api": DataState(data, 5.0)})[0].evidence is Evidence.MEMENTO

told = in_words(made["capture"]["claim"])
print(told["sentence"], told["limits"][0])
"""


def test_another_kind_is_another_row() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER, str(Path(kinds.__file__))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    assert "1 by a copy in another archive. The other archive was believed." in done.stdout


def test_the_docs_name_every_kind() -> None:
    docs = Path(kinds.__file__).parents[2] / "docs"
    certificate, report = ((docs / name).read_text() for name in ("certificate.md", "report.md"))
    assert [kind.value for kind in Evidence if f"\n| `{kind}` | " not in certificate] == []
    assert [kind.value for kind in Evidence if f"`{kind}`" not in report] == []


def test_every_kind_code_and_limit_has_words() -> None:
    assert all(kind.ground for kind in Evidence)
    assert all(kind.gap for kind in Evidence if kind.stated), "the server's word leaves something open"
    assert words._STATEMENTS.keys() == {*Statement}
    assert words._LIMITS.keys() == {*Limit}


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_is_a_code_without_white_space_and_reads_as_words(reason: Reason) -> None:
    assert re.fullmatch(r"[A-Za-z0-9-]+", reason)
    assert code(reason.of("x: y")) == reason
    assert in_words(reason.of("x: y")).endswith("x: y") or in_words(reason.of("x: y")).endswith("x: y)")
