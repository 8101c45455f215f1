"""Lots are the same for all who go on with a capture, and where its state is made again."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace

import pytest

from sharc_crawler.frontier.modes.two_visits import draw, seed_of
from sharc_crawler.model import Kind, Outcome, Result, Validators

ETAG = Validators('"1"')


def capture(started: float, run: str = "", site: str = "h", **settings: str):
    settings |= {"run": run} if run else {}
    return SimpleNamespace(started=started, spec=SimpleNamespace(site=site, settings=settings))


@pytest.mark.parametrize("later", [1000.51, 2000.0])
def test_when_it_is_told_to_have_begun_makes_no_difference(later):
    """A folder tells that of the crawl, which is some hundredths of a second before that of the capture."""
    assert seed_of(capture(1000.49, "ab12")) == seed_of(capture(later, "ab12"))


def test_each_owner_of_a_site_draws_the_same_by_a_secret_that_the_names_of_its_files_do_not_tell():
    one, other = (capture(1.0, f"round-1.epoch-000{owner}", lots="5ec2e7") for owner in (1, 2))
    assert seed_of(one) == seed_of(other) != seed_of(capture(1.0, "round-1.epoch-0001", lots="5ec2e8"))


def test_another_capture_another_site_and_another_simulation_draw_others():
    seeds = [capture(1.0, "a"), capture(1.0, "b"), capture(1.0, "a", "other"), capture(1.0), capture(7.0)]
    assert len({seed_of(one) for one in seeds}) == len(seeds)


def drawing(
    share: float, kinds: dict[int, Kind], sample: set[int], statuses: dict[int, int], tags=MappingProxyType({})
):
    """Which pages are asked for in full, of those visited in the order of their numbers; and what was drawn from."""
    full, given = [], []
    pages = SimpleNamespace(
        urls={page: f"http://h/{page}" for page in kinds},
        started={page: float(page) for page in kinds},
        remembered=lambda page: Outcome(Result.OK, 1.0, 1.0, statuses.get(page, 200), validators=tags.get(page, ETAG)),
        ask_in_full=full.append,
    )
    conditionals = SimpleNamespace(draw=lambda *told: given.append(told) or sample)
    told = capture(7.0)
    told.spec.audit = share
    draw(conditionals, told, pages, kinds)
    return full, given


def test_the_four_pages_visited_last_teach_masks_unless_the_sample_has_them():
    """Data that scripts fetch has none; where one was answered 304 its bytes are not at hand."""
    kinds = dict.fromkeys(range(1, 10), Kind.PAGE) | {9: Kind.DATA, 10: Kind.DATA}
    urls = {page: f"http://h/{page}" for page in kinds}
    weak = {3: Validators('W/"1"')}
    assert drawing(0.1, kinds, {7}, {}, weak) == ([8, 6, 5], [(urls, "h 7", {9, 10}, {3})])
    assert drawing(0.0, kinds, {7}, {})[0] == []
    assert drawing(1.0, kinds, set(), {})[0] == [8, 7, 6, 5]
    assert drawing(0.1, kinds, set(), {4: 304})[0] == [8, 7, 6, 5]
    assert drawing(0.1, kinds, set(), {5: 304})[0] == []


@pytest.mark.parametrize(("bytes_of", "shared"), [("ABC", {1, 2, 3}), ("ABB", set()), ("AAA", set())])
def test_an_etag_of_three_contents_is_a_weak_one(bytes_of: str, shared: set[int]):
    """It may be that of a build, or of a server that knows no better: its pages are audited by themselves."""
    other = Outcome(Result.OK, 1.0, 1.0, 200, "sha1:D", validators=Validators('"2"'))
    shown = {n: other._replace(digest=f"sha1:{bytes_of[n - 1]}", validators=ETAG) for n in (1, 2, 3)} | {4: other}
    given = []
    conditionals = SimpleNamespace(draw=lambda *told: given.append(told) or set(shown))
    pages = SimpleNamespace(
        urls={page: f"http://h/{page}" for page in shown},
        started=dict.fromkeys(shown, 1.0),
        remembered=shown.__getitem__,
    )
    told = capture(7.0)
    told.spec.audit = 0.1
    draw(conditionals, told, pages, dict.fromkeys(shown, Kind.PAGE))
    assert [faint for *_, faint in given] == [shared]
