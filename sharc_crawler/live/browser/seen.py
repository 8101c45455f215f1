"""What is seen of a page: what it asked for, what came of that, what its documents hold and say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT = 3  #: the type of such nodes
#: elements whose text is none of the page
_WORDLESS = {"SCRIPT", "STYLE", "NOSCRIPT", "TITLE", "TEMPLATE", "HEADER", "FOOTER"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of a page."""

    url: str
    headers: dict[str, str]
    kind: str  #: DevTools' name: Script, XHR, Image…
    method: str = "GET"
    body: bytes = b""


class Loaded(NamedTuple):
    """What came of a request of a page."""

    status: int  #: 0: nothing came
    media_type: str | None
    kind: str  #: DevTools' name in lower case: document, script, xhr…
    error: str = ""  #: as browsers call it


@dataclass(slots=True)
class Rendering:
    """What a page came to be."""

    documents: list[tuple[str, str]] = field(default_factory=list)  #: base URL and markup: its own, then its frames'
    led_to: list[str] = field(default_factory=list)  #: where its scripts would have gone
    requests: int = 0
    data: int = 0  #: of these: what its scripts fetched
    cut: list[str] = field(default_factory=list)  #: what was not waited for, or not let through
    loaded: dict[str, Loaded] = field(default_factory=dict)  #: by URL, its own document first
    script_errors: int = 0  #: that its scripts left to the browser
    text: str = ""  #: of its documents, a line for each piece
    picture: bytes | None = None  #: PNG of its first screen, where one was wanted


def texts(node: dict[str, Any]) -> Iterator[str]:
    """What its documents say, in their order; as Browsertrix: without what frames most pages of a site."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node["nodeType"] == _TEXT and (text := node["nodeValue"].strip()):
            yield text
        if node["nodeName"] in _WORDLESS:
            continue
        if "contentDocument" in node:
            waiting.append(node["contentDocument"])
        waiting += reversed(node.get("children", ()))
        waiting += reversed(node.get("shadowRoots", ()))


def documents(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A document, and those within it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node["nodeName"] == "#document":
            yield node
        waiting += reversed(node.get("children", ()))
        waiting += node.get("shadowRoots", ())
        if "contentDocument" in node:
            waiting.append(node["contentDocument"])
