"""A page that tries to reach an inner address in each way that a browser has, and who listens there."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import TYPE_CHECKING

from tests.live.serving import Answering

if TYPE_CHECKING:
    from collections.abc import Iterator

INNER = "127.0.0.79"
WAYS = """
link = (rel, more) => document.head.append(Object.assign(document.createElement('link'), {rel, ...more}));
add = (name, more) => document.body.appendChild(Object.assign(document.createElement(name), more));
click = (name, more) => { const one = add(name, more); one.click(); };
ways = {
  fetch: () => fetch('http://INNER/fetch', {mode: 'no-cors'}),
  late: () => addEventListener('pagehide', () => fetch('http://INNER/late', {keepalive: true})),
  xhr: () => { const one = new XMLHttpRequest(); one.open('GET', 'http://INNER/xhr'); one.send(); },
  redirect: () => fetch('/redirect', {mode: 'no-cors'}),
  image: () => new Image().src = 'http://INNER/image',
  imageRedirect: () => new Image().src = '/redirect?image',
  script: () => add('script', {src: 'http://INNER/script'}),
  module: () => import('http://INNER/module'),
  frame: () => add('iframe', {src: 'http://INNER/frame'}),
  object: () => add('object', {data: 'http://INNER/object'}),
  video: () => add('video', {src: 'http://INNER/video', preload: 'auto'}),
  input: () => add('input', {type: 'image', src: 'http://INNER/input'}),
  style: () => add('style', {textContent: `@import 'http://INNER/import'; @font-face {font-family: f;
    src: url(http://INNER/font)} body {font-family: f; background: url(http://INNER/background)}`}),
  links: () => ['stylesheet', 'icon', 'manifest', 'prefetch', 'dns-prefetch', 'preconnect', 'modulepreload']
    .forEach(rel => link(rel, {href: 'http://INNER/' + rel})),
  preload: () => link('preload', {href: 'http://INNER/preload', as: 'image'}),
  speculation: () => add('script', {type: 'speculationrules', textContent: JSON.stringify(
    {prefetch: [{urls: ['http://INNER/speculated']}], prerender: [{urls: ['/prerendered']}]})}),
  beacon: () => navigator.sendBeacon('http://INNER/beacon', 'x'),
  ping: () => click('a', {href: '#here', ping: 'http://INNER/ping'}),
  download: () => click('a', {href: 'http://INNER/download', download: 'x'}),
  ownDownload: () => click('a', {href: 'data:text/plain,x', download: 'x.txt'}),
  form: () => add('form', {action: 'http://INNER/form', method: 'POST', target: '_blank'}).submit(),
  popUp: () => window.open('http://INNER/pop-up'),
  blankPopUp: () => window.open('about:blank').document.write('<img src=http://INNER/by-pop-up>'),
  data: () => add('iframe', {src: 'data:text/html,<img src=http://INNER/by-data>'}),
  blob: () => add('iframe', {src: URL.createObjectURL(
    new Blob(['<img src=http://INNER/by-blob>'], {type: 'text/html'}))}),
  srcdoc: () => add('iframe', {sandbox: 'allow-scripts',
    srcdoc: '<script>fetch("http://INNER/by-srcdoc")</' + 'script>'}),
  file: () => { add('iframe', {src: 'file:///etc/passwd'}); return fetch('file:///etc/passwd'); },
  events: () => new EventSource('http://INNER/events'),
  socket: () => new WebSocket('ws://INNER/socket'),
  transport: () => new WebTransport('https://INNER/transport').ready,
  worker: () => new Worker(URL.createObjectURL(new Blob([inWorker]))),
  farWorker: () => new Worker('http://INNER/worker'),
  sharedWorker: () => new SharedWorker('/worker.js'),
  serviceWorker: () => navigator.serviceWorker.register('/worker.js'),
  calls: async () => {
    const [one, two] = [0, 1].map(() => new RTCPeerConnection({iceServers: [
      {urls: 'stun:INNER'}, {urls: ['turn:INNER', 'turn:INNER?transport=tcp'], username: 'u', credential: 'c'}]}));
    one.createDataChannel('x');
    await one.setLocalDescription(); await two.setRemoteDescription(one.localDescription);
    await two.setLocalDescription(); await one.setRemoteDescription(two.localDescription);
    const [host, port] = 'INNER'.split(':');
    for (const [how, type] of [['udp', ''], ['tcp', ' tcptype passive']]) {
      const candidate = `candidate:1 1 ${how} 2122260223 ${host} ${port} typ host${type}`;
      await one.addIceCandidate({sdpMid: '0', candidate});
    }
  },
  dialogs: () => { alert('x'); confirm('x'); prompt('x'); print(); onbeforeunload = () => 'x'; },
};
(async () => {
  for (const [name, way] of Object.entries(ways)) {
    try { Promise.resolve(way()).catch(() => 0); tried.append(name + ' '); }
    catch (error) { tried.append(name + '! '); }
  }
  await fetch('/wait');
  print(); document.execCommand('print');  // it has loaded: what prints is not put off
  tried.append('and waited');
  location.href = 'http://INNER/away';
})();
"""
IN_WORKER = """
for (const attempt of [() => fetch('http://INNER/by-worker', {mode: 'no-cors'}),
  () => new WebSocket('ws://INNER/by-worker'), () => new WebTransport('https://INNER/by-worker'), () => importScripts('http://INNER/imported')])
  try { Promise.resolve(attempt()).catch(() => 0); } catch (error) {}
"""


def page(inner: str) -> bytes:
    ways = f"const inWorker = `{IN_WORKER}`;{WAYS}".replace("INNER", inner)
    return f"<!doctype html><title>hostile</title><p id=tried></p><script>{ways}</script>".encode()


def hostile(inner: str, asked: list[str]):
    """Serves it; ``asked``: the paths."""

    class Handler(Answering, BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            if self.path.startswith("/redirect"):
                self.send_response(302)
                self.send_header("Location", f"http://{inner}{self.path}")
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif self.path == "/worker.js":
                self.answer(IN_WORKER.replace("INNER", inner).encode(), "text/javascript")
            elif self.path == "/wait":
                time.sleep(2)  # by the clock: what needs no page's time has its own
                self.answer(b"", "text/plain")
            elif self.path == "/":
                self.answer(page(inner), "text/html")
            else:
                self.answer(b"", "text/plain", 404)

    return Handler


@contextmanager
def listening(heard: list[str]) -> Iterator[str]:
    """Address and port at which connections and datagrams are heard."""
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server((INNER, 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(tcp.getsockname())

        def accept() -> None:
            while True:
                try:
                    connection, _ = tcp.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(1)
                    try:
                        heard.append(f"TCP {connection.recv(80)!r}")
                    except OSError:
                        heard.append("TCP, nothing said")

        def receive() -> None:
            while datagram := udp.recv(2000):
                heard.append(f"UDP {datagram[:20]!r}")

        threads = [Thread(target=work, daemon=True) for work in (accept, receive)]
        for thread in threads:
            thread.start()
        yield "{}:{}".format(*tcp.getsockname())
        tcp.shutdown(socket.SHUT_RDWR)
        udp.sendto(b"", udp.getsockname())
        for thread in threads:
            thread.join()
