"""Where the WARC files do not bear out what was judged, nothing is claimed: neither at a crawl's end, nor later."""

from __future__ import annotations

import json
import sqlite3

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main

FAILED, INTERRUPTED = 1, 5


@pytest.mark.slow
def test_a_reference_instant_that_no_download_bears_out_is_claimed_nowhere(tmp_path, crawl, static):
    (tmp_path / "site").mkdir()
    for name in ("index", *map(str, range(6))):
        (tmp_path / "site" / f"{name}.html").write_text("".join(f"<a href={n}.html>{n}</a>" for n in range(6)))
    with static(tmp_path / "site") as url:
        stopped = crawl(url=url, delay="0.05", settings=["CLOSESPIDER_PAGECOUNT=13"])
        assert stopped.code == INTERRUPTED, stopped.err
        with sqlite3.connect(stopped.folder / "frontier.db") as state:
            state.execute("UPDATE capture SET reference = reference - 0.2 WHERE reference > 0")
            assert state.execute("SELECT changes()").fetchone() == (1,), "stopped among the revisits"
        state.close()
        done = crawl(url=url, delay="0.05")
    assert done.code == FAILED, done.err
    assert "certificate  none: the records do not bear it out" in done.out
    claim = json.loads((done.folder / "report.json").read_text())["captures"][0]["claim"]
    assert (claim["sentence"], claim["grounds"]) == (
        "7 pages were captured, but the WARC files do not bear out what was judged of them: nothing is claimed.", [],
    )  # fmt: skip
    assert "nothing is claimed" in (done.folder / "report.html").read_text()
    assert not (done.folder / "certificate.json").exists()
    again = CliRunner().invoke(main, ["report", str(done.folder)])
    assert again.exit_code == 3
    assert "do not bear out what was judged" in again.output
    assert "nothing is claimed" in (done.folder / "report.html").read_text()
