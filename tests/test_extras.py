"""What an installation without extras can do, and what it says where it cannot."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sharc_crawler import extras
from sharc_crawler.cli import main
from sharc_crawler.rates import learned
from sharc_crawler.rates.surroundings import Surroundings
from tests.rates.test_learned import NOW, WEEK, simulated

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after ``pip install sharc-crawler``."""
    for library in extras.EXTRAS:
        monkeypatch.setitem(sys.modules, library, None)
    learned._tell_how.cache_clear()


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["tables", "--table", "1", "--output", "out"], "lab"),
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


@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_rates_are_learned_without_trees_and_that_is_said_once(caplog: pytest.LogCaptureFixture):
    history, truth = simulated(1)
    around = Surroundings(history.urls)
    for _ in range(2):
        found = learned.learned_rates(history, NOW, WEEK, around)
    assert np.corrcoef(np.log(found.rate), np.log(truth + 1e-9))[0, 1] > 0.3
    assert [record.message for record in caplog.records] == [
        "Rates are learned by regression alone. With scikit-learn, trees would do so beside it: "
        f"pip install -e '{CHECKOUT}[learn]'"
    ]


def test_outside_of_a_checkout_an_extra_is_installed_by_the_packages_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    assert extras.install("matplotlib") == "pip install 'sharc-crawler[lab]'"
