"""A second capture of a site begins with what the first one learned."""

from __future__ import annotations

import re

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.certificate.verify import verify
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.model import Change, Kind
from sharc_crawler.storage.observations import ObservationStore

EMPTY = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


@pytest.mark.long
def test_payloads_of_former_captures_are_stored_once_where_asked_for(run_crawl, tmp_path):
    history = str(tmp_path / "archive.sqlite")
    with serve(LivingSite(seed=6, pages=20, scale=1.0, slow=0.02)) as server:
        first, second = (
            run_crawl(
                tmp_path, url=server.url, delay="0", history=history, output=str(tmp_path / name),
                strategy="bfs", dedup="site", wacz="1",
            )
            for name in ("first", "second")
        )  # fmt: skip
    assert (first.code, second.code) == (0, 0), second.err
    stored = [_bodies(done.warcs[0]) for done in (first, second)]
    assert len(stored[0]) > 15
    assert not stored[1] & stored[0], "what the first capture holds is not stored again"
    assert verify(first.folder).findings == []
    alone, together = verify(second.folder), verify(second.folder, [first.folder])
    assert alone.findings == together.findings == []
    assert alone.elsewhere > 15
    assert together.elsewhere == 0
    (package,) = second.folder.glob("*.wacz")
    assert str(package) in second.out
    assert verify(package, [first.folder]).findings == []
    data = bytearray(first.warcs[0].read_bytes())
    data[len(data) // 2] ^= 4
    first.warcs[0].write_bytes(data)
    assert [finding.file for finding in verify(second.folder, [first.folder]).findings][:1] == [first.warcs[0].name]


def _bodies(warc) -> set[str]:
    """Digests of the bodies that a WARC file holds, but for robots.txt and sitemaps, which each capture has itself."""
    with warc.open("rb") as stream:
        heads = [record.rec_headers for record in ArchiveIterator(stream) if record.rec_type == "response"]
    pages = [head for head in heads if not re.search("/(robots|sitemap)[^/]*$", head.get_header("WARC-Target-URI"))]
    return {head.get_header("WARC-Payload-Digest") for head in pages} - {EMPTY}


@pytest.mark.long
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
        assert {one.kind for one in seen} == set(Kind) - {Kind.HUB, Kind.DATA, Kind.PROBE}
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
    assert {page["rate_source"] for page in pages} & {"history", "unchanged"}
    with ObservationStore(history) as store:
        assert len(list(store.observations(name))) > 1.8 * len(seen)
