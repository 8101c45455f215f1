"""What the default run has of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

pytest_plugins = ["pytester"]

MATRICES = """
import pytest

@pytest.mark.matrix
@pytest.mark.parametrize("row", range(9))
def test_by_four(row): ...

@pytest.mark.matrix(3)
@pytest.mark.parametrize("row", ["a", pytest.param("b", marks=pytest.mark.long), "c", "d", "e"])
def test_by_three(row): ...

@pytest.mark.parametrize("row", range(2))
def test_plain(row): ...
"""


def test_of_a_matrix_the_first_row_is_in_it_and_every_fourth_or_so_many_after_it(pytester: pytest.Pytester) -> None:
    """Rows that are long anyway are not counted; each run counts anew."""
    pytester.makeconftest("from tests.conftest import pytest_itemcollected")
    pytester.makepyfile(MATRICES)
    for _ in range(2):
        run = pytester.inline_run("-p", "no:twisted", "-p", "no:cacheprovider", "-m", "not long", "--collect-only")
        assert [item.name for item in run.getcall("pytest_collection_finish").session.items] == [
            *("test_by_four[0]", "test_by_four[4]", "test_by_four[8]"),
            *("test_by_three[a]", "test_by_three[e]"),
            *("test_plain[0]", "test_plain[1]"),
        ]
