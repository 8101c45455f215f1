"""What a worker keeps for itself goes with it, also where it was killed."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from sharc_crawler.live.fleet.keeping import own_folder

if TYPE_CHECKING:
    from pathlib import Path

_KILLED = """
import os, signal, sys
from pathlib import Path
from sharc_crawler.live.fleet.keeping import own_folder
with own_folder("worker-", Path(sys.argv[1])) as folder:
    (folder / "copy").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_killed_worker_goes_when_the_next_one_begins_and_no_other(tmp_path: Path):
    with own_folder("worker-", tmp_path) as living:
        assert subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], check=False).returncode < 0
        [killed] = set(tmp_path.iterdir()) - {living}
        assert (killed / "copy").is_dir()
        (tmp_path / "worker-of-somebody-else").mkdir()
        with own_folder("other-", tmp_path):
            assert killed.is_dir(), "of another kind"
        with own_folder("worker-", tmp_path) as own:
            names = {living, own, tmp_path / "worker-of-somebody-else"}
            assert set(tmp_path.iterdir()) == names
    assert [path.name for path in tmp_path.iterdir()] == ["worker-of-somebody-else"]
