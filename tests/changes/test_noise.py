"""What is noise on any site, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sharc_crawler.changes import noise, zones
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.links import files, html

PAGE = "<html><body><main>{words}<p>{{0}}</p></main></body></html>".format(
    words="<p>Words of a page that is read.</p>" * 9
)
AGED = "title='2026-11-28 03:09:06 +0000'"


def same(one: str, other: str) -> bool:
    return fingerprint(PAGE.format(one).encode(), "text/html") == fingerprint(PAGE.format(other).encode(), "text/html")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Page generated in 0.021 seconds", "Page generated in 1.3 seconds"),
        ("Rendered by web3 in 12ms.", "Rendered by web3 in 7ms."),
        ("Generated on 2026-11-20 10:31:07 UTC", "Generated on 2026-11-21 09:00:12 UTC"),
        ("Server time: Fri, 20 Nov 2026 10:31", "Server time: Sat, 21 Nov 2026 10:32"),
        ("posted 5 minutes ago", "posted 2 hours ago"),
        ("by A, 58 min. ago", "by A, 2 hrs. ago"),
        (f"<td><span class='age-mins' {AGED}>95 min.</span>", f"<td><span class='age-hours' {AGED}>2 hours</span>"),
        (f"<time class='post age' {AGED}>59s</time>", f"<time class='post age' {AGED}> 1 minute </time>"),
        ("You are visitor number 10,231", "You are visitor number 10,232"),
        ("12 users online", "1 user online"),
        ("Now.1,200 users online", "Now.7 users online"),
        ("Page views: 1,024", "Page views: 1,031"),
        ("Ray ID: 7d1f00a2bb", "Ray ID: 11aa99ff00"),
        ("<div class='ad-slot top'>Buy <a href=/x>this</a></div>", "<div class='ad-slot top'>Sell that</div>"),
        ("Generated at 10:31:07", "Generated at 11:00:00"),
        ("Cached: Fri, 20 Nov 2026 10:31 GMT", "Cached: Sat, 21 Nov 2026 11:31 GMT"),
        ("Fetched 2026-11-20T10:31Z", "Fetched 2026-11-21T10:32Z"),
        ("<div class=ads__item>Buy</div>", "<div class=ads__item>Sell</div>"),
        ("<div class=adContainer>Buy</div>", "<div class=adContainer>Sell</div>"),
        ("<div id=sidebar_ad_2>Buy</div>", "<div id=sidebar_ad_2>Sell</div>"),
        ("<div id=div-gpt-ad-149-0>Buy</div>", "<div id=div-gpt-ad-149-0>Sell</div>"),
        ("<ins class=adsbygoogle>a</ins>", "<ins class=adsbygoogle></ins>"),
        ("<input type=hidden value=1>", "<input type=hidden value=2>"),
        (  # what is taken out may hold what else is noise, or be it
            f"<template><time class=age {AGED}>5 s</time><input value=1></template><time class=ad datetime=a>b</time>",
            "<template><span>c</span></template><time class=ad datetime=2026-11-27T23:00:00Z>27.11.2026</time>",
        ),
        ("<template>a</template>", "<template>b</template>"),
        ("<a href='/a;jsessionid=1?b=2'>a</a>", "<a href='/a;jsessionid=2?b=2'>a</a>"),
    ],
)
def test_noise(one: str, other: str) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The castle has 12 towers", "The castle has 13 towers"),
        ("Last updated on 20 Nov 2026 10:31", "Last updated on 21 Nov 2026 10:31"),
        ("It was built in 12 days", "It was built in 13 days"),
        ("The order was served at noon", "The order was served at night"),
        ("two years ago", "three years ago"),
        ("a stay of 5 min.", "a stay of 6 min."),
        (f"<span class=age {AGED}>95 min.</span>", "<span class=age title='2026-11-28 03:10'>95 min.</span>"),
        ("<span class=age title='At the end'>95 min.</span>", "<span class=age title='At the end'>96 min.</span>"),
        (f"<span class=stage {AGED}>95 min.</span>", f"<span class=stage {AGED}>96 min.</span>"),
        (f"<span class=age {AGED}>95 minutes' walk</span>", f"<span class=age {AGED}>96 minutes' walk</span>"),
        (f"<span class=age {AGED}>95 <b>min.</b></span>", f"<span class=age {AGED}>96 <b>min.</b></span>"),
        ("The reader's address", "The writer's address"),
        ("<p class='header lead'>Radio</p>", "<p class='header lead'>Paper</p>"),
        ("<option>Berlin</option>", "<option>Bremen</option>"),
        ("<input type=submit value=Buy>", "<input type=submit value=Sell>"),
        ("<textarea>a</textarea>", "<textarea>b</textarea>"),
        ("Views: mountains", "Views: lakes"),
        ("Visits: 3 per week", "Visits: 4 per week"),
        ("20 people online and 9 on site", "30 people online and 9 on site"),
        ("Dinner is served from 18:00", "Dinner is served from 19:00"),
        ("Fish, served with peas 12.50", "Fish, served with peas 13.50"),
        ("The fair generated a surplus of 12.50 million", "The fair generated a surplus of 13.50 million"),
        ("Power generated at noon: 12.40 MW", "Power generated at noon: 13.40 MW"),
        ("Retrieved 5 May 2026 10:30", "Retrieved 6 May 2026 10:30"),
        ("Kick-off: local time 20:45", "Kick-off: local time 21:00"),
        ("Applications are processed in 30 seconds", "Applications are processed in 40 seconds"),
        ("<h2 id=ads>Ads cost 5 euros</h2>", "<h2 id=ads>Ads cost 6 euros</h2>"),
        ("<div class='post category-ads'>Ten</div>", "<div class='post category-ads'>Six</div>"),
        ("<section id=ad-hoc-groups>Ten</section>", "<section id=ad-hoc-groups>Six</section>"),
        (
            "<section id=google-ads><h2>Google Ads</h2>Ten</section>",
            "<section id=google-ads><h2>Google Ads</h2>Six</section>",
        ),
    ],
)
def test_edits(one: str, other: str) -> None:
    assert not same(one, other)


def test_a_site_that_lives_on_classified_ads_is_read() -> None:
    page = "<body><p>Market</p><div class=ads><p>Bicycle, 40 euros</p><p>Piano, 300 euros</p></div></body>"
    assert fingerprint(page.encode(), "text/html") != fingerprint(page.replace("40", "50").encode(), "text/html")


_PIECES = (
    "Generated rendered Page was made cached Fetched at: on in in: 0.02 .5 1,200 s seconds ms 12 db queries 10:31"
    " 10:31:07 Fri, 20 Nov 2026 2026-11-20T10:31Z UTC +0100 (CET) 3:30 PM p.m. PST server time is just now 5 minutes"
    " ago visitor no. users online page views: hits : 1,024 Ray-ID: 7d1f00a2bb trace id array ."
)


@given(st.lists(st.sampled_from(_PIECES.split()), max_size=12).map(" ".join))
def test_looking_closely_only_where_it_may_help_misses_nothing(text: str) -> None:
    closely = text
    for shape in zones._SHAPES:
        closely = shape.sub(zones._instant, closely)
    for one in noise._MADE_UP:
        closely = " ".join(one.pattern.sub(" ", closely).split())
    assert noise.plain_text(text) == closely


@pytest.mark.matrix
@pytest.mark.parametrize("piece", ["1.", "trace-id-", "..1,", "1 ", "request id:a "])
def test_no_words_are_looked_for_anew_in_what_was_looked_through(piece: str) -> None:
    """A page of a million characters would be read for an hour, where those that end differently are read at once."""
    text = f"{piece * (1_000_000 // len(piece))}x online queries ago"
    assert noise.plain_text(text) == text


@pytest.mark.parametrize("module", [noise, files, html])
def test_no_expression_unites_sets(module) -> None:
    """libxml2 takes quadratic time for it: a page of 50,000 marked elements would be read for minutes."""
    paths = [
        one.path
        for value in vars(module).values()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, etree.XPath)
    ]
    assert paths
    assert not [path for path in paths if "|" in path]
