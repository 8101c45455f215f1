"""The site as a function of time: pure, complete, with the odd corners of real sites."""

from __future__ import annotations

import io
import json
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from PIL import Image

from sharc_crawler.demo import LivingSite
from sharc_crawler.demo.layout import FLAKY, HOP, MISSING, PRIVATE, QUERY, REDIRECTS, SLOW
from sharc_crawler.errors import UsageError

NOW = 1.7e9
SITE = LivingSite(seed=2, pages=60)
SITE.respond("GET", FLAKY, {}, NOW)  # its one failure


def get(path: str, now: float = NOW) -> tuple[int, bytes]:
    answer = SITE.respond("GET", path, {"host": "localhost:8000"}, now)
    return answer.status, answer.body


def test_every_page_answers_with_its_own_text() -> None:
    answers = [get(path) for path in SITE.paths]
    assert {status for status, _ in answers} == {200}
    assert len({body for _, body in answers}) == len(SITE.paths) == 60


@pytest.mark.slow
@given(st.sampled_from(SITE.paths + SITE.resources), st.floats(1e9, 2e9), st.floats(0, 1e5))
def test_bytes_change_exactly_when_the_truth_says_so(path: str, now: float, later: float) -> None:
    changed = len(SITE.changes(path, now, now + later)) > 0
    assert (get(path, now) != get(path, now + later)) == changed


SCRIPTED = LivingSite(seed=2, pages=60, script=0.3)


@pytest.mark.slow
@given(st.sampled_from(SCRIPTED.paths + SCRIPTED.resources), st.floats(1e9, 2e9), st.floats(0, 1e5))
def test_of_pages_made_by_script_the_data_change_and_the_shell_never(path: str, now: float, later: float) -> None:
    before, after = (SCRIPTED.respond("GET", path, {}, instant) for instant in (now, now + later))
    if path != FLAKY:
        assert (before.body != after.body) == (len(SCRIPTED.changes(path, now, now + later)) > 0)


def test_a_share_of_the_pages_is_made_by_script_of_data_that_say_the_same() -> None:
    data = [path for path in SCRIPTED.resources if path.startswith("/data/")]
    assert 10 <= len(data) <= 30
    shells = {path for path in SCRIPTED.paths if b"/app.js" in SCRIPTED.respond("GET", path, {}, NOW).body}
    assert len(shells) == len(data)
    assert "/" not in shells
    path = next(path for path in data if path.startswith("/data/news/") and "index" not in path)
    target = path.removeprefix("/data").replace(".json", ".html")
    page = json.loads(SCRIPTED.respond("GET", path, {}, NOW).body)
    plain = SITE.respond("GET", target, {}, NOW).body.decode()
    assert page["text"] in plain
    assert all(f'href="{link}"' in plain for link in page["links"])


def test_the_same_instant_gives_the_same_bytes_in_any_order() -> None:
    instants = [NOW + 7 * i for i in range(30)]
    other = LivingSite(seed=2, pages=60)
    forward = [SITE.respond("GET", "/news/", {}, now) for now in instants]
    assert forward == [other.respond("GET", "/news/", {}, now) for now in reversed(instants)][::-1]


def test_other_seeds_are_other_sites() -> None:
    assert LivingSite(seed=3, pages=60).paths != SITE.paths


def test_all_that_pages_name_is_there() -> None:
    named = set()
    for path in SITE.paths:
        tree = html.fromstring(get(path)[1])
        images = [part.split()[0] for text in tree.xpath("//@srcset") for part in text.split(",")]
        named |= {urljoin(path, link) for link in [*tree.xpath("//@href"), *tree.xpath("//@src"), *images]}
    assert {*SITE.paths} <= named
    assert {path for path in named if get(path)[0] != 200} == {*REDIRECTS} - {HOP} | {MISSING}
    assert named - {*SITE.paths, *REDIRECTS, MISSING, PRIVATE} <= {*SITE.resources}


def test_style_names_an_image_that_is_there() -> None:
    assert b'url("/background.png")' in get("/style.css")[1]
    assert get("/background.png")[0] == 200


@pytest.mark.parametrize("path", SITE.resources[:6])
def test_resources_have_their_types(path: str) -> None:
    types = {"png": "image/png", "css": "text/css", "js": "text/javascript"}
    answer = SITE.respond("GET", path, {}, NOW)
    assert answer.header("Content-Type") == types[path.rpartition(".")[2]]


def test_images_are_images() -> None:
    image, doubled = (p for p in SITE.resources if p in ("/images/anchor-0.png", "/images/anchor-0@2x.png"))
    sizes = []
    for path in (image, doubled):
        with Image.open(io.BytesIO(get(path)[1])) as picture:
            picture.load()
            sizes.append(picture.size)
    assert sizes == [(48, 32), (96, 64)]


def test_redirects_lead_to_pages() -> None:
    for path in REDIRECTS:
        target, hops = path, 0
        while target in REDIRECTS:
            answer = SITE.respond("GET", target, {}, NOW)
            assert answer.status in (301, 302)
            target, hops = answer.header("Location") or "", hops + 1
        assert target in SITE.paths
        assert hops == (2 if path == "/old/docs.html" else 1)


@pytest.mark.parametrize("path", [MISSING, "/nothing", "/search?q=nothing", "/news", "//", "/sitemap-people.xml"])
def test_what_is_not_there(path: str) -> None:
    assert get(path)[0] == 404


def test_a_page_is_itself_under_a_query_it_does_not_know() -> None:
    assert get("/news/?session=1") == get("/news/")
    assert get(QUERY)[0] == 200


def test_the_flaky_page_fails_once() -> None:
    site = LivingSite(pages=60)
    assert [site.respond("GET", FLAKY, {}, NOW).status for _ in range(3)] == [500, 200, 200]


def test_the_slow_page_takes_its_time() -> None:
    site = LivingSite(pages=60, slow=2.5)
    assert site.respond("GET", SLOW, {}, NOW).delay == 2.5
    assert site.respond("GET", "/", {}, NOW).delay == 0


@pytest.mark.parametrize("path", ["/", "/style.css", "/latest", "/robots.txt", "/sitemap-docs.xml.gz", "/nothing"])
def test_head_is_get_without_its_body(path: str) -> None:
    asked, answered = (SITE.respond(method, path, {}, NOW) for method in ("HEAD", "GET"))
    assert (asked.status, asked.headers) == (answered.status, answered.headers)
    assert asked.body == b""
    assert answered.header("Content-Length") == str(len(answered.body))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "get", ""])
def test_other_methods_are_refused(method: str) -> None:
    answer = SITE.respond(method, "/", {}, NOW)
    assert (answer.status, answer.header("Allow")) == (405, "GET, HEAD")


def test_the_truth_is_whole() -> None:
    truth = SITE.truth(NOW, NOW + 600)
    assert tuple(truth) == SITE.paths + SITE.resources
    assert truth["/"].tolist() == SITE.changes("/", NOW, NOW + 600).tolist()
    total, expected = sum(map(len, truth.values())), 600 * sum(map(SITE.rate, truth))
    assert abs(total - expected) < 4 * expected**0.5


def test_a_path_that_is_not_on_the_site_has_no_rate() -> None:
    with pytest.raises(UsageError, match="path='/nothing' is not on this site"):
        SITE.rate("/nothing")


def test_time_begins_anywhere() -> None:
    site = LivingSite(seed=4, pages=60, skew=4.0)
    for now in (0.0, 0.5, 1e-9, 4e9):
        assert {site.respond("GET", path, {}, now).status for path in site.paths if path != FLAKY} == {200}
        assert site.respond("GET", "/sitemap-docs.xml.gz", {}, now).status == 200
