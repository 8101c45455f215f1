"""A process that is talked to."""

from __future__ import annotations

import asyncio

from sharc_crawler.live.writing import child as module
from sharc_crawler.live.writing.child import Child, begin_ahead
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


@in_loop
async def test_one_that_was_begun_ahead_is_the_next_and_the_only_one(tmp_path, monkeypatch):
    (tmp_path / "echo.py").write_text(_ECHO)
    monkeypatch.syspath_prepend(tmp_path)
    begin_ahead("echo")
    begin_ahead("echo")
    begun, _ = module._ahead["echo"]
    heard: list[bytes] = []
    children = [Child("echo", heard.append, lambda _: None) for _ in range(2)]
    assert [child._process.pid == begun.pid for child in children] == [True, False]
    assert "echo" not in module._ahead
    for child in children:
        child.send(b"a\n")
    while len(heard) < 2:
        await asyncio.sleep(0.01)
    for child in children:
        child.close()


def test_one_that_is_never_heard_ends_with_whoever_began_it(tmp_path, monkeypatch):
    """The other end of its socket is gone then."""
    (tmp_path / "echo.py").write_text(_ECHO)
    monkeypatch.syspath_prepend(tmp_path)
    begin_ahead("echo")
    process, ours = module._ahead.pop("echo")
    ours.close()
    assert process.wait(60) == 0


@in_loop
async def test_its_allocator_is_set_unless_somebody_has_set_it(tmp_path, monkeypatch):
    """A page's tree is made of many small pieces."""
    said = 'connection.sendall(__import__("os").environ["GLIBC_TUNABLES"].encode() + line)'
    (tmp_path / "telling.py").write_text(_ECHO.replace("connection.sendall(line)", said))
    monkeypatch.syspath_prepend(tmp_path)
    heard: list[bytes] = []
    for own in (None, "glibc.malloc.check=0"):
        monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
        if own:
            monkeypatch.setenv("GLIBC_TUNABLES", own)
        child = Child("telling", heard.append, lambda _: None)
        child.send(b"\n")
        while len(heard) < 1 + bool(own):
            await asyncio.sleep(0.01)
        child.close()
    assert heard == [b"glibc.malloc.tcache_count=2000:glibc.malloc.tcache_max=160", b"glibc.malloc.check=0"]
