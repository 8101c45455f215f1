"""One instant in two time zones is one; another instant, or day, is an edit."""

from __future__ import annotations

import pytest

from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.zones import in_utc


def same(one: str, other: str) -> bool:
    first, second = (fingerprint(f"<body><p>Words. {part}</p></body>".encode(), "text/html") for part in (one, other))
    return first == second


TIME = "<time datetime='{}'>{}</time>"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Updated 2021-03-05T00:30:00+01:00", "Updated 2021-03-04T15:30:00-08:00"),
        ("Updated Fri, 5 Mar 2021 00:30 CET", "Updated Thursday, March 4, 2021 at 3:30 p.m. PST"),
        ("Updated 2021-03-05 00:30 +0100", "Updated 2021-03-04 23:30 GMT"),
        (TIME.format("2021-03-05T00:30:00+01:00", "5 mars 2021"), TIME.format("2021-03-04T15:30-08:00", "4 mars 2021")),
        (TIME.format("2021-03-04T23:30Z", "March 5, 2021"), TIME.format("2021-03-04T23:30Z", "March 4, 2021")),
    ],
)  # fmt: skip
def test_one_instant(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Updated 2021-03-05T00:30:00+01:00", "Updated 2021-03-05T00:30:00+02:00"),
        ("Updated 5 March 2021", "Updated 4 March 2021"),
        ("Doors 5 Mar 2021 19:30 CET", "Doors 5 Mar 2021 20:30 CET"),
        (TIME.format("2021-03-04T23:30Z", "March 5, 2021"), TIME.format("2021-03-04T23:30Z", "March 7, 2021")),
        (TIME.format("2021-03-04T23:30Z", "March 4, 2021"), TIME.format("2021-03-06T23:30Z", "March 6, 2021")),
        (TIME.format("2021-03-04", "4 March 2021"), TIME.format("2021-03-04", "5 March 2021")),
        (TIME.format("2021-03-04T23:30Z", "4 rooms in 2021"), TIME.format("2021-03-04T23:30Z", "9 rooms in 2021")),
    ],
)
def test_another_one(one: str, other: str) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    "text", ["2021-99-99T00:30:00Z", "9999-12-31T23:00:00-08:00", "31 Feb 2021 10:00 UTC", "12:30"]
)
def test_what_is_no_instant_stays(text: str) -> None:
    assert in_utc(text) == text
