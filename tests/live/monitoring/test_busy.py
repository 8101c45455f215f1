"""Nothing takes long in silence, and Ctrl-C is heard meanwhile."""

from __future__ import annotations

import json
import os
import signal
import threading
from io import StringIO

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.live.former.sources import MANY, AloudChain
from sharc_crawler.live.monitoring.busy import Share, busy
from sharc_crawler.live.monitoring.stopping import StoppedError, stoppable
from sharc_crawler.model import Sighting
from tests.live.dropin_runs import ADDON, SPIDER, run
from tests.live.monitoring.terminal import Terminal
from tests.live.warm import finished, site_words


def test_what_takes_long_is_said_and_what_does_not_is_not():
    out, said = StringIO(), threading.Event()
    out.flush = said.set  # type: ignore[method-assign]
    with busy("writing", out=out, patience=0.01):
        assert said.wait(240)
    assert out.getvalue().startswith("writing … ")
    quiet = StringIO()
    with busy("writing", out=quiet, patience=60):
        pass
    with busy("writing", told=False, out=quiet, patience=0.0):
        pass
    assert quiet.getvalue() == ""


def test_a_narrow_terminal_is_left_as_it_was():
    out, said = Terminal(), threading.Event()
    out.flush = said.set  # type: ignore[method-assign]
    with busy("writing the report and the certificate", out=out, patience=0.01):
        assert said.wait(240)
        assert [row[:19] for row in out.rows] == ["writing the report "]
    assert [row.strip() for row in out.rows] == [""]


def test_what_is_left_is_told_once_something_is_done():
    share = Share("writing")
    share(1, 1_000_000)
    assert share.line(2.0) == "writing … 2 s", "not how many days are left"
    share(500_000, 1_000_000)
    assert share.line(4.0) == "writing … 4 s, 50 %, 0:00:04 left"


def test_what_comes_piece_by_piece_is_added_up_and_each_part_begins_anew():
    share = Share("reading", 4.0)
    share.more(1.0)
    share.more(1.0)
    assert share.line(4.0) == "reading … 4 s, 50 %, 0:00:04 left"
    share(1, 4, "ranking")
    assert share.line(10.0) == "ranking … 10 s, 25 %, 0:00:18 left"


def test_ctrl_c_is_heard_within_and_the_former_handler_is_put_back():
    former = signal.getsignal(signal.SIGINT)
    with pytest.raises(StoppedError, match="stopped by SIGINT"), stoppable():
        os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is former


class Interrupted:
    """A source of rates that takes so long that somebody presses Ctrl-C."""

    def rates(self, sightings, now):
        os.kill(os.getpid(), signal.SIGINT)
        return [None] * len(sightings)


def test_learning_the_rates_of_many_pages_hears_ctrl_c():
    chain = AloudChain([Interrupted()], told=False)
    with pytest.raises(StoppedError, match="stopped by SIGINT"):
        chain.rates([Sighting(f"http://h/{number}") for number in range(MANY)], 0.0)


SLOW_END = """
import os, signal, threading
import sharc_crawler.live.monitoring.busy as busy
import sharc_crawler.live.ending as ending

wait = threading.Event()


def leave(*_, **__):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    wait.wait(240)  # a report that takes long


leave_as_ever, ending.leave = ending.leave, leave
busy.busy.__wrapped__.__defaults__ = (True, None, 0.05)
"""


ALL = "from sharc_crawler.live.profile import *  # noqa: F403\n"
AT_ONCE = """\
from sharc_crawler.live.monitoring.busy import busy

busy.__wrapped__.__defaults__ = (True, None, 0.0)
"""


def test_ctrl_c_while_the_report_is_written_ends_the_crawl_and_the_same_command_writes_it(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("hello")
    (tmp_path / "slow.py").write_text(f"{SLOW_END}\n{ALL}")
    (tmp_path / "told.py").write_text(f"{AT_ONCE}\n{ALL}")
    with static(tmp_path / "site") as url:

        def crawl(profile):
            words = site_words(url=url, output="capture", delay=0)
            return finished(words, tmp_path, {**os.environ, "SCRAPY_SETTINGS_MODULE": profile})

        cut = crawl("slow")
        assert cut.returncode == 5, cut.stderr
        assert "writing report and certificate … " in cut.stderr
        assert "cut off" not in cut.stderr, "nothing was, when it began"
        assert "WARNING: No report is written: stopped by SIGINT. All downloads are on disk; the same" in cut.stderr
        assert "on disk; the same command resumes it, or `sharc report capture` writes the report\n" in cut.stderr
        assert not (tmp_path / "capture" / "report.json").exists()
        again = crawl("told")
        assert again.returncode == 0, again.stderr
        assert "reading what was captured … " in again.stderr
    assert json.loads((tmp_path / "capture" / "report.json").read_text())["captures"]


def test_a_project_that_would_begin_anew_is_told_what_writes_the_report(static, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("hello")
    (tmp_path / "poll.py").write_text(SLOW_END + SPIDER)
    with static(tmp_path / "site") as url:
        cut = run(tmp_path, url, ADDON, "SHARC_OUTPUT=captures/%(time)s", "SHARC_STRATEGY=sharc-selective")
    (capture,) = (tmp_path / "captures").iterdir()
    place = capture.relative_to(tmp_path)
    assert f"All downloads are on disk; `sharc report {place}` writes the report\n" in cut.stderr
    done = CliRunner().invoke(main, ["report", str(capture)])
    assert (done.exit_code, (capture / "certificate.json").exists()) == (0, True), done.output
