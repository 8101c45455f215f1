"""References as absolute URLs."""

from __future__ import annotations

from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.links.found import LIMIT, Resolver

PIECES = [
    "/",
    "a",
    "b-1",
    ".",
    "..",
    "?",
    "=",
    "&",
    ":",
    "http:",
    "//",
    "%20",
    " ",
    "\\",
    "ü",
    "\t",
    "~",
    "@",
    ";",
    "$",
    "[",
    "|",
]
REFERENCES = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


BASES = st.sampled_from(["http://h/a/b?c", "https://h:8443/", "http://ü/a", "file:///a/b", "http://u@h/a"])


@given(BASES, st.lists(REFERENCES, max_size=5))
def test_plain_paths_become_what_any_reference_would(base: str, references: list[str]) -> None:
    resolver = Resolver(base)
    each = [url for reference in references if (url := resolver.one(reference))]
    assert resolver.all(references) == (tuple(dict.fromkeys(each)), 0)


FOLDERS = st.lists(st.sampled_from(["a/", "b.c/", "a;x/", "/", ".a/", "%20/", "../"]), max_size=4).map("".join)
NAMES = st.lists(st.sampled_from(["a", "b.c", ";", ":", ".", "..", "/", "@", "%20", "="]), min_size=1, max_size=4)


@given(FOLDERS, st.integers(1, 4), NAMES.map("".join))
def test_folders_are_gone_up_as_the_standard_library_does(folder: str, up: int, name: str) -> None:
    base, reference = f"http://h/{folder}page", f"{'../' * up}{name}"
    assert Resolver(base).one(reference) == urljoin(base, reference)


@pytest.mark.slow
def test_references_that_all_mean_one_address_are_not_resolved_without_end() -> None:
    references = [f"../{number}/../" for number in range(3 * LIMIT)]
    assert Resolver("http://h/a/b/").all(references) == (("http://h/a/",), LIMIT)
