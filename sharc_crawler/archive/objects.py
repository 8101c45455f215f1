"""A folder of an object store: whole objects by name, through fsspec (``s3://…`` by s3fs)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sharc_crawler import extras
from sharc_crawler.errors import UsageError
from sharc_crawler.model import Seconds

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(.*)")
#: short time-outs without retries: callers try again themselves
_S3 = {"connect_timeout": 5, "read_timeout": 30, "retries": {"total_max_attempts": 1}, "max_pool_connections": 32}
LONGEST: Seconds = 60.0  #: limit for an answer, plus a second for each :data:`SLOWEST` bytes
SLOWEST = 100_000  #: bytes per second that are still tolerated
LARGEST = 64_000_000  #: bytes assumed for an answer of unknown size


def is_url(place: str) -> bool:
    """Is it the URL of an object store?

    >>> is_url("s3://bucket/captures"), is_url("captures/example")
    (True, False)
    """
    return _URL.fullmatch(place) is not None


class ObjectFolder:
    """The objects below a URL, by the rest of their names.

    The store's library finds credentials and endpoint. For ``s3://`` they come from the variables, files and roles of
    AWS's tools (``AWS_ENDPOINT_URL`` names another server than Amazon's).

    Raises :class:`~sharc_crawler.errors.UsageError` for a URL that cannot be used, :class:`OSError` if the store fails.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        found = _URL.fullmatch(self.url)
        if not found or not found[2]:
            raise UsageError(f"objects={url!r} is no folder of an object store; write it as s3://bucket/folder")
        self._fs, self._top = _opened(self.url, found[1])

    def below(self, name: str) -> ObjectFolder:
        """A folder in this one; ``"."``: itself."""
        return self if name == "." else ObjectFolder(f"{self.url}/{name}")

    def names(self) -> dict[str, int]:
        """All objects with their sizes in bytes, including those of folders in it."""
        with self._named():
            found = self._fs.find(self._top, detail=True, **self._within(LARGEST))
        return {path[len(self._top) :].lstrip("/"): entry["size"] for path, entry in found.items()}

    def size(self, name: str) -> int | None:
        """The size of an object in bytes; ``None``: it does not exist."""
        with self._named(name):
            try:
                found: int = self._fs.info(f"{self._top}/{name}", **self._within())["size"]
            except FileNotFoundError:
                return None
        return found

    def put(self, name: str, data: bytes) -> None:
        """Store an object, replacing a former one; once this returns, it is durable."""
        with self._named(name):
            self._fs.pipe_file(f"{self._top}/{name}", data, **self._within(len(data)))

    def put_file(self, name: str, path: Path) -> None:
        """Store a file, in several parts if it is large."""
        with self._named(name):
            self._fs.put_file(str(path), f"{self._top}/{name}", **self._within(path.stat().st_size))

    def move(self, name: str, to: str) -> None:
        """Rename an object within the store, replacing a former one."""
        with self._named(name):
            self._fs.cp_file(f"{self._top}/{name}", f"{self._top}/{to}", **self._within())
        self.remove([name])

    def get(self, name: str) -> bytes:
        """The bytes of an object."""
        with self._named(name):
            data: bytes = self._fs.cat_file(f"{self._top}/{name}", **self._within(LARGEST))
            return data

    def get_file(self, name: str, path: Path) -> None:
        """Write an object to a file."""
        with self._named(name):
            self._fs.get_file(f"{self._top}/{name}", str(path), **self._within(LARGEST))

    def remove(self, names: Collection[str]) -> None:
        """Remove these objects."""
        if names:
            with self._named():
                self._fs.rm([f"{self._top}/{name}" for name in names], **self._within())

    def _within(self, size: int = 0) -> dict[str, Seconds]:
        """The time limit of a call, if the library takes one."""
        return {"timeout": LONGEST + size / SLOWEST} if getattr(self._fs, "async_impl", False) else {}

    @contextmanager
    def _named(self, name: str = "") -> Iterator[None]:
        """Turn any library's errors into OSErrors that name the object."""
        try:
            yield
        except Exception as error:
            raise OSError(f"{self.url}{name and '/'}{name}: {error or type(error).__name__}") from error


def _opened(url: str, protocol: str) -> tuple[Any, str]:
    extras.check(f"objects={url!r}", "fsspec")
    if protocol in {"s3", "s3a"}:
        extras.check(f"objects={url!r}", "s3fs")
    from fsspec.core import url_to_fs  # an extra

    terms = {"config_kwargs": _S3} if protocol in {"s3", "s3a"} else {}
    try:
        return url_to_fs(url, use_listings_cache=False, **terms)  # type: ignore[no-any-return]
    except (ValueError, ImportError) as error:
        raise UsageError(f"objects={url!r} cannot be used: {error}") from error
