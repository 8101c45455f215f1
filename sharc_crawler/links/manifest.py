"""What a manifest names: a web app's, the icons and screenshots that a browser shows of a site; IIIF's, its images."""

from __future__ import annotations

import json

from sharc_crawler.links.found import Found, Resolver

_IIIF = b"iiif.io/api/presentation"
LONGEST = 1_000_000  #: bytes; what is longer is data


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:  # noqa: ARG001
    """Its pictures, which are resources. Reads anything, never raises: most JSON is no manifest.

    >>> extract(b'{"icons": [{"src": "a.png"}], "shortcuts": [{"icons": [{"src": "b.png"}]}]}', "http://h/m/x").resources
    ('http://h/m/a.png', 'http://h/m/b.png')
    """
    if _IIIF in body:
        from sharc_crawler.links import iiif  # few sites have any

        return iiif.extract(bytes(body), url)
    found: list[str] = []
    if b'"src"' in body and len(body) <= LONGEST:
        try:
            said = json.loads(body)
            shown = [said, *said.get("shortcuts", ())]
            named = [one for part in shown for key in ("icons", "screenshots") for one in part.get(key, ())]
            found = [one["src"] for one in named if isinstance(one["src"], str)]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
    resources, left_out = Resolver(url).all(found)
    return Found((), resources, url, left_out)
