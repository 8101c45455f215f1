"""Sizes and digests of the files that a certificate is of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import IO, Any

NAME = "certificate.json"
REPORTS = re.compile(r"report\.json|report-pages\.jsonl|report[^/]*\.html")  #: files of a folder's report
WITHDRAWN = ".withdrawn"  #: folder with the confirmations of withdrawn certificates
ASIDE = re.compile(r"learned-masks\.json|[^/]+\.warc\.gz\.damaged(-\d+)?|\.withdrawn/.+")
_BLOCK = 1 << 20


def pages_name(certificate: str) -> str:
    """The file of a certificate's pages.

    >>> pages_name("certificate-example.org.json")
    'certificate-example.org-pages.jsonl'
    """
    return f"{certificate.removesuffix('.json')}-pages.jsonl"


def fixity(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a file."""
    with path.open("rb") as stream:
        return fixity_of(stream)


def fixity_of(stream: IO[bytes], progress: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """Size and SHA-256 of the rest of a stream; ``progress`` is given the number of bytes as they are read."""
    made, size = hashlib.sha256(), 0
    while block := stream.read(_BLOCK):
        made.update(block)
        size += len(block)
        progress(len(block))
    return {"bytes": size, "sha256": made.hexdigest()}


def reports(folder: Path) -> list[dict[str, Any]]:
    """A folder's report and :data:`ASIDE` files (masks, what was set aside), as a certificate lists them."""
    aside = ((path.relative_to(folder).as_posix(), path) for path in sorted((folder / WITHDRAWN).rglob("*")))
    there = ((path.name, path) for path in sorted(folder.iterdir()))
    stated = ((name, path) for name, path in chain(aside, there) if REPORTS.fullmatch(name) or ASIDE.fullmatch(name))
    return [{"name": name, **fixity(path)} for name, path in stated if path.is_file()]
