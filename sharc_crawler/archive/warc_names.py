"""Names of WARC files: site, time, serial number and run."""

from __future__ import annotations

import hashlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.model import Instant

_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST = 80


def safe_name(name: str) -> str:
    """A name made safe for file names; if it has to be changed, a digest is appended.

    >>> safe_name("www.example.org"), safe_name("../etc/passwd")
    ('www.example.org', 'etc-passwd-e96c47ea')
    """
    safe = _UNSAFE.sub("-", name).strip(".-")[:_LONGEST]
    if safe == name and safe:
        return safe
    return f"{safe or 'site'}-{hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()[:8]}"


def file_name(site: str, run: str, serial: int, started: Instant) -> str:
    """The name of a capture's n-th file.

    >>> file_name("example.org", "r1", 0, 1795000000)
    'example.org-20261118110640-00000-r1.warc.gz'
    """
    return (
        f"{safe_name(site)}-{datetime.fromtimestamp(started, UTC):%Y%m%d%H%M%S}-{serial:05d}-{safe_name(run)}{SUFFIX}"
    )


_EPOCH = r"(?:\.epoch-\d+)?"  #: in the name of a run: the epoch of the owner that wrote the file, in a fleet
_OWNER = re.compile(_EPOCH)
_REST = re.compile(rf"\d{{14}}-(\d{{5,}})-(.+?){re.escape(SUFFIX)}(?:{re.escape(OPEN)})?")  #: of a name after the site
_NAME = re.compile(rf"(.+)-\d{{14}}-(\d{{5,}})-([A-Za-z0-9.-]+?){_EPOCH}{re.escape(SUFFIX)}")


def series_of(name: str) -> tuple[str, str] | None:
    """Site and run in the name of a file; ``None``: it is not a name of ours.

    >>> series_of("example.org-20261118110640-00000-r1.warc.gz")
    ('example.org', 'r1')
    >>> series_of("example.org-20261118110640-00000-r1.epoch-0007.warc.gz")
    ('example.org', 'r1')
    """
    match = _NAME.fullmatch(name)
    return (match[1], match[3]) if match else None


def index_path(warc: Path) -> Path:
    """The path of the index of a closed WARC file."""
    return warc.with_name(f"{warc.name.removesuffix(SUFFIX)}.cdxj")


def files_of(folder: Path, site: str, run: str) -> list[tuple[int, Path]]:
    """A run's files by all owners, including open ones, as (serial, path) in the order of writing."""
    beginning, run = f"{safe_name(site)}-", safe_name(run)
    with os.scandir(folder) as entries:  # fast, as there may be thousands of files, and it is done for each site
        names = [entry.name for entry in entries if entry.name.startswith(beginning)]
    return sorted(
        (int(match[1]), folder / name)
        for name in names
        if (match := _REST.fullmatch(name, len(beginning)))
        and match[2].startswith(run)
        and _OWNER.fullmatch(match[2], len(run))
    )
