"""``masks: auto``: what a site's last capture learned of its noise holds for the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.changes.masks import grown
from sharc_crawler.collection.folder import is_over
from sharc_crawler.collection.terms import MASKS
from sharc_crawler.errors import SharcError
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.taught import read_taught

if TYPE_CHECKING:
    from sharc_crawler.collection.folder import Collection


def take_masks(collection: Collection, name: str) -> str:
    """Add to a site's masks what its last capture learned; what a person is told of it, empty: there was nothing new.

    A capture that goes on keeps the masks that it was begun with.
    """
    last, place = collection.last(name), collection.folder / MASKS / f"{name}.json"
    if last is None or not is_over(last.folder):
        return ""
    try:
        text, new = grown(place, read_taught(last.folder).masks, last.folder.name)
    except SharcError as error:
        return f"no masks are taken over for {name}: {error}"
    if not new:
        return ""
    place.parent.mkdir(exist_ok=True)
    replace_file(place, text)
    masks, hold = counted(new, "mask"), agreeing(new, "hold")
    return (
        f"{masks} that the capture of {last.folder.name} learned {hold} for {name} from now on, as masks: auto says;"
        f" look at {place}"
    )
