"""What a page has its viewers show: files that stand in the viewers' own addresses, and IIIF manifests.

A manifest's address mostly ends in no suffix. It stands in the data of an element, a script, a link or another address.
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
    """Files that viewers are told by their addresses: whole ones, or from the root of a host.

    >>> list(shown(["v.html?file=%2Fa.pdf#page=2", "//g/view?url=http%3A%2F%2Fh%2Fb.docx&c=1", "?d=/e.html&f=g.pdf"]))
    ['/a.pdf', 'http://h/b.docx']
    """
    for reference in references:
        for value in _VALUE.findall(reference.partition("#")[0]):
            if named := re.fullmatch(files.FILE % files.ENDING, unquote(value)):
                yield named[1]


def manifests(data: bytes) -> Iterator[str]:
    r"""The IIIF manifests that a page names, by whole addresses or from the root of a host.

    >>> list(manifests(rb'<p data-a="/i/1/manifest">{"b": "http:\/\/h\/2\/manifest"}<a href="/v?c=%2F3%2Fmanifest&d">'))
    ['/i/1/manifest', 'http://h/2/manifest', '/3/manifest']
    """
    for named in islice(_MANIFEST.finditer(data), files.MOST):
        address = re.sub(files.SLASH, "/", named[1].decode("latin-1"))
        yield address if "/" in address else unquote(address)
