"""A site whose pages are made by script: one shell for all of them, and an API that says what they hold."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

from tests.live.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELL = '<!doctype html><title>app</title><div id="app"></div><script src="/app.js"></script>'
#: the index by an API whose answer is redirected to; links in a closed shadow root; what nobody shall load
APP = """
const id = location.pathname === '/' ? 'index' : location.pathname.split('/').pop();
fetch('/api/' + id, {headers: {'X-App': '1'}}).then(answer => answer.json()).then(page => {
  document.title = page.title;
  document.getElementById('app').innerHTML = '<h1>' + page.title + '</h1><img src="/img/' + id + '.svg">';
  const host = document.createElement('div');
  document.body.append(host);
  host.attachShadow({mode: 'closed'}).innerHTML = page.links.map(link => '<a href="' + link + '">x</a>').join('');
  if (id !== 'index') return;
  alert('hello'); window.open('/opened'); new WebSocket('ws://' + location.host + '/socket');
  fetch('/api/forbidden'); fetch('/api/told', {method: 'POST', body: 'x'}); fetch('http://127.0.0.77:9/inner');
  fetch('file:///etc/passwd'); document.body.append(Object.assign(document.createElement('iframe'), {src: '/frame'}));
  document.body.insertAdjacentHTML('beforeend', '<div style="height: 9000px"></div><p id="end">…</p>');
  new IntersectionObserver(seen => { if (seen[0].isIntersecting) fetch('/api/more') }).observe(end);
  setTimeout(() => fetch('/api/late'), 3000); setInterval(() => { document.title = Date.now() }, 10);
  setTimeout(() => { location.href = '/led-to' }, 4000);
});
"""
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="red"/></svg>'
FRAME = "<script>document.write('<a href=/from-frame>x</a>')</script>"
ROBOTS = "User-agent: *\nDisallow: /api/forbidden\n"
PAGES = ("a", "b")
PLAIN = 6  #: pages that are the same without a browser
SCRIPT = "<script src=/plain.js></script>"


class ScriptSite:
    """What is asked for is in ``asked``: path, and header ``X-App``; ``changing``: answers that differ each time."""

    def __init__(self, changing: tuple[str, ...] = ()) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.methods: set[str] = set()
        self._changing = changing

    def answer(self, path: str) -> tuple[int, str, str]:
        """Status, content type and body; of a redirect its target."""
        if path == "/robots.txt":
            return 200, "text/plain", ROBOTS
        if path == "/app.js":
            return 200, "text/javascript", APP
        if path == "/api/index":
            return 302, "", "/api/index.json"
        if path.startswith("/api/"):
            name = path.removeprefix("/api/").removesuffix(".json")
            links = [f"/p/{page}" for page in PAGES] if name == "index" else ["/"]
            said = {"title": f"Page {name}, which is made by a script alone", "links": links}
            if name in self._changing:
                said["number"] = len(self.asked)
            return 200, "application/json", json.dumps(said)
        if path.startswith("/plain/"):
            links = "".join(f"<a href=/plain/{number}>plain page {number}</a> " for number in range(PLAIN))
            return 200, "text/html", f"<p>Plain page {path}, by the server alone</p>{links}<a href=/p/a>a</a>{SCRIPT}"
        if path == "/plain.js":
            return 200, "text/javascript", "document.body.className = 'ready'"
        if path.startswith("/img/"):
            return 200, "image/svg+xml", SVG
        if path == "/frame":
            return 200, "text/html", FRAME
        shell = path == "/" or path.startswith("/p/") or path in {"/led-to", "/from-frame"}
        return (200, "text/html", SHELL) if shell else (404, "text/plain", "no")


@contextmanager
def served(site: ScriptSite) -> Iterator[str]:
    """Its URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            site.asked.append((self.path, self.headers.get("X-App")))
            self.answer()

        def do_POST(self):
            site.methods.add("POST")
            self.answer()

        def answer(self):
            status, kind, body = site.answer(self.path)
            self.send_response(status)
            self.send_header("Location" if status == 302 else "Content-Type", body if status == 302 else kind)
            data = b"" if status == 302 else body.encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with serving(Handler) as url:
        yield url
