"""Find what a page's viewers show: files in parameters of the viewers' URLs, and IIIF manifests.

A manifest's URL often has no suffix. It may be in an attribute, a script, a link, or a parameter of another URL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from urllib.parse import unquote

from sharc_crawler.links import files

_VALUE = re.compile(r"[?&][^?=&]*=([^&]+)")
_MANIFEST = re.compile(
    rb"(?i)[\"'=;]((?:https?(?::|%3a))?(?:/|\\/|\\u002f|%2f)[^\s\"'=;<>&?#(){}*$|`]*manifest(?:\.json)?)(?=[\"'&?#\s>]|%3f)"
)


def shown(references: Iterable[str]) -> Iterator[str]:
    """Files in parameters of URLs, given by absolute URLs or paths.

    >>> list(shown(["v.html?file=%2Fa.pdf#page=2", "//g/view?url=http%3A%2F%2Fh%2Fb.docx&c=1", "?d=/e.html&f=g.pdf"]))
    ['/a.pdf', 'http://h/b.docx']
    """
    for reference in references:
        for value in _VALUE.findall(reference.partition("#")[0]):
            if named := re.fullmatch(files.FILE % files.ENDING, unquote(value)):
                yield named[1]


def manifests(data: bytes) -> Iterator[str]:
    r"""The IIIF manifests in a page, given by absolute URLs or paths.

    >>> list(manifests(rb'<p data-a="/i/1/manifest">{"b": "http:\/\/h\/2\/manifest"}<a href="/v?c=%2F3%2Fmanifest&d">'))
    ['/i/1/manifest', 'http://h/2/manifest', '/3/manifest']
    """
    for named in islice(_MANIFEST.finditer(data), files.MOST):
        address = re.sub(files.SLASH, "/", named[1].decode("latin-1"))
        yield address if "/" in address else unquote(address)
