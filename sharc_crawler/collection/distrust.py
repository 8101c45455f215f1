"""| ``distrusted.json``: sites whose 304s were found wrong. Removing a site makes it trusted again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.instants import iso, second, unix
from sharc_crawler.model import Instant
from sharc_crawler.plural import counted

NAME = "distrusted.json"
_WORDS = (
    "the server was caught lying in the capture of {1}: for {0} it said that nothing had changed (304), though"
    " something had. Captures since then ask it for all pages in full, and believe none of its 304s. To have it"
    f" believed again, take the site out of {NAME} in the collection's folder"
)


def distrusted(folder: Path, name: str, masks: Path | None) -> dict[str, Any] | None:
    """For a site that is asked in full: the number of ``lies``, the ``capture`` that found them, and ``words``.

    None if its ``masks`` were changed since, which may have been all there was to it. Raises DataError for an
    unreadable file.
    """
    known = _read(folder).get(name)
    if known is None or (masks is not None and masks.stat().st_mtime > unix(known["capture"])):
        return None
    return {**known, "words": _WORDS.format(counted(known["lies"], "page"), second(unix(known["capture"])))}


def distrust(folder: Path, name: str, lies: int, capture: Instant) -> None:
    """Record that a capture begun at an instant found so many wrong 304s."""
    known = _read(folder)
    known[name] = {"lies": lies, "capture": iso(capture)}
    replace_file(folder / NAME, json.dumps(known, indent=1, sort_keys=True) + "\n")


def _read(folder: Path) -> dict[str, Any]:
    try:
        known: dict[str, Any] = json.loads((folder / NAME).read_text(encoding="utf-8"))
        for one in known.values():
            unix(one["capture"])
        return known
    except FileNotFoundError:
        return {}
    except (OSError, *MALFORMED) as error:
        raise DataError(
            f"{folder / NAME} cannot be read ({error}): mend it, or remove it to trust all again"
        ) from error
