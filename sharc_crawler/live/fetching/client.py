"""Asks an archive one question at a time: paced, repeated while that can help, never sooner than it wants."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, IgnoreRequest

from sharc_crawler.changes.http import REDIRECTS, classify, target
from sharc_crawler.errors import DataError, SharcError
from sharc_crawler.live.failures.error_texts import plain
from sharc_crawler.live.retry_after import header, retry_after
from sharc_crawler.live.wire.addresses import AddressRefusedError
from sharc_crawler.live.wire.handler import EXCHANGE_KEY
from sharc_crawler.model import Exchange, Result, Seconds
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from scrapy.http import Response

    from sharc_crawler.bucket import TokenBucket
    from sharc_crawler.live.clock import Clock

HOPS = 5  #: redirects followed on the archive's own host


class SilentError(SharcError):
    """There was no usable answer in all attempts; there may be one another day."""


class RefusedError(SharcError):
    """The archive refuses to answer."""


class PostponedError(SharcError):
    """The archive asks for a longer pause than is acceptable."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on asking."""

    #: at one question, 2 where both answers are malformed in the same way; 429 and 503 with Retry-After are not counted
    attempts: int = 4
    back_off: Seconds = 5.0  #: before the second attempt, doubled for each further one
    longest: Seconds = 3600.0  #: longest Retry-After that is waited for
    breaks: int = 20  #: pauses by Retry-After for one question

    @classmethod
    def at(cls, per_minute: float) -> Self:
        """For a steady rate: the first pause is the time of two requests."""
        return cls(back_off=120.0 / per_minute)


@dataclass(frozen=True, slots=True)
class Answer:
    """The final answer to a question."""

    status: int
    body: bytes
    exchanges: tuple[Exchange, ...]  #: redirects, then the answer


class Client:
    """Asks one archive."""

    def __init__(
        self, download: Callable[[Request], Awaitable[Response]], bucket: TokenBucket, clock: Clock, patience: Patience
    ) -> None:
        self._download = download
        self._bucket = bucket
        self._clock = clock
        self._patience = patience
        self.requests = 0

    async def ask(
        self, url: str, check: Callable[[bytes], None] = lambda _: None, longest: int | None = None
    ) -> Answer:
        """The answer that ``check`` accepts (it raises DataError), after redirects.

        ``longest``: bytes of the unpacked answer; None: as the settings say. Raises `SilentError` where there is none,
        `RefusedError` for a longer one, `PostponedError`, and
        :class:`~sharc_crawler.live.wire.addresses.AddressRefusedError`.
        """
        exchanges: list[Exchange] = []
        for _ in range(HOPS + 1):
            response = await self._usable_answer(url, check, longest)
            if response.request is not None:
                exchanges.append(response.request.meta[EXCHANGE_KEY])
            location = target(url, response.headers.get("Location"))
            if response.status not in REDIRECTS or not location:
                break
            url = location
            if urlsplit(url).hostname != urlsplit(response.url).hostname:
                break  # another server's robots.txt was not read
        return Answer(response.status, response.body, tuple(exchanges))

    async def _usable_answer(self, url: str, check: Callable[[bytes], None], longest: int | None) -> Response:
        """The first usable answer."""
        failures, breaks, nonsense = 0, 0, ""
        while True:
            response, reason = await self._attempt(url, check, longest)
            if response is not None and reason is None:
                return response
            wished = retry_after(header(response, "Retry-After"), self._clock.now()) if response is not None else None
            if wished is not None and breaks < self._patience.breaks:
                breaks += 1
                self._pause(url, wished)
                continue
            failures += 1
            repeated = response is not None and response.status == 200 and reason == nonsense
            if repeated or failures >= self._patience.attempts:
                raise SilentError(f"{url}: {reason} ({counted(failures, 'attempt')})")
            nonsense = reason or ""
            self._pause(url, self._patience.back_off * 2.0 ** (failures - 1))

    async def _attempt(
        self, url: str, check: Callable[[bytes], None], longest: int | None
    ) -> tuple[Response | None, str | None]:
        """An answer, and why it is worth another attempt (None: it is not)."""
        while wait := self._bucket.take(self._clock.now()):
            await asyncio.sleep(wait)
        self.requests += 1
        try:
            meta = {"handle_httpstatus_all": True, **({"download_maxsize": longest} if longest else {})}
            response = await self._download(Request(url, dont_filter=True, meta=meta))
        except AddressRefusedError:
            raise
        except (DownloadCancelledError, IgnoreRequest) as error:  # while it is received, or unpacked
            raise _too_long(url, longest) from error
        except Exception as error:  # download handlers raise errors of many kinds
            return None, plain(error)
        if longest and len(response.body) > longest:
            raise _too_long(url, longest)
        return response, _unusable(response, check)

    def _pause(self, url: str, seconds: Seconds) -> None:
        if seconds > self._patience.longest:
            raise PostponedError(f"{url}: the archive asks to come back in {seconds:.0f} s; the same command continues")
        self._bucket.close(self._clock.now() + seconds)


def _too_long(url: str, longest: int | None) -> RefusedError:
    most = f"{longest:,} bytes, unpacked" if longest else "DOWNLOAD_MAXSIZE"
    return RefusedError(f"{url}: the answer is longer than is read ({most})")


def _unusable(response: Response, check: Callable[[bytes], None]) -> str | None:
    """Why an answer is worth another attempt; ``None``: it is not."""
    if classify(response.status, header(response, "Location")) is Result.FAILED:
        return f"status {response.status}"
    if response.status == 200:
        try:
            check(response.body)
        except DataError as error:
            return str(error)
    return None
