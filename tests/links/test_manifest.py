"""What web app manifests name."""

from __future__ import annotations

import pytest

from sharc_crawler.links import document

MANIFEST = b"""{"name": "News", "start_url": "/", "icons": [{"src": "i/a.png", "sizes": "48x48"}, {"src": "/b.svg"}],
"screenshots": [{"src": "s.webp"}], "shortcuts": [{"url": "/new", "icons": [{"src": "n.png"}]}, {"url": "/top"}]}"""


@pytest.mark.parametrize("kind", ["application/manifest+json", "application/json; charset=utf-8"])
def test_the_pictures_of_a_manifest_are_resources(kind):
    found = document.extract(MANIFEST, "http://h/app/site.webmanifest", kind)
    names = ("app/i/a.png", "b.svg", "app/s.webp", "app/n.png")
    assert found.resources == tuple(f"http://h/{name}" for name in names)
    assert found.links == ()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'["src"]',
        b'{"icons": "src"}',
        b'{"icons": [{"src": null}]}',
        b'{"icons": {"src": 1}, "src": 2}',
        b'{"src": "a.png"}',
        b'{"shortcuts": ["src"]} ',
        b'{"icons": ["src"',
        b'"src"' + b"[" * 100_000,
        b'\xff"src"',
    ],
)
def test_json_that_is_no_manifest_names_nothing(body):
    assert document.extract(body, "http://h/a.json", "application/json").resources == ()
