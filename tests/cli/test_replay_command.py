from __future__ import annotations

import socket
import sys
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry, write_index
from sharc_crawler.archive.replay import downloaded, elsewhere, find_pywb, replaying
from sharc_crawler.cli import main
from sharc_crawler.errors import SharcError, UsageError


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
    assert downloaded([captures[1]]) == [], "its WARC file is missing, too"


def test_a_folder_without_pywb_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"(?s)SHARC_PYWB='/nowhere' holds no pywb.*pip install pywb") as caught:
        find_pywb({"SHARC_PYWB": "/nowhere", "PATH": ""})
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("folder", ["", "bin"])
def test_the_environment_or_its_programs_can_be_named(tmp_path, folder):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "wayback").touch()
    assert find_pywb({"SHARC_PYWB": str(tmp_path / folder)}) == tmp_path / "bin" / "wayback"


def stands_for_pywb(monkeypatch, folder, script):
    """A program in its place; ``folder`` has a WARC file to show."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "wayback").write_text(f"#!{sys.executable}\n{script}")
    (programs / "wayback").chmod(0o755)
    monkeypatch.setenv("SHARC_PYWB", str(programs))
    (folder / "a.warc.gz").touch()


def test_a_port_that_is_taken_is_named_before_anything_starts(monkeypatch, tmp_path):
    stands_for_pywb(monkeypatch, tmp_path, "raise SystemExit('started')")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(UsageError, match=f"--port {port}: Address already in use; without it any free") as caught,
            replaying([tmp_path], port),
        ):
            pass
    assert caught.value.exit_code == 2


def test_an_address_is_given_once_the_program_itself_answers(monkeypatch, tmp_path):
    files = "import sys\nfrom http.server import *\n"
    serve = "ThreadingHTTPServer(('127.0.0.1', int(sys.argv[2])), SimpleHTTPRequestHandler).serve_forever()"
    stands_for_pywb(monkeypatch, tmp_path, files + serve)
    with replaying([tmp_path]) as address, urlopen(f"{address.removesuffix('capture/')}collections/") as answer:
        assert answer.status == 200


def test_another_server_on_its_port_is_not_taken_for_it(monkeypatch, tmp_path):
    files = "import sys\nfrom http.server import *\nother = HTTPServer(('127.0.0.1', int(sys.argv[2])), "
    serve = "BaseHTTPRequestHandler)\nother.handle_request()\nraise SystemExit('no port for me')"
    stands_for_pywb(monkeypatch, tmp_path, files + serve)
    with pytest.raises(SharcError, match="its last words: no port for me"), replaying([tmp_path]):
        pass
