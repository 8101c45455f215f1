"""Headless Chromium, spoken to over two pipes: what a reader would see."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
    "--window-size=1000,700", "--force-device-scale-factor=1",
)  # fmt: skip

PATIENCE = 240.0  #: seconds of a wait: what has not come by then does not come on a busy machine, either


def pixels(picture: bytes) -> np.ndarray:
    """Of a PNG."""
    import matplotlib.image  # a third of a second, which most processes that test do not need

    return matplotlib.image.imread(io.BytesIO(picture), format="png")


class Tab:
    """One tab; every wait is bounded."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read, self._buffer, self._number = write, read, b"", 0
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                data = os.read(self._read, 1 << 20)
                assert data, "the browser is gone"
                self._buffer += data
            text, _, self._buffer = self._buffer.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def value(self, script: str) -> Any:
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def wait_for(self, script: str) -> Any:
        deadline = time.monotonic() + PATIENCE
        while not (value := self.value(script)):
            assert time.monotonic() < deadline, f"{script} did not come true within {PATIENCE:.0f} s"
            time.sleep(0.1)
        return value

    def picture(self) -> bytes:
        """What is on the screen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


@contextmanager
def browser(profile: Path) -> Iterator[Tab]:
    """A browser with a profile of its own, ended with the block."""
    (to_them, we_write), (we_read, from_them) = os.pipe(), os.pipe()

    def pipes() -> None:  # the browser reads from 3 and writes to 4
        one, other = os.dup(to_them), os.dup(from_them)
        os.dup2(one, 3)
        os.dup2(other, 4)

    started = subprocess.Popen(
        [str(CHROMIUM), *OPTIONS, f"--user-data-dir={profile}"],
        preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(to_them)
    os.close(from_them)
    try:
        yield Tab(we_write, we_read)
    finally:
        started.terminate()
        started.wait(PATIENCE)
        os.close(we_write)
        os.close(we_read)
