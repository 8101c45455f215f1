"""``sharc``: its commands, one module each, or a package where a command has subcommands.

A command NAME is the click command ``command`` in ``cli/NAME.py``, and a line in :data:`COMMANDS`. Its module is
imported when it is called, so that ``sharc --help`` is fast. Commands parse and print; the group reports errors that
they raise on stderr, and ends with the error's exit code.
"""

# ruff: noqa: E402

from __future__ import annotations

from sharc_crawler.interrupted import end_quietly

STOPPED = 130  #: exit code after Ctrl-C, as shells have it
end_quietly("Aborted!", STOPPED)  # before the imports below, which take a while

import errno
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn, cast

import click

from sharc_crawler.cli._next import GIVEN
from sharc_crawler.errors import SharcError, UsageError, unknown_name
from sharc_crawler.report.words import printable

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG

#: command (and module) → its description in ``sharc --help``
COMMANDS = {
    "certify": "Certify the state of a collection's sites at any instant, from existing captures.",
    "collection": "Manage a collection: captures of sites, with history and masks, in one folder.",
    "confirm": "Confirm a capture's provisional claims, by reading its sitemaps again after the site's lag.",
    "control": "Pause, slow down or stop a running crawl, or show its state.",
    "demo": "Serve a demo site, whose pages change while they are crawled.",
    "diff": "Show what changed on a page between two captures, and what was ignored.",
    "fetch": "Copy a capture from an object store into a folder.",
    "fleet": "Capture many sites with many workers, on PostgreSQL or a SQLite file.",
    "keep": "Capture each site of a collection when it is due: a service, or once.",
    "log": "Print every decision of a capture and its result, as JSON lines or like Heritrix's crawl.log.",
    "masks": "Learn masks: parts of pages that differ on every download and should be ignored.",
    "plan": "Predict a capture from a sitemap, a report or a history, without crawling.",
    "simulate": "Crawl synthetic sites and replayed histories in virtual time, and score the results.",
    "rates": "Show how often a site's pages change, from the archive's history.",
    "package": "Package a capture, or a collection, as one WACZ file: WARCs, index, pages, report, certificate.",
    "replay": "Show a capture with pywb, at its reference instant or any other time.",
    "seal": "Sign and time-stamp the certificates of a capture.",
    "watch": "Watch a running crawl: phase, pages, time left, hosts, last URLs; in the terminal or as a page.",
    "verify": "Verify the certificate of a capture against its WARC files.",
    "report": "Write report.json and report.html of a capture folder, from its stored state.",
    "search": "Search the captured pages of a collection, by words, time and site.",
    "start": "Start with a site: answer three questions, and get the command for its first capture.",
    "seeds": "Rank seeds by the probability that they have changed, from archives' history.",
    "temporal": "Find news sites in page-view logs.",
}


class OrShow(click.Group):
    """Its command ``show`` is the default: ``sharc collection DIR`` is short for ``sharc collection show DIR``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``show`` before anything that is neither a command nor a call for help."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["show", *args]
        return super().parse_args(ctx, args)


class _Commands(click.Group):
    """Commands by name, imported when called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            raise unknown_name("command", cmd_name, COMMANDS)
        command = cast("click.Command", import_module(f"{__name__}.{cmd_name}").command)
        for one in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            one.help = (one.help or "").replace("\\b\n", "\b\n")  # click's mark, from raw docstrings
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[GIVEN] = list(args)
        try:
            return super().parse_args(ctx, args)  # it prints the help
        except OSError as error:
            _tell(ctx, error)
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SharcError as error:
            _fail(ctx, str(error), error.exit_code)
        except KeyboardInterrupt:
            click.echo("Aborted!", err=True)
            ctx.exit(STOPPED)
        except click.MissingParameter:  # click's own message is enough
            raise
        except click.BadParameter as error:
            from sharc_crawler.cli._inputs import with_near  # only for missing paths

            message = with_near(error.message)
            raise click.BadParameter(message, error.ctx, error.param, error.param_hint) from error
        except click.NoSuchOption as error:
            takes = {param.name for param in error.ctx.command.params} if error.ctx else set()
            if error.option_name == "-s" and "operator" in takes:
                message = "No such option: -s is for scrapy crawl. Give --operator CONTACT here, or --allow NETWORK"
                raise click.UsageError(message, error.ctx) from error
            raise
        except OSError as error:
            _tell(ctx, error)
            raise


def _tell(ctx: click.Context, error: OSError) -> None:
    """End with a message if the error is of a file or a disk."""
    if error.filename is not None:
        _fail(ctx, f"{str(error.filename)!r}: {error.strerror}", UsageError.exit_code)
    if error.errno in FULL:  # stdout or stderr, most likely
        from sharc_crawler.live.failures.output_streams import unfailing

        unfailing()  # Python flushes again at exit
        _fail(ctx, f"what it writes cannot be written: {error.strerror}", SharcError.exit_code)
    if error.errno == errno.EIO:
        _fail(ctx, f"a disk that it reads or writes fails: {error.strerror}", SharcError.exit_code)


def _fail(ctx: click.Context, why: str, code: int) -> NoReturn:
    click.echo(f"sharc: error: {printable(why)}", err=True)
    ctx.exit(code)


@click.group("sharc", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sharc-crawler")
def main() -> None:
    """Coherent web captures: plan, crawl, judge.

    Exit codes: 0 done, 2 a setting or argument cannot be used, 3 a file or an answer cannot be read, 130 Ctrl-C,
    1 anything else.
    """
    stream: Any
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a replaced stream lacks it
            stream.reconfigure(errors="replace")  # its encoding may lack characters
