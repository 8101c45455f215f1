"""Orders to a running crawl: a file in its folder, and the crawl's answer in another one, without a socket.

Only the owner of the folder may give orders: an order file of another user, or writable by others, is not read. Orders
stay in force: a restarted crawl finds the file and is paused, or slow, as before. Only ``stop`` is for the running
process.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.model import Seconds

ORDERS, STATUS = "control.json", "control-status.json"
_OTHERS_MAY_WRITE = 0o022


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders to a crawl."""

    number: str = ""  #: of the last order; the crawl's answer names it
    paused: bool = False
    delay: Seconds | None = None  #: between two requests to a host; None: as the crawl was started
    stop: str = ""  #: number of the order to stop
    started: Seconds | None = None  #: the delay the crawl was started with when it last took orders


def read_orders(folder: Path) -> Orders | None:
    """Read the orders in a folder; ``None`` if its crawl takes none.

    Raises :class:`~sharc_crawler.errors.DataError` for an invalid file, or one of another user.
    """
    path = folder / ORDERS
    try:
        with path.open(encoding="utf-8") as file:
            about = os.fstat(file.fileno())
            if about.st_uid not in (os.geteuid(), 0) or about.st_mode & _OTHERS_MAY_WRITE:
                raise DataError(
                    f"{path} is not obeyed: it must belong to the crawl's user, and to nobody else to write"
                )
            known = json.load(file)
        return _checked(Orders(**known))
    except FileNotFoundError:
        return None
    except (OSError, *MALFORMED) as error:
        raise DataError(
            f"{path} holds no orders ({error}); remove it, and start the crawl again, which writes it"
        ) from error


def write(folder: Path, name: str, document: Any) -> None:
    """Write a file atomically, writable by its owner only and readable by all."""
    draft = folder / f".{name}.{os.getpid()}"  # a fixed name: a full disk leaves only one draft
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644), "wb") as file:
        file.write(json.dumps(asdict(document) if isinstance(document, Orders) else document).encode())
    draft.replace(folder / name)


def _checked(orders: Orders) -> Orders:
    kinds: dict[str, tuple[type, ...]] = {"paused": (bool,)} | dict.fromkeys(
        ("delay", "started"), (int, float, type(None))
    )
    for field in fields(Orders):
        if not isinstance(getattr(orders, field.name), kinds.get(field.name, (str,))):
            raise ValueError(f"{field.name} is {getattr(orders, field.name)!r}")
    if orders.delay is not None and not 0 <= orders.delay < float("inf"):
        raise ValueError(f"delay is {orders.delay!r}")
    return orders
