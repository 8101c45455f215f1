"""What the crawl and the process that writes its WARC files tell each other arrives as it was."""

from __future__ import annotations

import errno
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.archive.options import Original, Resource
from sharc_crawler.errors import DataError, StoreFull, UsageError
from sharc_crawler.live.writing.errors_as_json import describe, error_of
from sharc_crawler.live.writing.messages import NotArchivedError, order_to_describe, order_to_keep
from sharc_crawler.live.writing.orders import exchange_of, message_of, resources_of
from sharc_crawler.live.writing.space import is_full
from sharc_crawler.model import Exchange

TEXT = st.text(st.characters(exclude_categories=()), max_size=20)  # lone surrogates, too: a header need not be UTF-8
INSTANT = st.floats(0, 4e9)
EXCHANGES = st.builds(
    Exchange, url=TEXT, started=INSTANT, ended=INSTANT, request=st.binary(max_size=99), response=st.binary(max_size=99),
    ip=st.none() | TEXT, truncated=st.none() | st.just("length"), normalised=TEXT, error=st.none() | TEXT,
    untrusted=TEXT, surplus=st.binary(max_size=9),
)  # fmt: skip
ORIGINALS = st.none() | st.builds(Original, TEXT, INSTANT, st.none() | TEXT, st.none() | TEXT)


@pytest.mark.slow
@given(st.lists(st.tuples(EXCHANGES, ORIGINALS), max_size=3))
def test_exchanges_arrive_one_after_the_other(sent):
    stream = io.BytesIO(b"".join(b"".join(order_to_keep("a.org", *one)) for one in sent))
    arrived = []
    for line in stream:
        arrived.append(exchange_of(json.loads(line), stream))
    assert arrived == sent


@given(st.lists(st.builds(Resource, TEXT, INSTANT, TEXT, st.binary(max_size=99)), max_size=3))
def test_what_the_crawl_made_itself_arrives(sent):
    stream = io.BytesIO(b"".join(order_to_describe("a.org", sent)))
    assert resources_of(message_of(stream.readline()), stream) == sent
    assert not stream.read()


@given(EXCHANGES.filter(lambda exchange: exchange.response))
def test_half_an_exchange_is_none(exchange):
    stream = io.BytesIO(b"".join(order_to_keep("a.org", exchange, None))[:-1])
    with pytest.raises(EOFError):
        exchange_of(json.loads(stream.readline()), stream)


@given(EXCHANGES, st.data())
def test_neither_is_half_a_line(exchange, data):
    order = order_to_keep("a.org", exchange, None)[0]
    with pytest.raises(EOFError):
        message_of(order[: data.draw(st.integers(0, len(order) - 1))])


def without_room():
    error = UsageError("folder='x' cannot be used")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    return error


@pytest.mark.parametrize(
    ("error", "kind", "full"),
    [
        (OSError(errno.EIO, "Input/output error", "a.warc.gz.open"), NotArchivedError, False),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), NotArchivedError, True),
        (StoreFull("history a.db: database or disk is full"), StoreFull, True),
        (without_room(), UsageError, True),
        (DataError("url='x' is not a URI"), DataError, False),
        (RuntimeError("a fault of ours"), NotArchivedError, False),
    ],
)
def test_errors_arrive_with_their_words_their_kind_and_whether_there_was_no_room(error, kind, full):
    arrived = error_of(json.loads(json.dumps(describe(error))))
    assert (type(arrived), str(arrived), is_full(arrived)) == (kind, str(error), full)
