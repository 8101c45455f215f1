"""The table of kinds of evidence, used by records, judgements, certificates, both schemas and reports.

A further kind needs a row here, and the rule that finds it (:mod:`..evidence.comparison`). Rows are in the order of
their strength, except INSTANT, the strongest.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Evidence(StrEnum):
    """The evidence of a judgement. Fingerprints are reported beside it and never upgrade it.

    >>> Evidence("validator").ground
    "by the server's word that nothing had changed (304)"
    """

    ground: str  #: how pages were shown to be coherent
    gap: str  #: a sentence on what that leaves open, or empty
    stated: bool  #: it is the server's word
    dated: bool  #: it is a lastmod

    def __new__(cls, value: str, ground: str = "", gap: str = "", stated: bool = False, dated: bool = False) -> Self:
        """Make a row of the table."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.ground, member.gap, member.stated, member.dated = ground, gap, stated, dated
        return member

    BYTES = (
        "bytes",
        "shown by equal bytes before and after",
        "Equal bytes show that a page was the same at both downloads; a change that was undone in between"
        " would not be seen.",
    )
    VALIDATOR = (
        "validator",
        "by the server's word that nothing had changed (304)",
        "Where the server said 304 (not modified), its word was taken: no second copy was compared.",
        True,
    )
    WEAK_VALIDATOR = (
        "weak-validator",
        "by the server's word that at most details had changed (304 to a weak validator)",
        "Where the validator was weak (W/, or a Last-Modified within a second of the download), 304 leaves open that"
        " bytes changed.",
        True,
    )
    ATTESTED = (
        "attested",
        "by the server's word on when they last changed (lastmod)",
        "Where the server's lastmod was relied on, its word was taken: the pages were downloaded once.",
        True,
        True,
    )
    FORMER = (
        "former",
        "by the server's word (lastmod): unchanged since a former capture, which holds them",
        "Pages that were not requested (skip=attested) are taken from a former capture: by the server's word unchanged"
        " since.",
        True,
        True,
    )
    PROVISIONAL = (
        "provisional",
        "provisionally, by the server's word on when they last changed (lastmod), which may come late",
        "A sitemap may tell of a change late. What is provisional waits until the sitemaps have been read again, after"
        " the site's lag (sharc confirm).",
        True,
        True,
    )
    INSTANT = ("instant", "downloaded at that very instant")
    NONE = ("none", "on grounds that were not recorded")
