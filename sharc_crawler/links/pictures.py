"""Find images that scripts show (galleries, sliders, magnifiers) in ``data-`` attributes and a page's scripts.

An attribute may contain a URL, several, or JSON; bare file names without a slash are ignored. In scripts, the rules of
:mod:`~sharc_crawler.links.files` apply. A page about an image (``/wiki/File:a.jpg``) is no image, and JSON-LD for
search engines is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sharc_crawler.links import css, files
from sharc_crawler.links.lazy_images import is_address

_ENDING = "(?:jpe?g|jfif|png|gif|webp|avif|svg|bmp|jxl|tiff?|ico)"
_MAYBE = rf"(?i)\.{_ENDING}[?#\"']"
_INNER = r"[^\s:?#{}<>|*$`\\\[\]\"']"
_PICTURE = re.compile(
    rf"(?i)(?=[^?#]*/)(?!.*%(?![0-9a-f]{{2}}))(?:(?:https?:)?//[^\s/]+/)?{_INNER}*(?<!/)\.{_ENDING}(?:[?#][^\s{{}}<>|`\\]*)?"
)
_ENDED = re.compile(rf"(?i)(\.{_ENDING}(?:\?[^\s,;|?]*)?)[,;|](?=\.{{0,2}}/|https?:)")
_FIRST = re.compile(r"(?:\A|(?<=[,;|]\s))\s*+(\S++)")  #: descriptors may follow, as in ``srcset``


def of_data(data: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The images in the ``data-`` attributes of a page, as written."""
    for name, value in data:
        if name in files.BACKGROUNDS:  # a URL, or ``url(…)``
            yield from filter(is_address, css.references(value) if "(" in value else [value])
        if "." in value:
            yield from of_value(value)


def of_value(value: str) -> Iterator[str]:
    r"""The images in a value.

    >>> list(of_value("/a/b.jpg 375, c/w_3,h_2/d.JPG?e=1,2 480")), list(of_value("/a.png,/b.png|/c.png"))
    (['/a/b.jpg', 'c/w_3,h_2/d.JPG?e=1,2'], ['/a.png', '/b.png', '/c.png'])
    >>> list(of_value('[{"src": "http:\\/\\/h\\/a.jpg", "name": "b.jpg"}]')), list(of_value("See /a.jpg"))
    (['http://h/a.jpg'], [])
    """
    if '"' in value or "'" in value:
        quoted = (match[1] or match[2] for match in re.finditer(files.QUOTED, value))
        words = [re.sub(files.SLASH, "/", word) for word in quoted]
    else:
        words = [word.rstrip(",;") for word in _FIRST.findall(_ENDED.sub(r"\1, ", value))]
    return filter(_PICTURE.fullmatch, words)


def of_scripts(scripts: Iterable[Any]) -> Iterator[str]:
    """The images in a page's scripts.

    >>> from lxml import etree
    >>> list(of_scripts([etree.fromstring("<script>p = ['/a.jpg', 'b.jpg', '/c/' + d + '.jpg', '/F:e.jpg']</script>")]))
    ['/a.jpg']
    """
    for script in scripts:
        if re.search(_MAYBE, script.text) and "ld+json" not in script.get("type", ""):
            yield from filter(_PICTURE.fullmatch, files.written(script.text, _ENDING))
