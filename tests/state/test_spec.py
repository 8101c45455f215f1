"""What a capture does unless it is told otherwise."""

from __future__ import annotations

from sharc_crawler.state.spec import CaptureSpec


def test_one_page_in_fifty_that_rests_on_the_servers_word_is_checked_and_a_sitemap_may_be_a_day_late() -> None:
    spec = CaptureSpec("a.example", ("http://a.example/",))
    assert (spec.audit, spec.lag) == (1 / 50, 24 * 3600)
