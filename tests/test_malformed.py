"""Files of JSON that are nested too deeply are malformed like others: each reader treats both alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sharc_crawler import control, login
from sharc_crawler.certificate import confirming, refuted, sealed_files, withdrawal
from sharc_crawler.changes import masks
from sharc_crawler.collection import attempts, distrust, keeper, overview
from sharc_crawler.errors import SharcError
from sharc_crawler.live.fleet import ending
from sharc_crawler.live.former import recorded_order
from sharc_crawler.options import mappings
from sharc_crawler.rates.predictor.model import Predictor
from sharc_crawler.report import banner
from sharc_crawler.watch import tail, tally

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Reader = Callable[[Path], object]

#: no JSON, another type, nested too deeply
TEXTS = ("{", "[1]", "[" * 100_000)

#: by the name of a file: what reads it, given its folder; its lines, for a file of lines
READERS: dict[str, tuple[Reader, ...]] = {
    "report.json": (
        lambda folder: keeper._notes(folder),
        keeper.pages_of,
        ending._why_nothing,
        lambda folder: refuted.refuted_in(folder / "report.json"),
    ),
    "report-pages.jsonl": (keeper.contents_of,),
    "certificate.json": (
        lambda folder: withdrawal.certified_as(folder, "h"),
        lambda folder: confirming.waits(folder),
        lambda folder: overview._damaged(folder),
        lambda folder: [one.what for one in sealed_files.resized(folder / "certificate.json")],
    ),
    "keep.json": (attempts.read_tries,),
    "distrusted.json": (lambda folder: distrust.distrusted(folder, "h", None),),
    "index.json": (lambda folder: overview._known(folder / "index.json"),),
    "control.json": (control.read_orders,),
    "control-status.json": (tally.read_status,),
    "crawl.jsonl": (lambda folder: list(tail.LogTail(folder).entries()),),
    "masks.json": (lambda folder: masks.load_masks(folder / "masks.json"),),
    "state.json": (lambda folder: login.read_state(str(folder / "state.json")),),
    "model.json": (lambda folder: Predictor.load(folder / "model.json"),),
}
CASES = [(name, reader) for name, readers in READERS.items() for reader in readers]


def outcome(reader: Callable[[Any], object], given: object) -> object:
    """What a reader returns, or the kind of error of ours that it raises."""
    try:
        return reader(given)
    except (SharcError, ValueError) as error:
        assert isinstance(error, SharcError) or type(error) is ValueError, repr(error)
        return type(error)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(("name", "reader"), CASES)
def test_a_malformed_file_is_treated_as_one_that_is_no_json(
    name: str, reader: Reader, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text("{\n")
    expected = outcome(reader, tmp_path)
    (tmp_path / name).write_text(f"{text}\n")
    assert outcome(reader, tmp_path) == expected


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("reader", [mappings.periods, mappings.fields_told])
def test_a_malformed_setting_is_refused(reader: Callable[[object], object], text: str) -> None:
    assert outcome(reader, text) is ValueError


@pytest.mark.parametrize("text", TEXTS)
def test_a_malformed_line_of_a_log_is_none(text: str) -> None:
    assert recorded_order._line(text) is None


@pytest.mark.parametrize("text", TEXTS)
def test_a_malformed_report_keeps_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "pages").write_text(f'{text} "content": "kept" "verdict": "changed"\n')
    assert banner._kept(tmp_path / "pages", "h") == set()
