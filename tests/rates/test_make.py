from __future__ import annotations

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Hints, Sighting
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.make import make_source, make_sources


def test_several_are_asked_one_after_the_other():
    chain = Chain(make_sources("sitemap, constant:rate=3", {}))
    hinted, other = Sighting("http://h/a", hints=Hints(changefreq="daily")), Sighting("http://h/b")
    assert [found.source for found in chain.rates([hinted, other], 0.0)] == ["sitemap", "constant"]
    assert chain.rates([other], 0.0)[0].rate == 3


def test_a_factory_is_given_what_it_asks_for_and_options_come_first():
    def never() -> object:
        raise AssertionError("nobody asked for it")

    asked = []
    make_source("captures", {"history": lambda: asked.append(1) or SiteHistory.empty(), "documents": never})
    assert asked == [1]
    assert make_source("constant:rate=1e-3", {"rate": lambda: 5.0}).rates([Sighting("http://h/")], 0.0)[0].rate == 1e-3


def broken():
    raise RuntimeError("of its own")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("capture", "rates='capture' is not known; did you mean 'captures'"),
        ("oracel", "did you mean 'oracle'"),
        ("constant:rat=1", "option of rates=constant='rat' is not known; did you mean 'rate'"),
        ("predictor", "rates='predictor' does not make a source of rates: .*model"),
        (f"{__name__}.broken", "broken' does not make a source of rates: RuntimeError: of its own"),
        ("constant:rate=much", "rate='much' of the constant source must be a number of changes per second"),
    ],
)
def test_what_cannot_be_made(spec: str, message: str):
    with pytest.raises(UsageError, match=message):
        make_source(spec, {}, also=["oracle"])
