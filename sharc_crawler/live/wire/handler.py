"""A download handler that keeps the bytes of each exchange, and connects only to allowed addresses.

Scrapy hands on re-ordered headers and de-chunked bodies: enough for scraping, not for an archive, which needs what was
on the wire (without TLS). A capture's spider uses our client (`client.py`). For a project's own spider, and for
proxies, the connections of Scrapy's HTTP/1.1 handler are listened to (`listening.py`).

The add-on sets it for both schemes, as ``DOWNLOAD_HANDLERS`` would.

Through a proxy (``request.meta["proxy"]``) the bytes are those exchanged with the proxy, without its credentials. The
proxy resolves names, so it must refuse private addresses itself. A name that our own look-up finds to be private is
refused here; one that it does not find goes to the proxy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, exceptions
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.interfaces import IConnector, IReactorPluggableNameResolver
from zope.interface import implementer  # type: ignore[import-untyped]

from sharc_crawler.archive.open_files import RESERVE, limit
from sharc_crawler.bodies.spool import Spool
from sharc_crawler.changes.http import parse_response
from sharc_crawler.live.clock import clock_of
from sharc_crawler.live.private import contexts, refuse_nameless_certificates
from sharc_crawler.live.reading.memory import memory_of
from sharc_crawler.live.requests import META_KEY
from sharc_crawler.live.setup.operator import DEFAULT_PORTS
from sharc_crawler.live.wire.addresses import SETTING, AddressRules, Target
from sharc_crawler.live.wire.client import WireClient, WireRequest, request_bytes
from sharc_crawler.live.wire.tap import Tap
from sharc_crawler.model import Exchange, Kind

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sharc_crawler.live.wire.proxied import ProxyRules
    from sharc_crawler.live.wire.tls_trust import TlsTrust

WITHHELD_KEY = "sharc_withheld"  #: in ``meta``: the request was not sent
EXCHANGE_KEY = "sharc_exchange"  #: in ``request.meta``: the `Exchange`, set whether the download succeeded or failed
#: bytes on the wire for kinds with a bound of their own: twice what is read of a robots.txt, as it may be compressed;
#: the protocol's maximum for a sitemap
MOST = {Kind.ROBOTS: 1 << 20, Kind.SITEMAP: 50 << 20}
CONNECT_TIMEOUT = 10.0  #: seconds, as in Scrapy's handler, for requests without download_timeout


def target_of(request: Request) -> Target:
    """The target of a request, and its site capture."""
    parts = urlparse_cached(request)
    fetch = request.meta.get(META_KEY)
    return Target(parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme, 0), fetch.site if fetch else "")


def _most(request: Request) -> int | None:
    return MOST.get(request.meta[META_KEY].kind) if META_KEY in request.meta else None


@lru_cache(maxsize=1024)
def _is_name(host: str) -> bool:
    """Can the name be looked up? For one that cannot, Twisted would wait for ever."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


class WireTapHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler that leaves an `Exchange` in ``request.meta["sharc_exchange"]``, also on failure."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        refuse_nameless_certificates()
        self._contexts: Any = contexts(self)
        openings = getattr(crawler.spider, "openings", None)
        self._rules = AddressRules.of(crawler.settings.getlist(SETTING), openings() if openings else ())
        self._bind = crawler.settings.get("DOWNLOAD_BIND_ADDRESS")
        self._clock = clock_of(crawler).now
        self._memory = memory_of(crawler)
        self._may_send = getattr(crawler.spider, "may_send", lambda _: True)
        self._reads_for_itself = not hasattr(crawler.spider, "capture_specs")
        self._maxsize = crawler.settings.getint("DOWNLOAD_MAXSIZE")
        self._fails_by_loss = crawler.settings.getbool("DOWNLOAD_FAIL_ON_DATALOSS")
        self._most_open = min(2_000, (limit() - RESERVE) // 2)  # stores need the other half
        self._client = WireClient(crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"), self._most_open)

    @cached_property
    def _trust(self) -> TlsTrust:
        from sharc_crawler.live.wire.tls_trust import TlsTrust  # only for TLS

        return TlsTrust()

    @cached_property
    def _listen(self) -> Callable[..., None]:
        from sharc_crawler.live.wire.listening import listened  # only with a proxy

        return listened(self, self._most_open)

    @cached_property
    def _proxy_rules(self) -> ProxyRules:
        from sharc_crawler.live.wire.proxied import ProxyRules  # only if there is a proxy

        return ProxyRules(self._rules)

    async def download_request(self, request: Request) -> Response:
        """Download; raises what Scrapy's handler raises, and `AddressRefusedError`."""
        tap = Tap(self._clock, self._memory, partial(self._may_send, request), request.url)
        request.meta.pop(EXCHANGE_KEY, None)
        try:
            target = await self._check(request)
            if self._reads_for_itself or request.meta.get("proxy"):
                response = await self._read_by_scrapy(request, tap)
                cut = next((_FLAGS[flag] for flag in response.flags if flag in _FLAGS), None)
            else:
                response, cut = None, await self._ask(request, tap, target)
        except Exception as error:
            if tap.withheld:
                request.meta[WITHHELD_KEY] = True
                raise
            from sharc_crawler.live.failures.error_texts import inner, truncation  # only after an error

            problem = f"{type(error).__name__}: {inner(error)}"
            request.meta[EXCHANGE_KEY] = _exchange(request, tap, truncation(error, tap), problem)
            raise
        untrusted = self._trust.fault(tap.tls, urlparse_cached(request).hostname or "") if tap.tls else ""
        cut = "length" if tap.enough else cut
        exchange = request.meta[EXCHANGE_KEY] = _exchange(request, tap, cut, untrusted=untrusted)
        return response or _response(exchange)

    async def _read_by_scrapy(self, request: Request, tap: Tap) -> Response:
        """Download with Scrapy's client, which streams to a project's spider and knows proxies."""
        self._listen(tap, partial(self._endpoint, request), whole=self._reads_for_itself, most=_most(request))
        return await super().download_request(request)

    async def _ask(self, request: Request, tap: Tap, target: Target) -> str | None:
        """Download with our client; returns why the answer is incomplete, if a part is accepted."""
        scheme, meta = urlparse_cached(request).scheme, request.meta
        if scheme not in DEFAULT_PORTS:
            raise exceptions.UnsupportedURLSchemeError(scheme)
        key = scheme, target.host, target.port
        maxsize = meta.get("download_maxsize", self._maxsize)
        name = f"[{key[1]}]" if ":" in key[1] else key[1]
        data = request_bytes(request, name if key[2] == DEFAULT_PORTS[key[0]] else f"{name}:{key[2]}")
        patience = meta.get("download_timeout") or CONNECT_TIMEOUT
        asked = WireRequest(tap, request.method.encode(), data, patience, maxsize, _most(request) or 0)
        try:
            await self._client.ask(asked, key, partial(self._endpoint, request, key, None))
        except exceptions.ResponseDataLossError:
            if meta.get("download_fail_on_dataloss", self._fails_by_loss):
                raise
            return "disconnect"
        return None

    async def close(self) -> None:
        """Scrapy is done with it."""
        self._client.close()
        await super().close()

    async def _check(self, request: Request) -> Target:
        """Check the target before anything else, as a connection may be reused by another site."""
        target = target_of(request)
        self._rules.check_literal(target)
        if not _is_name(target.host):
            if not request.meta.get("proxy"):
                raise exceptions.CannotResolveHostError(f"{target.host!r} is no host's name")
        elif request.meta.get("proxy"):
            await self._proxy_rules.check(target)
        return target

    def _endpoint(self, request: Request, key: tuple[Any, ...], given: Any) -> Any:
        """An endpoint like Twisted's agent makes, which connects to allowed addresses only."""
        from twisted.internet import reactor

        if request.meta.get("proxy"):
            return given
        scheme, host, port = key[:3]
        timeout = request.meta.get("download_timeout") or CONNECT_TIMEOUT
        bind = request.meta.get("bindaddress") or self._bind
        guarded = GuardedReactor(reactor, self._rules, target_of(request))
        own = (bind, 0) if isinstance(bind, str) else bind
        name = host if isinstance(host, str) else host.decode("ascii")
        endpoint: Any = HostnameEndpoint(guarded, name, port, timeout, own)
        if scheme in (b"http", "http"):
            return endpoint
        return wrapClientTLS(self._trust.options(self._contexts, name.encode(), port), endpoint)


def _response(exchange: Exchange) -> Response:
    """The response for Scrapy's components; a large body stays on disk."""
    message = parse_response(exchange.response)
    if message is None:
        raise exceptions.DownloadFailedError("no answer that the archive can read")
    headers = Headers()
    for name, value in message.headers:  # in Scrapy's own form
        dict.setdefault(headers, name.title(), []).append(value)
    body = b"" if isinstance(exchange.response, Spool) else bytes(message.payload)
    said, coding = (dict.get(headers, name) for name in (b"Content-Type", b"Content-Encoding"))
    kind = _kind(said[-1]) if said and not coding else Response
    if kind is Response:
        kind = responsetypes.from_args(headers=headers, url=exchange.url, body=body)
    response = kind(exchange.url, status=message.status, body=body)
    response.headers = headers
    return response


_kind = lru_cache(maxsize=256)(responsetypes.from_content_type)  #: of a ``Content-Type``


#: Scrapy's flags for responses that it accepts though they are incomplete
_FLAGS = {"dataloss": "disconnect", "download_stopped": "unspecified"}


def _exchange(
    request: Request, tap: Tap, truncated: str | None, error: str | None = None, untrusted: str = ""
) -> Exchange:
    kept, normalised = b"".join(tap.sent), ""
    if proxied := bool(request.meta.get("proxy")):
        from sharc_crawler.live.wire.proxied import without_credentials  # only if there is one

        kept, normalised = without_credentials(kept)
    return Exchange(
        url=request.url.partition("#")[0],
        started=tap.started,
        ended=tap.clock(),
        request=kept,
        response=tap.response(),
        ip=None if proxied else tap.peer,
        truncated=truncated,
        normalised=normalised,
        error=error,
        surplus=tap.surplus,
        untrusted=untrusted,
        sent=tap.left,
        before=tap.before,
    )


# -- the rules for addresses, applied where a connection is made -------------------------------------------------------


@implementer(IReactorPluggableNameResolver)
class GuardedReactor:
    """A reactor that refuses connections to forbidden addresses, and is otherwise the given one.

    Endpoints resolve a name, then connect to one of its addresses through ``connectTCP``. The check is made there, so
    no second look-up can slip in (DNS rebinding), and of several addresses only the forbidden ones are left out.
    """

    def __init__(self, reactor: Any, rules: AddressRules, target: Target) -> None:
        self._reactor, self._rules, self._target = reactor, rules, target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def connectTCP(self, host: str, *args: Any, **kwargs: Any) -> IConnector:  # noqa: N802 - Twisted's name
        """Connect, unless the address is refused."""
        self._rules.check(self._target, host)
        return self._reactor.connectTCP(host, *args, **kwargs)  # type: ignore[no-any-return]
