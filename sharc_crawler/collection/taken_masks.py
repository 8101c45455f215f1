"""| ``masks: auto``: the next capture uses the masks that the last one learned."""

from __future__ import annotations

from collections.abc import Collection as Masks
from pathlib import Path

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.changes.masks import Mask, grown, is_judged, load_masks, taken_over
from sharc_crawler.collection.folder import Collection, is_over
from sharc_crawler.collection.terms import MASKS
from sharc_crawler.errors import SharcError
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.mask_candidates import Teachers, read_taught
from sharc_crawler.report.mask_learning import lesson_of
from sharc_crawler.report.opened import open_facts
from sharc_crawler.storage.opening import holds_state


def take_masks(collection: Collection, name: str) -> str:
    """Add the masks that a site's last capture learned; returns a message, "" if there are none."""
    last, place = collection.last(name), collection.folder / MASKS / f"{name}.json"
    if last is None or not is_over(last.folder):
        return ""
    try:
        held = load_masks(place) if place.exists() else ()
        refused = _refused(place, last.folder, held) if held else frozenset()
        text, new = grown(place, read_taught(last.folder).masks, last.folder.name, refused)
    except SharcError as error:
        return f"no masks are taken over for {name}: {error}"
    dropped = len(refused.intersection(held))
    if not new and not dropped:
        return ""
    place.parent.mkdir(exist_ok=True)
    replace_file(place, text)
    masks, hold = counted(new, "mask"), agreeing(new, "hold")
    taken = f"{masks} that the capture of {last.folder.name} learned {hold} for {name} from now on, as masks: auto says"
    fewer = f"{counted(dropped, 'mask')} of {name} {agreeing(dropped, 'hold')} no longer: what"
    fewer += " was to be hidden differed on fewer than half of the pages that have it"
    return "; ".join([taken] * bool(new) + [fewer] * bool(dropped) + [f"look at {place}"])


def _refused(place: Path, last: Path, held: Masks[Mask]) -> frozenset[Mask]:
    """Masks taken over by an earlier rule that today's rule, tried once on the captures left, would not learn."""
    if is_judged(place):
        return frozenset()
    refused, learned = set[Mask](), set[Mask]()
    for folder in (last.parent / name for name in {**taken_over(place), last.name: 0}):
        was = set(read_taught(folder).masks)
        if was and holds_state(folder):
            with open_facts(folder) as captures:
                lesson, _ = lesson_of(Teachers(captures), folder, [mask for mask in held if mask not in was])
            learned.update(lesson.masks)
            refused |= was.difference(lesson.masks)
    return frozenset(refused - learned)
