"""The WARC files that a certificate lists, and whether they still have the stated size."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sharc_crawler.certificate.canonical import KEPT_IN
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.certificate.writing import Certified, path_of
from sharc_crawler.errors import MALFORMED
from sharc_crawler.evidence.facts import CaptureFacts


def stated_files(document: dict[str, Any]) -> list[dict[str, Any]]:
    """A certificate's list of WARC files, with the file that holds its own copy."""
    place = document.get(KEPT_IN) or {}
    own = [{"name": place.get("file"), **place}] if place else []
    return [*document.get("files", []), *own]


def resized(certificate: Path) -> Iterator[Finding]:
    """Files that are missing, or have another size than their certificate states; they are not read."""
    try:
        stated = {str(file["name"]): int(file["bytes"]) for file in stated_files(json.loads(certificate.read_bytes()))}
    except (OSError, *MALFORMED):
        yield Finding("it cannot be read as a certificate", certificate.name)
        return
    for name, size in stated.items():
        path = certificate.parent / name
        if not path.is_file():
            yield Finding("the certificate names it, and it is not there", name)
        elif (found := path.stat().st_size) != size:
            yield Finding(f"it has {found:,} bytes, and had {size:,} when the certificate was sealed", name)


def resized_certificates(captures: Sequence[CaptureFacts], folder: Path) -> list[Certified]:
    """Certificates whose WARC files have changed in size: a new report must not claim what they certify."""
    there = [path for facts in captures if (path := path_of(facts, captures, folder)).exists()]
    return [Certified(path, "", "", found) for path in there if (found := list(resized(path)))]
