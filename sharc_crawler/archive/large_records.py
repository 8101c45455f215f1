"""Write records whose blocks are too large for memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from sharc_crawler.archive import records
from sharc_crawler.bodies.spool import Octets, pieces

_SAMPLES = 16  #: number of samples, evenly spaced in a block
_SAMPLE = 1 << 16  #: bytes of each sample
_WORTH = 0.98  #: a block is compressed if its samples shrink below this share


def large_member(fields: Iterable[tuple[str, str]], block: Octets, start: int, level: int) -> Iterator[bytes]:
    """Like :func:`~sharc_crawler.archive.records.member`, but in pieces, for ``block`` from ``start`` on.

    What hardly shrinks, such as films and zip files, is stored uncompressed: trying takes twenty times as long.
    """
    packer = records.packing.compressobj(level if _shrinks(block, start) else 0, zlib.DEFLATED, 16 + 15)
    yield packer.compress(records.header(fields, len(block) - start))
    for piece in pieces(block, start):
        yield packer.compress(piece)
    yield packer.compress(b"\r\n\r\n") + packer.flush()


def _shrinks(block: Octets, start: int) -> bool:
    step = max(_SAMPLE, (len(block) - start) // _SAMPLES)
    samples = [bytes(block[at : at + _SAMPLE]) for at in range(start, len(block), step)]
    packed = sum(len(records.packing.compress(one, 1)) for one in samples)
    return packed < _WORTH * sum(map(len, samples))
