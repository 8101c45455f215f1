"""Extract the references of scripts: imported modules, pages of menus, and files.

Imports are ``import … from``, ``export … from``, and ``import("…")`` with a string literal. A page needs all of them.
Bare names (``import "vue"``) are resolved by an import map of the page.
"""

from __future__ import annotations

import json
import re

from sharc_crawler.errors import MALFORMED
from sharc_crawler.links import files
from sharc_crawler.links.found import Found, Resolver

_WRITTEN = r"\s*+([\"'])((?:\.{0,2}/|https?://)[^\"'\s<>\\]{1,2000})\1"
#: Each begins with a fixed text, which makes the search fast, and which must not be the end of a longer name.
_IMPORTS = (
    r"from(?<![\w$.]from)" + _WRITTEN,
    r"import(?<![\w$.]import)\s*+\(?" + _WRITTEN,
    r"new URL\(\s*+([\"'])([^\"'\s<>\\]{1,2000})\1\s*+,\s*+import\.meta\.url",  # workers, and data files
)
_PAGE = (
    r"[\"']?\s*+:\s*+([\"'])"
    r"((?:(?:https?:)?//|\.{0,2}/)?[^\"'\s<>\\{}()*+$%:?#]{1,500}\.[sx]?html?(?:[?#][^\"'\s<>\\{}+$]*+)?)"
    r"\1(?!\s*+[+:])"
)
_MENUS = r"url(?<![\w$.]url)" + _PAGE, r"href(?<![\w$.]href)" + _PAGE
#: Folders for scripts, where relative URLs are useless: browsers resolve them against the page, which lies elsewhere.
OF_SCRIPTS = r"(?i)/_?(?:js|javascripts?|scripts?|assets|static|dist|build|libs?|vendor|themes?|plugins|modules)/"
MOST = 1_000  #: most pages of a script: more are data, not a menu


def imports(script: str) -> list[str]:
    """The URLs that a module imports, as written.

    >>> imports('import{a}from"./a.js";import "/b.js"; export * from "../c.js"; import("./d.js"); import e from "e"')
    ['./a.js', '../c.js', '/b.js', './d.js']
    """
    return [match[2] for pattern in _IMPORTS for match in re.finditer(pattern, script)]


def mapped(text: str) -> list[str]:
    """The URLs of modules in an import map, without folders (``/js/``).

    >>> mapped('{"imports": {"vue": "/js/vue.js", "own/": "/js/"}}')
    ['/js/vue.js']
    """
    try:
        said = json.loads(text)["imports"]
        return [address for address in said.values() if isinstance(address, str) and not address.endswith("/")]
    except MALFORMED:
        return []


def menu(script: str, url: str) -> list[str]:
    """The HTML pages in the objects of a script at ``url``, as written.

    Relative URLs are taken only from scripts that are not in a folder for scripts.

    >>> menu('m={children:[{text:"Files",url:"files.html"},{href:"/a/"},{"href": "/b.html#c"}]}', "http://h/menudata.js")
    ['files.html', '/b.html#c']
    >>> menu('m=[{url:"files.html"},{url:base+"a.html"},{url:"a.html"+b}]', "http://h/js/menu.js")
    []
    """
    own = sorted((match for pattern in _MENUS for match in re.finditer(pattern, script)), key=re.Match.start)
    apart = re.search(OF_SCRIPTS, url) is not None
    return [match[2] for match in own[:MOST] if not apart or match[2].startswith(("/", "http"))]


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:  # noqa: ARG001
    """The imports of a script, the pages of its menus, and files. Never raises.

    >>> found = extract(b"import './dep.mjs'; menu = [{url: '/a.html'}]", "http://h/js/app.js")
    >>> found.links, found.resources
    (('http://h/a.html',), ('http://h/js/dep.mjs',))
    """
    script, resolver = body.decode("utf-8", "replace"), Resolver(url)
    named, data = list[str](), list[str]()
    if files.maybe(body.lower()):
        named, data = (files.of_host(some, resolver, url) for some in (files.written(script), files.fetched(script)))
    if "document.write" in script:
        from sharc_crawler.links import menus_written  # for older sites

        pages, shown = menus_written.of(script, url)
        named, data = [*named, *pages], [*data, *shown]
    resources, left_out = resolver.all([*imports(script), *data])
    return Found(resolver.all([*menu(script, url), *named])[0], resources, url, left_out)
