"""Workers of a page, and frames in other processes: none runs before the crawl listens to it.

Their requests pass the crawl in any case; listening reveals their WebSockets. A pop-up waits for good.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sharc_crawler.live.browser import sockets

if TYPE_CHECKING:
    from sharc_crawler.login import Cookie

#: Disables printing: a browser without a printer would wait for one for ever, and no flag or setting changes that. The
#: script runs before any of the page's.
WITHOUT_PAPER = """{
  globalThis.print = () => {};
  const command = Document.prototype.execCommand;
  Document.prototype.execCommand = function execCommand(name, ...more) {
    return /^print$/i.test(name) ? false : command.call(this, String(name), ...more);
  };
}"""


#: of a session, for targets that begin within it
ATTACH: dict[str, Any] = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
OF_NO_PAGE = [{"type": "shared_worker"}, {"exclude": True}]  #: for the whole browser
NOTHING_KEPT = {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}  #: of answers, as the crawl has them


def listen(tell: Callable[..., None], session: str, kind: str) -> None:
    """Listen to a new target, then let it run."""
    if kind == "page":
        return
    tell("Network.enable", session, **NOTHING_KEPT)
    tell("Runtime.addBinding", session, name=sockets.BINDING)
    if kind == "iframe":
        for source in (sockets.TELL, WITHOUT_PAPER):
            tell("Page.addScriptToEvaluateOnNewDocument", session, source=source)
    tell("Target.setAutoAttach", session, **ATTACH)
    tell("Runtime.evaluate", session, expression=sockets.TELL)
    tell("Runtime.runIfWaitingForDebugger", session)


def as_set(cookie: Cookie) -> dict[str, Any]:
    """A cookie for the protocol; without a domain it is for its host only."""
    where = {"domain": f".{cookie.domain}"} if cookie.subdomains else {}
    return {
        "name": cookie.name,
        "value": cookie.value,
        "url": f"http{'s' * cookie.secure}://{cookie.domain}{cookie.path}",
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        **where,
    }


def stored(storage: Mapping[str, Mapping[str, str]]) -> str:
    """A script that restores local storage by origin, before any of the page's runs."""
    known = json.dumps({origin: dict(items) for origin, items in storage.items()})
    return f"for (const item of Object.entries({known}[origin] || {{}})) localStorage.setItem(...item)"
