"""What a IIIF manifest names: its images whole, the descriptions of their services, sound and film, other manifests.

The tiles that a viewer asks a service for are put together by its script. Taken is what lies on the manifest's own
host: a collection may be of other institutions' objects.

Source: IIIF Presentation API 2.1 and 3.0, Image API 2.1 and 3.0.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sharc_crawler.links.files import of_host
from sharc_crawler.links.found import Found, Resolver

LONGEST = 10_000_000  #: bytes; a book of a thousand pages has 2 MB
_SHOWN = {"Image", "Sound", "Video", "Audio", "MovingImage", "Manifest", "Collection", "AnnotationList", "Layer"}
#: What holds images that may not say that they are.
_HOLDERS = {"resource", "thumbnail", "logo", "default"}


def extract(body: bytes, url: str) -> Found:
    """All of it resources, but for files such as a PDF (``rendering``). Reads anything, never raises.

    >>> image = '{"type": "Image", "id": "/a/full/max/0/b.jpg", "service": [{"id": "/a", "type": "ImageService3"}]}'
    >>> manifest = '{"@context": "http://iiif.io/api/presentation/3/context.json", "items": [{"body": %s}]}' % image
    >>> extract(manifest.encode(), "http://h/manifest.json").resources
    ('http://h/a/full/max/0/b.jpg', 'http://h/a/info.json')
    """
    try:
        said = json.loads(body) if len(body) <= LONGEST else None
    except (ValueError, RecursionError):
        said = None
    named, files = [], []
    for part, held in _parts(said):
        address = part.get("@id", part.get("id"))
        if not held or not isinstance(address, str):
            continue  # the manifest itself, for one
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
    """All objects within it, in their order, and under which name each is held. A bare address is an object, too."""
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
    """Its type without a prefix: ``sc:Manifest`` and ``Manifest`` are one."""
    return str(part.get("@type", part.get("type", ""))).rpartition(":")[2]


def _is_service(part: dict[str, Any], held: str) -> bool:
    """Is it an image service? Search, log-in and others are services, too."""
    said = f"{part.get('@context')} {part.get('profile')}"
    return held == "service" and ("iiif.io/api/image/" in said or _kind(part).startswith("ImageService"))
