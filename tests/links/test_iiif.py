"""What IIIF manifests name."""

from __future__ import annotations

import json

import pytest

from sharc_crawler.links.document import extract

URL = "http://h/iiif/ms-1/manifest.json"
SERVICE_2 = {"@context": "http://iiif.io/api/image/2/context.json", "@id": "http://h/i/ms%2F1", "profile": "level1"}
SERVICE_3 = {"id": "http://h/i/ms-3/", "type": "ImageService3", "profile": "level2"}

PRESENTATION_2 = {
    "@context": "http://iiif.io/api/presentation/2/context.json",
    "@id": "http://h/iiif/ms-1/manifest.json",
    "@type": "sc:Manifest",
    "logo": "http://h/logo.png",
    "thumbnail": {"@id": "http://h/i/ms%2F1/full/90,/0/default.jpg", "service": SERVICE_2},
    "rendering": {"@id": "http://h/ms-1.pdf", "format": "application/pdf"},
    "related": "http://h/page.html",
    "seeAlso": {"@id": "http://h/mets.xml"},
    "service": {"@context": "http://iiif.io/api/search/1/context.json", "@id": "http://h/search"},
    "sequences": [
        {
            "canvases": [
                {
                    "@id": "http://h/canvas/1",
                    "@type": "sc:Canvas",
                    "images": [
                        {
                            "@id": "http://h/anno/1",
                            "@type": "oa:Annotation",
                            "on": "http://h/canvas/1",
                            "resource": {"@id": "http://h/i/ms%2F1/full/full/0/default.jpg", "service": SERVICE_2},
                        },
                        {"resource": {"@id": "http://elsewhere/i/2/full/full/0/default.jpg", "@type": "dctypes:Image"}},
                    ],
                    "otherContent": [{"@id": "http://h/list/1.json", "@type": "sc:AnnotationList"}],
                }
            ]
        }
    ],
}

PRESENTATION_3 = {
    "@context": ["http://iiif.io/api/presentation/3/context.json"],
    "id": "http://h/iiif/ms-3/manifest",
    "type": "Collection",
    "rendering": [{"id": "http://h/ms-3.epub", "type": "Text"}],
    "items": [
        {"id": "http://h/iiif/other/manifest", "type": "Manifest", "label": {"none": ["Other"]}},
        {
            "id": "http://h/canvas/3",
            "type": "Canvas",
            "items": [
                {
                    "type": "AnnotationPage",
                    "items": [
                        {
                            "type": "Annotation",
                            "body": {
                                "id": "http://h/i/ms-3/full/max/0/default.jpg",
                                "type": "Image",
                                "service": [SERVICE_3, {"id": "http://h/auth", "type": "AuthCookieService1"}],
                            },
                        },
                        {"body": {"id": "http://h/tape.mp3", "type": "Sound"}},
                        {"body": {"id": "http://h/remark", "type": "TextualBody", "value": "a, b"}},
                    ],
                }
            ],
        },
    ],
}


@pytest.mark.parametrize("kind", ["application/json", 'application/ld+json;profile="x"'])
def test_presentation_2(kind: str) -> None:
    found = extract(json.dumps(PRESENTATION_2).encode(), "http://h/iiif/ms-1/manifest.json", kind)
    assert found.links == ("http://h/ms-1.pdf",)
    assert found.resources == (
        "http://h/logo.png",
        "http://h/i/ms%2F1/full/90,/0/default.jpg",
        "http://h/i/ms%2F1/info.json",
        "http://h/i/ms%2F1/full/full/0/default.jpg",
        "http://h/list/1.json",
    )


def test_presentation_3() -> None:
    found = extract(json.dumps(PRESENTATION_3).encode(), URL, "application/ld+json")
    assert found.links == ("http://h/ms-3.epub",)
    assert found.resources == (
        "http://h/iiif/other/manifest",
        "http://h/i/ms-3/full/max/0/default.jpg",
        "http://h/i/ms-3/info.json",
        "http://h/tape.mp3",
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[" * 100_000,
        b'{"@id": 3, "service": [[1], null, {"id": ["a"], "type": "ImageService2"}], "logo": {"@id": {}}}',
        b'{"items": {"items": {"thumbnail": [["x:y"], 1, true]}}, "resource": "http://[1/"}',
    ],
)
def test_never_raises(body: bytes) -> None:
    found = extract(b'{"a": "http://iiif.io/api/presentation/2/", "b": ' + body + b"}", URL, "application/json")
    assert (found.links, found.resources) == ((), ())


def test_a_book_of_a_thousand_pages_is_read_to_its_end() -> None:
    pages = [{"resource": {"@id": f"/i/{n}/full/full/0/default.jpg", "service": SERVICE_2}} for n in range(1_000)]
    body = json.dumps({"@context": "http://iiif.io/api/presentation/2/context.json", "sequences": pages})
    assert len(extract(body.encode(), URL, "application/json").resources) == 1_001  # and its service


@pytest.mark.parametrize(
    "body",
    [
        '<div data-manifest="http://h/iiif/2/7/manifest">',
        '<script>m({"windows": [{"manifestId": "http:\\/\\/h\\/iiif\\/2\\/7\\/manifest"}]})</script>',
        '<img src="//g/iiif.png"><a href="//g/?manifest=http%3A%2F%2Fh%2Fiiif%2F2%2F7%2Fmanifest&amp;canvas=1">',
        '<link rel="alternate" type="application/ld+json" href="/iiif/2/7/manifest">',
        "<p data-a='/iiif/2/7/manifest' data-b='/iiif/2/7/manifest/1' data-c=iiif/manifest data-d='//g/iiif/manifest'>",
    ],
)
def test_a_page_names_the_manifests_that_its_viewers_show(body: str) -> None:
    found = extract(body.encode(), "http://h/item/7", "text/html").resources
    assert [one for one in found if "//h/" in one] == ["http://h/iiif/2/7/manifest"]
