"""All our rate sources keep the contract."""

from __future__ import annotations

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
