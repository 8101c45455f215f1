"""Commands open no named pipe and no device that lies in a folder: these never end, or never begin."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

from sharc_crawler.certificate.verify import verify
from sharc_crawler.cli import main
from sharc_crawler.errors import DataError
from tests.certificate.made import certified
from tests.live.warm import SHARC, finished

COMMANDS = ["certify", "confirm", "diff", "keep", "masks", "package", "replay", "report", "search", "verify"]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("piped")
    certified(folder)
    (folder / "deep").mkdir()
    (folder / "deep" / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "x.warc.gz")
    (folder / "deep" / "note").symlink_to("/dev/null")
    return folder


@pytest.mark.slow
def test_a_named_pipe_does_not_hold_verify_for_ever(capture):
    done = finished(["verify", "--json", str(capture)], capture, program=SHARC, timeout=100)
    assert done.returncode == 3, done.stderr
    assert [one["file"] for one in json.loads(done.stdout)["findings"]] == ["deep/note", "x.warc.gz"]


def test_as_a_library_nothing_is_read_either(capture):
    with pytest.raises(DataError, match="deep/note is a named pipe or a device"):
        verify(capture)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_name_the_device_and_read_nothing(capture, command):
    more = {"diff": [str(capture)], "search": ["word"]}.get(command, [])
    done = CliRunner().invoke(main, [command, str(capture), *more])
    assert (done.exit_code or done.exception) and "deep/note" in f"{done.output}{done.exception}"
    assert "named pipe or a device" in f"{done.output}{done.exception}"
