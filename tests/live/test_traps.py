"""Sites without end, served on loopback: each ends within three times its true pages, all of which are captured."""

from __future__ import annotations

import json
import random
import re
import secrets
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler
from itertools import count
from string import ascii_lowercase
from typing import Any, ClassVar
from urllib.parse import urlsplit

import pytest

from sharc_crawler.certificate.verify import verify
from sharc_crawler.traps.renamed import WHY
from tests.live.serving import Answering, serving

TRUE = 24  #: pages


def text(number: int) -> str:
    return f"The story number {number} is about {' and '.join(f'thing{number * 7 + word}' for word in range(9))}."


class _Endless(Answering, BaseHTTPRequestHandler, ABC):
    """What each page shows is its number's, all else is made up at every request."""

    @abstractmethod
    def number_of(self, path: str) -> int | None:
        """The true page at a path; None: there is none."""

    @abstractmethod
    def address(self, number: int) -> str:
        """Where a true page is, this time."""

    def page(self, number: int | None) -> str:
        links = "".join(f"<a href='{self.address(other)}'>{other}</a> " for other in range(TRUE))
        return f"<title>Stories</title><p>{text(number or 0)}</p>{links}"

    def do_GET(self) -> None:
        if self.path in {"/robots.txt", "/sitemap.xml"}:
            return self.answer(b"", status=404)
        return self.answer(self.page(self.number_of(self.path)).encode(), "text/html; charset=utf-8")


class SessionInPath(_Endless):
    def number_of(self, path: str) -> int | None:
        return int(path.rpartition("/")[2] or 0)

    def address(self, number: int) -> str:
        return f"/s/{secrets.token_hex(6)}/story/{number}"


class RandomQuery(_Endless):
    def number_of(self, path: str) -> int | None:
        return int(urlsplit(path).path[1:] or 0)

    def address(self, number: int) -> str:
        return f"/{number}?r={secrets.token_urlsafe(9).replace('-', 'a').replace('_', 'b')}7x"


class SoftNotFound(_Endless):
    """Any other address is answered with an error page, status 200, that names the next one."""

    def number_of(self, path: str) -> int | None:
        path = urlsplit(path).path
        return int(path[7:]) if path.startswith("/story/") else 0 if path == "/" else None

    def address(self, number: int) -> str:
        return f"/story/{number}"

    def page(self, number: int | None) -> str:
        if number is not None:
            return super().page(number) + f"<a href=/{secrets.token_hex(5)}>more</a>"
        lost = secrets.token_hex(8)
        return (
            f"<title>Oops</title><p>{self.path} was not found. Tell us this number: {lost}.</p>"
            f"<a href=/help/{secrets.token_hex(5)}>help</a> <a href=/{secrets.token_hex(5)}>more</a>"
        )


class SoftNotFoundLetters(SoftNotFound):
    """The same with nothing but letters, and all at the top."""

    def page(self, number: int | None) -> str:
        if number is not None:
            return _Endless.page(self, number) + (f"<a href=/{letters()}>more</a>" if number % 4 == 0 else "")
        links = " ".join(f"<a href=/{letters()}>more</a>" for _ in range(5))
        return f"<title>Oops</title><p>{self.path} was not found. Perhaps you look for one of these. {links}</p>"


class SoftNotFoundNumbers(SoftNotFound):
    """Each says another number; four stories name one of them."""

    def said(self) -> str:
        return f"<p>{self.path} was not found. Error {secrets.randbelow(10**5)}.</p>"

    def page(self, number: int | None) -> str:
        if number is not None:
            return _Endless.page(self, number) + (f"<a href=/{letters()}>more</a>" if number % 6 == 0 else "")
        return self.said() + " ".join(f"<a href=/{letters()}></a>" for _ in range(3))


class Wordless(SoftNotFoundNumbers):
    """There is no text, but a picture that is another each time."""

    def said(self) -> str:
        return f"<img src=/{letters()}.png>"

    def do_GET(self) -> None:
        return self.answer(b"", status=404) if self.path.endswith(".png") else super().do_GET()


class OtherTexts(SoftNotFoundNumbers):
    """Nothing is said twice."""

    def said(self) -> str:
        return f"<p>{' '.join(letters() for _ in range(60))}</p>"


class MadeUpLetters(_Endless):
    """Ten links of letters alone on each page of the trap; what nobody named is not there."""

    named: ClassVar[set[str]] = set()

    def number_of(self, path: str) -> int | None:
        return int(path[7:]) if path.startswith("/story/") else 0 if path == "/" else None

    def address(self, number: int) -> str:
        return f"/story/{number}"

    def made(self) -> str:
        path = f"/{letters()}/{letters()}"
        self.named.add(path)
        return f"<a href={path}>more</a>"

    def page(self, number: int | None) -> str:
        if number is not None:
            return super().page(number) + (self.made() if number % 4 == 0 else "")
        links = " ".join(self.made() for _ in range(10))
        return f"<title>More</title><p>There is always more to be seen here. {links}</p>"

    def do_GET(self) -> None:
        if self.path != "/" and not self.path.startswith("/story/") and self.path not in self.named:
            return self.answer(b"", status=404)
        return super().do_GET()


def letters() -> str:
    return "".join(chr(ord("a") + secrets.randbelow(26)) for _ in range(8))


@pytest.mark.parametrize(
    ("strategy", "site"),
    [
        pytest.param("bfs:revisits=none", SessionInPath, marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", RandomQuery, marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", SoftNotFound, marks=pytest.mark.long),
        pytest.param("sharc-selective", SessionInPath, marks=pytest.mark.long),
        pytest.param("sharc-selective", RandomQuery, marks=pytest.mark.long),
        ("sharc-selective", SoftNotFound),
        pytest.param("bfs:revisits=none", SoftNotFoundLetters, marks=pytest.mark.long),
        pytest.param("sharc-selective", SoftNotFoundNumbers, marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", SoftNotFoundNumbers, marks=pytest.mark.long),
        pytest.param("sharc-selective", Wordless, marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", Wordless, marks=pytest.mark.long),
        pytest.param("sharc-selective", OtherTexts, marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", OtherTexts, marks=pytest.mark.long),
        pytest.param("bfs:revisits=none", MadeUpLetters, marks=pytest.mark.long),
        pytest.param("sharc-selective", MadeUpLetters, marks=pytest.mark.long),
        pytest.param("sharc-selective", SoftNotFoundLetters, marks=pytest.mark.long),
    ],
)
def test_an_endless_site_ends(crawl, site: Any, strategy: str) -> None:
    with serving(site) as url:
        done = crawl(url=url, delay=0, limit=400, strategy=strategy)
    assert done.code == 0, done.err
    visited = [page for page in done.capture["pages"] if page["visit"] and page["kind"] == "page"]
    assert len(visited) <= 3 * TRUE
    bodies = {page["visit"]["digest"] for page in visited}
    assert len(bodies) == len(visited), "no two answers were equal"
    captured = {site.number_of(site, page["url"].removeprefix(url.rstrip("/"))) for page in visited}
    assert captured >= set(range(TRUE)), "each story is captured"
    assert "looks like a trap" in json.dumps(done.report)


class Listed(_Endless):
    """A sitemap lists near-empty pages that differ in their own path alone; each names ever new ones, not listed."""

    numbers = count(TRUE)

    def number_of(self, path: str) -> int | None:
        return int(path.removeprefix("/page/").removesuffix(".html")) if path != "/" else None

    def address(self, number: int) -> str:
        return f"/page/{number}.html"

    def page(self, number: int | None) -> str:
        links = "" if number is None else "".join(f"<a href={self.address(next(self.numbers))}>next</a>" for _ in "ab")
        return f"<title>A page</title><p>You are at {self.path}</p>{links}"

    def do_GET(self) -> None:
        if self.path != "/sitemap.xml":
            return super().do_GET()
        root = f"http://{self.headers['Host']}"
        listed = "".join(f"<url><loc>{root}{self.address(number)}</loc></url>" for number in range(TRUE))
        space = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return self.answer(f"<urlset xmlns='{space}'>{listed}</urlset>".encode(), "application/xml")


def test_what_a_sitemap_lists_is_captured_though_all_of_it_says_the_same_and_the_rest_ends(crawl):
    with serving(Listed) as url:
        done = crawl(url=url, delay=0, limit=400, strategy="bfs:revisits=none")
    assert done.code == 0, done.err
    visited = {page["url"] for page in done.capture["pages"] if page["visit"]}
    assert {f"{url}page/{number}.html" for number in range(TRUE)} <= visited
    assert len(visited) <= 3 * TRUE
    assert "looks like a trap" in json.dumps(done.report)


class StrictLetters(_Endless):
    """Letters stand before each name, nothing is said twice, and no query is answered."""

    def number_of(self, path: str) -> int | None:
        name = path.rpartition("/")[2]
        return 0 if path == "/" else int(name) if path.count("/") == 2 and name.isdecimal() else None

    def address(self, number: int) -> str:
        return f"/{letters()}/{number}"

    def page(self, number: int | None) -> str:
        others = ((number or 0) + 1, 2 * (number or 0) + 2)
        links = "".join(f"<a href='{self.address(one % TRUE)}'>{one}</a> " for one in others)
        return f"<title>Stories</title><p>{' '.join(letters() for _ in range(60))}</p>{links}"

    def do_GET(self) -> None:
        number = self.number_of(self.path)
        return super().do_GET() if number is not None and number < TRUE else self.answer(b"", status=404)


@pytest.mark.long
def test_where_no_unknown_query_is_answered_a_page_is_asked_for_as_it_is_and_what_is_made_up_ends(crawl):
    with serving(StrictLetters) as url:
        done = crawl(url=url, delay=0, limit=600, strategy="bfs:revisits=none", sitemap="off")
    assert done.code == 0, done.err
    visited = [page["url"] for page in done.capture["pages"] if page["visit"] and page["kind"] == "page"]
    assert {one.rpartition("/")[2] or "0" for one in visited} == set(map(str, range(TRUE)))
    assert len(visited) <= TRUE + 20
    assert WHY in json.dumps(done.report)
    assert "#no-such-page" not in json.dumps(done.capture["pages"])
    assert verify(done.folder).findings == []


class StrictTexts(StrictLetters):
    """The same, and what an address shows is the same each time."""

    def page(self, number: int | None) -> str:
        said, dice = super().page(number), random.Random(self.path)
        return re.sub("[a-z]{8}", lambda _: "".join(dice.choices(ascii_lowercase, k=8)), said)


@pytest.mark.long
def test_what_was_asked_for_once_more_as_it_is_speaks_against_no_page(crawl):
    with serving(StrictTexts) as url:
        done = crawl(url=url, delay=0, limit=200, strategy="sharc-selective", sitemap="off")
    asked = [json.loads(line) for line in (done.folder / "crawl.jsonl").read_text().splitlines()]
    assert any("#no-such-page" in one["url"] for one in asked)
    assert "refuted" not in json.dumps(done.capture["pages"])
    assert not any("do not support" in one for one in done.capture["notes"])


@pytest.mark.long
def test_a_name_that_nobody_gave_counts_nowhere_and_error_pages_are_none_to_the_next_capture(run_crawl, tmp_path):
    visited = []
    with serving(SoftNotFoundLetters) as url:
        for name in ("first", "second"):
            given = {"url": url, "output": str(tmp_path / name), "history": str(tmp_path / "history.sqlite")}
            done = run_crawl(tmp_path, **given, delay="0", limit="400", sitemap="off")
            assert done.code == 0, done.err
            (capture,) = done.report["captures"]
            assert capture["resources"]["known"] == 0
            assert not any("no-such-page" in one["url"] for one in done.capture["pages"]), "reasons may name it"
            assert not any("error page alone (" in one for one in capture["notes"]), "what it names is not looked at"
            (note,) = [
                one for one in capture["notes"] if one.startswith(f"a page that cannot exist ({url}no-such-page")
            ]
            assert note.endswith("it shows this folder's error page, of status 200")
            certified = (tmp_path / name / "certificate-pages.jsonl").read_text().splitlines()
            assert not any("no-such-page" in json.loads(line)["url"] for line in certified)
            assert verify(tmp_path / name).findings == []
            asked = [json.loads(line) for line in (tmp_path / name / "crawl.jsonl").read_text().splitlines()]
            assert [one["kind"] for one in asked if "/no-such-page" in one["url"]] == ["probe"], "its record is there"
            visited.append({one["url"] for one in done.capture["pages"] if one["visit"]})
    stories = {f"{url}story/{number}" for number in range(TRUE)}
    assert visited[0] & visited[1] == {url, *stories}
