"""What comes from pages, logs and archives is shown with its control characters spelled out, by every command."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Change, Result, Url
from sharc_crawler.observation import Observation
from sharc_crawler.storage.observations import ObservationStore

EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e[/a]"


@pytest.fixture
def sources(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.html").write_text(f"<p>{name} {EVIL}<p id='{name}{EVIL}'>same", encoding="utf-8")
    url = Url(f"http://h/{EVIL}")
    seen = [
        Observation("h", url, 86_400.0 * day, Result.OK, Change.CHANGED, Evidence.BYTES, digest=str(day))
        for day in range(1, 5)
    ]
    with ObservationStore(tmp_path / "history.sqlite") as store:
        store.append(seen)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "diff one.html two.html",
        "masks one.html two.html",
        "rates show h --history history.sqlite",
        "seeds rank --store history.sqlite",
        f"plan {EVIL}",
    ],
)
def test_foreign_text_does_not_steer_the_terminal(sources, monkeypatch, command):
    monkeypatch.chdir(sources)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(main, command.split(" "))
    assert "x1b" in done.output, (done.output, done.exception)
    assert all(character.isprintable() or character == "\n" for character in done.output), repr(done.output)
