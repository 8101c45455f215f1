"""The index of a WACZ file (ZipNum): sorted CDXJ lines in gzipped blocks, and the offsets of the blocks."""

from __future__ import annotations

import gzip
import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

DATA = "index.cdx.gz"
LINES = 1024  #: per block
AT_ONCE = 200  #: most index files open at once


def merged(indexes: Sequence[Path]) -> Iterator[str]:
    """Merge the lines of sorted index files, with at most :data:`AT_ONCE` of them open."""
    with ExitStack() as opened:
        if len(indexes) <= AT_ONCE:
            yield from heapq.merge(*(opened.enter_context(path.open(encoding="utf-8")) for path in indexes))
            return
        drafts: list[IO[str]] = []
        for group in (indexes[start : start + AT_ONCE] for start in range(0, len(indexes), AT_ONCE)):
            drafts.append(opened.enter_context(TemporaryFile("w+", encoding="utf-8")))
            drafts[-1].writelines(merged(group))
            drafts[-1].seek(0)
        yield from heapq.merge(*drafts)


def write_zipnum(lines: Iterable[str], data: IO[bytes], size: int = LINES) -> str:
    r"""Write lines, with their ends, in gzipped blocks; returns the text of the index of blocks.

    >>> import io
    >>> write_zipnum(["a 1 {}\n", "b 2 {}\n", "c 3 {}\n"], io.BytesIO(), size=2).splitlines()[1][:20]
    'a 1 {"offset": 0, "l'
    """
    source, offset = iter(lines), 0
    blocks = [f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': DATA})}\n"]
    while block := list(islice(source, size)):
        packed = gzip.compress("".join(block).encode(), mtime=0)
        data.write(packed)
        key = block[0].partition(" {")[0]
        blocks.append(f"{key} {json.dumps({'offset': offset, 'length': len(packed), 'filename': DATA})}\n")
        offset += len(packed)
    return "".join(blocks)
