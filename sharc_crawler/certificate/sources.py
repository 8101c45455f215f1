"""Open the certificates and WARC files of a capture's folder or a WACZ file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePosixPath
from stat import S_ISBLK, S_ISCHR, S_ISFIFO
from typing import IO, Any, cast

from sharc_crawler.archive.files import OPEN, SUFFIX
from sharc_crawler.archive.wacz import NO_ZIP, PACKAGE, SEAL, WACZ
from sharc_crawler.certificate.material import Material, opened
from sharc_crawler.certificate.names import CERTIFICATES, CONFIRMATION, CONFIRMED, PAGES, is_seal
from sharc_crawler.errors import DataError
from sharc_crawler.storage.beside import says_it_holds_state
from sharc_crawler.storage.folders import capture_folders

_LOCAL_HEADER = 30  #: bytes before a file's name in a zip file


def captures_in(path: Path) -> list[Path]:
    """The captures to verify at ``path``: itself, or the captures in it.

    The latter are the sites of one crawl, or captures and collections gathered in a folder.
    """
    folders = capture_folders(path)
    if folders != [path] or not path.is_dir() or is_capture(path):
        return folders
    from sharc_crawler.storage.gathered import gathered  # not at the end of a capture

    return list(gathered(path, is_capture)) or folders


def is_capture(folder: Path) -> bool:
    """Does this folder itself hold a capture?"""
    return says_it_holds_state(folder) or any(
        file.name.endswith((SUFFIX, SUFFIX + OPEN)) or CERTIFICATES.fullmatch(file.name) for file in folder.iterdir()
    )


def irregular(folder: Path) -> Iterator[Path]:
    """Named pipes and devices in a folder, and links to them: opening or reading one may never end."""
    for file in sorted(folder.rglob("*")):
        with suppress(OSError):  # a broken link
            mode = file.stat().st_mode
            if S_ISFIFO(mode) or S_ISCHR(mode) or S_ISBLK(mode):
                yield file


def require_regular(folder: Path) -> None:
    """Raise :class:`~sharc_crawler.errors.DataError` if a folder holds a named pipe or a device."""
    for file in irregular(folder):
        raise DataError(f"{file} is a named pipe or a device, which is not read; take it out of {folder}")


def open_source(path: Path) -> Material:
    """The WARC files and certificates of a folder or a WACZ file.

    Raises :class:`~sharc_crawler.errors.DataError` for anything else, and for a folder with a named pipe or a device.
    """
    try:
        if path.is_dir():
            require_regular(path)
            return _folder(path)
        return _wacz(path)
    except NO_ZIP as error:
        raise DataError(f"{str(path)!r} is neither a capture's folder nor a WACZ file: {error}") from error
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error


def _folder(path: Path) -> Material:
    source = Material(str(path))
    for file in sorted(path.iterdir()):
        if file.name.endswith((SUFFIX, SUFFIX + OPEN)):
            source.warcs[file.name] = partial(opened, file)
            source.sizes[file.name] = file.stat().st_size
        elif CERTIFICATES.fullmatch(file.name):
            source.certificates[file.name] = file.read_bytes()
        elif PAGES.fullmatch(file.name):
            source.pages[file.name] = partial(opened, file)
        elif is_seal(file.name):
            source.beside[file.name] = file.read_bytes()
        elif file.name == CONFIRMATION and file.is_dir():
            source.later = _folder(file)
        elif file.name == CONFIRMED and path.name == CONFIRMATION:
            source.confirmation = file.read_bytes()
    return source


def _wacz(path: Path) -> Material:
    source = Material(str(path))
    with zipfile.ZipFile(path) as package:
        source.names = [info.filename for info in package.infolist()]
        if all(name.endswith(WACZ) for name in set(source.names) - {PACKAGE, SEAL}):
            raise DataError(
                f"{str(path)!r} holds the WACZ files of a collection: `sharc verify` of it verifies all of them; to use"
                " them one by one, unpack it with unzip"
            )
        for info in package.infolist():
            if info.filename.startswith(f"{CONFIRMATION}/"):
                source.later = source.later or Material(f"{path}/{CONFIRMATION}")
                _take(path, info, source.later)
            else:
                _take(path, info, source)
    return source


def _take(path: Path, info: zipfile.ZipInfo, source: Material) -> None:
    """Add a file of a package to the files of the capture, or of its confirmation, by its name."""
    name = PurePosixPath(info.filename).name
    if name.endswith(SUFFIX):
        source.warcs[name] = partial(_part, path, info)
        source.sizes[name] = info.file_size
    elif PAGES.fullmatch(name):
        source.pages[name] = partial(_lines, path, info)
    elif CERTIFICATES.fullmatch(name):
        source.certificates[name] = _part(path, info).read()
    elif is_seal(name):
        source.beside[name] = _part(path, info).read()
    elif info.filename == SEAL:
        source.seal = _part(path, info).read()
    elif info.filename == f"{CONFIRMATION}/{CONFIRMED}":
        source.confirmation = _part(path, info).read()
    else:
        return
    if info.compress_type != zipfile.ZIP_STORED:
        raise DataError(f"{path}: {info.filename} is compressed in the WACZ file; sharc package stores it as it is")


def _lines(path: Path, info: zipfile.ZipInfo) -> IO[bytes]:
    return cast("IO[bytes]", io.BufferedReader(_Part(path, info)))


def _part(path: Path, info: zipfile.ZipInfo) -> IO[bytes]:
    return cast("IO[bytes]", _Part(path, info))


class _Part(io.RawIOBase):
    """An uncompressed file in a zip file, opened for random access."""

    def __init__(self, path: Path, info: zipfile.ZipInfo) -> None:
        self._stream = path.open("rb")
        self._stream.seek(info.header_offset)
        header = self._stream.read(_LOCAL_HEADER)
        lengths = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
        self._start = info.header_offset + _LOCAL_HEADER + lengths
        self._size = info.file_size
        self._at = 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        rest = max(0, self._size - self._at)
        self._stream.seek(self._start + self._at)
        data = self._stream.read(rest if size < 0 else min(size, rest))
        self._at += len(data)
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()
