from __future__ import annotations

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry, write_index
from sharc_crawler.archive.replay import elsewhere, find_pywb
from sharc_crawler.cli import main
from sharc_crawler.errors import UsageError


def test_without_pywb_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv("SHARC_PYWB", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = CliRunner().invoke(main, ["replay", str(tmp_path)])
    assert answer.exit_code == 2
    assert "pip install pywb && export SHARC_PYWB=" in answer.stderr
    assert "\\n" not in answer.stderr, "the command can be copied"


def test_a_wacz_file_is_for_another_viewer(tmp_path):
    (tmp_path / "a.wacz").touch()
    answer = CliRunner().invoke(main, ["replay", str(tmp_path / "a.wacz")])
    assert answer.exit_code == 2
    assert "name the capture's folder; ReplayWeb.page opens" in answer.stderr


def test_payloads_of_former_captures_are_missed(tmp_path):
    entry = IndexEntry("http://a.org/", "2026-11-18T11:06:40Z", "text/html", "200", "sha1:A", 0, 9, "a.warc.gz")
    captures = [tmp_path / name for name in ("first", "second")]
    for folder, kept in zip(captures, (entry, entry._replace(mime=REVISIT)), strict=True):
        folder.mkdir()
        write_index(folder / "a.warc.gz", [kept, entry._replace(mime=REVISIT, digest=None)])
    assert [elsewhere([captures[0]]), elsewhere([captures[1]]), elsewhere(captures)] == [0, 1, 0]


def test_a_folder_without_pywb_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"(?s)SHARC_PYWB='/nowhere' holds no pywb.*pip install pywb") as caught:
        find_pywb({"SHARC_PYWB": "/nowhere", "PATH": ""})
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("folder", ["", "bin"])
def test_the_environment_or_its_programs_can_be_named(tmp_path, folder):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wayback").touch()
    assert find_pywb({"SHARC_PYWB": str(tmp_path / folder)}) == tmp_path / "bin" / "wayback"
