"""A file system for crash tests: what was not synced may be lost, wholly or from some write on.

    python benchmarks/lossy_fs.py STATE MOUNT      (needs FUSE, the rights to mount, and pip install mfusepy)

One flat folder, kept in memory. A file's content is durable as far as it was synced (fsync, fdatasync), a name (made,
changed or removed) once the folder was. Looking up the name `.crash-SEED` is the power failure: of each file's writes
since its last sync, and of the changes of names since the folder's, a random first part stays (the file as written up
to then, the last write maybe in half); the rest is gone. What stays is written to the folder STATE, and the file system
ends. Mounted again from STATE it holds what a machine would find after the power is back.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import stat
import time
from pathlib import Path
from typing import Any

import mfusepy

CRASH = ".crash-"
BLOCK = 4096
BLOCKS = 1 << 20


class Inode:
    """A file: what was written, what of it is durable, and the writes in between."""

    def __init__(self, durable: bytes = b"") -> None:
        self.now = bytearray(durable)
        self.durable = durable
        self.writes: list[tuple[int, bytes | None]] = []  #: offset and data; None: cut to the offset

    def write(self, offset: int, data: bytes | None) -> None:
        apply(self.now, offset, data)
        self.writes.append((offset, data))

    def sync(self) -> None:
        self.durable = bytes(self.now)
        self.writes.clear()

    def after_crash(self, dice: random.Random) -> bytes:
        content = bytearray(self.durable)
        kept = dice.randint(0, len(self.writes))
        for offset, data in self.writes[:kept]:
            apply(content, offset, data)
        if kept < len(self.writes) and dice.random() < 0.5:
            offset, data = self.writes[kept]
            apply(content, offset, data and data[: dice.randrange(len(data) + 1)])
        return bytes(content)


def apply(content: bytearray, offset: int, data: bytes | None) -> None:
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    if data is None:
        del content[offset:]
    else:
        content[offset : offset + len(data)] = data


class LossyFolder(mfusepy.Operations):
    """Names and files; an operation on names is (name, file), None: removed."""

    use_ns = True

    def __init__(self, state: Path) -> None:
        self.state = state
        self.names = {path.name: Inode(path.read_bytes()) for path in state.iterdir()}
        self.durable = dict(self.names)
        self.changes: list[list[tuple[str, Inode | None]]] = []
        self.handles: dict[int, Inode] = {}

    def _change(self, *changes: tuple[str, Inode | None]) -> None:
        for name, inode in changes:
            if inode is None:
                self.names.pop(name, None)
            else:
                self.names[name] = inode
        self.changes.append(list(changes))

    def _inode(self, path: str, handle: int | None = None) -> Inode:
        inode = self.handles.get(handle or 0) or self.names.get(path[1:])
        if inode is None:
            raise mfusepy.FuseOSError(errno.ENOENT)
        return inode

    def _opened(self, inode: Inode) -> int:
        handle = max(self.handles, default=0) + 1
        self.handles[handle] = inode
        return handle

    def crash(self, seed: str) -> None:
        dice = random.Random(seed)
        names = dict(self.durable)
        for changes in self.changes[: dice.randint(0, len(self.changes))]:
            for name, inode in changes:
                if inode is None:
                    names.pop(name, None)
                else:
                    names[name] = inode
        for path in self.state.iterdir():
            path.unlink()
        for name, inode in names.items():
            (self.state / name).write_bytes(inode.after_crash(dice))
        os._exit(0)

    # -- what the kernel asks ------------------------------------------------------------------------------------

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        if path.startswith(f"/{CRASH}"):
            self.crash(path.removeprefix(f"/{CRASH}"))
        now = time.time_ns()
        times = {"st_atime": now, "st_mtime": now, "st_ctime": now, "st_uid": os.getuid(), "st_gid": os.getgid()}
        if path == "/":
            return {**times, "st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        return {**times, "st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": len(self._inode(path, fh).now)}

    def readdir(self, _: str, __: int) -> list[str]:
        return [".", "..", *self.names]

    def create(self, path: str, _: int, __: Any = None) -> int:
        inode = Inode()
        self._change((path[1:], inode))
        return self._opened(inode)

    def open(self, path: str, _: int) -> int:
        return self._opened(self._inode(path))

    def release(self, _: str, fh: int) -> int:
        self.handles.pop(fh, None)
        return 0

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return bytes(self._inode(path, fh).now[offset : offset + size])

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        self._inode(path, fh).write(offset, data)
        return len(data)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        self._inode(path, fh).write(length, None)
        return 0

    def rename(self, old: str, new: str) -> int:
        self._change((new[1:], self._inode(old)), (old[1:], None))
        return 0

    def unlink(self, path: str) -> int:
        self._inode(path)
        self._change((path[1:], None))
        return 0

    def fsync(self, path: str, _: int, fh: int) -> int:
        self._inode(path, fh).sync()
        return 0

    def fsyncdir(self, _: str, __: int, ___: int) -> int:
        self.durable = dict(self.names)
        self.changes.clear()
        return 0

    def statfs(self, _: str) -> dict[str, int]:
        return {"f_bsize": BLOCK, "f_frsize": BLOCK, "f_blocks": BLOCKS, "f_bfree": BLOCKS, "f_bavail": BLOCKS} | {
            "f_files": BLOCKS,
            "f_ffree": BLOCKS,
            "f_namemax": 255,
        }

    def chmod(self, _: str, __: int) -> int:
        return 0

    def chown(self, _: str, __: int, ___: int) -> int:
        return 0

    def utimens(self, _: str, __: Any = None) -> int:
        return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("state", type=Path)
    parser.add_argument("mount", type=Path)
    args = parser.parse_args()
    mfusepy.FUSE(LossyFolder(args.state), str(args.mount), foreground=True, nothreads=True, fsname="lossy")


if __name__ == "__main__":
    main()
