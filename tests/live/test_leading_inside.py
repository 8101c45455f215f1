"""Whatever a public site names, and however names change their addresses: nobody inside hears of the crawl."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest

from tests.live.leading_inside import ALLOWED, INSIDE, PUBLIC, listening, public_site

SETTINGS = [
    "TWISTED_DNS_RESOLVER=tests.live.leading_inside.Resolver",
    f"SHARC_ALLOWED_ADDRESSES={ALLOWED}",
    "SHARC_ATTEMPTS=1",
    "SHARC_OPERATOR=a@b.example",
]
HOSTS = ("www", "rebinds", "rebinds-at-once", "mixed", "mixed-later", "six", "inside", "mapped")


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["capture", *(pytest.param(one, marks=pytest.mark.long) for one in ("instant", "proxy"))]
)
def test_nobody_inside_hears_of_a_crawl_whatever_a_public_site_names(crawl, tmp_path, monkeypatch, way):
    heard: list[str] = []
    proxied: list[str] = []
    with listening(heard) as inner, public_site(inner, proxied) as port:
        (tmp_path / "seeds.txt").write_text("\n".join(f"http://{host}.site.example:{port}/" for host in HOSTS))
        if way == "proxy":
            monkeypatch.setenv("http_proxy", f"http://{PUBLIC}:{port}")
        arguments = (
            {"mode": "instant", "for": "8s"} if way == "instant" else {"strategy": "bfs:revisits=none", "limit": "480"}
        )
        done = crawl(seeds="seeds.txt", scope="domain", delay="0", settings=SETTINGS, **arguments)
        assert not heard
        socket.create_connection((INSIDE, inner)).close()
        while not heard:
            pass  # whoever had come would have been heard
    assert "Traceback" not in done.err
    if way != "instant":  # its report tells of hubs
        pages = {page["url"] for page in done.capture["pages"] if page["visit"]}
        mixed = f"http://mixed.site.example:{port}/3"  # it has a public address, too; a proxy might take another
        assert (mixed in pages) is (way == "capture")
    assert bool(proxied) is (way == "proxy")
    names = {urlsplit(url).hostname for url in proxied}
    assert not names & {"inside.site.example", "six.site.example", "mapped.site.example", "localhost", INSIDE}
