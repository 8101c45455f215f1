"""When requests arrive, by the kernel's own stamp: sites' own log is as late as their process on a busy machine.

    python wire.py LOG PORT

Listens to all of its network namespace (root), and writes a line for each request to a port: when, whose, by whom.
"""

from __future__ import annotations

import ctypes
import json
import socket
import struct
import sys
from pathlib import Path

SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS, IPV4 = 26, 33, 35, 0x0800
METHODS = (b"GET ", b"HEAD ", b"POST ")
ROOM = 1 << 24  #: bytes that wait to be read


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def requests_to(port: int) -> bytes:
    """A program for the kernel: of IP packets, those to a port of TCP."""
    steps = (
        (0x30, 0, 0, 9),  # the protocol
        (0x15, 0, 4, socket.IPPROTO_TCP),
        (0xB1, 0, 0, 0),  # how long the IP header is
        (0x48, 0, 0, 2),  # to which port
        (0x15, 0, 1, port),
        (0x06, 0, 0, 0xFFFF),
        (0x06, 0, 0, 0),
    )
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def listening(port: int) -> socket.socket:
    """A socket that gets what is sent to a port on any device."""
    found = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(IPV4))
    program = requests_to(port)
    code = ctypes.create_string_buffer(program, len(program))
    found.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, bytes(_Filter(len(program) // 8, ctypes.addressof(code))))
    found.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    found.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return found


def listen(log: Path, port: int) -> None:
    """Until it is killed. What TCP sends again counts once."""
    seen: set[tuple[bytes, int, int]] = set()
    with listening(port) as packets, log.open("a", buffering=1) as file:
        print("ready", flush=True)
        while True:
            packet, (stamp, *_), _, _ = packets.recvmsg(65_536, 1_024)
            tcp = packet[4 * (packet[0] & 15) :]
            own, to, sequence = struct.unpack("!HHI", tcp[:8])
            body = tcp[4 * (tcp[12] >> 4) :]
            if to == port and body.startswith(METHODS) and (packet[12:20], own, sequence) not in seen:
                seen.add((packet[12:20], own, sequence))
                seconds, rest = struct.unpack("qq", stamp[2][:16])
                site, peer = (socket.inet_ntoa(packet[at : at + 4]) for at in (16, 12))
                target = body.split(b" ", 2)[1].decode("ascii", "replace")
                row = {"time": seconds + rest / 1e9, "site": f"{site}:{port}", "peer": peer, "target": target}
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    listen(Path(sys.argv[1]), int(sys.argv[2]))
