from __future__ import annotations

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.replay import find_pywb
from sharc_crawler.cli import main
from sharc_crawler.errors import UsageError


def test_without_pywb_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv("SHARC_PYWB", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = CliRunner().invoke(main, ["replay", str(tmp_path)])
    assert answer.exit_code == 2
    assert "pip install pywb" in answer.stderr
    assert "export SHARC_PYWB=" in answer.stderr


def test_a_folder_without_pywb_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"(?s)SHARC_PYWB='/nowhere' holds no pywb.*pip install pywb") as caught:
        find_pywb({"SHARC_PYWB": "/nowhere", "PATH": ""})
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("folder", ["", "bin"])
def test_the_environment_or_its_programs_can_be_named(tmp_path, folder):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wayback").touch()
    assert find_pywb({"SHARC_PYWB": str(tmp_path / folder)}) == tmp_path / "bin" / "wayback"
