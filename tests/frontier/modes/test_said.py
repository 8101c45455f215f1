"""What sitemaps and hubs say of pages while a capture visits them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

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


def test_rates_are_told_by_the_time_until_the_first_reading_and_from_then_until_the_last(monkeypatch):
    told = []

    def corrected(rates, shapes, early, late, periods, *_):
        told.append((rates.tolist(), early.tolist(), late.tolist(), periods))
        return rates * 2, shapes

    monkeypatch.setattr("sharc_crawler.frontier.modes.said.corrected", corrected)
    pages = SimpleNamespace(
        rates=[1.0, 2.0, 3.0], weights=[1.0] * 3, shapes=[np.inf] * 3, started=[110.0] * 3, urls=["http://h/"] * 3
    )
    said = SaidOfChanges(SimpleNamespace(started=100.0), pages, SimpleNamespace(learned=lambda _, rates: rates))
    for page, change in ((0, 150.0), (2, 90.0)):
        said.ingest(page, 200.0, change, change + 1)
    assert said.standing(range(3)).rates.tolist() == [1.0, 2.0, 3.0], "read once"
    said.ingest(2, 330.0, 250.0, 251.0)
    assert said.standing(range(3)).rates.tolist() == [2.0, 2.0, 6.0], "nothing is said of one"
    assert told == [([1.0, 3.0], [True, False], [False, True], (100.0, 130.0))]
