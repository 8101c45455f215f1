"""Small edits of pages while they are captured, and what became of each: the truth beside the verdict."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.instants import iso, unix

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

OLD, NEW, NOT_MODIFIED = "old", "new", "304"
BEFORE, BETWEEN, AFTER, UNCLEAR = "before its visit", "between visit and revisit", "after its revisit", "unclear"


@dataclass(frozen=True)
class Edit:
    """Of the page whose URL has this ``ending``; ``begun`` and ``ended`` are of the command that made it."""

    ending: str
    begun: float
    ended: float
    old: str
    new: str


def changed(text: str, place: int) -> str:
    """A page's text after an edit: a word, a letter, a number, a word less, sentences that change places, one less.

    >>> text = "Aa bb cc. Dd ee ff. Gg hh ii."
    >>> [changed(text, place) for place in (0, 5)]
    ['Aa bb cc. EDITED ee ff. Gg hh ii.', 'Aa bb cc. Dd ee ff.']
    """
    sentences = text.split(". ")
    words = sentences[1].split()
    match place % 6:
        case 0:
            sentences[1] = " ".join(["EDITED", *words[1:]])
        case 1:
            sentences[1] = " ".join([words[0][:-1] + "x", *words[1:]])
        case 2:
            sentences[1] = " ".join([words[0], "1987", *words[1:]])
        case 3:
            sentences[1] = " ".join(words[1:])
        case 4:
            sentences[0], sentences[1] = sentences[1], sentences[0]
        case 5:
            return ". ".join(sentences[:-1]) + "."
    return ". ".join(sentences)


def compared(folder: Path, edits: Iterable[Edit]) -> str:
    """A line for each edit and a sum: instants, what the downloads in the WARC files show, verdict."""
    pages = [json.loads(line) for line in (folder / "report-pages.jsonl").read_text().splitlines()]
    (capture,) = json.loads((folder / "report.json").read_text())["captures"]
    bodies = _bodies(folder)
    lines, truths, missed, false = [], Counter[str](), 0, 0
    for edit in edits:
        (page,) = (one for one in pages if one["kind"] == "page" and one["url"].endswith(edit.ending))
        truth = _truth(edit, page, bodies)
        kept = page["verdict"] == "coherent" or page["content"] == "kept"
        late = page["visit"] and edit.begun > unix(page["visit"]["started"])
        truths[truth] += 1
        missed += truth == BETWEEN and kept
        false += page["verdict"] == "coherent" and bool(late) and edit.ended < unix(capture["times"]["reference"])
        judged = f"{page['verdict']} by {page['evidence']}, content {page['content']}"
        when = f"edited {iso(edit.begun)[11:23]} to {iso(edit.ended)[11:23]}"
        looks = ", ".join(f"{part} {_shown(edit, page[part], bodies)}" for part in ("visit", "revisit"))
        lines.append(f"  {edit.ending}: {when}, {looks}: {truth}; {judged}")
    told = ", ".join(f"{number} {truth}" for truth, number in sorted(truths.items()))
    lines.append(f"  T {capture['times']['reference'][11:23]}; {told}")
    lines.append(f"  edits between visit and revisit that were MISSED: {missed}; false claims: {false}")
    return "\n".join(lines)


def _truth(edit: Edit, page: Mapping[str, Any], bodies: Mapping[tuple[str, str], str]) -> str:
    """By what the downloads show; by the clock where that is not enough."""
    visit, revisit = page["visit"], page["revisit"]
    if not visit or not revisit:
        return UNCLEAR
    shown = tuple(_state(edit, one, bodies) for one in (visit, revisit))
    if shown in ((OLD, NEW), (NEW, NEW), (OLD, OLD)):
        return {(OLD, NEW): BETWEEN, (NEW, NEW): BEFORE, (OLD, OLD): AFTER}[shown]
    begins, ends = unix(visit["started"]), unix(revisit["started"])
    if begins < edit.begun and edit.ended < ends:
        return BETWEEN
    return BEFORE if edit.ended < begins else AFTER if edit.begun > ends else UNCLEAR


def _shown(edit: Edit, look: Mapping[str, Any] | None, bodies: Mapping[tuple[str, str], str]) -> str:
    return f"{look['started'][11:23]} ({_state(edit, look, bodies)})" if look else "none"


def _state(edit: Edit, look: Mapping[str, Any], bodies: Mapping[tuple[str, str], str]) -> str:
    if look["status"] == 304:
        return NOT_MODIFIED
    of_page = (body for (url, date), body in bodies.items() if date == look["started"] and url.endswith(edit.ending))
    found = next(of_page, "")
    return OLD if edit.old in found else NEW if edit.new in found else "neither"


def _bodies(folder: Path) -> dict[tuple[str, str], str]:
    """The payloads of answers, by URL and instant; that of a revisit record is the answer's that it refers to."""
    found: dict[tuple[str, str], str] = {}
    for file in sorted(folder.glob("*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                header = record.rec_headers.get_header
                key = header("WARC-Target-URI"), header("WARC-Date")
                if record.rec_type == "response":
                    found[key] = record.content_stream().read().decode("utf-8", "replace")
                elif record.rec_type == "revisit":
                    referred = header("WARC-Refers-To-Target-URI"), header("WARC-Refers-To-Date")
                    found[key] = found.get(referred, "")
    return found
