"""Withdraw the certificate of a complete capture that is resumed, and set its confirmation aside."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.certificate.canonical import DIGEST
from sharc_crawler.certificate.fixity import NAME, WITHDRAWN
from sharc_crawler.certificate.names import CONFIRMATION, signature_name, timestamp_name
from sharc_crawler.errors import MALFORMED


def certified_as(folder: Path, site: str) -> str:
    """The digest of a capture's certificate; empty: it has none that can be read."""
    for name in _names(site):
        try:
            return str(json.loads((folder / name).read_bytes())[DIGEST])
        except (OSError, *MALFORMED):
            continue
    return ""


def withdraw(folder: Path, site: str) -> str:
    """Remove the certificate, of which the WARC files keep a copy, and set its confirmation aside.

    Returns where the confirmation lies now; empty if there was none.
    """
    for name in _names(site):
        for each in (name, signature_name(name), timestamp_name(name)):
            (folder / each).unlink(missing_ok=True)
    if not (confirmation := folder / CONFIRMATION).is_dir():
        return ""
    (aside := folder / WITHDRAWN).mkdir(exist_ok=True)
    place = next(place for n in count(1) if not (place := aside / f"{CONFIRMATION}-{n}").exists())
    confirmation.rename(place)
    return f"{WITHDRAWN}/{place.name}"


def _names(site: str) -> tuple[str, str]:
    return NAME, f"certificate-{safe_name(site)}.json"
