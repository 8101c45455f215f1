"""What lies in a crawl's folder as its answer: read if a crawl wrote it, else as none."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.control import STATUS, write
from sharc_crawler.watch.status import read_status

ANSWER = {
    "progress": "visits: 3 of 9 pages",
    "order": "",
    "time": "2026-11-20T10:31:07.250000Z",
    "paused": False,
    "delay": 1,
    "longest": 300.0,
    "captures": [{"site": "h", "phase": "visits", "reference": None, "pages": 9, "visits": 3, "revisits": 0}],
}


def test_an_answer_is_read_as_it_was_written(tmp_path):
    write(tmp_path, STATUS, {**ANSWER, "ended": "finished"})
    assert read_status(tmp_path) == {**ANSWER, "ended": "finished"}


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "3", "null",
        pytest.param("[" * 100_000, id="nested"), '{"time": 3}', pytest.param("\udcff", id="bytes"),
        *(json.dumps({**ANSWER, name: {"other": 1}}) for name in ANSWER),
        json.dumps({**ANSWER, "time": "yesterday"}),
        json.dumps({**ANSWER, "captures": [{"site": "h"}]}),
    ],
)  # fmt: skip
def test_what_no_crawl_wrote_is_no_answer(tmp_path, text):
    (tmp_path / STATUS).write_text(text, encoding="utf-8", errors="surrogateescape")
    assert read_status(tmp_path) == {}
