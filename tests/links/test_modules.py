"""What JavaScript modules import."""

from __future__ import annotations

import pytest

from sharc_crawler.links import document, html
from sharc_crawler.links.modules import imports, mapped


@pytest.mark.parametrize(
    "kind", ["text/javascript", "application/javascript; charset=utf-8", "application/x-javascript"]
)
def test_a_script_is_read_for_what_it_imports(kind):
    found = document.extract(b"import {a} from './a.mjs'\nexport * from \"../b.js\"", "http://h/js/app.js", kind)
    assert found.resources == ("http://h/js/a.mjs", "http://h/b.js")
    assert found.links == ()


@pytest.mark.parametrize(
    "script",
    [
        "import vue from 'vue'",  # what a map of the page says
        "Array.from('/a.js')",
        "x.import('./a.js')",
        "const $from='./a.js'",
        "reimport './a.js'",
        "import('./' + name)",
        "import(`./${name}.js`)",
        "from './a b.js'",
    ],
)
def test_what_is_no_import_of_a_written_address(script):
    assert imports(script) == []


def test_a_dynamic_import_of_a_written_address_is_one():
    assert imports("()=>import( './late.js' )") == ["./late.js"]


def test_what_a_module_has_beside_it_is_loaded_too():
    script = b"""new Worker(new URL('worker.js', import.meta.url)); read(new URL( "/data/a.wasm",import.meta.url))
    new URL('b.js', location); new URL('c/' + name, import.meta.url)"""
    found = document.extract(script, "http://h/js/app.js", "text/javascript")
    assert found.resources == ("http://h/js/worker.js", "http://h/data/a.wasm")


@pytest.mark.parametrize(
    ("url", "folder"),
    [("http://h/old/menu.js", "http://h/old/"), ("http://h/old/js/lib/menu.js", "http://h/old/")],
)
def test_a_menu_that_a_script_writes_into_pages_is_read(url, folder):
    script = b"""document.write('<table><tr><td><a href="news.htm"><img src="i/news.gif"></a></td></tr>');
    document.writeln("<a href='/about/'>About</a>"); document.write('<a href="' + name + '.htm">');"""
    found = document.extract(script, url, "text/javascript")
    assert found.links == (f"{folder}news.htm", "http://h/about/")
    assert found.resources == (f"{folder}i/news.gif",)


def test_modules_within_a_page_and_its_import_map():
    page = b"""<script type="importmap">{"imports": {"vue": "/js/vue.js", "own/": "/js/own/"}}</script>
    <script type=module>import './a.js'</script><script>import('./b.js')</script><code>import './told.js'</code>"""
    assert html.extract(page, "http://h/d/").resources == ("http://h/js/vue.js", "http://h/d/a.js", "http://h/d/b.js")


@pytest.mark.parametrize("text", ["", "[]", '{"imports": 3}', '{"imports": {"a": null}}', "[" * 100_000, "{"])
def test_an_import_map_that_is_none(text):
    assert mapped(text) == []
