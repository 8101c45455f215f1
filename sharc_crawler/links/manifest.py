"""Extract the references of manifests: icons and screenshots of web apps; images of IIIF manifests.

From a IIIF manifest, whole images, descriptions of image services, sound, video and other manifests are taken, if they
are on the manifest's own host: a collection may contain other institutions' objects. Tiles are not found, as viewers
compute their URLs.

Source: IIIF Presentation API 2.1 and 3.0, Image API 2.1 and 3.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sharc_crawler.errors import MALFORMED
from sharc_crawler.links.files import of_host
from sharc_crawler.links.found import Found, Resolver

_IIIF = b"iiif.io/api/presentation"
LONGEST = 1_000_000  #: most bytes of a web app's manifest
LONGEST_IIIF = 10_000_000  #: most bytes of a IIIF manifest; a book of a thousand pages has 2 MB
_SHOWN = {"Image", "Sound", "Video", "Audio", "MovingImage", "Manifest", "Collection", "AnnotationList", "Layer"}
#: Fields with images that may lack a type.
_HOLDERS = {"resource", "thumbnail", "logo", "default"}


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:  # noqa: ARG001
    """The images of a manifest, as resources; none for other JSON. Never raises.

    >>> extract(b'{"icons": [{"src": "a.png"}], "shortcuts": [{"icons": [{"src": "b.png"}]}]}', "http://h/m/x").resources
    ('http://h/m/a.png', 'http://h/m/b.png')
    """
    if _IIIF in body:
        return of_iiif(bytes(body), url)
    found: list[str] = []
    if b'"src"' in body and len(body) <= LONGEST:
        try:
            said = json.loads(body)
            shown = [said, *said.get("shortcuts", ())]
            named = [one for part in shown for key in ("icons", "screenshots") for one in part.get(key, ())]
            found = [one["src"] for one in named if isinstance(one["src"], str)]
        except MALFORMED:
            pass
    resources, left_out = Resolver(url).all(found)
    return Found((), resources, url, left_out)


def of_iiif(body: bytes, url: str) -> Found:
    """The resources of a IIIF manifest, and files such as a PDF (``rendering``) as links. Never raises.

    >>> image = '{"type": "Image", "id": "/a/full/max/0/b.jpg", "service": [{"id": "/a", "type": "ImageService3"}]}'
    >>> manifest = '{"@context": "http://iiif.io/api/presentation/3/context.json", "items": [{"body": %s}]}' % image
    >>> of_iiif(manifest.encode(), "http://h/manifest.json").resources
    ('http://h/a/full/max/0/b.jpg', 'http://h/a/info.json')
    """
    try:
        said = json.loads(body) if len(body) <= LONGEST_IIIF else None
    except (ValueError, RecursionError):
        said = None
    named, files = [], []
    for part, held in _parts(said):
        address = part.get("@id", part.get("id"))
        if not held or not isinstance(address, str):
            continue  # such as the manifest itself
        if held == "rendering":
            files.append(address)
        elif _is_service(part, held):
            named.append(f"{address.rstrip('/')}/info.json")
        elif _kind(part) in _SHOWN or (held in _HOLDERS and not _kind(part)):
            named.append(address)
    resolver = Resolver(url)
    resources, left_out = resolver.all(one for one in named if of_host([one], resolver, url))
    return Found(tuple(of_host(files, resolver, url)), resources, url, left_out)


def _parts(said: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """All objects in it, in order, with the name of their field. A bare URL counts as an object."""
    waiting = [(said, "")]
    while waiting:
        one, held = waiting.pop()
        if isinstance(one, list):
            waiting.extend((each, held) for each in reversed(one))
        elif isinstance(one, dict):
            yield one, held
            waiting.extend((each, name) for name, each in reversed(one.items()))
        elif isinstance(one, str) and held in _HOLDERS:
            yield {"id": one}, held


def _kind(part: dict[str, Any]) -> str:
    """Its type without a prefix, as in ``sc:Manifest``."""
    return str(part.get("@type", part.get("type", ""))).rpartition(":")[2]


def _is_service(part: dict[str, Any], held: str) -> bool:
    """Is it an image service, rather than one for search or log-in?"""
    said = f"{part.get('@context')} {part.get('profile')}"
    return held == "service" and ("iiif.io/api/image/" in said or _kind(part).startswith("ImageService"))
