"""Sites of real frameworks beside plain pages: all that they load is archived and judged; auto finds their classes."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from sharc_crawler.certificate.verify import verify
from tests.live.browser.framework_site import FEED, INSTALLED, ITEMS, MISSING, FrameworkSite, build, served
from tests.live.browser.test_browsing import archived, there_is_chromium  # noqa: F401

pytestmark = [pytest.mark.skipif(not INSTALLED, reason=MISSING), pytest.mark.usefixtures("there_is_chromium")]

SOME, ALL = ("vue", "plain"), ("vue", "react", "feed", "preset", "pwa", "lazy", "plain")
NUMBERS = range(1, ITEMS + 1)
PAGES = {
    "vue": {"/vue/", *(f"/vue/{n}" for n in NUMBERS)},
    "react": {"/react/", *(f"/react/{n}" for n in NUMBERS)},
    "feed": {"/feed/", *(f"/of-feed/{n}" for n in range(1, 2 * FEED + 1))},
    "preset": {f"/preset/{n}.html" for n in (1, 2, 3)},
    "pwa": {"/pwa/"},
    "lazy": {"/lazy/"},
    "plain": {"/plain/", *(f"/plain/{n}" for n in range(ITEMS + 2))},
}
#: what only a browser asks for
LOADED = {
    "vue": {"/api/vue/list", *(f"/api/vue/{n}" for n in NUMBERS), *(f"/picture/vue-{n}.svg" for n in NUMBERS)},
    "react": {"/api/react/list", *(f"/api/react/{n}" for n in NUMBERS), *(f"/picture/react-{n}.svg" for n in NUMBERS)},
    "feed": {f"/api/feed/{n}" for n in range(1, FEED + 1)},
    "preset": {"/js/hydrate.js"},
    "pwa": {"/pwa/app.js", "/pwa/worker.js", "/api/pwa/news"},
    "lazy": {f"/picture/{kind}-{n}.svg" for kind in ("lazy", "sized") for n in range(ITEMS)},
    "plain": set(),
}
#: of the shown classes, and of those with as many pages as are looked at both ways
SHOWN = {"vue": "/vue/*", "react": "/react/*", "feed": "/feed/*", "pwa": "/pwa/*"}
SAME = {"feed": "/of-feed/*", "preset": "/preset/*.html", "plain": "/plain/*"}


def classes(known: dict[str, str], parts: tuple[str, ...]) -> str:
    return ", ".join(sorted(known[part] for part in parts if part in known))


@pytest.mark.long
@pytest.mark.parametrize("parts", [SOME, ALL], ids=["some", "all"])
def test_a_site_of_frameworks_is_archived_and_judged(crawl, tmp_path, parts):
    changing = ("/api/vue/2", "/api/react/3", "/api/feed/2", "/api/pwa/news", "/plain/1")
    site = FrameworkSite(build(tmp_path / "made"), parts, changing)
    with served(site) as url:
        done = crawl(url=url, browser="auto", delay="0.01", sitemap="off", strategy="bfs")
    assert done.code == 0, done.err
    pages = {urlsplit(page["url"]).path: page for page in done.capture["pages"] if page["kind"] == "page"}
    assert set(pages) == {"/", *(path for part in parts for path in PAGES[part])}, done.capture["notes"]
    assert {path for part in parts for path in LOADED[part]} <= set(site.asked)
    kept = archived(done)
    del kept["/robots.txt"], site.asked["/robots.txt"]
    assert kept == site.asked, "each exchange is in the archive"
    changed = {path for path, page in pages.items() if page["verdict"] == "changed"}
    data = {path: {urlsplit(one).path for one in page.get("data") or ()} for path, page in pages.items()}
    assert changed == {path for path in pages if path in site.log or data[path] & site.log}, "as the site's own log"
    assert changed >= {"/vue/2", "/plain/1"}, "of its data, and of itself"
    assert {page["verdict"] for path, page in pages.items() if path not in changed} == {"coherent"}
    (note,) = (note for note in done.capture["notes"] if note.startswith("classes of URLs"))
    assert (
        note == f"classes of URLs shown by a browser: {classes(SHOWN, parts)}; the same without: {classes(SAME, parts)}"
    )
    assert not verify(done.folder).findings
