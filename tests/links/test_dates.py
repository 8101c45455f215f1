"""Dates as intervals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.links.dates import mail_date, w3c_date

DAY = 86_400.0


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "start", "length"),
    [
        ("2023", at(2023, 1, 1), 365 * DAY),
        ("2024", at(2024, 1, 1), 366 * DAY),
        ("2023-02", at(2023, 2, 1), 28 * DAY),
        (" 2023-02-03\n", at(2023, 2, 3), DAY),
        ("2023-02-03T04:05Z", at(2023, 2, 3, 4, 5), 60.0),
        ("2023-02-03t04:05z", at(2023, 2, 3, 4, 5), 60.0),
        ("2023-02-03T04:05:06+02:00", at(2023, 2, 3, 2, 5, 6), 1.0),
        ("2023-02-03T04:05:06+0200", at(2023, 2, 3, 2, 5, 6), 1.0),
        ("2023-02-03T04:05:06-02", at(2023, 2, 3, 6, 5, 6), 1.0),
        ("2023-02-03 04:05:06 +0200", at(2023, 2, 3, 2, 5, 6), 1.0),
        ("2023-02-03T04:05:06.000Z", at(2023, 2, 3, 4, 5, 6), 1.0),
        ("2023-02-03T04:05:06.5Z", at(2023, 2, 3, 4, 5, 6) + 0.5, 0.1),
        ("2023-02-03T04:05:06,123456789Z", at(2023, 2, 3, 4, 5, 6) + 0.123456, 1e-9),
        ("2023-02-03T04:05:06", at(2023, 2, 3, 4, 5, 6), 12 * 3600 + 1.0),
        ("1960-01-01", at(1960, 1, 1), DAY),
    ],
)
def test_w3c(text: str, start: float, length: float) -> None:
    found = w3c_date(text)
    assert found is not None
    assert found.start == pytest.approx(start, abs=1e-5)
    assert found.length == pytest.approx(length)


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "0000", "20230203", "2023-2-3", "2023-13-01", "2023-02-30", "2023-02-03T25:00Z", "2023-02-03T",
     "2023-02-03T04Z", "2023-02-03T04:05+99:00", "2023-02-03T04:05:61Z",
     "٢٠٢٣-٠٢-٠٣", "0001-01-01T00:00+14:00", "2023Z"],
)  # fmt: skip
def test_what_is_no_w3c_date(text: str) -> None:
    found = w3c_date(text)
    assert found is None or text.startswith("0001")


MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(MOMENTS, ZONES)
def test_the_moment_that_was_written_lies_in_the_interval(moment: datetime, zone: timezone) -> None:
    aware = moment.replace(tzinfo=UTC).astimezone(zone)
    for unit in ("minutes", "seconds", "milliseconds", "microseconds"):
        found = w3c_date(aware.isoformat(timespec=unit))
        assert found is not None
        assert found.start - 1e-5 <= moment.replace(tzinfo=UTC).timestamp() < found.start + found.length + 1e-5


@given(MOMENTS, ZONES)
def test_mail_dates(moment: datetime, zone: timezone) -> None:
    aware = moment.replace(tzinfo=UTC, microsecond=0).astimezone(zone)
    assert mail_date(format_datetime(aware)) == (aware.timestamp(), 1.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thu, 01 Jan 1970 00:00:10 -0000", (10.0, 1.0)),
        ("1 Jan 70 00:01 GMT", (60.0, 60.0)),
        ("Thu, 01 Jan 1970 00:00:00 EST", (5 * 3600.0, 1.0)),
        ("Thu, 01 Jan 1970 00:00:10", (10.0, 1.0 + 12 * 3600)),
        ("Thu, 01 Jan 1970 00:00:10 PET", (10.0, 1.0 + 12 * 3600)),
        ("1970-01-01", None),
        ("", None),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
        ("Thu, 01 Jan 1970 00:00:00 +9999999999", None),
    ],
)
def test_mail_dates_in_odd_forms(text: str, expected: tuple[float, float] | None) -> None:
    assert mail_date(text) == expected


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    w3c_date(text)
    mail_date(text)
