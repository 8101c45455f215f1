"""``sharc control``: orders to a crawl that runs."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from sharc_crawler.cli._inputs import FOLDER
from sharc_crawler.cli._named_capture import ordered
from sharc_crawler.cli._next import say_next
from sharc_crawler.control import ORDERS, Orders, read_orders, write
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.options.reading import read_arguments
from sharc_crawler.plural import counted
from sharc_crawler.storage.beside import is_held
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.watch.tally import read_status

ANSWER_WITHIN = 10.0  #: seconds; a crawl looks once a second

#: what each order changes, except for delay
_CHANGES: dict[str, dict[str, Any]] = {
    "pause": {"paused": True},
    "resume": {"paused": False},
    "stop": {"stop": True},
    "status": {},
}


@click.command()
@click.argument("folder", type=FOLDER)
@click.argument("order", type=click.Choice(["pause", "resume", "delay", "stop", "status"]))
@click.argument("seconds", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the crawl's answer as JSON.")
def command(folder: Path, order: str, seconds: str | None, as_json: bool) -> None:
    r"""Control the crawl that writes FOLDER: pause, resume, delay SECONDS, stop; or show its status.

    In a collection, this is the running capture. A crawl started with -a control=0 cannot be controlled. Requests in
    flight are finished. A pause and a delay also apply to a crawl that is started again in FOLDER; stop (the same as
    Ctrl-C once) applies only to the running one. If no crawl runs, the exit code is 2.

    \b
    Example:
      sharc control captures/demo pause
      sharc control captures/demo delay 5
      sharc control captures/demo resume
    """
    folder = ordered(folder)
    answer = _answer(folder, give(folder, order, seconds))
    if answer is None:
        later = "" if order in ("stop", "status") else "; one that is started again there will obey"
        raise UsageError(f"no crawl runs in {str(folder)!r}, or it does not answer{later}")
    if as_json:
        click.echo(json.dumps(answer))
        return
    click.echo(_status_text(answer, order))
    after = {"pause": ("control", folder, "resume"), "stop": ("report", folder)}.get(order, ("watch", folder))
    say_next("sharc", *after)


def give(folder: Path, order: str, seconds: str | None = None) -> str:
    """Write an order into a crawl's folder; returns its number, which the crawl will answer with."""
    if order == "delay" and not seconds:
        raise UsageError(f"delay takes seconds, as in: sharc control {folder} delay 5")
    if order != "delay" and seconds:
        raise UsageError(f"{order} {seconds}: only delay takes seconds")
    change = {"delay": read_arguments({"delay": seconds})["delay"]} if seconds else _CHANGES[order]
    orders = read_orders(folder)
    if orders is None:
        whole = f"; orders to a crawl of several sites lie in {str(folder.parent)!r}" if _is_part(folder) else ""
        raise UsageError(
            f"{str(folder)!r} takes no orders: {ORDERS} is missing, so no crawl began there, or with control=0{whole}"
        )
    longest = read_status(folder).get("longest", Politeness().max_delay)
    if change.get("delay", 0.0) > longest:
        out = f"`sharc control {folder} pause` asks for nothing until it is told to resume"
        raise UsageError(f"delay {seconds} is more than the longest that the crawl waits, {longest:g} s; {out}")
    orders = changed(orders, **change)
    write(folder, ORDERS, orders)
    return orders.number


def changed(orders: Orders, **change: Any) -> Orders:
    """The orders with one more."""
    number = secrets.token_hex(8)
    if change.pop("stop", False):
        change["stop"] = number
    return Orders(**{**asdict(orders), **change, "number": number})


def _is_part(folder: Path) -> bool:
    """Is it the folder of one of several sites?"""
    return folder in (site_folders(folder.parent) or {}).values()


def _answer(folder: Path, number: str) -> dict[str, Any] | None:
    """The crawl's status once it has read the order."""
    deadline = time.monotonic() + ANSWER_WITHIN
    while time.monotonic() < deadline:
        status = read_status(folder)
        if status.get("order") == number:
            return status
        if status.get("ended") and not is_held(folder):
            break  # it has ended, and a restarted one has not answered yet
        time.sleep(0.1)
    return None


def _status_text(status: dict[str, Any], order: str) -> str:
    state = "stops" if order == "stop" else "paused" if status["paused"] else "running"
    lines = [f"{state}, {status['delay']:g} s between two requests to a host"]
    for capture in status["captures"]:
        revisited = f", {capture['revisits']:,} revisited" if capture["revisits"] else ""
        done = f"{capture['visits']:,} of {counted(capture['pages'], 'page')} done{revisited}"
        lines.append(f"  {capture['site']}: {capture['phase']}, {done}")
    return "\n".join(lines)
