"""Check the references between records: an answer needs its request, a revisit the record that it refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise

from sharc_crawler.addresses.urls import canonical
from sharc_crawler.certificate.witness import MAIN, SERVERS_WORD, Finding, RecordedExchange, Witness

_NOT_MODIFIED = 304


class SharedPayloads:
    """Which payloads each page had: a 304 may refer to another page that stores the same payload.

    A 304 does not prove its own payload, unless it refers to a download of its own page in a capture that is not at
    hand. That payload then counts as not shown.
    """

    def __init__(self, *witnesses: Witness) -> None:
        self._found = {
            hash((canonical(exchange.uri), exchange.digest))
            for witness in witnesses
            for exchange in witness
            if exchange.digest and (exchange.profile != SERVERS_WORD or _of_its_own(exchange))
        }

    def had(self, uri: str, digest: str | None) -> bool:
        """Did this page answer with a payload of this digest?"""
        return digest is not None and hash((canonical(uri), digest)) in self._found


def _of_its_own(exchange: RecordedExchange) -> bool:
    return exchange.holder is not None and canonical(exchange.holder[0]) == canonical(exchange.uri)


def missing(witness: Witness, former: Witness | None = None) -> Iterator[Finding]:
    """Wrong references. Those to former captures are passed over if none is at hand."""
    payloads = cache(lambda: SharedPayloads(witness, *([former] if former else [])))  # for 304s that refer elsewhere
    yield from _at_one_moment(witness)
    for exchange in witness:
        if exchange.kind in MAIN and not exchange.request:
            yield Finding("the request that it answers is missing", exchange.file, exchange.offset, exchange.uri)
        if exchange.holder is not None and (what := _wrong(exchange, exchange.holder, witness, former, payloads)):
            yield Finding(what, exchange.file, exchange.offset, exchange.uri)


def repeated(hashes: Iterable[int]) -> list[int]:
    """The hashes that occur before, once for each further occurrence."""
    return [one for one, then in pairwise(sorted(hashes)) if one == then]


def _at_one_moment(witness: Witness) -> Iterator[Finding]:
    """Second answers of a URL at the same instant: a viewer could show another one than the certificate means."""
    several = set(repeated(hash((one.uri, one.date)) for one in witness if one.message))
    seen: set[tuple[str, str]] = set()
    for one in witness if several else ():
        if one.message and hash((one.uri, one.date)) in several:
            if (one.uri, one.date) in seen:
                yield Finding("another answer of its URL and instant", one.file, one.offset, one.uri)
            seen.add((one.uri, one.date))


def _wrong(
    exchange: RecordedExchange,
    moment: tuple[str, str],
    witness: Witness,
    former: Witness | None,
    shared: Callable[[], SharedPayloads],
) -> str | None:
    holder = witness.of(moment) or (former.of(moment) if former else None)
    status = exchange.message.status if exchange.message else None
    if (status == _NOT_MODIFIED) != (exchange.profile == SERVERS_WORD):
        return f"it is a revisit of kind {exchange.profile!r}, the server's answer had status {status}"
    if holder is None:
        missing = exchange.closed or former is not None
        return f"it refers to {' of '.join(reversed(moment))}, which is in no capture at hand" if missing else None
    if exchange.digest is not None and holder.digest != exchange.digest:
        return f"it refers to {' of '.join(reversed(moment))} for a payload that is not there"
    elsewhere = exchange.profile == SERVERS_WORD and canonical(holder.uri) != canonical(exchange.uri)
    if elsewhere and not shared().had(exchange.uri, holder.digest):
        return f"it says that it did not change, and refers to another page: {holder.uri}"
    if exchange.holder_record not in {None, holder.record}:
        return f"it refers to the record {exchange.holder_record}, that of its time and URL is {holder.record}"
    return None
