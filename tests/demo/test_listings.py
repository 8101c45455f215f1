"""robots.txt and sitemaps, read by other people's parsers, against the truth."""

from __future__ import annotations

import gzip
from datetime import datetime
from urllib.parse import urlsplit

import pytest
from lxml import etree
from protego import Protego

from sharc_crawler.demo import LivingSite
from sharc_crawler.demo.layout import PRIVATE
from sharc_crawler.demo.listings import PERIODS, changefreq

NOW = 1.7e9
SITE = LivingSite(seed=5, pages=200)
HEADERS = {"Host": "living.example:8000"}


def body(path: str) -> bytes:
    answer = SITE.respond("GET", path, HEADERS, NOW)
    assert answer.status == 200
    return answer.body


def entries() -> dict[str, dict[str, str]]:
    """Path → what the sitemaps say of it, from the index down."""
    found = {}
    for location in etree.fromstring(body("/sitemap.xml")).iterfind("{*}sitemap/{*}loc"):
        path = urlsplit(location.text).path
        raw = gzip.decompress(body(path)) if path.endswith(".gz") else body(path)
        for url in etree.fromstring(raw).iterfind("{*}url"):
            told = {etree.QName(child).localname: child.text or "" for child in url}
            found[told["loc"].removeprefix("http://living.example:8000")] = told
    return found


def test_robots() -> None:
    robots = Protego.parse(body("/robots.txt").decode())
    assert robots.can_fetch("http://living.example:8000/", "anybody")
    assert not robots.can_fetch(f"http://living.example:8000{PRIVATE}", "anybody")
    assert robots.crawl_delay("anybody") is None
    assert list(robots.sitemaps) == ["http://living.example:8000/sitemap.xml"]


def test_robots_asks_for_a_delay_if_told_to() -> None:
    text = LivingSite(crawl_delay=0.25).respond("GET", "/robots.txt", {}, NOW).body.decode()
    assert Protego.parse(text).crawl_delay("anybody") == 0.25


def test_sitemaps_list_the_pages_that_are_not_for_links_alone() -> None:
    listed = entries()
    assert listed.keys() < {*SITE.paths}
    assert all(path.startswith("/people/") or path == "/flaky.html" for path in {*SITE.paths} - listed.keys())
    assert listed["/search?q=tides"]["priority"] == "0.5"
    assert listed["/"]["priority"] == "1.0"


def test_one_sitemap_is_gzipped() -> None:
    answer = SITE.respond("GET", "/sitemap-docs.xml.gz", HEADERS, NOW)
    assert answer.header("Content-Type") == "application/gzip"
    assert gzip.decompress(answer.body).startswith(b"<?xml")


def test_lastmod_names_the_second_of_the_last_change() -> None:
    for path, told in entries().items():
        second = datetime.fromisoformat(told["lastmod"]).timestamp()
        assert len(SITE.changes(path, second - 1e-6, min(second + 1, NOW))) > 0
        assert len(SITE.changes(path, second + 1, NOW)) == 0


def test_changefreq_is_the_class_of_the_true_rate() -> None:
    listed = entries()
    assert len({told["changefreq"] for told in listed.values()}) >= 4
    for path, told in listed.items():
        period = SITE.changefreqs[told["changefreq"]]
        distances = {name: abs_ratio(other * SITE.rate(path)) for name, other in SITE.changefreqs.items()}
        assert abs_ratio(period * SITE.rate(path)) == min(distances.values())


def abs_ratio(ratio: float) -> float:
    return max(ratio, 1 / ratio)


@pytest.mark.parametrize(("name", "period"), PERIODS.items())
@pytest.mark.parametrize("scale", [1.0, 720.0])
def test_a_period_is_its_own_class(name: str, period: float, scale: float) -> None:
    assert changefreq(scale / period, scale) == name


def test_a_host_cannot_break_the_sitemap() -> None:
    answer = SITE.respond("GET", "/sitemap.xml", {"Host": "<&\"'>"}, NOW)
    assert len(etree.fromstring(answer.body)) == 4
