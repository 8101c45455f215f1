"""What scripts ask by POST, and films that are asked for in parts: captured with a real Chromium."""

from __future__ import annotations

import json
import re
from collections import Counter
from http.server import BaseHTTPRequestHandler

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser import chromium
from tests.live.browser.test_browsing import compared, resources
from tests.live.serving import Answering, serving

pytestmark = pytest.mark.long

SHELL = """<!doctype html><title>app</title><div id=a></div><div id=b></div><p id=part></p><script>
const ask = (name, query, type) => fetch('/graph', {method: 'POST', headers: {[type]: 'application/json'},
  body: JSON.stringify({query})}).then(got => got.json()).then(got => { window[name].textContent = got.said });
ask('a', 'first', 'Content-Type'); ask('b', 'second', 'content-type');
navigator.sendBeacon('/beacon', 'x'); fetch('/film', {headers: {range: 'bytes=2-3'}}).then(got => got.text())
  .then(text => { part.textContent = text + '.' }); new WebSocket('ws://' + location.host + '/socket');
</script>"""


def server(asked: Counter[str], *, changing: str = ""):
    class Graph(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            asked[self.path + (self.headers.get("Range") or "")] += 1
            self.answer(
                *{"/": (SHELL, "text/html"), "/film": ("a film", "video/mp4")}.get(self.path, ("", "text/plain"))
            )

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked[f"{self.path} {body} {self.headers.get('If-None-Match')}"] += 1
            query = json.loads(body)["query"]
            said = f"{query} {asked.total() if query == changing else ''}"
            self.answer(json.dumps({"said": said}), "application/json")

        def answer(self, body: str, kind: str):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("ETag", '"1"')
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    return Graph


@pytest.fixture(autouse=True)
def there_is_chromium():
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))


def requests(folder) -> Counter[bytes]:
    """Bodies of POSTs in the WARC files."""
    bodies: Counter[bytes] = Counter()
    for warc in folder.glob("*.warc.gz"):
        with warc.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "request" and record.http_headers.protocol == "POST":
                    bodies[record.content_stream().read()] += 1
    return bodies


@pytest.mark.parametrize(("changing", "verdict"), [("", "coherent"), ("second", "changed")])
def test_what_scripts_ask_by_post_is_asked_twice_and_judged(crawl, changing, verdict):
    asked: Counter[str] = Counter()
    with serving(server(asked, changing=changing)) as url:
        done = crawl(url=url, browser="always", post="1", text="1", delay="0", sitemap="off")
    assert done.code == 0, done.err
    queries = [f'{{"query":"{name}"}}' for name in ("first", "second")]
    assert [asked[f"/graph {query} None"] for query in queries] == [2, 2], "without conditions, which are for GETs"
    assert requests(done.folder) == {query.encode(): 2 for query in queries}
    assert not any("beacon" in path for path in asked)
    (page,) = (page for page in done.capture["pages"] if page["kind"] == "page")
    assert page["verdict"] == verdict
    assert sorted(re.sub(r"#post-[0-9a-f]{40}$", "#post", one) for one in page["data"]) == [
        f"{url}film", f"{url}graph#post", f"{url}graph#post"
    ]  # fmt: skip
    assert not verify(done.folder).findings
    found = compared(done, url)
    assert (found["equal_bytes"], found["changed"]) == (True, bool(changing))
    told = {one["url"]: one["changed"] for one in found["data"]}
    of_graph = {name: f"{url}graph?__wb_method=POST&query={name}" for name in ("first", "second")}
    assert told == {f"{url}film": False, **{of: name == changing for name, of in of_graph.items()}}
    lines = [json.loads(line.split(" ", 2)[2]) for index in done.folder.glob("*.cdxj") for line in index.open()]
    posted = Counter(line["requestBody"] for line in lines if line.get("method") == "POST")
    assert posted == {"query=first": 2, "query=second": 2}
    notes = " ".join(done.capture["notes"])
    assert "1 page was shown without POST requests of forms and beacons" in notes
    assert "1 page was shown without WebSockets" in notes
    assert asked["/film"] == 2, "as a whole"
    assert resources(done)[f"urn:text:{url}"].endswith(b"fi."), "and the page has the part that it wanted"
    assert asked["/filmbytes=2-3"] == 0


BY_HEADERS = """<!doctype html><title>list</title><p id=a></p><p id=b></p><p id=c></p><script>
const ask = (name, url, headers) =>
  fetch(url, {headers}).then(got => got.text()).then(got => { window[name].textContent = got });
const trace = crypto.randomUUID();
ask('a', location.href, {'X-Requested-With': 'XMLHttpRequest'}); ask('b', '/rows', {'X-Page': '2', 'X-Trace': trace});
ask('c', '/rows', {'X-Page': '1'});
</script>"""


def test_what_scripts_ask_by_headers_of_their_own_is_told_apart_and_judged(crawl):
    """The page's own address for a fragment (htmx, Turbo, Inertia), and one of several that a header chooses."""
    asked: Counter[str] = Counter()

    class Fragments(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            part = self.headers.get("X-Requested-With") or self.headers.get("X-Page")
            asked[f"{self.path} {part}"] += 1
            said = BY_HEADERS if part is None else f"{part} {asked.total() if part == 'XMLHttpRequest' else ''}"
            body = said if self.path in ("/", "/rows") else ""
            self.answer(body.encode(), "text/html" if part is None else "text/plain")

    with serving(Fragments) as url:
        done = crawl(url=url, browser="always", text="1", delay="0", sitemap="off")
    assert done.code == 0, done.err
    assert [asked[one] for one in ("/ XMLHttpRequest", "/rows 1", "/rows 2", "/rows None")] == [2, 2, 2, 0]
    (page,) = (page for page in done.capture["pages"] if page["kind"] == "page")
    assert (page["verdict"], len(page["data"])) == ("changed", 3), page
    assert any(note.startswith("scripts chose among answers of one address") for note in done.capture["notes"])
    assert not verify(done.folder).findings
    assert b"XMLHttpRequest" in resources(done)[f"urn:text:{url}"], "shown with what was asked for"


POLLS = """<!doctype html><title>chat</title><p>text</p><ul id=list></ul><script>
const poll = () => fetch('/poll?t=' + performance.now()).then(got => got.text()).then(poll, () => {});
const more = number => number > 8 || fetch('/more?n=' + number).then(got => got.text())
  .then(text => { list.append(text); return more(number + 1) });
for (let number = 0; number < 8; number++) {
  const one = new XMLHttpRequest; one.open('GET', '/waits?n=' + number, false); one.send();
}
const pages = async () => {
  const all = [];
  for (let page = 0; page < 12; page++) all.push(await (await fetch('/pages?page=' + page)).text());
  list.append(all.join());
};
poll(); more(1); pages();
</script>"""


def test_what_a_script_asks_for_over_and_over_is_let_go_of_and_nothing_else(crawl):
    """A chat's polls come to no end. Lists in parts, and a script that waits for each answer, are no polls."""
    asked: Counter[str] = Counter()

    class Chat(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            path = self.path.partition("?")[0]
            asked[path] += 1
            said = {"/": POLLS, "/pages": str(asked[path])}.get(path, "x")
            self.answer(said.encode(), "text/html" if path == "/" else "text/plain")

    with serving(Chat) as url:
        done = crawl(url=url, browser="always", delay="0", sitemap="off", strategy="bfs:revisits=none")
    assert done.code == 0, done.err
    assert (asked["/waits"], asked["/more"], asked["/pages"]) == (8, 8, 12)
    assert asked["/poll"] < 20
    assert any("shown without what a script asks for over and over" in note for note in done.capture["notes"])


def test_what_a_redirect_led_to_is_no_answer_to_a_request_by_headers(crawl):
    asked: Counter[str] = Counter()
    script = "<!doctype html><title>x</title><p id=a></p><script>fetch(%s).then(got => got.text()).then(%s)</script>"
    show, by_header = "text => { a.textContent = text }", "'/rows', {headers: {'X-Page': '2'}}"
    pages = {"/": "<a href=/1>1</a><a href=/2>2</a>", "/1": script % ("'/led'", show), "/2": script % (by_header, show)}

    class Leading(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            asked[f"{self.path} {self.headers.get('X-Page')}"] += 1
            said = pages.get(self.path, f"{self.headers.get('X-Page')} {asked.total()}").encode()
            kind, status = "text/html" if self.path in pages else "text/plain", 302 if self.path == "/led" else 200
            self.answer(said, kind, status, Location="/rows")

    with serving(Leading) as url:
        done = crawl(url=url, browser="always", delay="0", sitemap="off")
    assert done.code == 0, done.err
    assert (asked["/rows None"], asked["/rows 2"]) == (2, 2)
    (second,) = (page for page in done.capture["pages"] if page["url"] == f"{url}2")
    assert second["verdict"] == "changed", second
