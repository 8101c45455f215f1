"""Write files whole or not at all, so that they outlast a power failure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Self


def replace_file(path: Path, text: str | bytes) -> None:
    """Write a file whole or not at all; readers never see half of it."""
    with Drafts() as drafts, drafts.open(path) as file:
        file.write(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))


class Drafts:
    """Files that are written together: once all are on disk they replace the old files; after an error none does.

    >>> from tempfile import mkdtemp; from pathlib import Path
    >>> path = Path(mkdtemp()) / "a"
    >>> with Drafts() as drafts:
    ...     with drafts.open(path) as file:
    ...         _ = file.write(b"text")
    ...     path.exists(), drafts.of(path).read_bytes()
    (False, b'text')
    >>> path.read_bytes()
    b'text'
    """

    def __init__(self) -> None:
        self._paths: dict[Path, Path] = {}  # file → its draft

    def __enter__(self) -> Self:
        return self

    def of(self, path: Path) -> Path:
        """The path of a file's draft."""
        return self._paths.get(path) or path.with_name(f".{path.name}.{os.getpid()}")

    @contextmanager
    def open(self, path: Path) -> Iterator[IO[bytes]]:
        """Write one of the files."""
        draft = self._paths[path] = self.of(path)
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def drop(self) -> None:
        """Remove the drafts without replacing anything."""
        for draft in self._paths.values():
            draft.unlink(missing_ok=True)
        self._paths.clear()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        left = list(self._paths.values())
        try:
            for path, draft in self._paths.items() if kind is None else ():
                draft.replace(path)
                left.remove(draft)
        finally:
            for draft in left:
                draft.unlink(missing_ok=True)
