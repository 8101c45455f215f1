"""| The content of the demo site's pages, images, style and script, as functions of name and edition."""

from __future__ import annotations

import json
import random
import struct
import zlib
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from html import escape

from sharc_crawler.model import Instant

VOCABULARY = """
anchor barge beacon berth boat breeze bridge buoy canal cargo chart coast compass crew current deck dock drift
estuary ferry fleet fog foghorn galley gull harbour haven helm hull island jetty keel knot ladder lagoon lantern
lighthouse lock mast mooring net oar pier pilot port quay raft reef rigging rope rudder sail salt sand shoal
shore signal skipper sound star storm strait tide tiller tow trawler tug vessel voyage wake watch water wave
wharf wind
"""
WORDS = tuple(VOCABULARY.split())

STYLE = b"""body { font: 16px/1.5 serif; max-width: 42em; margin: 2em auto; background: url("/background.png"); }
header { border-bottom: 1px solid #357; }
img { margin: 0 1em 1em 0; }
"""

SCRIPT = b"""document.documentElement.dataset.read = "yes";
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="/style.css">
<script src="/script.js" defer></script>
</head>
<body>
<header><h1>{title}</h1></header>
<p>Edition {edition}, {since}.</p>
<p>{news}</p>
{images}
<p>{text}</p>
<nav><ul>
{links}
</ul></nav>
</body>
</html>
"""

SHELL = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="/style.css">
<script src="/app.js" defer></script>
</head>
<body>
<header><h1>{title}</h1></header>
<main data-from="{data}"></main>
</body>
</html>
"""

APP = b"""const main = document.querySelector("main");
const made = (name, attributes, within) => within.appendChild(Object.assign(document.createElement(name), attributes));
fetch(main.dataset.from).then(answer => answer.json()).then(page => {
  made("p", {textContent: `Edition ${page.edition}, ${page.since}.`}, main);
  made("p", {textContent: page.news}, main);
  for (const [src, srcset] of page.images) made("img", {src, srcset, width: 48, height: 32, alt: src}, main);
  made("p", {textContent: page.text}, main);
  const list = made("ul", {}, made("nav", {}, main));
  for (const href of page.links) made("a", {href, textContent: href}, made("li", {}, list));
});
"""

IMAGE = '<img src="{0}" srcset="{0} 1x, {1} 2x" width="48" height="32" alt="{2}">'


def page(title: str, name: str, began: Instant, links: Iterable[str], images: Iterable[str]) -> bytes:
    """The HTML of a page: constant text by its name, and some by the state that began at an instant."""
    return PAGE.format(
        title=escape(title),
        **_state(name, began),
        images="\n".join(IMAGE.format(escape(image), escape(doubled(image)), escape(image)) for image in images),
        links="\n".join(f'<li><a href="{escape(link)}">{escape(link)}</a></li>' for link in links),
    ).encode()


def shell(title: str, data: str) -> bytes:
    """The HTML of a page made by script, always the same."""
    return SHELL.format(title=escape(title), data=escape(data)).encode()


def data(name: str, began: Instant, links: Iterable[str], images: Iterable[str]) -> bytes:
    """The data of a page made by script, as JSON: what :func:`page` says."""
    pictures = [(image, f"{image} 1x, {doubled(image)} 2x") for image in images]
    return json.dumps({**_state(name, began), "links": list(links), "images": pictures}, indent=1).encode()


def _state(name: str, began: Instant) -> dict[str, str]:
    """The texts of a page in a state."""
    return {
        "edition": blake2b(f"{name} {began!r}".encode(), digest_size=4).hexdigest(),
        "since": datetime.fromtimestamp(began, UTC).strftime("%d %B %Y, %H:%M:%S.%f UTC"),
        "news": prose(f"{name} {began!r}", 3),
        "text": prose(name, 20),
    }


def prose(name: str, sentences: int) -> str:
    """Sentences of nine words, constant for a name.

    >>> prose("home", 2) == prose("home", 2) != prose("news", 2)
    True
    """
    rng = random.Random(name)
    return " ".join(" ".join(rng.choices(WORDS, k=9)).capitalize() + "." for _ in range(sentences))


def doubled(image: str) -> str:
    """The path of an image in twice the resolution."""
    return image.replace(".png", "@2x.png")


def resource(path: str, edition: str) -> bytes:
    """An image, the style or the script."""
    if path in STILL:
        return STILL[path]
    return png(f"{path} {edition}", *((96, 64) if "@2x" in path else (48, 32)))


@lru_cache(maxsize=1024)
def png(name: str, width: int, height: int) -> bytes:
    r"""A small PNG: a gradient between two colours that its name determines.

    >>> png("a", 9, 6)[:4], png("a", 9, 6) == png("b", 9, 6)
    (b'\x89PNG', False)
    """
    colours = blake2b(name.encode(), digest_size=6).digest()
    row = b"\0" + b"".join(
        bytes((a * (width - x) + b * x) // width for a, b in zip(colours[:3], colours[3:], strict=True))
        for x in range(width)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


#: resources that never change
STILL = {"/style.css": STYLE, "/script.js": SCRIPT, "/app.js": APP, "/background.png": png("background", 64, 64)}
