"""What a page's verdict says of each of its two copies: with a lastmod one of them may be its state at T, and the other
another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Result, Verdict

Entry = Mapping[str, Any]

COPIES = ("visit", "revisit")


def shows_reference(entry: Entry, part: str, reference: str | None) -> bool:
    """Is a copy of a coherent page its state at T (``reference``), as a certificate's ``entry`` has it?

    What lastmods show is the download before T, or the one after it, as the reason says; the other copy is
    the same state where it has the same payload.

    >>> visit = {"date": "10:00", "result": "ok", "digest": "A"}
    >>> page = {"evidence": "attested", "reason": "lastmod-before-T", "visit": visit}
    >>> page["revisit"] = {**visit, "date": "10:09", "digest": "B"}
    >>> [shows_reference(page, part, "10:05") for part in COPIES]
    [False, True]
    >>> [shows_reference({**page, "reason": "lastmod-before-visit"}, part, "10:05") for part in COPIES]
    [True, False]
    >>> shows_reference({**page, "evidence": "bytes"}, "visit", "10:05")
    True
    """
    if not Evidence(entry["evidence"]).dated:
        return True
    later = entry["reason"] == Reason.LASTMOD_BEFORE_T
    made = {one: stated for one in COPIES if (stated := entry.get(one))}
    after = {one: reference is not None and stated["date"] > reference for one, stated in made.items()}
    return {payload(entry, one) for one in made if after[one] is later} == {payload(entry, part)}


def payload(entry: Entry, part: str) -> str | None:
    """The digest of what a viewer shows of a copy: of a 304 the visit's."""
    copy = entry["visit"] if entry[part]["result"] == Result.NOT_MODIFIED else entry[part]
    digest: str | None = copy["digest"]
    return digest


def of_copy(entry: Entry, part: str, reference: str | None) -> tuple[str | None, str | None]:
    """Verdict and evidence of one copy: of one that is not shown to be the state at T, ``unknown`` and ``none``."""
    if entry.get("verdict") == Verdict.COHERENT and not shows_reference(entry, part, reference):
        return Verdict.UNKNOWN.value, Evidence.NONE.value
    return entry.get("verdict"), entry.get("evidence")
