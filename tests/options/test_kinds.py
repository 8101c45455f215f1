"""Values are read from text as users write it, and taken as they are once they are read."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.options.kinds import (
    Bytes,
    Choice,
    Duration,
    Flag,
    Folder,
    Pairs,
    ReadBy,
    Real,
    Sitemaps,
    Urls,
    Whole,
    Words,
)
from sharc_crawler.options.reading import ARGUMENTS, ROWS

PERIODS = Pairs("", "periods")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Duration(), "90", 90.0),
        (Duration(), "1.5h", 5400.0),
        (Duration(), 0.25, 0.25),
        (Duration(), "0", 0.0),
        (Duration(bare=False), "0", 0.0),
        (Duration(bare=False), "8h", 28_800.0),
        (Duration(bare=False), 80.0, 80.0),  # of a settings file, which has no text
        (Bytes(), "20G", 20_000_000_000),
        (Bytes(), "1.5kB", 1500),
        (Bytes(), 1e9, 1_000_000_000),
        (Flag(), "True", True),
        (Flag(), "0", False),
        (Flag(), True, True),
        (Words(("a", "b")), "a, b", ("a", "b")),
        (Words(("a", "b")), "off", ()),
        (Words(("a", "b")), ["b"], ("b",)),
        (Sitemaps(), "auto", None),
        (Sitemaps(), "off", ()),
        (Urls(), "a.org, http://b.org/", ("https://a.org", "http://b.org/")),
        (PERIODS, '{"daily": 20}', (("daily", 20),)),
        (PERIODS, {"daily": 20}, (("daily", 20),)),
    ],
)
def test_a_value_is_read_once(kind, text, value):
    assert kind.read(text) == value
    assert kind.read(kind.read(text)) == value


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        (Duration(), "soon", "is no duration; write seconds, or 30s, 5m, 2h, 1d, none below 0"),
        (Duration(), "-1", "is no duration"),
        (Duration(bare=False), "8", "has no unit; write it as 8h, 8m or 8s"),
        (Duration(0.001), "0h", "at least 0.001 s"),
        (Duration(), "1e999", "must be a duration"),
        (Duration(), "101y", "at most 100y"),
        (Bytes(), "1 Gallon", "is no number of bytes; write it as 500k, 500M or 20G"),
        (Bytes(10_000), "5k", "at least 10000 bytes"),
        (Bytes(), "0.5", "at least 1 bytes"),
        (Folder(), "", "names no folder"),
        (ARGUMENTS["size"].option.kind, "1e20", "must be a whole number"),
        (ARGUMENTS["size"].option.kind, "99999999999999999999", "must be a whole number from 0 to 1e+09"),
        (Whole(1), "0", "must be a whole number of at least 1"),
        (Whole(), "1.5", "must be a whole number of at least 0"),
        (Whole(0, 9), "10", "must be a whole number from 0 to 9"),
        (Whole(), 1.5, "must be a whole number of at least 0"),
        (Real(0, 1), "2", "must be a number from 0 to 1"),
        (Real(), "inf", "must be a number of at least 0"),
        (Real(), "nan", "must be a number of at least 0"),
        (Flag(), "yes", "must be 1 or 0"),
        (Choice(("host", "domain")), "hots", "did you mean 'host'"),
        (Words(("json",)), "jason", "did you mean 'json'? Allowed: json, off"),
        (Words(("a", "b")), "off,a", "names 'off' and others: off stands alone"),
        (ReadBy("regular expression", "patterns"), "(", "is not a regular expression"),
        (Sitemaps(), "maybe", "none of auto, off or a URL"),
        (PERIODS, "daily", "must map classes"),
        (PERIODS, "-1", "must map classes"),
        (PERIODS, {"daly": 20}, "did you mean 'daily'"),
        (PERIODS, {"daily": 0}, "must be the seconds"),
    ],
)
def test_what_is_wrong_is_said_with_what_is_allowed(kind, text, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        kind.read(text)


@given(st.integers(0, 10**18))
def test_bytes_are_shown_as_they_are_read(size):
    assert Bytes().read(Bytes().show(size)) == pytest.approx(size)


@given(st.integers(0, 10**7))
def test_durations_are_shown_as_they_are_read(seconds):
    assert math.isclose(Duration().read(Duration().show(float(seconds))), seconds, rel_tol=1e-5)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_default_is_shown_and_read_again(row):
    if row.option.shown or row.default in (None, ()):
        return
    kind = row.option.kind
    assert kind.read(row.default) == row.default
    assert kind.read(kind.show(row.default)) == row.default
