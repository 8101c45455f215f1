"""Classes whose validators differ at every download: which pairs teach it, and which speak against it."""

from __future__ import annotations

import pytest

from sharc_crawler.evidence.judgement import BRIEF, PAIRS, SHORT, Restless, class_of
from sharc_crawler.model import Outcome, Result, Validators

URL = "http://h.example/news/1.html"


def pair(apart: float, digest: str = "A", etag: str = '"2"', result: Result = Result.OK) -> tuple[Outcome, Outcome]:
    return (
        Outcome(Result.OK, 100.0, 100.1, 200, "A", validators=Validators('"1"')),
        Outcome(result, 100.0 + apart, 101.0 + apart, 200, digest, validators=Validators(etag)),
    )


def taught(*pairs: tuple[Outcome, Outcome]) -> Restless:
    restless = Restless()
    for one in pairs:
        restless.add(URL, *one)
    return restless


@pytest.mark.parametrize(
    ("pairs", "known"),
    [
        ([pair(BRIEF)] * PAIRS, True),
        ([pair(BRIEF)] * (PAIRS - 1), False),
        ([pair(3.1)] * PAIRS, False),  # a deploy that was rolled back may lie between them
        ([pair(BRIEF), *[pair(SHORT)] * (PAIRS - 1)], True),
        ([pair(BRIEF), *[pair(60.1)] * (PAIRS - 1)], False),
        ([pair(BRIEF), *[pair(BRIEF, result=Result.FAILED)] * PAIRS], False),
        ([*[pair(BRIEF)] * PAIRS, pair(SHORT, digest="B")], False),  # a page of its class that did change
        ([*[pair(BRIEF)] * PAIRS, pair(SHORT + 1, digest="B")], True),  # long apart: it says nothing
        ([*[pair(BRIEF)] * PAIRS, pair(BRIEF, etag='"1"')], False),  # nor do they always differ
        ([*[pair(BRIEF)] * PAIRS, pair(BRIEF, result=Result.FAILED)], True),
        ([*[pair(BRIEF)] * PAIRS, pair(BRIEF, result=Result.GONE)], True),
    ],
)
def test_a_class_is_restless_by_so_many_pairs_soon_after_each_other_and_none_against_it(pairs, known) -> None:
    restless = taught(*pairs)
    assert restless.known(URL) is known
    assert not restless.known("http://h.example/other/1.html")
    assert not restless.known("http://g.example/news/1.html")


def test_a_class_is_a_host_a_folder_and_an_extension() -> None:
    assert class_of("http://H.example/news/1.html") == class_of("http://h.example/news/2.html?x=1")
