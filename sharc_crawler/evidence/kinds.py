"""The kinds of evidence: what a judgement may rest on. One enum, for records, judgements, certificates and reports."""

from __future__ import annotations

from enum import StrEnum


class Evidence(StrEnum):
    """What a judgement rests on. Fingerprints are reported beside it and never upgrade it."""

    BYTES = "bytes"  #: equal (or different) payload digests
    VALIDATOR = "validator"  #: the server answered 304
    ATTESTED = "attested"  #: a lastmod the site has earned trust for
    NONE = "none"
