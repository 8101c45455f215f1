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
    hub: str = ""  #: path of a feed or a list of changes, instead of a sitemap

    def turned(self) -> bool:
        return len(set(self.log) & set(PAGES)) >= self.after

    def body(self, path: str) -> bytes | None:
        if self.turned() and not self.changed:
            self.changed = time.time()
        if path == "/robots.txt":
            sitemap = "" if self.hub else f"Sitemap: {self.url}sitemap.xml\n"
            return f"User-agent: *\nAllow: /\n{sitemap}".encode()
        if path == "/sitemap.xml":
            return None if self.hub else self.sitemap().encode()
        if path == self.hub:
            return self.recent().encode()
        changed = path in LOST and self.turned()
        text = f"<title>{path}</title>{'new' if changed else 'old'}{self.named() if path == PAGES[0] else ''}"
        return text.encode() if path in PAGES else None

    def named(self) -> str:
        """The front's links, and its feed."""
        feed = f'<link rel="alternate" type="application/atom+xml" href="{self.hub}">' if "feed" in self.hub else ""
        return feed + "".join(f'<a href="{path}">page</a>' for path in (*PAGES, self.hub) if path)

    def recent(self) -> str:
        """Pages that changed; a feed says when."""
        changed = sorted(LOST) if self.changed else []
        if "feed" not in self.hub:
            return "".join(f'<a href="{path}">page</a>' for path in dict.fromkeys([*changed, *PAGES]))
        when = datetime.fromtimestamp(self.changed, UTC).isoformat()
        entries = (f'<entry><link href="{path}"/><updated>{when}</updated></entry>' for path in changed)
        return f'<feed xmlns="http://www.w3.org/2005/Atom">{"".join(entries)}</feed>'

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
            html = self.path in PAGES or self.path.endswith(".html")
            kind = "text/html" if html else "application/xml"
            self.answer(body or b"", kind, 404 if body is None else 200)

    with serving(Handler) as site.url:
        yield site


@pytest.mark.long
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


@pytest.mark.long
def test_what_changed_before_t_is_visited_again_and_verified(tmp_path):
    folder = tmp_path / "capture"
    with served(after=54) as site:
        process = start(folder, f"{site.url}0.html", delay="0.1", hints="0.3")
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


@pytest.mark.long
@pytest.mark.parametrize("hub", ["/feed.xml", "/recent-changes.html"])
def test_what_a_feed_or_a_list_says_has_changed_is_visited_again(hub, tmp_path):
    folder = tmp_path / "capture"
    with served(after=54, hub=hub) as site:
        process = start(folder, f"{site.url}0.html", delay="0.2", hints="0.3", strategy="bfs")
        out, _ = process.communicate(timeout=280)
        assert process.returncode == 0, out
    (capture,) = captures_of(folder)
    verdicts = {page["url"]: page["verdict"] for page in capture["pages"]}
    found = LOST if "feed" in hub else LOST - {*PAGES[37:40]}  # a list does not say whether it was just after the visit
    assert {path for path in found if site.log.count(path) == 3} == found
    assert {verdicts[site.url + path[1:]] for path in (*found, *PAGES[:30])} == {"coherent"}
    assert site.url + hub[1:] in verdicts, "it is a page of the site as well"
    assert verify(folder).findings == []
