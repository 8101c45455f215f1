"""What a script names: modules that it imports, pages of a menu that it makes, and files.

Imports are ``import … from``, ``export … from``, and ``import("…")`` of a written address. A page breaks without any of
them. Bare names (``import "vue"``) mean what an import map of the page says.
"""

from __future__ import annotations

import json
import re

from sharc_crawler.links import files
from sharc_crawler.links.found import Found, Resolver

_WRITTEN = r"\s*+([\"'])((?:\.{0,2}/|https?://)[^\"'\s<>\\]{1,2000})\1"
#: Each begins with a fixed text, which is searched for by itself in a fraction of the time, and ends no longer name.
#: Many sites have no script.
_IMPORTS = (
    r"from(?<![\w$.]from)" + _WRITTEN,
    r"import(?<![\w$.]import)\s*+\(?" + _WRITTEN,
    r"new URL\(\s*+([\"'])([^\"'\s<>\\]{1,2000})\1\s*+,\s*+import\.meta\.url",  # of its workers, and of what it reads
)
_PAGE = (
    r"[\"']?\s*+:\s*+([\"'])"
    r"((?:(?:https?:)?//|\.{0,2}/)?[^\"'\s<>\\{}()*+$%:?#]{1,500}\.[sx]?html?(?:[?#][^\"'\s<>\\{}+$]*+)?)"
    r"\1(?!\s*+[+:])"
)
_MENUS = r"url(?<![\w$.]url)" + _PAGE, r"href(?<![\w$.]href)" + _PAGE
#: Folders of scripts for pages elsewhere: a browser reads a script's relative address as one of the page that loads it.
OF_SCRIPTS = r"(?i)/_?(?:js|javascripts?|scripts?|assets|static|dist|build|libs?|vendor|themes?|plugins|modules)/"
MOST = 1_000  #: of one script: more are data, and no menu


def imports(script: str) -> list[str]:
    """The addresses that a module imports, as written.

    >>> imports('import{a}from"./a.js";import "/b.js"; export * from "../c.js"; import("./d.js"); import e from "e"')
    ['./a.js', '../c.js', '/b.js', './d.js']
    """
    return [match[2] for pattern in _IMPORTS for match in re.finditer(pattern, script)]


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


def menu(script: str, url: str) -> list[str]:
    """The HTML pages that a script at ``url`` holds in its objects, as written.

    What is asked of a server (``/api/news``) is none, and a relative address only where script and page lie together.

    >>> menu('m={children:[{text:"Files",url:"files.html"},{href:"/a/"},{"href": "/b.html#c"}]}', "http://h/menudata.js")
    ['files.html', '/b.html#c']
    >>> menu('m=[{url:"files.html"},{url:base+"a.html"},{url:"a.html"+b}]', "http://h/js/menu.js")
    []
    """
    own = sorted((match for pattern in _MENUS for match in re.finditer(pattern, script)), key=re.Match.start)
    apart = re.search(OF_SCRIPTS, url) is not None
    return [match[2] for match in own[:MOST] if not apart or match[2].startswith(("/", "http"))]


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:  # noqa: ARG001
    """What a script imports, the pages of its menus, and files. Reads anything, never raises.

    >>> found = extract(b"import './dep.mjs'; menu = [{url: '/a.html'}]", "http://h/js/app.js")
    >>> found.links, found.resources
    (('http://h/a.html',), ('http://h/js/dep.mjs',))
    """
    script, resolver = body.decode("utf-8", "replace"), Resolver(url)
    named, data = list[str](), list[str]()
    if files.maybe(body.lower()):
        named, data = (files.of_host(some, resolver, url) for some in (files.written(script), files.fetched(script)))
    if "document.write" in script:
        from sharc_crawler.links import menus_written  # by older sites

        pages, shown = menus_written.of(script, url)
        named, data = [*named, *pages], [*data, *shown]
    resources, left_out = resolver.all([*imports(script), *data])
    return Found(resolver.all([*menu(script, url), *named])[0], resources, url, left_out)
