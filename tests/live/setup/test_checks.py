"""What is checked before a crawl begins."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.live.setup.checks import check_history
from sharc_crawler.storage.observations import ObservationStore


@pytest.mark.parametrize(("of_file", "of_folder"), [(0o444, 0o755), (0o000, 0o755)])
def test_a_history_that_may_not_be_written_is_not_called_damaged(of_file: int, of_folder: int) -> None:
    place = Path(tempfile.mkdtemp())  # everybody may come here
    ObservationStore(place / "history.db").close()
    (place / "history.db").chmod(of_file)
    root = os.geteuid() == 0
    place.chmod(of_folder if root else 0o555)
    try:
        if root:
            os.seteuid(65_534)
        with pytest.raises(DataError, match="let this user read and write it") as told:
            check_history(place / "history.db", {"collection": str(place)}, reading=False)
    finally:
        if root:
            os.seteuid(0)
        place.chmod(0o700)
        shutil.rmtree(place)
    assert "-anew" not in str(told.value)


def test_a_folder_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
        check_history(tmp_path, {}, reading=True)
