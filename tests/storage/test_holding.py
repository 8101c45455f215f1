"""Who holds the state of a folder, at this moment and last."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharc_crawler.errors import Superseded
from sharc_crawler.storage.beside import is_held
from sharc_crawler.storage.folders import LOCK, hold, owner


def test_a_folder_is_held_by_one_until_it_is_let_go_and_names_who_held_it_last(tmp_path):
    assert (is_held(tmp_path), owner(tmp_path)) == (False, "")
    held = hold(tmp_path)
    mine = owner(tmp_path)
    assert mine
    assert is_held(tmp_path)
    opened = len([*Path("/dev/fd").iterdir()])
    with pytest.raises(Superseded, match=r"output=.* is being written by another crawl") as caught:
        hold(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert len([*Path("/dev/fd").iterdir()]) == opened, "who does not get it keeps no file open"
    held.close()
    assert not is_held(tmp_path)
    assert owner(tmp_path) == mine, "whoever held it last stays named"
    hold(tmp_path).close()
    assert owner(tmp_path) == mine, "and is named once"
    (tmp_path / LOCK).write_text("another that has a longer name than ours")
    hold(tmp_path).close()
    assert owner(tmp_path) == mine, "alone"
