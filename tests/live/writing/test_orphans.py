"""A process beside the crawl ends when its crawl is gone."""

from __future__ import annotations

import socket
import subprocess
import sys

_HANGING = """
import sys
sys.platform = "another"  # where the system does not end it
import socket, time
from sharc_crawler.live.writing.orders import end_with_crawl
connection = socket.socket(fileno=0)
end_with_crawl(connection)
connection.sendall(b"!")
time.sleep(280)
sys.exit(1)
"""


def test_it_ends_though_it_hangs_and_has_not_read_what_it_was_told():
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen([sys.executable, "-c", _HANGING], stdin=theirs)
    with ours:
        assert ours.recv(1)
        ours.sendall(b"not read")
        assert process.poll() is None
    assert process.wait(240) == 0
