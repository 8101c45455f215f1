"""What lies in a crawl's folder as its answer: read if a crawl wrote it, else as none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sharc_crawler.control import STATUS, write
from sharc_crawler.watch.tally import read_status

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


def test_on_a_full_disk_no_file_is_left_for_each_answer(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as while_full:
        while_full.setattr(Path, "replace", full)
        for _ in range(3):
            with pytest.raises(OSError, match="No space"):
                write(tmp_path, STATUS, ANSWER)
    assert len(list(tmp_path.iterdir())) <= 1
    write(tmp_path, STATUS, ANSWER)
    assert [one.name for one in tmp_path.iterdir()] == [STATUS]
