"""The living site with pages made by script: captured, and compared with its own change log."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium


@pytest.mark.long
def test_verdicts_on_pages_made_by_script_agree_with_the_change_log_of_their_data(tmp_path):
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    command = [
        sys.executable,
        "-c",
        "from sharc_crawler.cli import main; main()",
        "demo",
        "--crawl",
        "--pages",
        "24",
        "--script",
        "0.3",
    ]
    done = subprocess.run(
        [*command, "--scale", "4000", "--output", str(tmp_path / "capture")], capture_output=True, text=True, check=True
    )
    found = re.search(r"says the same for (\d+) of (\d+) revisited pages and resources", done.stdout)
    assert found, done.stdout
    assert found[1] == found[2]
    (capture,) = json.loads((tmp_path / "capture" / "report.json").read_text())["captures"]
    assert any(note.startswith("classes of URLs shown by a browser: ") for note in capture["notes"])
    assert (tmp_path / "capture" / "certificate.json").exists()
