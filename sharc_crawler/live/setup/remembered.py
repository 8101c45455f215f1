"""Whether the history that a crawl is given is a store of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError
from sharc_crawler.storage.observations import ObservationStore

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def check_history(file: Path, arguments: Mapping[str, str], *, reading: bool) -> None:
    """A dry run (``reading``) makes no store of a file that is missing or empty: the crawl would.

    Raises :class:`~sharc_crawler.errors.DataError` where it is none; that of a collection can be made again.
    """
    if reading and not (file.exists() and file.stat().st_size):
        return
    try:
        ObservationStore(file, reading=reading).close()
    except DataError as error:
        if "collection" not in arguments:
            raise
        anew, captures = f"{arguments['collection']}-anew", f"{arguments['collection']}/captures/*/*"
        way_out = f"the captures still tell all of it: sharc collection add {anew} {captures}"
        raise DataError(f"{error}; {way_out}") from error
