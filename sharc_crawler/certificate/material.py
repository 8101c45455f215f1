"""What certificates are made from and verified by: WARC files, and what lies beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(slots=True)
class Material:
    """What is to be verified."""

    name: str
    warcs: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    certificates: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)  #: files of certificates' pages
    beside: dict[str, bytes] = field(default_factory=dict)  #: signatures and time stamps of certificates
    seal: bytes | None = None  #: a WACZ file's own
    confirmation: bytes | None = None  #: where this is what a confirmation holds: what it says
    later: Material | None = None  #: what the capture's confirmation holds
    names: list[str] = field(default_factory=list)  #: of all files in a WACZ file


def opened(path: Path) -> IO[bytes]:
    """A file, to be read."""
    return path.open("rb")
