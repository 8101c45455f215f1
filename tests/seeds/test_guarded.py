"""A ranker, or a notion of an update, of somebody else's that fails, or answers badly, is named."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.seeds.base import RankingTask, Scores, SeedRanker
from sharc_crawler.seeds.guarded import updated
from sharc_crawler.seeds.hacs.rank import make_ranker, rank
from sharc_crawler.testing.rankers import DAY, seeds
from sharc_crawler.testing.updates import UpdatesContract, captures

GOOD = np.full(40, 0.5)
BAD: dict[str, tuple[Any, str]] = {
    "nothing": (None, "answered with NoneType, not Scores"),
    "a list": (Scores([0.5] * 40), "gave a value that is no array of 40"),  # type: ignore[arg-type]
    "too few": (Scores(GOOD[:7]), "gave a value that is no array of 40"),
    "no number": (Scores(np.full(40, np.nan)), "gave a value that is no number"),
    "texts": (Scores(np.full(40, "x")), "gave a value of <U1, not of numbers"),
    "complex numbers": (Scores(GOOD * 1j), "gave a value of complex128, not of numbers"),
    "rates of texts": (Scores(GOOD, rate=np.full(40, "often")), "gave a rate of <U5, not of numbers"),
    "dates of objects": (Scores(GOOD, last_update=np.full(40, None)), "gave a last_update of object, not of numbers"),
    "no date": (Scores(GOOD, last_update=np.full(40, 1e300)), "gave a last_update, .* that is no date: 1e\\+300"),
    "before all dates": (
        Scores(GOOD, last_update=np.full(40, -1e12)),
        "gave a last_update, .* that is no date: -1e\\+12",
    ),
    "negative rates": (Scores(GOOD, rate=-GOOD), "gave a rate below 0"),
    "negative": (Scores(-GOOD), "gave a probability that is not between 0 and 1"),
    "above one": (Scores(3 * GOOD), "gave a probability that is not between 0 and 1"),
    "rates too few": (Scores(GOOD, rate=GOOD[:1]), "gave a rate that is no array of 40"),
}


class Careless(SeedRanker):
    probabilities = True
    given: Any = None

    def score(self, seeds: Any, task: RankingTask) -> Scores:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given  # type: ignore[no-any-return]


@pytest.mark.parametrize("how", BAD)
def test_it_is_named(how: str) -> None:
    ranker = Careless()
    ranker.given, said = BAD[how]
    with pytest.raises(DataError, match=f"the ranker Careless {said}.* a fault of this plug-in"):
        rank(seeds(), ranker, RankingTask(100 * DAY))


class Writing(SeedRanker):
    def fit(self, seeds: Any, now: float) -> Any:
        seeds.urls[:] = ["http://elsewhere.example/"] * len(seeds.urls)
        seeds.pages.times[:] = now
        return self

    def score(self, seeds: Any, task: RankingTask) -> Scores:
        seeds.urls.clear()
        return Scores(np.zeros(40))


def test_what_it_writes_into_its_histories_changes_nothing_of_what_is_chosen() -> None:
    ours = [(one.url, one.last_seen, one.captures) for one in rank(seeds(), Even(), RankingTask(100 * DAY))]
    given = rank(seeds(), Writing(), RankingTask(100 * DAY))
    assert [(one.url, one.last_seen, one.captures) for one in given] == ours


class Even(SeedRanker):
    def score(self, seeds: Any, task: RankingTask) -> Scores:
        return Scores(np.zeros(40))


def test_what_it_raises_is_said() -> None:
    ranker = Careless()
    ranker.given = KeyError("careless")
    with pytest.raises(DataError, match="the ranker Careless raised KeyError: 'careless'"):
        rank(seeds(), ranker, RankingTask(100 * DAY))


def failing() -> None:
    raise RuntimeError("rank boom")


def test_what_makes_none_is_no_traceback() -> None:
    with pytest.raises(DataError, match=rf"the ranker {__name__}.failing raised RuntimeError: rank boom. That is a"):
        make_ranker(f"{__name__}.failing")
    with pytest.raises(UsageError, match=r"is no SeedRanker: derive its class from sharc_crawler\.seeds\.base\.Seed"):
        make_ranker("builtins.dict")
    with pytest.raises(UsageError, match=r"SeedRanker' does not make a ranker: .*abstract"):
        make_ranker("sharc_crawler.seeds.base.SeedRanker")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "answered with NoneType, not an array"),
        (np.full(3, -1), "gave no array of 5, one for each capture"),
        (np.full(5, 2), "gave other values than -1"),
        (np.zeros(5), "says of a page's first capture"),
        (KeyError("boom"), "raised KeyError: 'boom'"),
    ],
)
def test_a_notion_of_an_update_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, answer: Any, said: str) -> None:
    def careless(_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(sys.modules[__name__], "failing", careless)
    with pytest.raises(DataError, match=rf"the notion of an update {__name__}.failing {said}.*a fault of this plug-in"):
        updated(f"{__name__}.failing", captures())


class TestDigest(UpdatesContract):
    updates = "digest"


class TestFingerprint(UpdatesContract):
    updates = "fingerprint"


class TestLinkAddition(UpdatesContract):
    updates = "link-addition"


class TestPdfLink(UpdatesContract):
    updates = "pdf-link"
