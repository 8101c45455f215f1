"""A strategy that breaks its port's contract ends a crawl with a line; the same command resumes it under another."""

from __future__ import annotations

import shutil

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import DataError
from sharc_crawler.model import Phase
from sharc_crawler.storage.beside import load_state
from tests.strategies import bad

FAILED, LONG = 1, pytest.mark.long


@pytest.mark.long
@pytest.mark.parametrize(
    "strategy", ["RaisingWhenTold", *(pytest.param(one, marks=LONG) for one in ("Early", "Never"))]
)
def test_it_ends_with_a_line_and_goes_on_under_another(strategy, crawl, tmp_path):
    shutil.copy(bad.__file__, tmp_path / "bad.py")
    with serve(LivingSite(seed=3, pages=20)) as server:
        done = crawl(url=server.url, strategy=f"bad.{strategy}", delay="0.01")
        assert done.code == FAILED, done.err
        assert f"The crawl stops: strategy='bad.{strategy}' is stopped: " in done.err
        assert "Traceback" not in done.err + done.out
        state = load_state(done.folder)
        (row,) = state.captures.values()
        assert row.phase is not Phase.DONE
        made = [visit for visit in state.visits if visit.finished]
        assert made, "what was captured is kept"
        with pytest.raises(DataError, match="the capture is not complete"):
            verify(done.folder)

        again = crawl(url=server.url, strategy="bfs", delay="0.01")
        assert again.code == 0, again.err
    state = load_state(done.folder)
    assert made == [visit for visit in state.visits if visit.finished][: len(made)]
    assert not verify(done.folder).findings
