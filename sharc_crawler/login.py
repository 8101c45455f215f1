"""Log-in sessions: cookies, storage and passwords; URLs that would end the session; masking of secrets.

Cookies are sent by RFC 6265, 5.4, and stay the same during a capture: those set by servers or scripts are ignored, so
that both downloads of a page are made as the same visitor. Cookies that expire during the capture are still sent: their
server knows whether it has renewed the session.
"""

from __future__ import annotations

import json
import logging
import re
import string
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sharc_crawler.errors import MALFORMED, UsageError
from sharc_crawler.instants import second
from sharc_crawler.model import Exchange, Instant
from sharc_crawler.state.spec import CaptureSpec

_FIELDS = 7  #: fields of a line in Netscape's format
_HTTP_ONLY = "#HttpOnly_"
#: request headers with secret values
_SECRET_FIELDS = re.compile(
    rb"(?im)^((?:cookie|authorization|proxy-authorization|x-[a-z-]*(?:token|csrf|xsrf|auth)[a-z-]*):[ \t]*)([^\r\n]+)"
)
_SOON = 7 * 86_400.0  #: seconds: a session that ends so soon may end before the capture
_STATISTICS = re.compile(r"_g[a-z]|__utm|_pk_|_hj|_fb|_cl|__cf|ajs_")  #: beginnings of cookies for statistics
_SHORTEST = 8  #: minimum length of a value to be masked everywhere
_UNRESERVED = frozenset((string.ascii_letters + string.digits + "-._~").encode())  #: characters that are never escaped
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+=-][\w.~+/=-]{19,}", re.ASCII)  #: a token within stored JSON
_IN_URLS = (
    "addresses hold values of the session (a cookie's, or what scripts had stored): WARC records, indexes, crawl.jsonl,"
    " report and certificate name them as they are. End the session before you hand these on"
)
#: words in URLs that end a session: each must be a whole word, or begin with a capital
_LOG_OUT = re.compile(
    r"(?:(?<![A-Za-z])[ls]|[LS])(?:og|ign|OG|IGN)[-_. ]?(?:out|off|Out|Off|OUT|OFF)(?![a-z])"
    r"|(?<![A-Za-z])(?i:abmelden|uitloggen|afmelden|wyloguj|d[eé]connexion|cerrar[-_]?sesi[oó]n|end[-_]?session)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie of the session."""

    name: str
    value: str = field(repr=False)  #: kept out of tracebacks and logs
    domain: str  #: without a leading dot
    path: str = "/"
    subdomains: bool = False  #: also for subdomains
    secure: bool = False  #: over TLS only
    expires: Instant = 0.0  #: 0: with the session
    http_only: bool = False  #: hidden from scripts

    def is_for(self, scheme: str, host: str, path: str, now: Instant) -> bool:
        """Is the cookie sent with such a request?"""
        there = host == self.domain or (self.subdomains and host.endswith(f".{self.domain}"))
        below = path.startswith(self.path) and (self.path.endswith("/") or path[len(self.path) :][:1] in ("", "/"))
        return there and below and (scheme == "https" or not self.secure) and not 0 < self.expires <= now


@dataclass(frozen=True)
class Login:
    """The session of a crawl."""

    cookies: tuple[Cookie, ...] = ()
    storage: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)  #: local storage, by origin
    keeps_secrets: bool = False  #: do not mask secrets in WARC requests
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)  #: ``user:password``, by host
    since: Instant = 0.0  #: cookies that had not expired then are sent

    def headers(self, url: str, now: Instant) -> dict[str, str]:
        """Return the session's headers for a request.

        >>> login = Login((Cookie("a", "1", "h.example", "/x"), Cookie("b", "2", "h.example", secure=True)))
        >>> login.headers("http://h.example/x/y", 0.0), login.headers("https://h.example/", 0.0)
        ({'Cookie': 'a=1'}, {'Cookie': 'b=2'})
        >>> Login(passwords={"h.example": "ann:secret"}).headers("http://h.example/", 0.0)
        {'Authorization': 'Basic YW5uOnNlY3JldA=='}
        """
        found = {"Cookie": self._cookies(url, now)} if self.cookies else {}
        if (password := self.passwords.get((urlsplit(url).hostname or "").rstrip("."))) is not None:
            found["Authorization"] = f"Basic {_basic(password)}"
        return {name: value for name, value in found.items() if value}

    def _cookies(self, url: str, now: Instant) -> str:
        parts = urlsplit(url)
        host, path = (parts.hostname or "").rstrip("."), parts.path or "/"
        own = [cookie for cookie in self.cookies if cookie.is_for(parts.scheme, host, path, now)]
        own.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in own)

    def as_settings(self, urls: Sequence[str], now: Instant) -> dict[str, str]:
        """Return, for the report, why no cookie applies to these URLs, or when the first of them expires."""
        vain, first = self.in_vain(urls, now), self._first_to_end(urls, now)
        return vain or ({"session_ends": second(first.expires)} if first else {})

    def _first_to_end(self, urls: Iterable[str], now: Instant) -> Cookie | None:
        own = (cookie for cookie in self._own(_hosts(urls)) if not _STATISTICS.match(cookie.name))
        return min((cookie for cookie in own if cookie.expires > now), key=lambda cookie: cookie.expires, default=None)

    def _own(self, hosts: Iterable[str]) -> list[Cookie]:
        led_to = {name for host in hosts for name in (host, host.removeprefix("www."), f"www.{host}")}
        return [known for known in self.cookies if any(known.is_for("https", host, known.path, 0.0) for host in led_to)]

    @property
    def living(self) -> list[Cookie]:
        """The cookies that had not expired at the start."""
        return [cookie for cookie in self.cookies if not 0 < cookie.expires <= self.since]

    def in_vain(self, urls: Iterable[str], now: Instant) -> dict[str, str]:
        """Return, for the report, why no request to these URLs' hosts has cookies or passwords; empty if some may.

        >>> Login((Cookie("a", "1", "h.example", expires=9.0),)).in_vain(["http://h.example/"], 10.0)
        {'session_cookies': 'those for h.example had expired'}
        >>> login = Login((Cookie("a", "1", "www.h.example"),))
        >>> login.in_vain(["http://h.example/"], 0.0), login.in_vain(["http://i.example/"], 0.0)
        ({}, {'session_cookies': 'none was for i.example'})
        """
        hosts = _hosts(urls)
        if not self.passwords.keys().isdisjoint(hosts):
            return {}
        own = self._own(hosts)
        stored = any(urlsplit(origin).hostname in hosts for origin in self.storage)
        if stored or any(not 0 < cookie.expires <= now for cookie in own):
            return {}
        named = ", ".join(hosts[:3]) + (" and others" if hosts[3:] else "")
        why = f"those for {named} had expired" if own else f"none was for {named}"
        return {"session_cookies": why}

    def warnings(self, specs: Iterable[CaptureSpec]) -> Iterator[str]:
        """Yield warnings on expired or missing cookies before the first request."""
        for spec in specs:
            if vain := spec.settings.get("session_cookies"):
                yield f"Of the session's cookies, {vain}: {spec.site} is asked for as by anybody. Export them anew"
            first = self._first_to_end(spec.seeds, self.since)
            if first and first.expires < self.since + _SOON:
                yield (
                    f"Of the session's cookies for {spec.site}, {first.name} ends at {second(first.expires)}, perhaps"
                    " before the capture does: what is downloaded after that may be what anybody is shown"
                )

    def redacted(self, request: bytes) -> bytes:
        r"""Mask the secrets of a request, without changing its length.

        >>> login = Login((Cookie("s", "topsecret", "h"),))
        >>> login.redacted(b"POST / HTTP/1.1\r\nCookie: s=topsecret\r\n\r\nx=topsecret")
        b'POST / HTTP/1.1\r\nCookie: ***********\r\n\r\nx=*********'
        """
        if self.keeps_secrets:
            return request
        line, end, rest = request.partition(b"\r\n")
        head, blank, body = rest.partition(b"\r\n\r\n")
        head = _SECRET_FIELDS.sub(lambda found: found[1] + b"*" * len(found[2]), head)
        return line + end + self._masked(head + blank + body)

    @property
    def values(self) -> list[str]:
        """The session's secrets: values of cookies and local storage, and passwords."""
        stored = {value for own in self.storage.values() for value in own.values()}
        passwords = {text for known in self.passwords.values() for text in (_basic(known), known.partition(":")[2])}
        return sorted({cookie.value for cookie in self.cookies} | stored | passwords)

    def note_of(self, url: str) -> str:
        """Return a note on a URL that contains a secret, which is not masked; empty if it contains none.

        >>> Login((Cookie("s", "top/secret", "h"),)).note_of("http://h/?s=top%2Fsecret")[:32]
        'addresses hold values of the ses'
        """
        return _IN_URLS if self.without(url) != url else ""

    def described(self, specs: Sequence[CaptureSpec]) -> str:
        """Describe the session and the treatment of its secrets, for warcinfo records."""
        whose = next((spec.session for spec in specs), "")
        if (vain := [str(spec.settings.get("session_cookies", "")) for spec in specs]) and all(vain):
            whose = f"{whose}, of whose cookies {vain[0]}"
        treated = "kept in requests" if self.keeps_secrets else "masked in requests, but not in addresses"
        return f"{whose}; its secrets are {treated}"

    def guarded(self, exchange: Exchange, add_note: Callable[[str], None] | None) -> Exchange:
        """Return an exchange as archived, with masked secrets; add a note if its URL contains one."""
        if add_note and (note := self.note_of(exchange.url)):
            add_note(note)
        return replace(exchange, request=self.redacted(exchange.request))

    def without(self, text: str) -> str:
        """Mask the secrets in a text, without changing its length."""
        return self._masked(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def _masked(self, data: bytes) -> bytes:
        return self._secrets.sub(lambda found: b"*" * len(found[0]), data)

    @cached_property
    def _secrets(self) -> re.Pattern[bytes]:
        """Expression for secrets in all encodings, the longest first: one may contain another."""
        known = {value for value in self.values if len(value) >= _SHORTEST}
        known |= {token for own in self.storage.values() for text in own.values() for token in _tokens(text)}
        longest = sorted(known, key=len, reverse=True)
        return re.compile(b"|".join(map(_in_any_form, longest)) or b"(?!)")


def _hosts(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((urlsplit(url).hostname or "").rstrip(".") for url in urls))


def _in_any_form(value: str) -> bytes:
    r"""Return a pattern for a value as it is, and as encoded in URLs, forms and JSON.

    >>> forms = b"a/b ==", b"a%2fb+==", rb"a\/b%20%3D=", b"a.b =="
    >>> [bool(re.fullmatch(_in_any_form("a/b =="), form)) for form in forms]
    [True, True, True, False]
    """
    return b"".join(map(_either, value.encode(errors="replace")))


def _either(byte: int) -> bytes:
    plain = re.escape(bytes([byte]))
    if byte in _UNRESERVED:
        return plain
    return rb"(?:\\?%b|%%(?i:%02x)%b)" % (plain, byte, rb"|\+" if byte == ord(" ") else b"")


def _tokens(stored: str) -> Iterator[str]:
    """Yield texts that look like tokens in stored JSON.

    >>> list(_tokens('{"user": "ann", "auth": {"token": "eyJhbGciOiJIUzI1NiJ9.e30"}}')), list(_tokens("dark"))
    (['eyJhbGciOiJIUzI1NiJ9.e30'], [])
    """
    try:
        waiting = [json.loads(stored)]
    except (ValueError, RecursionError):
        return
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and _TOKEN.fullmatch(value):
            yield value
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def is_log_out(url: str) -> bool:
    """Would a request probably end the session, by its URL?

    >>> [is_log_out(f"http://h/{name}") for name in ("logout", "w?title=Special:UserLogout", "a/blog-out", "logoutput")]
    [True, True, False, False]
    """
    return _LOG_OUT.search(unquote(url.partition("://")[2].partition("/")[2])) is not None


def _basic(password: str) -> str:
    """Encode user and password by RFC 7617."""
    return b64encode(password.encode()).decode()


def read_login(
    cookies: str | None, state: str | None, netrc: str | None = None, *, keeps_secrets: bool = False
) -> Login | None:
    """Read the session from these files, or return ``None``; from now on its secrets are masked in logs.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    if cookies is None and state is None and netrc is None:
        return None
    own = read_cookies(cookies) if cookies else ()
    found = read_state(state) if state else Login()
    passwords = read_netrc(netrc) if netrc else {}
    login = Login((*own, *found.cookies), found.storage, keeps_secrets, passwords, time.time())
    _guard_logs(login)
    return login


def _guard_logs(login: Login) -> None:
    """Mask the session's secrets in all log records."""
    made = logging.getLogRecordFactory()

    def make(*given: Any, **more: Any) -> logging.LogRecord:
        record = made(*given, **more)
        with suppress(Exception):  # handlers report invalid messages
            message = record.getMessage()
            if (masked := login.without(message)) != message:
                record.msg, record.args = masked, ()
        return record

    logging.setLogRecordFactory(make)


def read_cookies(file: str) -> tuple[Cookie, ...]:
    """Read cookies in Netscape's format (cookies.txt), as written by browser add-ons and curl.

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    cookies = []
    for number, text in enumerate(_text("cookies", file).splitlines(), 1):
        http_only, text = text.startswith(_HTTP_ONLY), text.removeprefix(_HTTP_ONLY)
        if not text.strip() or text.startswith("#"):
            continue
        fields = text.split("\t")
        if len(fields) != _FIELDS or not re.fullmatch(r"\d+(\.\d+)?", fields[4] or "0"):
            raise UsageError(
                f"cookies={file!r}: line {number} is no cookie in Netscape's format (domain, subdomains, path, secure,"
                " expires, name, value, separated by tabs); export the cookies anew, as cookies.txt"
            )
        domain, subdomains, path, secure, expires, name, value = fields
        bare = domain.lower().removeprefix(".")
        cookies.append(Cookie(name, value, bare, path, _is(subdomains), _is(secure), float(expires or 0), http_only))
    return _not_none(tuple(cookies), f"cookies={file!r}")


def read_netrc(file: str) -> dict[str, str]:
    """Read ``user:password`` by host from a .netrc file (``machine HOST login USER password WORD``).

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    from netrc import NetrcParseError, netrc  # only with passwords

    _text("netrc", file)
    try:
        hosts = netrc(file).hosts
    except NetrcParseError as error:
        raise UsageError(
            f"netrc={file!r}, line {error.lineno}: it is none of machine HOST login USER password WORD"
        ) from error
    if "default" in hosts:
        raise UsageError(f"netrc={file!r} has a default, which would go to every host: name its machine")
    if not hosts:
        raise UsageError(f"netrc={file!r} names no machine: write machine HOST login USER password WORD")
    return {host.lower(): f"{user}:{password}" for host, (user, _, password) in hosts.items()}


def read_state(file: str) -> Login:
    """Read cookies and local storage from Playwright's file (``context.storage_state(path=…)``).

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    try:
        known = json.loads(_text("state", file))
        cookies = tuple(map(_of_state, known.get("cookies", ())))
        storage = {
            origin["origin"]: {str(item["name"]): str(item["value"]) for item in origin["localStorage"]}
            for origin in known.get("origins", ())
        }
    except MALFORMED as error:
        raise UsageError(
            f"state={file!r} is no storage state of Playwright ({type(error).__name__}: {error}); write it anew, by"
            " context.storage_state(path=FILE)"
        ) from error
    return Login(_not_none(cookies, f"state={file!r}") if not storage else cookies, storage)


def _of_state(known: dict[str, Any]) -> Cookie:
    domain = str(known["domain"]).lower()
    return Cookie(
        str(known["name"]),
        str(known["value"]),
        domain.removeprefix("."),
        str(known.get("path") or "/"),
        domain.startswith("."),
        bool(known.get("secure")),
        max(0.0, float(known.get("expires") or 0)),
        bool(known.get("httpOnly")),
    )


def _is(word: str) -> bool:
    return word.upper() == "TRUE"


def _not_none(cookies: tuple[Cookie, ...], given: str) -> tuple[Cookie, ...]:
    if not cookies:
        raise UsageError(f"{given} holds no cookies; export them while you are logged in")
    for cookie in cookies:
        if re.search(r"[\x00-\x20\x7f;]", text := cookie.name + cookie.value) or not text.isascii():
            raise UsageError(
                f"{given}: the cookie {cookie.name!r} has characters that no header may carry; export it anew"
            )
    return cookies


def _text(name: str, file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"{name}={file!r} cannot be read: {why}") from error
