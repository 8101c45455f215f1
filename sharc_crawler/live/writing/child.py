"""| A process of ours beside the crawl: sending to it never blocks, and its answers arrive in the reactor."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import islice

_STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_ROOM = 1 << 20  #: bytes that the system buffers for a busy child
_CALM = 10  #: niceness
_AT_ONCE = 64  #: pieces per system call, as many as all systems take
_ANSWERS = 1 << 16  #: bytes read at a time
#: A page's tree takes a thousand small pieces of memory, so glibc is to cache more of each size than its 7.
_PIECES = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=160"}


_ahead: dict[str, tuple[subprocess.Popen[bytes], socket.socket]] = {}  #: processes started before they were needed


def begin_ahead(module: str) -> None:
    """Start the next :class:`Child` of this module now; if none is made, it ends with this process."""
    if module not in _ahead:
        with suppress(OSError):  # reported when it is needed
            _ahead[module] = _begun(module)


def _begun(module: str) -> tuple[subprocess.Popen[bytes], socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            return _started(module, theirs), ours
        except OSError:
            ours.close()
            raise


class Child:
    """Runs a module's ``main`` in another process, with a socket as its standard input.

    ``module``: its name. ``heard``: called with each line that it sends. ``ended``: called once with its exit code,
    after its last line. Raises :class:`OSError` if it cannot be started.
    """

    def __init__(self, module: str, heard: Callable[[bytes], None], ended: Callable[[int], None]) -> None:
        self._heard, self._ended = heard, ended
        self._unsent: deque[bytes | memoryview] = deque()
        self._half: list[bytes] = []  # parts of an incomplete line
        self._loop = asyncio.get_running_loop()
        self._process, self._socket = _ahead.pop(module) if module in _ahead else _begun(module)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _ROOM)
        self._socket.settimeout(0)
        self._loop.add_reader(self._socket, self._read)

    def send(self, *pieces: bytes) -> None:
        """Send pieces of data; what does not fit into the buffer now follows later."""
        waits = bool(self._unsent)
        self._unsent.extend(pieces)
        if not waits:
            self._write()
            if self._unsent:
                self._loop.add_writer(self._socket, self._write_on)

    def close(self) -> None:
        """Close the socket to the process, and wait for its end."""
        if self._socket.fileno() >= 0:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket.close()
        self._process.wait()

    def calm(self) -> None:
        """Lower its priority."""
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _CALM)

    def spent(self) -> float:
        """Seconds of its processor time; by the clock where the system (not Linux) does not tell."""
        try:
            return time.clock_gettime((~self._process.pid << 3) | 2)
        except OSError:
            return time.monotonic()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()

    def _write_on(self) -> None:
        self._write()
        if not self._unsent:
            self._loop.remove_writer(self._socket)

    def _write(self) -> None:
        while self._unsent:
            try:
                sent = self._socket.sendmsg(islice(self._unsent, _AT_ONCE))
            except BlockingIOError:
                return
            except ConnectionError:  # its end is reported separately
                self._unsent.clear()
                return
            while self._unsent and sent >= len(self._unsent[0]):
                sent -= len(self._unsent.popleft())
            if sent:
                self._unsent[0] = memoryview(self._unsent[0])[sent:]

    def _read(self) -> None:
        try:
            data = self._socket.recv(_ANSWERS)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            self.close()
            self._ended(self._process.returncode)
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._half.append(line)
            whole, self._half = b"".join(self._half), []
            self._heard(whole)
        self._half.append(rest)


def _started(module: str, connection: socket.socket) -> subprocess.Popen[bytes]:
    """Start the process with signals that stop a crawl blocked: only the crawl handles those.

    It finds modules where the crawl does, but not in the current folder first: a json.py there is not ours.
    """
    command, places = [sys.executable, "-P", "-m", module], {"PYTHONPATH": os.pathsep.join(sys.path)}
    places["PYTHONUTF8"] = str(sys.flags.utf8_mode)  # so that file names are decoded alike
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        return subprocess.Popen(command, stdin=connection.fileno(), env=_PIECES | os.environ | places)  # noqa: S603 - ourselves
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
