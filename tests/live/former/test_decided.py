"""What of a capture on the server's word is told again when its state is made anew: all before T."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sharc_crawler.archive.recorded import ArchivedExchange
from sharc_crawler.live.former.recorded_order import DecidedExchange, Recorded, before_any_again
from sharc_crawler.model import CaptureRef, Plan, Slot
from sharc_crawler.strategies.base import Candidates, Setting
from sharc_crawler.strategies.make import make_strategy

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


def test_the_order_of_a_crawl_that_was_is_handed_out_without_a_look_at_all_of_it_for_each_page():
    """Of files that pages embed, and of pages that are not known yet, nothing is looked at."""
    pages, files = 60, 20
    urls = [f"http://h/{page}" for page in range(pages)]
    names = [name for url in urls for name in (url, *(f"{url}/{number}.png" for number in range(files)))]
    archived = SimpleNamespace(failed=False)
    steps = [
        DecidedExchange(archived, name, 1.0 * now, now + 0.5, Slot.FIRST, Plan.HOPEFUL, again=False, sitemap=False)
        for now, name in enumerate(names)
    ]
    real = make_strategy("sharc-selective", Setting())
    order = Recorded(real.setting, real, steps, lambda: urls)
    order.add(Candidates.of(range(pages), [0.1] * pages))
    looks, visit_of = [], order._visit
    order._visit = lambda step: looks.append(step.key) or visit_of(step)
    handed = []
    for now in range(len(names)):
        while order.is_due(now) and (visit := order.next(now)) is not None:
            handed.append(visit.page)
            order.finished(visit, captured=True)
    assert handed == list(range(pages))
    assert len(looks) <= 3 * pages
