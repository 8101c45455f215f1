"""A keeper's processes, which would load all modules anew, forked from one that has them."""

from __future__ import annotations

from pathlib import Path

from tests.live import warm


def forked(command, *, stdout, env, **_):
    program = {} if "scrapy" in command else {"program": warm.SHARC}
    return warm.Scrapy(command[3:], Path.cwd(), env, group=True, out=stdout, **program)
