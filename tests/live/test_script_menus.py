"""Menus that scripts make: their pages are found where addresses are written out; else a note says what is missing."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

import pytest
from lxml import html

from sharc_crawler.report.marks import BY_SCRIPT
from tests.live.serving import Answering, serving

MENU = b"<html><head><script src=menu.js></script></head><body><h1>%s of this project, in words</h1>"
MADE = b"<a href=https://www.doxygen.org/>made by</a>"
PLAIN = b"<p>A page of the site: <a href=/>up</a>"


class Site(Answering, BaseHTTPRequestHandler):
    """Answers with its pages."""

    pages: dict[str, bytes]

    def do_GET(self):
        kind = "text/javascript" if self.path.endswith(".js") else "text/html"
        self.answer(self.pages.get(self.path, b""), kind, status=200 if self.path in self.pages else 404)


class Viewer(Site):
    """Its manifests are JSON."""

    def answer(self, body, kind, **more):
        super().answer(body, "application/json" if self.path.endswith(".json") else kind, **more)


def captured(crawl, pages, **arguments):
    with serving(type("Pages", (Site,), {"pages": pages})) as url:
        done = crawl(url=url, delay="0.01", **arguments)
    assert done.code == 0, done.err
    found = {page["url"].removeprefix(url.rstrip("/")) for page in done.capture["pages"] if page["kind"] == "page"}
    return done, found, [note.removeprefix(url.rstrip("/")) for note in done.capture["notes"] if BY_SCRIPT in note]


@pytest.mark.parametrize("links", [MADE, b""])
def test_a_seed_that_leads_nowhere_and_loads_scripts_is_told_with_the_way_out(crawl, links):
    done, found, notes = captured(crawl, {"/": MENU % b"Start" + links, "/menu.js": b"show('a' + n + '.html')"})
    assert found == {"/"}
    assert len(notes) == 1
    assert notes[0].startswith("/ links to no other page of this capture and loads 1 script: its menus may be made by")
    assert BY_SCRIPT in done.out
    steps = html.fromstring((done.folder / "report.html").read_bytes()).xpath("//*[@aria-labelledby='h-next']")
    assert "-a browser=auto" in "".join(step.text_content() for step in steps)


def test_so_is_the_index_of_a_folder_among_other_pages(crawl):
    others = {f"/{number}.html": PLAIN + b"%d" % number for number in range(24)}
    start = b"<a href=api/>API</a>" + b"".join(b"<a href=%d.html>x</a>" % number for number in range(24))
    own = {"/api/": MENU % b"API" + MADE, "/api/menu.js": b"show('a' + n)"}
    _, found, notes = captured(crawl, {"/": start, **others, **own})
    assert found == {"/", "/api/", *others}
    assert [note.partition(" ")[0] for note in notes] == ["/api/"]


@pytest.mark.parametrize(("script", "start"), [("/menu.js", b"menu.js"), ("/js/menu.js", b"/js/menu.js")])
def test_pages_that_a_menu_of_a_script_writes_out_are_found(crawl, script, start):
    menu = b'm = [{text: "A", url: "/a.html"}, {text: "B", "href": "b.html#top"}, {url: "/api/a"}, {url: n + ".html"}]'
    pages = {"/": (MENU % b"Start").replace(b"menu.js", start), script: menu, "/a.html": PLAIN, "/b.html": PLAIN + b"b"}
    done, found, notes = captured(crawl, pages)
    assert found == {"/", "/a.html", "/b.html"} - ({"/b.html"} if "/js/" in script else set())
    assert notes == []
    assert done.capture["claim"]["statement"].startswith(f"All {len(found)} pages were in this state together at ")


LEADS = {"/": MENU % b"Start" + b"<a href=b.html>b</a>", "/menu.js": b"", "/b.html": PLAIN}


@pytest.mark.parametrize(
    ("pages", "arguments"),
    [(LEADS, {}), (LEADS, {"limit": "1"}), ({"/": b"<h1>Nothing but this page</h1>"}, {})],
    ids=["led on", "left by a bound", "without scripts"],
)
def test_else_there_is_no_such_note(crawl, pages, arguments):
    assert captured(crawl, pages, **arguments)[2] == []


def test_images_in_tiles_are_captured_whole_and_told_with_the_way_to_the_tiles(crawl):
    image = (
        b'{"@id": "/i/1/full/full/0/default.jpg", "service": {"profile": "http://iiif.io/api/image/2/", "@id": "/i/1"}}'
    )
    pages = {
        "/": b"<a href=manifest.json>IIIF</a><a href=/a>a</a><a href=/b>b</a><script src=viewer.js></script>",
        "/manifest.json": b'{"@context": "http://iiif.io/api/presentation/2/context.json", "x": {"resource": %s}}'
        % image,
        "/i/1/full/full/0/default.jpg": b"JPEG",
        "/i/1/info.json": b'{"width": 9, "tiles": []}',
        "/viewer.js": b"show(service + '/0,0,512,512/512,/0/default.jpg')",
    }
    with serving(type("Viewer", (Viewer,), {"pages": pages})) as url:
        done = crawl(url=url, delay="0.01")
    found = {page["url"].removeprefix(url.rstrip("/")) for page in done.capture["pages"]}
    assert found >= set(pages)
    (note,) = (note for note in done.capture["notes"] if "tiles" in note)
    assert note.startswith("1 image (IIIF: …/info.json) may be shown in tiles, which viewers ask for by script")
    assert "browser=auto" in note
