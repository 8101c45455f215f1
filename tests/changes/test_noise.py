"""What is noise on any site, and what only looks like it."""

from __future__ import annotations

import pytest

from sharc_crawler.changes.fingerprint import fingerprint

PAGE = "<html><body><main>{words}<p>{{0}}</p></main></body></html>".format(
    words="<p>Words of a page that is read.</p>" * 9
)


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
        ("You are visitor number 10,231", "You are visitor number 10,232"),
        ("12 users online", "1 user online"),
        ("Page views: 1,024", "Page views: 1,031"),
        ("Ray ID: 7d1f00a2bb", "Ray ID: 11aa99ff00"),
        ("<div class='ad-slot top'>Buy <a href=/x>this</a></div>", "<div class='ad-slot top'>Sell that</div>"),
        ("<ins class=adsbygoogle>a</ins>", "<ins class=adsbygoogle></ins>"),
        ("<input type=hidden value=1>", "<input type=hidden value=2>"),
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
        ("The reader's address", "The writer's address"),
        ("<p class='header lead'>Radio</p>", "<p class='header lead'>Paper</p>"),
        ("<option>Berlin</option>", "<option>Bremen</option>"),
        ("<input type=submit value=Buy>", "<input type=submit value=Sell>"),
        ("<textarea>a</textarea>", "<textarea>b</textarea>"),
        ("Views: mountains", "Views: lakes"),
    ],
)
def test_edits(one: str, other: str) -> None:
    assert not same(one, other)


def test_a_site_that_lives_on_classified_ads_is_read() -> None:
    page = "<body><p>Market</p><div class=ads><p>Bicycle, 40 euros</p><p>Piano, 300 euros</p></div></body>"
    assert fingerprint(page.encode(), "text/html") != fingerprint(page.replace("40", "50").encode(), "text/html")
