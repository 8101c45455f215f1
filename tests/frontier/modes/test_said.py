"""What sitemaps and hubs say of pages while a capture visits them."""

from __future__ import annotations

from types import SimpleNamespace

from sharc_crawler.frontier.modes.said import SaidOfChanges


def test_early_is_what_changed_between_the_capture_s_start_and_the_first_reading_as_that_reading_said():
    said = SaidOfChanges(SimpleNamespace(started=100.0), None, None)
    before, early, unsaid = range(3)
    said.ingest(before, 200.0, 90.0, 91.0)
    said.ingest(early, 200.0, 150.0, 151.0)
    for page in (before, unsaid):
        said.ingest(page, 300.0, 250.0, 251.0)
    said.ingest(before, 400.0, 150.0, 151.0)  # a word that is taken back
    assert said._early == {early}
