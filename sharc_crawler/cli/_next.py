"""| The last line of a command: what to do next, as a command that works as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from sharc_crawler.report.words import next_line

CAPTURE = ("SCRAPY_SETTINGS_MODULE=sharc_crawler.live.profile", "scrapy", "crawl", "site")
ASKED_BY = ("-s", "SHARC_OPERATOR=CONTACT")  #: placeholder for the operator
GIVEN = "sharc.given"  #: in the context's meta: the words after ``sharc``


def say_next(*words: object) -> None:
    """Print the next command on stderr, as stdout may be for other programs."""
    click.echo(next_line(*words), err=True)


def say_again(*more: object) -> None:
    """Print the same command with ``more`` words as the next one."""
    say_next("sharc", *click.get_current_context().meta[GIVEN], *more)


def capture_words(*arguments: str, urls: Iterable[str] = (), settings: tuple[str, ...] = ()) -> list[Any]:
    """The words of a capture with these arguments and settings (``NAME=value``).

    If there are public ``urls`` and no setting names the operator, a placeholder is added.

    >>> capture_words("url=http://h/", settings=("DOWNLOAD_DELAY=2",))[-4:]
    ['-a', 'url=http://h/', '-s', 'DOWNLOAD_DELAY=2']
    >>> capture_words("seeds=next.txt", urls=["http://127.0.0.1/", "http://h/"])[-2:]
    ['-s', 'SHARC_OPERATOR=CONTACT']
    """
    from sharc_crawler.live.setup.operator import private_seeds  # only for a next capture

    public = any(not private_seeds([url]) for url in urls)
    if public and not any(setting.startswith("SHARC_OPERATOR=") for setting in settings):
        settings = (*settings, ASKED_BY[1])
    given = [word for argument in arguments for word in ("-a", argument)]
    return [*CAPTURE, *given, *(word for setting in settings for word in ("-s", setting))]
