"""Over loopback: the sitemap is read again at T, what it says puts the revisits in another order, a kill keeps it."""

from __future__ import annotations

import http.server
import json
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.conftest import captures_of
from tests.live.serving import Answering, serving
from tests.live.test_interruptions import start, stop_after

PAGES = [f"/{number}.html" for number in range(60)]
LOST = set(PAGES[30:40])  #: change once all pages have been visited, seconds after they were
OLD = 86_400.0


@dataclass
class Site:
    """``log``: paths of the pages and the sitemap, in the order in which they were asked for."""

    began: float = field(default_factory=time.time)
    log: list[str] = field(default_factory=list)
    url: str = ""
    changed: float = 0.0  #: when they did, or when that was first asked for
    after: int = len(PAGES)  #: pages asked for, at which they change

    def turned(self) -> bool:
        return len(set(self.log) & set(PAGES)) >= self.after

    def body(self, path: str) -> bytes | None:
        if self.turned() and not self.changed:
            self.changed = time.time()
        if path == "/robots.txt":
            return f"User-agent: *\nAllow: /\nSitemap: {self.url}sitemap.xml\n".encode()
        if path == "/sitemap.xml":
            return self.sitemap().encode()
        changed = path in LOST and self.turned()
        return f"<title>{path}</title>{'new' if changed else 'old'}".encode() if path in PAGES else None

    def sitemap(self) -> str:
        def entry(number: int, path: str) -> str:
            changed = self.changed if path in LOST and self.changed else self.began - OLD * (1 + 7 * number)
            lastmod = datetime.fromtimestamp(changed, UTC).isoformat()
            return f"<url><loc>{self.url}{path[1:]}</loc><lastmod>{lastmod}</lastmod></url>"

        entries = "".join(entry(number, path) for number, path in enumerate(PAGES))
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'

    def revisits(self) -> list[str]:
        """Pages asked for after the sitemap was read again, each once, in this order."""
        again = len(self.log) - 1 - self.log[::-1].index("/sitemap.xml")
        return list(dict.fromkeys(self.log[again + 1 :]))


@contextmanager
def served(**more):
    site = Site(**more)

    class Handler(Answering, http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = site.body(self.path)
            if body is not None and self.path != "/robots.txt":
                site.log.append(self.path)
            kind = "text/html" if self.path in PAGES else "text/plain"
            self.answer(body or b"", kind, 404 if body is None else 200)

    with serving(Handler) as site.url:
        yield site


@pytest.mark.slow
def test_what_the_sitemap_says_at_t_decides_who_is_revisited_last_even_after_a_kill(tmp_path):
    folder = tmp_path / "capture"
    with served() as site:
        process = start(folder, f"{site.url}0.html", delay="0.1", hints="0")
        stop_after(process, site, len(PAGES) + 15, signal.SIGKILL)
        process.communicate(timeout=280)
        assert site.log.count("/sitemap.xml") == 2, "at the start and at T"
        assert 0 < len(site.revisits()) < 40
        process = start(folder, f"{site.url}0.html", delay="0.1", hints="0")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
    assert site.log.count("/sitemap.xml") == 2, "what it said is known"
    assert set(site.revisits()[-len(LOST) :]) == LOST
    (capture,) = captures_of(folder)
    changed = {page["url"] for page in capture["pages"] if page["verdict"] == "changed"}
    assert changed == {site.url + path[1:] for path in LOST}


@pytest.mark.slow
def test_what_changed_before_t_is_visited_again_and_verified(tmp_path):
    folder = tmp_path / "capture"
    with served(after=54) as site:
        process = start(folder, f"{site.url}0.html", delay="0.2", hints="0.3")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
    (capture,) = captures_of(folder)
    assert {page["verdict"] for page in capture["pages"]} == {"coherent"}
    entries = [json.loads(line) for line in (folder / "certificate-pages.jsonl").read_text().splitlines()]
    again = [entry for entry in entries if "former" in entry]
    assert {entry["url"] for entry in again} == {site.url + path[1:] for path in LOST}
    assert all(entry["former"][0]["date"] < entry["visit"]["date"] < entry["revisit"]["date"] for entry in again)
    assert all(entry["former"][0]["digest"] != entry["visit"]["digest"] for entry in again)
    assert verify(folder).findings == []
