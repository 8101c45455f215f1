"""Telling a person, where whoever should be told does not listen as expected."""

from __future__ import annotations

import socket
from threading import Thread

import pytest

from sharc_crawler.collection import notices
from sharc_crawler.collection.notices import KeepNotice, tell
from sharc_crawler.errors import SharcError
from tests.live.wire.test_authority import saying

NOTICE = KeepNotice("the harbour", "www.example.org", "failed", "Nothing answers.", "log")


def test_a_webhook_that_speaks_no_http_is_no_end_of_whoever_tells():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(1 << 16)
                connection.sendall(b"220 mail.example.org\r\n")

        thread = Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(SharcError, match=r"cannot be told: .*220 mail"):
            tell("http://{}:{}/".format(*server.getsockname()), NOTICE)
        thread.join()


def test_a_webhook_that_answers_a_byte_now_and_then_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(notices, "PATIENCE", 1.0)
    with saying(b"HTTP/1.1 200 OK\r\n", b"X") as port, pytest.raises(SharcError, match="not answered after 1 s"):
        tell(f"http://127.0.0.1:{port}/", NOTICE)
