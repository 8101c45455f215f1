"""Which former answer a new capture may refer to."""

from __future__ import annotations

import pytest

from sharc_crawler.archive.former_answers import FormerAnswers
from sharc_crawler.archive.options import Original, WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.changes.http import parse_response
from tests.archive.readback import INFO, URL, page

NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\n\r\n"


def digest(text: bytes) -> str:
    message = parse_response(page(text).response)
    assert message and message.digest
    return message.digest


@pytest.fixture
def capture(tmp_path):
    """Write a capture: what it exchanged for one URL, a text in full, or (``same``) a 304 that confirms a text."""

    def write(name: str, *exchanges: tuple[bytes, float, str]):
        folder = tmp_path / name
        folder.mkdir()
        with WarcWriter(folder, "example.org", name, INFO, WarcOptions()) as out:
            for text, started, how in exchanges:
                if how == "same":
                    out.write_revisit(
                        page(response=NOT_MODIFIED, started=started), Original(URL, 1.0, digest(text), "<urn:uuid:1>")
                    )
                else:
                    out.write(page(text, started=started))
        return folder

    return write


@pytest.mark.parametrize("later", [20.0, 10.0], ids=["later", "within-a-second"])
def test_a_full_answer_after_a_304_is_the_one_to_refer_to(capture, later):
    first = capture("one", (b"old", 1.0, "full"))
    second = capture("two", (b"old", 10.0, "same"), (b"new", later, "full"))
    found = FormerAnswers([second, first]).find(URL)
    assert found is not None
    assert found.message.payload == b"new"


def test_what_a_page_showed_last_counts_where_several_records_follow_its_answer(capture):
    first = capture("one", (b"old", 1.0, "full"))
    back = capture("two", (b"other", 10.0, "same"), (b"old", 20.0, "same"))
    away = capture("three", (b"old", 30.0, "same"), (b"other", 40.0, "same"))
    found = FormerAnswers([back, first]).find(URL)
    assert found is not None and found.message.payload == b"old"
    assert FormerAnswers([away, back, first]).find(URL) is None
