"""What an installation without extras can do, and what it says where it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from sharc_crawler import extras
from sharc_crawler.cli import main

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after ``pip install sharc-crawler``."""
    for library in extras.EXTRAS:
        monkeypatch.setitem(sys.modules, library, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["rates", "h", "--history", "history.sqlite", "--picture", "out.png"], "lab"),
        (["seeds", "rank", "seeds.cdx", "--picture", "out.png"], "lab"),
        (["seeds", "evaluate", "seeds.cdx", "--output", "out"], "lab"),
        (["temporal", "views.csv", "--pictures", "out"], "lab"),
        (["rates", "train", "history.sqlite", "-o", "model.json", "--kind", "tree"], "learn"),
    ],
)
def test_a_command_that_needs_an_extra_names_it_before_it_begins(
    command: list[str], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("history.sqlite", "seeds.cdx", "views.csv"):
        Path(name).touch()
    said = CliRunner().invoke(main, command)
    assert said.exit_code == 2, said.output
    assert f"pip install -e '{CHECKOUT}[{extra}]'" in said.output.replace("\n", "")
    assert not Path("out").exists()


def test_outside_of_a_checkout_an_extra_is_installed_by_the_packages_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    assert extras.install("matplotlib") == "pip install 'sharc-crawler[lab]'"
