"""Pages labelled by hand, to measure the classification and to choose its threshold."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import DataError

_LABELS = {"temporal": True, "untemporal": False, "1": True, "0": False}


def read_labels(file: Path, pages: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Positions in ``pages`` of the labelled ones, and whether they are temporal.

    A CSV file with the columns ``page`` and ``label`` (``temporal``, ``untemporal``). Labelled pages that are not in
    the log are left out. Raises :class:`~sharc_crawler.errors.DataError` for another label, or if none is in the log.
    """
    position = {page: i for i, page in enumerate(pages)}
    found: dict[int, bool] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.DictReader(lines)
            if not {"page", "label"} <= set(rows.fieldnames or ()):
                raise DataError(f"{file}: its columns are {rows.fieldnames}; needed are page and label")
            for row in rows:
                if row["label"] not in _LABELS:
                    raise DataError(f"{file}:{rows.line_num}: label={row['label']!r}; it is temporal or untemporal")
                if row["page"] in position:
                    found[position[row["page"]]] = _LABELS[row["label"]]
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from error
    if not found:
        raise DataError(
            f"{file}: it labels no page of the log that has enough views; name pages as --curves does: https://host/path"
        )
    return np.fromiter(found.keys(), np.int64), np.fromiter(found.values(), np.bool_)
