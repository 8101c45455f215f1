"""All our rate sources keep the contract."""

from __future__ import annotations

from sharc_crawler.rates.base import UnstatedRates
from sharc_crawler.rates.chain import Chain, default_chain
from sharc_crawler.rates.constant import ConstantRates
from sharc_crawler.rates.sitemap import SitemapRates
from sharc_crawler.testing.rates import NOW, SIGHTINGS, RateSourceContract


class TestSitemap(RateSourceContract):
    def make(self) -> SitemapRates:
        return SitemapRates()


class TestConstant(RateSourceContract):
    def make(self) -> ConstantRates:
        return ConstantRates()


class TestChain(RateSourceContract):
    def make(self) -> Chain:
        return default_chain()

    def test_never_abstains(self) -> None:
        assert None not in self.make().rates(SIGHTINGS, NOW)


class TestUnstated(RateSourceContract):
    def make(self) -> UnstatedRates:
        return UnstatedRates(default_chain)

    def test_it_says_what_its_chain_says_from_the_first_page_on(self) -> None:
        rates, chain = self.make(), default_chain()
        for count in range(1, len(SIGHTINGS) + 1):
            asked = SIGHTINGS[:count]
            assert [rates.weight(one) for one in asked] == [chain.weight(one) for one in asked], "asked first"
            assert list(rates.rates(asked, NOW)) == list(chain.rates(asked, NOW))

    def test_the_chain_is_made_with_the_first_hint(self) -> None:
        made: list[Chain] = []
        rates = UnstatedRates(lambda: made.append(default_chain()) or made[-1])
        assert [one.source for one in rates.rates(SIGHTINGS[::6], NOW)] == ["prior", "prior"]
        assert rates.swings() is None
        assert not made
        rates.rates(SIGHTINGS, NOW)
        rates.rates(SIGHTINGS, NOW)
        assert len(made) == 1
