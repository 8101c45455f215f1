"""Write a WARC file with documents about a capture, such as its certificate, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from sharc_crawler.archive.files import OPEN
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.records import WARC_FIELDS, Draft, Fields, member, target_uri
from sharc_crawler.archive.warc_names import file_name, files_of, index_path
from sharc_crawler.errors import StateError
from sharc_crawler.instants import iso
from sharc_crawler.model import CaptureRef, Instant

if TYPE_CHECKING:
    from sharc_crawler.archive.drafts import Drafts


class DocumentFile:
    """Appends documents to a file that begins with a warcinfo record with the block ``info``."""

    def __init__(self, out: IO[bytes], name: str, info: bytes, when: Instant) -> None:
        self._out, self._name = out, name
        draft = Draft("warcinfo", [("WARC-Filename", name)], info, WARC_FIELDS)
        self._append(draft, info, [("WARC-Date", iso(when))])
        self._warcinfo_id = draft.record_id

    def write(self, url: str, date: Instant, block: bytes, media_type: str) -> CaptureRef:
        """Write a document about a URL or URN as a metadata record; returns its place."""
        fields = [("WARC-Date", iso(date)), ("WARC-Target-URI", target_uri(url))]
        return self._append(
            Draft("metadata", [], block, media_type), block, [*fields, ("WARC-Warcinfo-ID", self._warcinfo_id)]
        )

    def _append(self, draft: Draft, block: bytes, common: Fields) -> CaptureRef:
        offset = self._out.tell()
        return CaptureRef(
            self._name, offset, self._out.write(member(draft.all_fields(common), block, WarcOptions().level))
        )


@contextmanager
def document_file(
    folder: Path, site: str, run: str, info: bytes, when: Instant, drafts: Drafts
) -> Iterator[DocumentFile]:
    """The next WARC file of a run and its empty index, both among the ``drafts``."""
    former = files_of(folder, site, run)
    for _, path in former:
        if path.name.endswith(OPEN):
            raise StateError(f"{path} is being written by another writer; end that one")
    path = folder / file_name(site, run, former[-1][0] + 1 if former else 0, when)
    with drafts.open(index_path(path)):
        pass
    with drafts.open(path) as out:
        yield DocumentFile(out, path.name, info, when)
