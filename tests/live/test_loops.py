"""What leads in circles or on without end: the crawl ends, and says what it left.

One host beside it is captured as if it were alone.
"""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.serving import Answering, serving

LAUGHS = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 9}'>" for n in range(1, 12))
ENTITIES = f"""<!DOCTYPE u [<!ENTITY l0 "ha">{LAUGHS}<!ENTITY own SYSTEM "file:///etc/hostname">]>
<urlset><url><loc>/listed</loc></url><url><loc>/own?&own;</loc></url><url><loc>/laughs?&l11;</loc></url></urlset>"""
ROBOTS = "".join(f"Sitemap: /{name}.xml\n" for name in ("circle", "deep0", "entities"))


class _Hostile(Answering, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = urlsplit(self.path).path[1:]
        number = int("".join(one for one in path if one.isdigit()) or 0)
        if path == "robots.txt":
            self.answer(ROBOTS.encode(), "text/plain")
        elif path.startswith("ring"):
            self.answer(b"", status=302, Location=f"/ring{(number + 1) % 3}")
        elif path.startswith("on"):
            self.answer(b"", status=307, Location=f"/on{number + 1}")
        elif path == "circle.xml":
            self._index("circle", "other")
        elif path == "other.xml":
            self._index("other", "circle")
        elif path.startswith("deep"):
            self._index(f"deep{number + 1}")
        elif path == "entities.xml":
            self.answer(ENTITIES.encode(), "text/xml")
        else:
            self.answer(b"<a href=/ring0>round</a> <a href=/on0>on</a>")

    def _index(self, *names: str) -> None:
        named = "".join(f"<sitemap><loc>/{name}.xml</loc></sitemap>" for name in names)
        self.answer(f"<sitemapindex>{named}</sitemapindex>".encode(), "text/xml")


class _Good(Answering, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        here = self.path.strip("/")
        known = here.isdigit() or not here
        self.answer(b"".join(b"<a href=/%d>%d</a>" % (n, n) for n in range(9)), status=200 if known else 404)


@pytest.mark.slow
def test_circles_chains_and_entities_end_and_are_said(crawl) -> None:
    with serving(_Hostile) as hostile, serving(_Good, "127.0.0.2") as good:
        done = crawl(url=f"{hostile},{good}", delay=0, strategy="bfs:revisits=none", hops=8)
    assert done.code == 0, done.err
    bad, fine = done.captures
    assert len([page for page in fine["pages"] if page["visit"]["result"] == "ok"]) == 1 + 9
    pages = {page["url"].removeprefix(hostile): page["visit"] for page in bad["pages"] if page["kind"] == "page"}
    assert {name for name in pages if name.startswith("ring")} == {"ring0", "ring1", "ring2"}
    assert {name for name in pages if name.startswith("on")} == {f"on{number}" for number in range(8)}
    others = {name for name in pages if not name.startswith(("ring", "on"))}
    assert others == {"", "listed"}, "entities name nothing"
    assert any("(hops=8)" in reason for reason in bad["not_followed"]["sightings"])
    maps = {page["url"].removeprefix(hostile) for page in bad["pages"] if page["kind"] == "sitemap"}
    assert maps <= {"circle.xml", "other.xml", "entities.xml", *(f"deep{n}.xml" for n in range(6))}
    assert f"sitemap {hostile}entities.xml: broken XML" in " ".join(bad["notes"])
    for folder in (path.parent for path in done.folder.rglob("certificate.json")):
        assert verify(folder).findings == []
