"""The first capture that a history keeps goes by nothing, and loads nothing for that."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from scrapy.settings import Settings
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.live.config import Config
from sharc_crawler.live.former.history import parts_of
from sharc_crawler.storage.observations import ObservationStore
spec = CaptureSpec("h", ("http://h/",))
parts = parts_of(ObservationStore(sys.argv[1]), Config.from_settings(Settings()))
parts.rates(spec)
print(parts.seen(spec, "http://h/", 1.0), *(name for name in sys.modules if name.startswith("scipy")))
"""


@pytest.mark.slow
def test_an_empty_history_loads_no_estimators(tmp_path):
    """SciPy takes 16 MB and a quarter of a second."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "history.sqlite")]
    assert subprocess.run(command, check=True, capture_output=True, text=True, timeout=280).stdout == "None\n"
