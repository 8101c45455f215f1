"""Check that a WACZ file was not altered: contents by their digests, all other bytes of the zip file by their form."""

from __future__ import annotations

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from copy import copy
from io import SEEK_SET, BytesIO
from pathlib import Path
from typing import IO, Any

from sharc_crawler.archive.wacz import MULTI, PACKAGE, SEAL, SIGNED, SINGLE, VERSION, listed, zip_date
from sharc_crawler.errors import DataError
from sharc_crawler.instants import unix

_HEADER = struct.Struct("<4s5H3L2H")  #: of a file within a zip file
_WIDE = 0xFFFFFFFF
_VERSIONS = {20, 45}  #: of the zip format: plain, and with the wider fields of large files
_BLOCK = 1 << 20
LARGEST = 1 << 26  #: most bytes of a compressed file, unpacked
_MODE = 0o600 << 16  #: mode of all files: readable by their owner only
#: fields of an entry in the directory that a file's header does not repeat
_ALIKE = ("create_system", "reserved", "volume", "internal_attr", "external_attr", "comment", "date_time")
#: raised by reading a file whose place, size or compression in the zip file was altered
UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, EOFError, OSError, ValueError, struct.error)


def altered(path: Path, progress: Callable[[int], None] = lambda _: None) -> Iterator[tuple[str, str]]:
    """(file in the package, what is wrong with it); raises :class:`zipfile.BadZipFile` if it is no zip file.

    ``progress`` is given the number of bytes as they are read. Raises :class:`~sharc_crawler.errors.DataError` for a
    package with compressed files that are too large for memory.
    """
    with zipfile.ZipFile(path) as package:
        _refuse_bombs(path, package)
        found = dict(_digests(package, progress))
        yield from _listed(package, found)
    try:
        yield from _form(path)
    except UNREADABLE as error:
        yield path.name, f"the zip file is damaged: {error}"


def _refuse_bombs(path: Path, package: zipfile.ZipFile) -> None:
    """Raise DataError for large compressed files, which may unpack to a thousandfold; our packages compress nothing."""
    for info in package.infolist():
        if info.compress_type != zipfile.ZIP_STORED and info.file_size > LARGEST:
            what = f"{path}: {info.filename} is of {info.file_size:,} bytes unpacked"
            raise DataError(f"{what}; nothing of more than {LARGEST:,} is packed in a package of ours")


def _digests(package: zipfile.ZipFile, progress: Callable[[int], None]) -> Iterator[tuple[str, str]]:
    for info in package.infolist():
        made = hashlib.sha256()
        try:
            with package.open(info) as stream:
                while block := stream.read(_BLOCK):
                    made.update(block)
                    progress(len(block))
            yield info.filename, f"sha256:{made.hexdigest()}"
        except UNREADABLE as error:
            yield info.filename, f"unreadable ({error})"


def _listed(package: zipfile.ZipFile, found: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Compare the files with the package's description, and the description with its seal."""
    try:
        text = package.read(PACKAGE)
        about = json.loads(text)
        named = {one["path"]: one for one in about["resources"]}
        seal: dict[str, Any] = json.loads(package.read(SEAL))
        sealed, as_written = seal["hash"], _as_written(about, text, package)
    except (KeyError, TypeError, *UNREADABLE) as error:
        yield PACKAGE, f"it cannot be read: {error!r}"
        return
    if found[PACKAGE] != sealed:
        yield PACKAGE, f"its digest is {found[PACKAGE]}, {SEAL} says {sealed}"
    elif not as_written:
        yield PACKAGE, "it is not written as sharc writes it"
    for name, one in named.items():
        if found.get(name) != one["hash"]:
            yield name, f"its digest is {found.get(name, 'that of no file')}, {PACKAGE} says {one['hash']}"
        elif package.getinfo(name).file_size != one["bytes"]:
            yield name, f"it has {package.getinfo(name).file_size} bytes, {PACKAGE} says {one['bytes']}"
    for name in found.keys() - named.keys() - {PACKAGE, SEAL}:
        yield name, f"{PACKAGE} does not list it"
    expected = {"path": PACKAGE, "hash": sealed} | ({SIGNED: seal[SIGNED]} if SIGNED in seal else {})
    if seal != expected or package.read(SEAL) != json.dumps(seal, indent=2).encode():
        yield SEAL, "it is not written as sharc writes it"


def _as_written(about: Any, text: bytes, package: zipfile.ZipFile) -> bool:
    """Is the description in our form: JSON as we write it, files in order, our profile and versions, one date?"""
    names = [info.filename for info in package.infolist() if info.filename not in (PACKAGE, SEAL)]
    resources = [listed(one["path"], one["hash"], one["bytes"]) for one in about["resources"]]
    former = [{name: value for name, value in one.items() if name != "format"} for one in resources]
    dates = {info.date_time for info in package.infolist()}
    return (
        text == json.dumps(about, indent=2, ensure_ascii=False).encode()
        and about["resources"] in (resources, former)  # former versions gave no formats
        and [one["path"] for one in resources] == names
        and (about["profile"], about["wacz_version"]) in {(SINGLE, VERSION), (MULTI, VERSION)}
        and dates == {zip_date(unix(about["created"]))}
        and {(info.external_attr, info.internal_attr) for info in package.infolist()} == {(_MODE, 0)}
    )


def _form(path: Path) -> Iterator[tuple[str, str]]:
    """Check that local headers repeat the directory, entries are alike, and no bytes lie between or after them."""
    with zipfile.ZipFile(path) as package, path.open("rb") as stream:
        infos = package.infolist()
        end = 0
        for info in infos:
            if info.header_offset != end:
                yield info.filename, "bytes lie before it that belong to no file"
            length, what = _header(info, stream)
            if what:
                yield info.filename, what
            end = info.header_offset + length + info.file_size
        if len({tuple(getattr(info, name) for name in _ALIKE) for info in infos}) > 1:
            yield path.name, "entries of the zip file are not of one kind"
        stream.seek(package.start_dir)
        written = _directory(package.start_dir, infos)
        if package.start_dir != end or stream.read(len(written) + 1) != written:
            yield path.name, "the zip file's directory or end is not as it was written, or bytes lie before it"


def _header(info: zipfile.ZipInfo, stream: IO[bytes]) -> tuple[int, str | None]:
    """The length of a file's local header, and what is wrong with it."""
    stream.seek(info.header_offset)
    header = _HEADER.unpack(stream.read(_HEADER.size))
    name, extra = stream.read(header[9]), stream.read(header[10])
    length = _HEADER.size + len(name) + len(extra)
    wide = bool(extra)  # large files have their sizes in an extra field
    sizes = (_WIDE, _WIDE) if wide else (info.compress_size, info.file_size)
    year, month, day, hour, minute, second = info.date_time
    date, time = (year - 1980) << 9 | month << 5 | day, hour << 11 | minute << 5 | second // 2
    expected = info.flag_bits, info.compress_type, time, date, info.CRC, *sizes
    if wide and extra != struct.pack("<HHQQ", 1, 16, info.file_size, info.compress_size):
        return length, "its sizes in the zip file are not those of the directory"
    if header[0] != b"PK\x03\x04" or header[2:9] != expected or name != info.filename.encode():
        return length, "its header in the zip file is not that of the directory"
    if {header[1], info.extract_version, info.create_version} - _VERSIONS:
        return length, "its header in the zip file asks for another version of the format"
    return length, None


def _directory(start: int, infos: list[zipfile.ZipInfo]) -> bytes:
    """Directory and end of a zip file with these entries, as Python writes them.

    Other forms are read differently: some readers follow the place of the directory that a large file's end names,
    others expect it just before.
    """
    behind = _Behind(start)
    with zipfile.ZipFile(behind, "w") as made:
        for info in infos:
            plain = copy(info)
            plain.extra = plain.comment = b""  # an extra field for sizes is made if needed
            made.filelist.append(plain)
    return behind.getvalue()


class _Behind(BytesIO):
    """A buffer for the end of a file, whose offsets begin at ``start``."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self._start = start

    def tell(self) -> int:
        return super().tell() + self._start

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        return super().seek(offset - self._start if whence == SEEK_SET else offset, whence) + self._start
