"""A capture that was complete goes on after all: its certificate is withdrawn, and what confirmed that is set aside."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.certificate.fixity import CONFIRMATION, NAME, WITHDRAWN, signature_name, timestamp_name

if TYPE_CHECKING:
    from pathlib import Path


def withdraw(folder: Path, site: str) -> str:
    """A capture that was complete goes on after all: what was certified of it remains in its WARC files alone.

    What confirmed it is set aside: returns where it lies now, if there was any.
    """
    for name in (NAME, f"certificate-{safe_name(site)}.json"):
        for each in (name, signature_name(name), timestamp_name(name)):
            (folder / each).unlink(missing_ok=True)
    if not (confirmation := folder / CONFIRMATION).is_dir():
        return ""
    (aside := folder / WITHDRAWN).mkdir(exist_ok=True)
    place = next(place for n in count(1) if not (place := aside / f"{CONFIRMATION}-{n}").exists())
    confirmation.rename(place)
    return f"{WITHDRAWN}/{place.name}"
