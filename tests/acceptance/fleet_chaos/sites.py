"""Living sites, one a loopback or test address, with one access log of what each was asked, by whom, and what it said.

Each answer bears its number in that log, so that a record in a WARC file can be found there.

    python sites.py LOG PAGES SEED ADDRESS:PORT…
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from sharc_crawler.demo.server import BadRequestError, encode, parse_head
from sharc_crawler.demo.site import LivingSite

NUMBER = "X-Number"


def living_site(seed: int, place: int, pages: int) -> LivingSite:
    """The site at a place of the list; whoever makes it again knows when its pages changed."""
    return LivingSite(seed=seed + place, pages=pages, scale=9000.0, slow=0.0)


class Sites:
    def __init__(self, log: Path, pages: int, seed: int) -> None:
        self._log = log.open("a", buffering=1)
        self._pages, self._seed, self._number = pages, seed, 0

    async def listen(self, address: str, port: int, place: int) -> asyncio.Server:
        site, name = living_site(self._seed, place, self._pages), f"{address}:{port}"

        async def connected(reader, writer):
            try:
                while await self._exchange(site, name, reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError):
                pass  # a worker was killed, or cut off
            except BadRequestError as error:
                self._log.write(json.dumps({"fault": f"{name}: {error}"}) + "\n")
            finally:
                writer.close()

        return await asyncio.start_server(connected, address, port)

    async def _exchange(self, site, name, reader, writer):
        method, target, _, headers = parse_head(await reader.readuntil(b"\r\n\r\n"))
        now = time.time()
        answer = site.respond(method, target, headers, now)
        self._number += 1
        row = {
            "number": self._number,
            "time": now,
            "site": name,
            "peer": writer.get_extra_info("peername")[0],
            "target": target,
            "status": answer.status,
        }
        self._log.write(json.dumps(row) + "\n")
        answer = replace(answer, headers=(*answer.headers, (NUMBER, str(self._number))))
        await asyncio.sleep(answer.delay)
        writer.write(encode(answer, keep=True))
        await writer.drain()
        return True


async def main(log: str, pages: str, seed: str, *places: str) -> None:
    sites = Sites(Path(log), int(pages), int(seed))
    for place, one in enumerate(places):
        address, _, port = one.rpartition(":")
        await sites.listen(address, int(port), place)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
