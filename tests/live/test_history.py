"""A second capture of a site begins with what the first one learned."""

from __future__ import annotations

from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.model import Change, Kind
from sharc_crawler.storage.observations import ObservationStore


def test_the_second_capture_knows_pages_rates_and_size(run_crawl, tmp_path):
    history = tmp_path / "archive.sqlite"
    site = LivingSite(seed=6, pages=30, scale=3000.0, slow=0.05)
    with serve(site) as server:
        name = server.url.split("/")[2]
        first = run_crawl(tmp_path, url=server.url, delay="0", history=str(history), output=str(tmp_path / "first"))
        assert first.code == 0, first.err
        with ObservationStore(history) as store:
            pages = [page for page in first.capture["pages"] if page["kind"] == "page"]
            assert store.size(name) == sum(page["verdict"] is not None for page in pages)
            seen = list(store.observations(name))
            links, documents = set(store.links(name)), store.documents(name)
        assert {one.kind for one in seen} == set(Kind) - {Kind.HUB}
        home = server.url
        named = {page["url"] for page in pages if page["via"] == home} & {one.url for one in seen}
        assert named and named <= {target for source, target in links if source == home}
        assert {documents[page["url"]].media_type for page in pages if page["verdict"]} == {"text/html"}
        assert documents[home].document.outlinks >= len(named)
        assert all(one.document.images > 0 for one in documents.values() if one.url == home)
        changed = {one.url for one in seen if one.change is Change.CHANGED}
        assert changed == {page["url"] for page in first.capture["pages"] if page["verdict"] == "changed"}
        second = run_crawl(
            tmp_path,
            url=server.url,
            delay="0",
            history=str(history),
            sitemap="off",
            output=str(tmp_path / "second"),
        )
        assert second.code == 0, second.err
    pages = [page for page in second.capture["pages"] if page["kind"] == "page" and page["verdict"]]
    assert {page["rate_source"] for page in pages} >= {"history"}
    with ObservationStore(history) as store:
        assert len(list(store.observations(name))) > 1.8 * len(seen)
