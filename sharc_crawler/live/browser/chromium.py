"""A Chromium of our own: found, started without network, controlled by its DevTools protocol over pipes.

Playwright follows redirects itself, past any route, and its driver is one more runtime; but each request must pass the
crawl. So we speak the protocol directly. When the crawl ends, so does the pipe, and the browser with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.errors import SharcError, UsageError

if TYPE_CHECKING:
    from sharc_crawler.live.browser.page_records import Rendering

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell")
PLACE = "SHARC_CHROMIUM"  #: environment variable with its path, if it is not on PATH
#: Nothing answers there (discard port of this machine): what the crawl does not answer fails.
NOWHERE = "http://127.0.0.1:9"
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    f"--proxy-server={NOWHERE}",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the flag for the mode without windows
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-sync",
    "--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider",
    "--disable-site-isolation-trials",
    "--metrics-recording-only",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
)
#: The pipe's ends must be descriptors 3 and 4; `subprocess` can pass descriptors on, but not number them.
_LAUNCHER = (
    "import os,resource,sys; resource.setrlimit(resource.RLIMIT_DATA,(int(sys.argv[3]),)*2);"
    "a,b=(os.dup2(int(n),m) for n,m in zip(sys.argv[1:3],(98,99)));"
    "os.dup2(a,3); os.dup2(b,4); os.close(a); os.close(b); os.execv(sys.argv[4],sys.argv[4:])"
)
MEMORY = 2 << 30  #: bytes that each of its processes may use; a page that wants more loses its process
PROFILE = "profile-"  #: prefix of a browser's temporary folder
_VERSION = re.compile(r"(?i)(?:chrom|headless).*? (\d+(?:\.\d+){3})\b")
_PATIENCE = 120.0  #: seconds for an answer; a busy machine takes long to start a browser
_LONGEST = 64 << 20  #: bytes of one message, as of a page with 500,000 elements


class BrowserError(SharcError):
    """The browser ended, does not answer, or refuses."""

    seen: Rendering | None = None  #: of the page, until then


class PageError(BrowserError):
    """The page fails in every browser, so no other is tried."""


def found() -> str:
    """The path of Chromium; raises UsageError if there is none."""
    named = os.environ.get(PLACE)
    for name in [named] if named else NAMES:
        if place := shutil.which(name):
            return place
    if named:
        raise UsageError(f"{PLACE}={named!r} is no program: it must be the path of a Chromium")
    raise UsageError(
        "browser= needs Chromium, and none is on the path: install it (Debian: `apt install chromium`),"
        f" or say where it is ({PLACE}=/path/to/chrome)"
    )


@cache
def version() -> str:
    """Its version, as ``156.0.8078.108``; raises UsageError if it does not run."""
    place = found()
    try:
        asked = subprocess.run([place, "--version"], capture_output=True, text=True, timeout=_PATIENCE, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{place} does not run ({error}): {PLACE} must be the path of a Chromium") from None
    said = asked.stdout
    if (known := _VERSION.search(said)) is None:
        raise UsageError(
            f"{place} is no Chromium: asked for its --version, it says {said.strip()[:80]!r}."
            f" Set {PLACE} to the path of one, or unset it"
        )
    return known[1]


class Chromium:
    """A browser with a profile in ``folder``. ``heard`` gets each event's method, parameters and session."""

    def __init__(self, heard: Callable[[str, dict[str, Any], str], None], folder: Path) -> None:
        self._heard = heard
        self._folder = folder
        self._number = 0
        self._asked: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._writer: asyncio.WriteTransport | None = None
        self._listening: asyncio.Task[None] | None = None
        self.ended = False
        self._too_much = False

    async def start(self) -> None:
        """Start it; raises :class:`BrowserError`."""
        self._profile = tempfile.mkdtemp(prefix=PROFILE, dir=self._folder)
        to_read, their_end = os.pipe()
        own, to_write = os.pipe()
        root = ("--no-sandbox",) if os.geteuid() == 0 else ()  # Chromium's sandbox does not work for root
        flags = (*FLAGS, *root, f"--user-data-dir={self._profile}", "about:blank")
        command = [sys.executable, "-S", "-c", _LAUNCHER, str(own), str(their_end), str(MEMORY), found(), *flags]
        self._process = subprocess.Popen(  # noqa: S603 - what was found
            command,
            pass_fds=(own, their_end),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # only the crawl should get Ctrl-C
        )
        os.close(own)
        os.close(their_end)
        loop = asyncio.get_running_loop()
        self._reader = asyncio.StreamReader(limit=_LONGEST)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(self._reader), os.fdopen(to_read, "rb"))
        self._writer, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(to_write, "wb"))
        self._listening = asyncio.create_task(self._listen())
        await self.ask("Browser.getVersion")

    @property
    def pid(self) -> int:
        """The process id of its main process, which leads a session of its own."""
        return self._process.pid

    @property
    def lives(self) -> bool:
        """Whether it runs; that it was killed may not have been noticed yet."""
        return not self.ended and self._process.poll() is None

    async def ask(self, method: str, session: str = "", **parameters: Any) -> dict[str, Any]:
        """Call a method; raises :class:`BrowserError`. Calls to a page have no time limit here."""
        future = self._sent(method, session, parameters)
        try:
            return await asyncio.wait_for(future, None if session else _PATIENCE)
        except TimeoutError:
            raise BrowserError(f"the browser does not answer ({method})") from None

    async def spent(self) -> float:
        """Seconds of processor time of its processes; raises :class:`BrowserError`."""
        known = await self.ask("SystemInfo.getProcessInfo")
        return sum(float(process["cpuTime"]) for process in known["processInfo"])

    def tell(self, method: str, session: str = "", **parameters: Any) -> None:
        """Call a method without waiting for the answer."""
        with suppress(BrowserError):
            self._sent(method, session, parameters).add_done_callback(_seen)

    def _sent(self, method: str, session: str, parameters: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        if self.ended or self._writer is None:
            raise self.why()
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        future = self._asked[self._number] = asyncio.get_running_loop().create_future()
        self._writer.write(json.dumps(message).encode() + b"\0")
        return future

    async def _listen(self) -> None:
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    self._receive(json.loads((await self._reader.readuntil(b"\0"))[:-1]))
        except asyncio.LimitOverrunError:
            self._too_much = True
        finally:
            self._gone()

    def _receive(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self._heard(message["method"], message["params"], message.get("sessionId", ""))
            return
        future = self._asked.pop(message["id"], None)
        if future is None or future.done():
            return
        if "error" in message:
            future.set_exception(BrowserError(f"the browser refuses: {message['error'].get('message')}"))
        else:
            future.set_result(message["result"])

    def why(self) -> BrowserError:
        """The error for a browser that ended."""
        return PageError("it has too many elements") if self._too_much else BrowserError("the browser ended")

    def _gone(self) -> None:
        self.ended = True
        for future in self._asked.values():
            if not future.done():
                future.set_exception(self.why())
                future.add_done_callback(_seen)
        self._asked.clear()
        self._heard("Browser.ended", {}, "")

    def close(self) -> None:
        """Kill it with all its processes."""
        if not hasattr(self, "_process"):
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._writer:
            self._writer.close()
        if self._listening:
            self._listening.cancel()
        self.ended = True
        remove_profile(Path(self._profile))


def remove_profile(folder: Path) -> None:
    """Remove the folder of a killed browser, and that of its socket among the temporary files."""
    with suppress(OSError):
        socket = (folder / "SingletonSocket").readlink()
        for left in (socket, socket.with_name("SingletonCookie")):
            left.unlink(missing_ok=True)
        socket.parent.rmdir()
    shutil.rmtree(folder, ignore_errors=True)


def _seen(future: asyncio.Future[dict[str, Any]]) -> None:
    if not future.cancelled():
        future.exception()
