"""A process that is talked to."""

from __future__ import annotations

import asyncio

from sharc_crawler.live.writing.child import Child
from tests.live.wire_servers import in_loop

_ECHO = """
import socket

connection = socket.socket(fileno=0)
for line in connection.makefile("rb"):
    connection.sendall(line)
"""


@in_loop
async def test_whoever_is_told_much_and_answers_much_is_heard_meanwhile(tmp_path, monkeypatch):
    """More than a socket holds, both ways."""
    (tmp_path / "echo.py").write_text(_ECHO)
    monkeypatch.syspath_prepend(tmp_path)
    heard: list[bytes] = []
    child = Child("echo", heard.append, lambda _: None)
    lines = [b"%d" % number * 1000 for number in range(2000)]
    child.send(*[line + b"\n" for line in lines])
    while len(heard) < len(lines):
        await asyncio.sleep(0.01)
    child.close()
    assert heard == lines
