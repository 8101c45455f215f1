"""What is seen of a page: its requests and their results, its documents and their text.

The records about it follow the conventions of Browsertrix.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from w3lib.encoding import resolve_encoding

from sharc_crawler.archive.options import Resource
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from sharc_crawler.model import Instant

_TEXT, _FRAGMENT = 3, 11  #: types of nodes
#: elements whose text is not part of the page's
_WORDLESS = {"SCRIPT", "STYLE", "NOSCRIPT", "TITLE", "TEMPLATE", "HEADER", "FOOTER"}
#: kinds of ``urn:KIND:URL`` records: first screen, text, list of requests
VIEW, TEXT, PAGE_INFO = "view", "text", "pageinfo"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a page."""

    url: str
    headers: dict[str, str]
    kind: str  #: DevTools' name: Script, XHR, Image…
    method: str = "GET"
    body: bytes = b""


class Loaded(NamedTuple):
    """The result of a page's request."""

    status: int  #: 0: no answer
    media_type: str | None
    kind: str  #: DevTools' name in lower case: document, script, xhr…
    error: str = ""  #: as browsers name it


@dataclass(slots=True)
class Rendering:
    """What was seen of a page."""

    #: base URL, markup and encoding: its own, then its frames'
    documents: list[tuple[str, str, str]] = field(default_factory=list)
    led_to: list[str] = field(default_factory=list)  #: where its scripts would have navigated
    requests: int = 0
    data: int = 0  #: requests for data by its scripts
    cut: list[str] = field(default_factory=list)  #: what was not waited for, or not let through
    loaded: dict[str, Loaded] = field(default_factory=dict)  #: by URL, its own document first
    script_errors: int = 0  #: uncaught in its scripts
    text: str = ""  #: of its documents, a line for each piece
    picture: bytes | None = None  #: PNG of its first screen, where one was wanted


def texts(snapshot: dict[str, Any]) -> Iterator[str]:
    """The text of its documents in order, as in Browsertrix: without headers and footers."""
    strings, trees = snapshot["strings"], [_Tree(document["nodes"]) for document in snapshot["documents"]]
    waiting = [(0, 0)] if trees else []
    while waiting:
        number, node = waiting.pop()
        tree = trees[number]
        if tree.kinds[node] == _TEXT and tree.values[node] >= 0 and (text := strings[tree.values[node]].strip()):
            yield text
        if strings[tree.names[node]] in _WORDLESS:
            continue
        if node in tree.frames:
            waiting.append((tree.frames[node], 0))
        waiting += [(number, child) for child in reversed(tree.below.get(node, ()))]


def within(pieces: Iterable[str], most: int) -> Iterator[str]:
    """The first pieces, up to the one that reaches ``most`` characters.

    >>> list(within(["ab", "cd", "ef"], 3))
    ['ab', 'cd']
    """
    for piece in pieces:
        yield piece
        most -= len(piece)
        if most <= 0:
            break


def documents(snapshot: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Its own document and its frames: base URL, encoding, and node number."""
    strings = snapshot["strings"]
    for document in snapshot["documents"]:
        yield strings[document["baseURL"]], strings[document["encodingName"]], document["nodes"]["backendNodeId"][0]


def as_sent(markup: str, encoding: str) -> bytes:
    r"""A document as a server might have sent it, in its encoding, which its links' queries depend on.

    Characters that the encoding lacks become references. An unknown encoding, or UTF-16, becomes UTF-8.

    >>> as_sent("<p>\u00e4", "windows-1252")[-4:], as_sent("<p>\u65e5", "windows-1252")[-8:]
    (b'<p>\xe4', b'&#26085;')
    """
    codec = resolve_encoding(encoding) or "utf-8"
    if codec.startswith("utf-"):
        codec = "utf-8"
    kind = f"text/html; charset={codec}"
    body = markup.encode(codec, "replace" if codec == "utf-8" else "xmlcharrefreplace")
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + body


class _Tree:
    """The nodes of a document, which a snapshot lists in rows."""

    def __init__(self, nodes: dict[str, Any]) -> None:
        self.kinds, self.names, self.values = nodes["nodeType"], nodes["nodeName"], nodes["nodeValue"]
        within = nodes.get("contentDocumentIndex", {"index": (), "value": ()})
        self.frames = dict(zip(within["index"], within["value"], strict=True))
        self.below: dict[int, list[int]] = {}
        for node, parent in enumerate(nodes["parentIndex"]):
            self.below.setdefault(parent, []).append(node)
        for own in self.below.values():
            own.sort(key=lambda node: self.kinds[node] != _FRAGMENT)  # shadow roots first


def resources_of(url: str, date: Instant, seen: Rendering, *, text: bool) -> list[Resource]:
    """The records about a page downloaded at ``date``, including a picture if one was taken.

    >>> from sharc_crawler.live.browser.page_records import Rendering
    >>> [one.uri for one in resources_of("http://h/", 0.0, Rendering(text="Hello"), text=True)]
    ['urn:pageinfo:http://h/', 'urn:text:http://h/']
    """
    found = [(PAGE_INFO, "application/json", json.dumps(page_info(url, date, seen), indent=2).encode())]
    if text:
        found.append((TEXT, "text/plain", seen.text.encode(errors="replace")))
    if seen.picture is not None:
        found.append((VIEW, "image/png", seen.picture))
    return [Resource(f"urn:{kind}:{url}", date, media_type, block) for kind, media_type, block in found]


def page_info(url: str, date: Instant, seen: Rendering) -> dict[str, Any]:
    """What a page loaded, and what it was shown without."""
    stamp = iso(date)
    return {
        "pageid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{stamp} {url}")),
        "url": url,
        "ts": stamp,
        "urls": {url: _described(loaded) for url, loaded in seen.loaded.items()},
        "counts": {"jsErrors": seen.script_errors},
        **({"cut": seen.cut} if seen.cut else {}),
    }


def _described(loaded: Loaded) -> dict[str, Any]:
    known = {"status": loaded.status, "mime": loaded.media_type, "type": loaded.kind, "error": loaded.error}
    return {name: value for name, value in known.items() if value or name == "status"}
