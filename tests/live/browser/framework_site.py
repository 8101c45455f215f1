"""A site of several frameworks from npm beside plain pages, whose API's answers change; what changed is its log.

    npm install --prefix .venv-frameworks vue@3.5.45 vue-router@5.5.1 react@19.3.1 react-dom@19.3.1 \\
      react-router-dom@7.18.5 lazysizes@5.3.2 esbuild@0.28.2

`.ci/run` does; without it the tests are skipped. Nothing of npm is part of this project.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING

from tests.live.serving import Answering, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES = Path(
    os.environ.get("SHARC_FRAMEWORKS") or Path(__file__).parents[3] / ".venv-frameworks/node_modules"
)  #: where npm laid them
INSTALLED = (MODULES / ".bin/esbuild").exists()
MISSING = "the frameworks are not installed (.ci/run does)"
ITEMS = 3  #: pages of each part
FEED = 3  #: portions of the list that grows
HEAD = (
    "<!doctype html><meta charset=utf-8><style>body{font:20px sans-serif;margin:1em}img{display:block}"
    ".live{background:gold}</style>"
)

VUE = """
const get = (name, into) => fetch('/api/vue/' + name).then(got => got.json()).then(said => { into.value = said });
const List = {template: `<h1>Vue</h1><ul><li v-for="n in said.items">
  <router-link :to="'/vue/' + n">{{ n }}</router-link></li></ul>`,
  setup() { const said = Vue.ref({items: []}); get('list', said); return {said}; }};
const Item = {props: ['n'], template: `<h1>{{ said.title }}</h1><img :src="'/picture/vue-' + n + '.svg'">`,
  setup({n}) { const said = Vue.ref({}); get(n, said); return {said}; }};
const {createRouter, createWebHistory} = VueRouter;
const routes = [{path: '/vue/', component: List}, {path: '/vue/:n', component: Item, props: true}];
Vue.createApp({template: '<router-view/>'}).use(createRouter({history: createWebHistory(), routes})).mount('#app');
"""
REACT = """
import {useEffect, useState} from 'react';
import {createRoot} from 'react-dom/client';
import {BrowserRouter, Link, Route, Routes, useParams} from 'react-router-dom';
const useSaid = name => {
  const [said, set] = useState({items: []});
  useEffect(() => { fetch('/api/react/' + name).then(got => got.json()).then(set) }, [name]);
  return said;
};
const List = () => <><h1>React</h1>
  {useSaid('list').items.map(n => <p key={n}><Link to={'/react/' + n}>{n}</Link></p>)}</>;
const Item = () => { const {n} = useParams();
  return <><h1>{useSaid(n).title}</h1><img src={'/picture/react-' + n + '.svg'}/></>; };
createRoot(document.getElementById('app')).render(<BrowserRouter><Routes>
  <Route path='/react/' element={<List/>}/><Route path='/react/:n' element={<Item/>}/></Routes></BrowserRouter>);
"""
GROWS = """
import {useEffect, useRef, useState} from 'react';
import {createRoot} from 'react-dom/client';
const Feed = () => {
  const [items, set] = useState([]), [next, setNext] = useState(1), end = useRef();
  useEffect(() => {
    if (!next) return;
    const seen = new IntersectionObserver(([one]) => one.isIntersecting && (seen.disconnect(),
      fetch('/api/feed/' + next).then(got => got.json())
        .then(said => { set([...items, ...said.items]); setNext(said.next) })));
    seen.observe(end.current);
    return () => seen.disconnect();
  }, [next]);
  const look = n => ({height: 700, background: `hsl(${n * 50} 80% 70%)`});
  return <>{items.map(n => <p key={n} style={look(n)}><a href={'/of-feed/' + n}>Item {n}</a></p>)}
    <i ref={end}/></>;
};
createRoot(document.getElementById('app')).render(<Feed/>);
"""
PRESET = """
import {useEffect, useState} from 'react';
export const Page = ({n}) => {
  const [ready, set] = useState(false);
  useEffect(() => set(true), []);
  return <main><h1>Preset page {n}</h1><p>Its text was there before any script.</p>
    {[1, 2, 3].map(m => <a key={m} href={'/preset/' + m + '.html'}> {m} </a>)}
    <button className={ready ? 'live' : ''}>like</button></main>;
};
"""
HYDRATE = """
import {hydrateRoot} from 'react-dom/client'; import {Page} from './preset.jsx';
const root = document.getElementById('app'); hydrateRoot(root, <Page n={Number(root.dataset.n)}/>);
"""
GENERATE = """
import {renderToString} from 'react-dom/server'; import {Page} from './preset.jsx';
console.log(JSON.stringify([1, 2, 3].map(n => renderToString(<Page n={n}/>))));
"""
WORKER = """
const names = ['/pwa/', '/pwa/app.js', '/api/pwa/news'];
addEventListener('install', event => event.waitUntil(caches.open('1').then(cache => cache.addAll(names))));
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => event.respondWith(
  caches.match(event.request).then(had => had || fetch(event.request))));
"""
INSTALLABLE = """
navigator.serviceWorker.register('/pwa/worker.js');
fetch('/api/pwa/news').then(got => got.json()).then(said => { app.innerHTML = '<h1>' + said.title + '</h1>' });
"""
#: asks by POST, as clients of GraphQL do
GRAPH = """
const ask = query => fetch('/api/graph', {method: 'POST', headers: {'Content-Type': 'application/json'},
  body: JSON.stringify({operationName: query, variables: {first: 10, after: null}, query: `query ${query} { said }`})})
  .then(got => got.json()).then(got => { app.innerHTML += '<h2>' + got.data.said + '</h2>' });
ask('Ships').then(() => ask('Tides'));
"""
MODULE = """
import {said} from './said.js';
fetch('/api/module/' + said).then(got => got.json()).then(got => { app.innerHTML = '<h1>' + got.title + '</h1>' });
"""
SAID = "export const said = 'imported';"
#: bundled for browsers, each served as a script of its name
SOURCES = {"react": REACT, "grows": GROWS, "hydrate": HYDRATE}


def build(folder: Path) -> dict[str, bytes]:
    """Scripts and documents that the frameworks' tools make, by path."""
    folder.mkdir()
    (folder / "node_modules").symlink_to(MODULES)
    for name, source in {**SOURCES, "preset": PRESET, "generate": GENERATE}.items():
        (folder / f"{name}.jsx").write_text(source)
    production = '--define:process.env.NODE_ENV="production"'
    bundle = [MODULES / ".bin/esbuild", "--bundle", "--jsx=automatic", "--log-level=warning", production]
    entries = [f"{name}.jsx" for name in SOURCES]
    subprocess.run([*bundle, "--minify", "--outdir=made", *entries], cwd=folder, check=True, timeout=200)
    subprocess.run(
        [*bundle, "--platform=node", "--outfile=generate.js", "generate.jsx"], cwd=folder, check=True, timeout=200
    )
    preset = subprocess.run(["node", "generate.js"], cwd=folder, check=True, capture_output=True, timeout=200).stdout
    made = {f"/js/{name}.js": (folder / f"made/{name}.js").read_bytes() for name in SOURCES}
    for name, file in {
        "vue": "vue/dist/vue.global.prod.js",
        "vue-router": "vue-router/dist/vue-router.global.prod.js",
        "lazysizes": "lazysizes/lazysizes.min.js",
    }.items():
        made[f"/js/{name}.js"] = (MODULES / file).read_bytes()
    for n, markup in enumerate(json.loads(preset), 1):
        made[f"/preset/{n}.html"] = _document(f"<div id=app data-n={n}>{markup}</div>", "hydrate")
    return made | {
        "/js/app.js": VUE.encode(),
        "/pwa/app.js": INSTALLABLE.encode(),
        "/pwa/worker.js": WORKER.encode(),
        "/js/graph.js": GRAPH.encode(),
        "/js/module.js": MODULE.encode(),
        "/js/said.js": SAID.encode(),
        "/module/": _document("<div id=app></div><script type=module src=/js/module.js></script>"),
        "/graph/": _document("<div id=app></div>", "graph"),
        "/pwa/": _document("<div id=app></div><script src=/pwa/app.js></script>"),
        "/react/": _document("<div id=app></div>", "react"),
        "/vue/": _document("<div id=app></div>", "vue", "vue-router", "app"),
        "/feed/": _document("<div id=app></div>", "grows"),
        "/lazy/": _document(
            "".join(
                f"<p style='height:900px'>{n}</p><img class=lazyload data-src=/picture/sized-{n}.svg>"
                f"<img loading=lazy src=/picture/lazy-{n}.svg>"
                for n in range(ITEMS)
            ),
            "lazysizes",
        ),
    }


def _document(body: str, *scripts: str) -> bytes:
    return f"{HEAD}{body}{''.join(f'<script src=/js/{name}.js></script>' for name in scripts)}".encode()


class FrameworkSite:
    """What is asked for is counted in ``asked``; answers of ``changing`` paths change after each request."""

    def __init__(self, made: dict[str, bytes], parts: tuple[str, ...], changing: tuple[str, ...] = ()) -> None:
        self.made, self.parts, self.changing = made, parts, changing
        self.asked: Counter[str] = Counter()
        self.log: set[str] = set()  #: paths whose answer has changed since it was first given

    def answer(self, path: str) -> tuple[bytes, str] | None:
        """Body and media type."""
        self.asked[path] += 1
        edition = self.asked[path] if path in self.changing else 1
        if edition > 1:
            self.log.add(path)
        _, first, *rest = path.split("/")
        name = "/".join(rest)
        if path == "/":
            links = "".join(f"<p><a href=/{part}/{'1.html' * (part == 'preset')}>{part}</a>" for part in self.parts)
            return f"{HEAD}<h1>All parts</h1>{links}".encode(), "text/html"
        if first in {"plain", "of-feed"}:
            links = "".join(f"<a href=/plain/{n}>{n}</a> " for n in range(ITEMS + 2))
            return f"{HEAD}<h1>{first} {name}, edition {edition}</h1>{links}".encode(), "text/html"
        if first == "picture":
            return _picture(name), "image/svg+xml"
        if first == "api":
            return json.dumps(_said(name, edition)).encode(), "application/json"
        if first in {"vue", "react"}:
            return self.made[f"/{first}/"], "text/html"
        kind = "text/javascript" if path.endswith(".js") else "text/html"
        return (self.made[path], kind) if path in self.made else None


def _said(name: str, edition: int) -> object:
    part, _, which = name.partition("/")
    if part == "feed":
        number = int(which)
        more = number + 1 if number < FEED else 0
        return {"items": [2 * number - 1, 2 * number], "next": more, "edition": edition}
    return {"title": f"{part} {which}, edition {edition}", "items": list(range(1, ITEMS + 1))}


def _picture(name: str) -> bytes:
    colour = sum(map(ord, name)) * 37 % 360
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' width='300' height='150'>"
        f"<rect width='300' height='150' fill='hsl({colour} 80% 50%)'/></svg>"
    ).encode()


@contextmanager
def served(site: FrameworkSite, host: str = "127.0.0.1") -> Iterator[str]:
    """Its URL."""

    class Handler(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = site.answer(self.path)
            self.answer(*found) if found else self.answer(b"no", "text/plain", 404)

        def do_POST(self) -> None:
            query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["operationName"]
            site.asked[self.path] += 1
            self.answer(json.dumps({"data": {"said": f"answer to {query}"}}).encode(), "application/json")

    with serving(Handler, host) as url:
        yield url
