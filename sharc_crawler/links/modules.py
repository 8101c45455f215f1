"""What a JavaScript module imports: ``import … from``, ``export … from``, and ``import("…")`` of a written address.

A page breaks without any of them. Bare names (``import "vue"``) mean what an import map of the page says.
"""

from __future__ import annotations

import json
import re
from itertools import chain

from sharc_crawler.links.found import Found, Resolver

_WRITTEN = r"\s*+([\"'])((?:\.{0,2}/|https?://)[^\"'\s<>\\]{1,2000})\1"
#: Each begins with a fixed text, which is searched for by itself in a fraction of the time. Many sites have no script.
_IMPORTS = "from" + _WRITTEN, r"import\s*+\(?" + _WRITTEN
_IN_NAME = re.compile(r"[\w$.]")


def imports(script: str) -> list[str]:
    """The addresses that a module imports, as written.

    >>> imports('import{a}from"./a.js";import "/b.js"; export * from "../c.js"; import("./d.js"); import e from "e"')
    ['./a.js', '../c.js', '/b.js', './d.js']
    """
    found = chain.from_iterable(re.finditer(pattern, script) for pattern in _IMPORTS)
    return [match[2] for match in found if not _IN_NAME.match(script[match.start() - 1 : match.start()])]


def mapped(text: str) -> list[str]:
    """The addresses of modules in an import map. A folder (``/js/``) is none.

    >>> mapped('{"imports": {"vue": "/js/vue.js", "own/": "/js/"}}')
    ['/js/vue.js']
    """
    try:
        said = json.loads(text)["imports"]
        return [address for address in said.values() if isinstance(address, str) and not address.endswith("/")]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:  # noqa: ARG001
    """What a script imports, all of it resources. Reads anything, never raises.

    >>> extract(b"import './dep.mjs'", "http://h/js/app.js").resources
    ('http://h/js/dep.mjs',)
    """
    resources, left_out = Resolver(url).all(imports(body.decode("utf-8", "replace")))
    return Found((), resources, url, left_out)
