"""Fingerprints that were made under masks bear a checksum of these behind a ``+``."""

from __future__ import annotations


def same_content(one: str, other: str) -> bool | None:
    """Are two fingerprints of the same content? ``None``: under other masks nobody can tell what an edit was.

    >>> [same_content("sha1:A", other) for other in ("sha1:A", "sha1:B", "sha1:A+01", "sha1:B+01")]
    [True, False, True, None]
    """
    (content, _, masks), (other_content, _, other_masks) = one.partition("+"), other.partition("+")
    if content == other_content:
        return True
    return False if masks == other_masks else None
