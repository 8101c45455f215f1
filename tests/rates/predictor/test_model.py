from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.model import Hints, Sighting, Url
from sharc_crawler.rates.estimators.base import Estimates
from sharc_crawler.rates.history import UNCHANGED, UNKNOWN, SiteHistory
from sharc_crawler.rates.predictor.examples import Examples
from sharc_crawler.rates.predictor.features import PageTraits
from sharc_crawler.rates.predictor.model import Predictor
from sharc_crawler.rates.predictor.source import PredictorRates
from sharc_crawler.rates.predictor.validation import cross_validate
from sharc_crawler.testing.rates import NOW, RateSourceContract

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0


def examples(pages: int = 200) -> Examples:
    """News changes daily, all else hardly ever; what changed yesterday is news wherever it stands."""
    rng = np.random.default_rng(3)
    news = rng.random(pages) < 0.3
    facts = [
        PageTraits(f"http://h/{'news' if n else 'essay'}/{i}", idle=float(rng.exponential(1 if n else 400) * DAY))
        for i, n in enumerate(news)
    ]
    rates = np.where(news, 1 / DAY, 0.0)
    spread = np.where(news, 0.2 / DAY, 1e-9)
    found = Estimates(np.where(news, 1 / DAY, 1e-9), spread, np.ones(pages), np.full(pages, 9))
    return Examples(facts, rates, found)


KINDS = {"online": "tree", "offline": "bayes"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "model.json"
    Predictor.train(examples(), KINDS, {"pages": 200}).save(path)
    return path


@pytest.mark.slow
class TestContract(RateSourceContract):
    @pytest.fixture(autouse=True)
    def _model(self, model: Path) -> None:
        self.model = str(model)

    def make(self) -> PredictorRates:
        return PredictorRates(self.model)


def test_news_is_told_from_essays_by_the_url_alone(model: Path):
    hot, cold = PredictorRates(str(model)).rates([Sighting("http://h/news/x"), Sighting("http://h/essay/x")], NOW)
    assert hot.rate == pytest.approx(1 / DAY, rel=0.1)
    assert cold.rate < 0.1 / DAY
    assert (hot.source, hot.observations) == ("predictor", 0)
    assert hot.shape == pytest.approx((hot.rate / hot.spread) ** 2)


def test_a_lastmod_and_captures_speak_where_they_can(model: Path):
    url = Url("http://h/other")
    old, new = (Sighting(url, hints=Hints(NOW - days * DAY)) for days in (900, 0.2))
    source = PredictorRates(str(model))
    assert source.rates([new], NOW)[0].rate > 2 * source.rates([old], NOW)[0].rate
    nothing = np.full(2, np.nan)
    times, bits = NOW - np.array([900, 1]) * DAY, np.array([UNKNOWN, UNCHANGED], np.int8)
    history = SiteHistory("h", [url], np.array([0, 2]), times, bits, nothing, nothing, nothing)
    watched = PredictorRates(str(model), history).rates([Sighting(url)], NOW)[0]
    assert watched.rate == source.rates([old], NOW)[0].rate


def test_the_file_is_data_and_says_what_it_is(model: Path):
    data = json.loads(model.read_text())
    assert (data["format"], data["version"], data["about"]) == ("sharc-crawler rate predictor", 1, {"pages": 200})
    assert {name: one["kind"] for name, one in data["classifiers"].items()} == KINDS
    assert len(data["bins"]["edges"]) == len(data["bins"]["means"]) == 2
    pages = [PageTraits("http://h/news/x"), PageTraits("http://h/essay/x", idle=DAY)]
    np.testing.assert_allclose(
        Predictor.load(model).rates(pages), Predictor.train(examples(), KINDS, {}).rates(pages), rtol=1e-4
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.update(format="else"), "is not a sharc-crawler rate predictor"),
        (lambda data: data.update(version=2), "has version 2, this program reads 1"),
        (lambda data: data.pop("bins"), "is damaged"),
        (lambda data: data["bins"]["means"].append(1.0), "is damaged"),
        (lambda data: data["bins"].update(means=[-1.0, 0.0]), "is damaged"),
        (lambda data: data["classifiers"]["online"].update(kind="forest"), "is damaged"),
        (lambda data: data["classifiers"].update(offline=[]), "is damaged"),
    ],
)
def test_a_file_that_is_none_says_so(model: Path, tmp_path: Path, change, message: str):
    data = json.loads(model.read_text())
    change(data)
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(data))
    with pytest.raises(DataError, match=rf"broken.json' {message}"):
        Predictor.load(broken)


def test_no_json_no_file_no_place(tmp_path: Path):
    text = tmp_path / "text.json"
    text.write_text("{")
    with pytest.raises(DataError, match="is not JSON"):
        Predictor.load(text)
    with pytest.raises(
        UsageError, match=r"no.json' cannot be read: No such file or directory; make one by sharc rates"
    ):
        Predictor.load(tmp_path / "no.json")
    with pytest.raises(UsageError, match="cannot be written"):
        Predictor.train(examples(), KINDS, {}).save(tmp_path / "no" / "model.json")


@pytest.mark.slow
def test_cross_validation_tells_pages_that_the_model_has_not_seen():
    known = examples()
    told = []
    found = cross_validate(known, tell=told.append)
    assert [(one.kind, one.features) for one in found] == [
        (kind, features) for kind in ("bayes", "tree") for features in ("online", "offline")
    ]
    assert told == list(range(1, 41))
    assert all(one.off_by.sum() == len(known) for one in found)
    assert all(one.accuracy == 1.0 for one in found if one.features == "online")
    # Labels that no feature knows are guessed no better than by the most frequent one.
    rng = np.random.default_rng(0)
    shuffled = Examples(known.pages, rng.permutation(known.rates), known.posterior)
    most = max(np.mean(shuffled.rates > 0), np.mean(shuffled.rates == 0))
    assert all(one.accuracy < most + 0.05 for one in cross_validate(shuffled))
