"""| Notifies a person of a site that needs attention, by ``notify:``, a command or webhook."""

from __future__ import annotations

import json
import shlex
import subprocess
from http.client import HTTPException
from threading import Thread
from typing import NamedTuple
from urllib.error import URLError
from urllib.request import Request, urlopen

from sharc_crawler.errors import SharcError
from sharc_crawler.model import Seconds

PATIENCE: Seconds = 30.0  #: with the receiver


class KeepNotice(NamedTuple):
    """A notification."""

    collection: str
    site: str
    event: str  #: ``failed``, ``works again``, ``moved``, ``shrunk``, ``damaged``
    text: str  #: what happened, since when, what comes next
    log: str  #: file with the crawl's output

    def words(self) -> str:
        """The notification as a command's input."""
        return f"{self.site} of {self.collection}: {self.event}\n\n{self.text}\n\nThe crawl's own words: {self.log}\n"


def tell(notify: str, notice: KeepNotice) -> None:
    """Send it to a command's standard input, or as JSON to an http(s) address; raises SharcError."""
    try:
        if notify.startswith(("http://", "https://")):
            _post(notify, json.dumps(notice._asdict()).encode())
            return
        told = subprocess.run(  # noqa: S603 - the collection's own command
            shlex.split(notify), input=notice.words(), text=True, capture_output=True, timeout=PATIENCE, check=False
        )
    except (OSError, URLError, HTTPException, ValueError, subprocess.TimeoutExpired) as error:
        raise SharcError(f"notify={notify!r} cannot be told: {error}") from error
    if told.returncode:
        raise SharcError(f"notify={notify!r} ended with exit code {told.returncode}: {told.stderr.strip()[-200:]}")


def _post(url: str, body: bytes) -> None:
    """Post in a thread: a receiver that sends a byte now and then would restart a time-out each time."""
    failed = list[Exception]()

    def post() -> None:
        request = Request(url, body, {"Content-Type": "application/json"})  # noqa: S310 - http(s), as was asked
        try:
            urlopen(request, timeout=PATIENCE).close()  # noqa: S310
        except Exception as error:
            failed.append(error)

    thread = Thread(target=post, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if thread.is_alive():
        raise TimeoutError(f"not answered after {PATIENCE:g} s")
    if failed:
        raise failed[0]
