"""When the site says "not modified", it is so; and where it lies, it does."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sharc_crawler.demo import LivingSite
from sharc_crawler.demo.answers import parse_http_date

#: its hottest pages change many times a second
SITE = LivingSite(seed=3, pages=40, scale=100_000.0, skew=0.8, no_validators=0.0)
PATHS = st.sampled_from([path for path in SITE.paths if path not in ("/flaky.html", "/slow.html")])
#: instants at which seconds are about to turn, have just turned, and others
NOW = st.builds(
    lambda second, part: 1e9 + second + part,
    st.integers(0, 10_000),
    st.sampled_from([0.0, 1e-6, 0.5, 0.999999]) | st.floats(0, 1),
)
LATER = st.sampled_from([0.0, 1e-6, 0.01]) | st.floats(0, 3)

#: how a client asks, from the answer it holds
ASK = {
    "etag": lambda answer: {"If-None-Match": answer.header("ETag")},
    "weak, in a list": lambda answer: {"If-None-Match": f'"other", W/{answer.header("ETag")}'},
    "last-modified": lambda answer: {"If-Modified-Since": answer.header("Last-Modified")},
    "date": lambda answer: {"If-Modified-Since": answer.header("Date")},
    "both": lambda answer: {
        "If-None-Match": answer.header("ETag"),
        "If-Modified-Since": answer.header("Date"),
    },
}


@pytest.mark.slow
@settings(max_examples=5 * settings.default.max_examples)
@given(how=st.sampled_from([*ASK]), path=PATHS, held=NOW, later=LATER)
def test_not_modified_means_no_change_since_it_was_held(how: str, path: str, held: float, later: float) -> None:
    first = SITE.respond("GET", path, {}, held)
    condition = ASK[how](first)
    assume(None not in condition.values())
    second = SITE.respond("GET", path, condition, held + later)
    changed = len(SITE.changes(path, held, held + later)) > 0
    if second.status == 304:
        assert not changed
        assert second.body == b""
        assert second.header("ETag") == first.header("ETag")
    else:
        assert second.status == 200
        assert changed or how == "date"  # a client's own date is cut to a second that may lie before the change


@given(path=PATHS, now=NOW)
def test_last_modified_is_true_to_the_second_and_never_in_the_future(path: str, now: float) -> None:
    answer = SITE.respond("GET", path, {}, now)
    modified, date = answer.header("Last-Modified"), parse_http_date(answer.header("Date") or "")
    assert date == now // 1
    if modified is None:
        assert len(SITE.changes(path, now // 1, now)) > 0
        return
    second = parse_http_date(modified)
    assert second is not None
    assert second <= date
    assert len(SITE.changes(path, second, now)) == 0
    assert len(SITE.changes(path, second - 1, second)) > 0


@given(path=PATHS, now=NOW, later=LATER)
def test_etags_tell_states_apart(path: str, now: float, later: float) -> None:
    first, second = (SITE.respond("GET", path, {}, instant) for instant in (now, now + later))
    changed = len(SITE.changes(path, now, now + later)) > 0
    assert (first.header("ETag") != second.header("ETag")) == changed
    assert (first.body != second.body) == changed


@pytest.mark.parametrize(
    "condition",
    [
        {"If-None-Match": '"another"'},
        {"If-None-Match": ""},
        {"If-Modified-Since": "Wed, 01 Jan 2200 00:00:00 GMT"},  # the future is not a date to believe
        {"If-Modified-Since": "yesterday"},
        {"If-Modified-Since": "Wed, 01 Jan 1975 00:00:00 GMT"},
    ],
)
def test_conditions_that_do_not_hold_get_the_page(condition: dict[str, str]) -> None:
    assert SITE.respond("GET", "/", condition, 1e9).status == 200


def test_if_none_match_outweighs_if_modified_since() -> None:
    date = SITE.respond("GET", "/docs/", {}, 1e9 + 9).header("Date") or ""
    assert (
        SITE.respond("GET", "/docs/", {"If-None-Match": '"another"', "If-Modified-Since": date}, 1e9 + 9).status == 200
    )


def test_any_state_matches_a_star() -> None:
    assert SITE.respond("GET", "/", {"If-None-Match": "*"}, 1e9).status == 304


@pytest.mark.slow
@given(st.sampled_from(["If-None-Match", "If-Modified-Since", "Host"]), st.text())
def test_no_header_breaks_it(name: str, value: str) -> None:
    assert SITE.respond("GET", "/", {name: value}, 1e9).status in (200, 304)


def test_pages_without_validators_do_not_hear_conditions() -> None:
    site = LivingSite(pages=40, no_validators=1.0)
    answer = site.respond("GET", "/", {}, 1e9)
    assert answer.header("ETag") is answer.header("Last-Modified") is None
    ask = {"If-None-Match": "*", "If-Modified-Since": answer.header("Date") or ""}
    assert site.respond("GET", "/", ask, 1e9 + 0.5).status == 200


def test_lying_pages_say_unchanged_though_they_changed() -> None:
    midnight = 20_000 * 86_400.0
    site = LivingSite(pages=40, scale=100_000.0, lying=1.0, no_validators=0.0)
    first, second = (site.respond("GET", "/", {}, midnight + hours * 3600) for hours in (1, 2))
    assert first.body != second.body
    assert first.header("ETag") == second.header("ETag")
    assert first.header("Last-Modified") == second.header("Last-Modified")
    for name, held in (("If-None-Match", "ETag"), ("If-Modified-Since", "Last-Modified")):
        assert site.respond("GET", "/", {name: first.header(held) or ""}, midnight + 7200).status == 304
    sitemaps = {site.respond("GET", "/sitemap-news.xml", {}, midnight + hours * 3600).body for hours in (1, 2)}
    assert len(sitemaps) == 1


def test_no_page_lies_unless_asked_to() -> None:
    site = LivingSite(pages=40, scale=100_000.0)
    sitemaps = {site.respond("GET", "/sitemap-news.xml", {}, 1e9 + hours * 3600).body for hours in (1, 2)}
    assert len(sitemaps) == 2
