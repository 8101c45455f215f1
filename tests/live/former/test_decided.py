"""What of a capture on the server's word is told again when its state is made anew: all before T."""

from __future__ import annotations

import pytest

from sharc_crawler.archive.recorded import ArchivedExchange
from sharc_crawler.live.former.recorded import DecidedExchange, before_any_again
from sharc_crawler.model import CaptureRef, Plan

MAPS = ("map", "news-map")


def steps(urls: str, log: bool = True) -> list[DecidedExchange]:
    found = []
    for at, url in enumerate(urls.split()):
        one = ArchivedExchange(CaptureRef("f", at, 1), url, float(at), True, False, False, None, False, True)
        found.append(DecidedExchange(one, url, at, at, None, Plan.HOPEFUL, again=False, sitemap=log and url in MAPS))
    return found


@pytest.mark.parametrize(
    ("urls", "told", "without"),
    [
        ("map a b c", 4, 4),
        ("map a b map", 3, 3),  # it may be T
        ("map a b map a", 3, 3),
        ("map a b map c d", 6, 3),  # read on the way
        ("map news-map a b map news-map c map news-map d map news-map a c", 10, 4),
        ("/robots.txt map a /robots.txt b map b a c", 5, 5),
    ],
)
def test_sitemaps_read_on_the_way_do_not_end_it_where_the_log_tells_them(urls, told, without):
    assert len(before_any_again(steps(urls))) == told
    assert len(before_any_again(steps(urls, log=False))) == without


def test_a_further_attempt_is_no_second_download():
    first, second, third = steps("map a a")
    assert before_any_again([first, second, third._replace(again=True)])[-1].again
