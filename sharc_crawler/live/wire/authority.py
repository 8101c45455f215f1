"""| Asks a time stamp authority once, directly, at an allowed address, within a time limit."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from sharc_crawler.errors import DataError
from sharc_crawler.live.setup.operator import private_seeds
from sharc_crawler.live.wire.addresses import AddressRules, Target
from sharc_crawler.model import Seconds

LONGEST: Seconds = 30.0  #: for the whole answer
LARGEST = 1 << 20  #: bytes of an answer
_BLOCK = 1 << 14


class _Guarded(http.client.HTTPConnection):
    """A connection to the very address that was checked, without a second look-up."""

    def __init__(self, url: str, rules: AddressRules, timeout: Seconds) -> None:
        parts = urlsplit(url)
        self._secure = parts.scheme == "https"
        self._rules = rules
        self._wire: socket.socket | None = None  # the connection to the authority
        self.late = False
        super().__init__(parts.hostname or "", parts.port or (443 if self._secure else 80), timeout=timeout)

    def connect(self) -> None:
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        address = str(found[0][4][0])
        self._rules.check(Target(self.host, self.port), address)
        self.sock = self._wire = socket.create_connection((address, self.port), self.timeout)
        if self._secure:
            self.sock = self._wire = ssl.create_default_context().wrap_socket(
                self.sock, server_hostname=self.host, do_handshake_on_connect=False
            )
        if self.late:
            raise TimeoutError
        if isinstance(self._wire, ssl.SSLSocket):
            self._wire.do_handshake()

    def give_up(self) -> None:
        """End whatever is waited for: socket time-outs begin anew with each byte."""
        self.late = True
        if self._wire:
            with suppress(OSError):
                socket.socket.shutdown(self._wire, socket.SHUT_RDWR)


def ask(url: str, query: bytes, agent: str, allowed: Iterable[str] = ()) -> bytes:
    """The authority's answer to a query; redirects are not followed.

    A private address named in the URL is meant; others must be ``allowed``. Raises
    :class:`~sharc_crawler.errors.DataError` where there is no answer, and
    :class:`~sharc_crawler.live.wire.addresses.AddressRefusedError`.
    """
    rules = AddressRules.of([*allowed, *private_seeds([url])])
    connection = _Guarded(url, rules, LONGEST)
    parts = urlsplit(url)
    clock = threading.Timer(LONGEST, connection.give_up)
    clock.daemon = True
    clock.start()
    try:
        connection.request(
            "POST",
            f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}",
            query,
            {"Content-Type": "application/timestamp-query", "User-Agent": agent, "Connection": "close"},
        )
        return _answer(connection)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = f"not whole after {LONGEST:g} s" if connection.late else str(error) or type(error).__name__
        raise DataError(f"{url} does not answer: {why}") from error
    finally:
        clock.cancel()
        connection.close()


def _answer(connection: _Guarded) -> bytes:
    """The body, up to a limit."""
    response = connection.getresponse()
    if response.status != http.client.OK:
        raise ValueError(f"status {response.status} {response.reason}".strip())
    body = b""
    while block := response.read1(_BLOCK):
        body += block
        if len(body) > LARGEST:
            raise ValueError(f"more than {LARGEST:,} bytes")
    if connection.late:
        raise TimeoutError
    return body
