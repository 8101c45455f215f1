"""What is said where a crawl fails and no log is shown."""

from __future__ import annotations

import logging

import pytest

from sharc_crawler.live.failures.failed import tell


@pytest.mark.parametrize(
    ("handlers", "told"),
    [
        ([logging.NullHandler()], "sharc: error: no room\n"),  # as with --nolog
        ([], ""),  # Python's own way shows it
        ([logging.NullHandler(), logging.StreamHandler()], ""),
    ],
)
def test_it_is_told_once(monkeypatch, capsys, handlers, told):
    monkeypatch.setattr(logging.getLogger(), "handlers", handlers)
    tell("no room")
    assert capsys.readouterr().err == told
