"""What a robots.txt or an index names may show anything: it was read, and is no page."""

from __future__ import annotations

import gzip
from dataclasses import replace

import pytest

from sharc_crawler.certificate.writing import certify
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Slot, Verdict
from tests.certificate.made import SITE, Maker, T, said

PACKED = b"Content-Encoding: gzip\r\n"


def answer(body: bytes, head: bytes = b"Content-Type: text/plain\r\n", status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, head, len(body), body)


def to(place: bytes) -> bytes:
    return answer(b"", b"Location: %s\r\n" % place, b"302 Found")


INDEX = b"<sitemapindex><sitemap><loc>%slist</loc></sitemap></sitemapindex>" % SITE.encode()
LIST = b"<urlset><url><loc>%slist</loc></url></urlset>" % SITE.encode()
PAGE = said("such a page is not here")
NAMED = {
    "by robots.txt": [("robots.txt", answer(b"Sitemap: /list\n")), ("list", PAGE)],
    "by one that is packed": [("robots.txt", answer(gzip.compress(b"Sitemap: /list"), PACKED)), ("list", PAGE)],
    "by one that lies elsewhere": [
        ("robots.txt", to(b"rules")), ("rules", answer(b"Sitemap: list\n")), ("list", PAGE),
    ],
    "by an index": [
        ("robots.txt", answer(b"sitemap:/all")), ("all", answer(INDEX, b"Content-Type: text/xml\r\n")), ("list", PAGE),
    ],
    "at the usual place": [("sitemap.xml", answer(INDEX, b"")), ("list", PAGE)],
    "by the order": [("given", PAGE)],
    "and leads to a page": [("robots.txt", answer(b"Sitemap: /s")), ("s", to(b"/list")), ("list", PAGE)],
    "and leads to a known page": [("robots.txt", answer(b"Sitemap: /s")), ("s", to(b"/page")), ("page", said("old"))],
    "in place of robots.txt": [("robots.txt", to(b"/rules")), ("rules", PAGE)],
    "in circles": [("robots.txt", to(b"/list")), ("list", to(b"/robots.txt")), ("list", PAGE)],
}  # fmt: skip
NOT_NAMED = {
    "by a page": [("list", PAGE)],
    "in a comment": [("robots.txt", answer(b"# Sitemap: /list\n")), ("list", PAGE)],
    "by an error page": [("robots.txt", answer(b"Sitemap: /list", status=b"404 N")), ("list", PAGE)],
    "as a page of a sitemap": [("sitemap.xml", answer(LIST, b"")), ("list", PAGE)],
    "as what a page leads to": [("page", to(b"/list")), ("list", PAGE)],
    "nowhere that can be": [("robots.txt", to(b"http://[/")), ("list", PAGE)],
}  # fmt: skip


def findings(folder, exchanges) -> list[str]:
    maker = Maker(folder)
    for name, response in exchanges:
        maker.visit(name, response, Slot.ONLY)
    maker.now = T - 5
    first = maker.visit("page", said("a page"), Slot.FIRST)
    maker.now = T + 5

    maker.add("page", Verdict.COHERENT, Evidence.BYTES, first, maker.visit("page", said("a page"), Slot.SECOND))
    facts = replace(maker.facts(T), settings={"sitemap": f"auto, {SITE}given"})
    return [str(one) for made in certify([facts], folder) for one in made.findings]


@pytest.mark.parametrize("case", NAMED)
def test_what_was_read_as_a_sitemap_is_no_page_that_was_left_out(case, tmp_path):
    assert findings(tmp_path, NAMED[case]) == []
    assert (tmp_path / "certificate.json").exists()


@pytest.mark.parametrize("case", NOT_NAMED)
def test_what_nobody_names_as_one_is(case, tmp_path):
    found = findings(tmp_path, NOT_NAMED[case])[-1]
    assert found.endswith(f"{SITE}list: it is in no certificate")
