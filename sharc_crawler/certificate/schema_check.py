"""Fields of a certificate that its schema does not have: somebody added them. Values of pages that no page has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from sharc_crawler.evidence.schemas import schema


def unknown_fields(document: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for each unknown field, with the path to it.

    >>> list(unknown_fields({"format": "sharc-certificate", "capture": {"confirmed_by": "a court"}}))
    ['capture.confirmed_by is no field of a certificate']
    """
    yield from _unknown(document, _schema(), "")


def unknown_of_page(entry: Mapping[str, Any]) -> Iterator[str]:
    """The same for a page of a certificate; True and False, which equal 1 and 0, are no numbers of its downloads."""
    fields, visits = _of_pages("page" if "verdict" in entry else "missing")
    stated = [one for one in (entry.get("visit"), entry.get("revisit"), *entry.get("former", ())) if one]
    given = {name for one in stated for name in one}
    if any(type(value) is bool for one in stated for value in one.values()):
        yield "a number of its downloads is true or false"
    for name in sorted((entry.keys() - fields) | (given - visits)):
        yield f"{name} is no field of a page"


@cache
def _of_pages(kind: str) -> tuple[frozenset[str], frozenset[str]]:
    """The fields of a page, and of its visits."""
    fields = _schema()["$defs"][kind]["properties"]
    (visit,) = (choice for choice in fields["visit"]["anyOf"] if choice["type"] == "object")
    return frozenset(fields), frozenset(visit["properties"])


@cache
def _schema() -> dict[str, Any]:
    return schema("sharc_crawler.certificate", "certificate.schema.json")


def _unknown(value: Any, rules: Mapping[str, Any], path: str) -> Iterator[str]:
    if "$ref" in rules:
        rules = _schema()["$defs"][rules["$ref"].rpartition("/")[2]]
    for choice in rules.get("anyOf", ()):
        if choice.get("type") == "object" or "$ref" in choice:
            yield from _unknown(value, choice, path)
    if isinstance(value, list) and "items" in rules:
        for one in value:
            yield from _unknown(one, rules["items"], f"{path}[]")
    if not isinstance(value, dict) or "properties" not in rules:
        return
    for name, part in value.items():
        inner = f"{path}.{name}".removeprefix(".")
        if name in rules["properties"]:
            yield from _unknown(part, rules["properties"][name], inner)
        elif rules.get("additionalProperties") is False:
            yield f"{inner} is no field of a certificate"
