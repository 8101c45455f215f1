"""Orders to a crawl that runs: a file in its folder, and the crawl's answer in another. No port, no socket.

Who may write the folder may give orders, and nobody else: an order file that is another user's, or that others may
write, is not read. What was ordered stays ordered: a crawl that is started again finds the file, and is paused, or
slow, as before; only ``stop`` is for the process that runs.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sharc_crawler.errors import DataError
from sharc_crawler.model import Seconds

ORDERS, STATUS = "control.json", "control-status.json"
_OTHERS_MAY_WRITE = 0o022


@dataclass(frozen=True, slots=True)
class Orders:
    """What a crawl is to do."""

    number: str = ""  #: of the last order: the crawl's answer names it
    paused: bool = False
    delay: Seconds | None = None  #: between two requests to a host; None: as the crawl was started
    stop: str = ""  #: number of the order to stop
    started: Seconds | None = None  #: the delay that the crawl was started with when it last took orders


def read_orders(folder: Path) -> Orders | None:
    """The orders in a folder; ``None``: its crawl takes none.

    Raises :class:`~sharc_crawler.errors.DataError` for a file that is not as we write it, or not ours to trust.
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
    except (OSError, ValueError, TypeError) as error:
        raise DataError(
            f"{path} holds no orders ({error}); remove it, and start the crawl again, which writes it"
        ) from error


def write(folder: Path, name: str, document: Any) -> None:
    """Write a file whole or not at all, for its owner alone to write; whoever may read the capture may read it."""
    draft = folder / f".{name}.{os.getpid()}"  # the next one writes it again: a full disk leaves one, not one a second
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
