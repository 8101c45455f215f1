"""Checks a server's TLS certificate: trusted, in date, right name. Servers without a valid one are archived, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property
from ipaddress import ip_address
from typing import Any
from weakref import WeakKeyDictionary

from OpenSSL import SSL, crypto
from scrapy.core.downloader import tls
from service_identity import CertificateError, VerificationError
from service_identity.pyopenssl import verify_hostname, verify_ip_address


class TlsTrust:
    """Trusts the system's authorities. Each connection is checked once."""

    def __init__(self) -> None:
        self._found: WeakKeyDictionary[SSL.Connection, str] = WeakKeyDictionary()
        take_unreadable_names()

    @staticmethod
    def options(contexts: Any, name: bytes, port: int) -> Any:
        """What a connection is made with; one that is not verified takes names that cannot be read, too."""
        return contexts.creatorForNetloc(name, port)

    def fault(self, connection: SSL.Connection, host: str) -> str:
        """Why the certificate of a connection is not valid for a host; "": it is valid."""
        found = self._found.get(connection)
        if found is None:
            found = self._found[connection] = "; ".join((*self._untrusted(connection), *_misnamed(connection, host)))
        return found

    @cached_property
    def _context(self) -> SSL.Context:
        """A context that keeps the authorities alive."""
        context = SSL.Context(SSL.TLS_CLIENT_METHOD)
        context.set_default_verify_paths()
        return context

    def _untrusted(self, connection: SSL.Connection) -> Iterator[str]:
        chain = connection.get_peer_cert_chain()
        if not chain:
            yield "none was shown"
            return
        authorities = self._context.get_cert_store()
        assert authorities is not None, "every context has them"
        try:
            crypto.X509StoreContext(authorities, chain[0], chain[1:]).verify_certificate()
        except crypto.X509StoreContextError as error:
            yield str(error)


def _misnamed(connection: SSL.Connection, host: str) -> Iterator[str]:
    try:
        if _is_address(host):
            verify_ip_address(connection, host)
        else:
            verify_hostname(connection, host)
    except (CertificateError, VerificationError, ValueError):
        yield "not issued for this name"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@cache
def take_unreadable_names() -> None:
    """Treat a certificate with unreadable names like one with a wrong name: Scrapy goes on with the latter only."""
    for name in {"verify_hostname", "verify_ip_address", "extract_patterns"} & vars(tls).keys():
        setattr(tls, name, _as_certificate_error(getattr(tls, name)))


def _as_certificate_error(read: Callable[..., Any]) -> Callable[..., Any]:
    def tried(*args: Any) -> Any:
        try:
            return read(*args)
        except ValueError as error:
            raise CertificateError(f"its names cannot be read: {error}") from error

    return tried
