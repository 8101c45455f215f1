"""Canonical JSON (RFC 8785): each document has exactly one text, so a digest can stand for it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

DIGEST = "digest"
KEPT_IN = "kept_in"  #: the certificate's place in the WARC files; the copy there lacks this field


def canonical(document: Any) -> bytes:
    """A document as canonical JSON: keys sorted, no white space, UTF-8.

    Numbers must be integers: programming languages write fractions differently.

    >>> canonical({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of a document without its fields ``digest`` and ``kept_in``.

    >>> digest({"a": 1})[:14]
    'sha256:015abd7'
    """
    rest = {name: value for name, value in document.items() if name not in (DIGEST, KEPT_IN)}
    return f"sha256:{hashlib.sha256(canonical(rest)).hexdigest()}"


def kept(document: dict[str, Any]) -> bytes:
    """The copy of ``certificate.json`` in the WARC files, byte for byte."""
    return canonical({name: value for name, value in document.items() if name != KEPT_IN})


def to_text(document: dict[str, Any]) -> str:
    """The text of ``certificate.json``: also unique for each document, but indented for readers."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def whole_numbers(value: Any) -> Any:
    r"""The value as JSON without fractions: they become text, as does what JSON or Unicode cannot hold.

    >>> whole_numbers({"delay": 0.05, "size": 300.0, "names": ("a\udce4", 1)})
    {'delay': '0.05', 'size': 300, 'names': ['a\\udce4', 1]}
    """
    if isinstance(value, dict):
        return {str(name): whole_numbers(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [whole_numbers(part) for part in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return value if isinstance(value, int | None) else str(value).encode("utf-8", "backslashreplace").decode()
