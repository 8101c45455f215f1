"""A session that an archive is entitled to: cookies, storage, passwords, and what must not end it or get out.

Cookies are sent to whom they are meant for (RFC 6265, 5.4), the same all through a capture: what servers or scripts set
is not taken on, so that both downloads of a page are made as the same visitor. For that, those that end meanwhile are
sent on: their server, which renews them with each answer or not, knows whether the session goes on.
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

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.instants import second
from sharc_crawler.model import Exchange, Instant

_FIELDS = 7  #: of a line of Netscape's format
_HTTP_ONLY = "#HttpOnly_"
#: header fields of a request whose values are nobody else's business
_SECRET_FIELDS = re.compile(
    rb"(?im)^((?:cookie|authorization|proxy-authorization|x-[a-z-]*(?:token|csrf|xsrf|auth)[a-z-]*):[ \t]*)([^\r\n]+)"
)
_SOON = 7 * 86_400.0  #: seconds: a session that ends so soon may end before a capture does
_STATISTICS = re.compile(r"_g[a-z]|__utm|_pk_|_hj|_fb|_cl|__cf|ajs_")  #: cookies that no session needs begin so
_SHORTEST = 8  #: characters of a value that is taken for a secret wherever it stands
_UNRESERVED = frozenset((string.ascii_letters + string.digits + "-._~").encode())  #: nobody writes these otherwise
_TOKEN = re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w.~+=-][\w.~+/=-]{19,}", re.ASCII)  #: so is one within stored JSON
_IN_URLS = (
    "addresses hold values of the session (a cookie's, or what scripts had stored): WARC records, indexes, crawl.jsonl,"
    " report and certificate name them as they are. End the session before you hand these on"
)
#: words of addresses that end a session: each begins where a word does, or with a capital, and ends with its word
_LOG_OUT = re.compile(
    r"(?:(?<![A-Za-z])[ls]|[LS])(?:og|ign|OG|IGN)[-_. ]?(?:out|off|Out|Off|OUT|OFF)(?![a-z])"
    r"|(?<![A-Za-z])(?i:abmelden|uitloggen|afmelden|wyloguj|d[eé]connexion|cerrar[-_]?sesi[oó]n|end[-_]?session)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Cookie:
    """A cookie of a session."""

    name: str
    value: str = field(repr=False)  #: no traceback and no log has it
    domain: str  #: without a leading dot
    path: str = "/"
    subdomains: bool = False  #: is it for those, too?
    secure: bool = False  #: over TLS alone
    expires: Instant = 0.0  #: 0: with the session
    http_only: bool = False  #: scripts do not see it

    def is_for(self, scheme: str, host: str, path: str, now: Instant) -> bool:
        """Whether the cookie is sent with such a request."""
        there = host == self.domain or (self.subdomains and host.endswith(f".{self.domain}"))
        below = path.startswith(self.path) and (self.path.endswith("/") or path[len(self.path) :][:1] in ("", "/"))
        return there and below and (scheme == "https" or not self.secure) and not 0 < self.expires <= now


@dataclass(frozen=True)
class Login:
    """Whose requests a crawl makes."""

    cookies: tuple[Cookie, ...] = ()
    storage: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)  #: scripts' own, by origin
    keeps_secrets: bool = False  #: in WARC requests
    passwords: Mapping[str, str] = field(default_factory=dict, repr=False)  #: ``user:password``, by host
    since: Instant = 0.0  #: what had not expired then is sent

    def headers(self, url: str, now: Instant) -> dict[str, str]:
        """What a request for a URL carries of it.

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
        own = [one for one in self.cookies if one.is_for(parts.scheme, host, path, now)]
        return "; ".join(f"{one.name}={one.value}" for one in sorted(own, key=lambda one: -len(one.path)))

    def as_settings(self, urls: Sequence[str], now: Instant) -> dict[str, str]:
        """What a report must know of the cookies for these URLs: they are in vain, or when the first of them ends."""
        vain, first = self.in_vain(urls, now), self._first_to_end(urls, now)
        return vain or ({"session_ends": second(first.expires)} if first else {})

    def _first_to_end(self, urls: Iterable[str], now: Instant) -> Cookie | None:
        found = [one for one in self._own(_hosts(urls)) if one.expires > now and not _STATISTICS.match(one.name)]
        return min(found, key=lambda one: one.expires, default=None)

    def _own(self, hosts: Iterable[str]) -> list[Cookie]:
        led_to = {name for host in hosts for name in (host, host.removeprefix("www."), f"www.{host}")}
        return [one for one in self.cookies if any(one.is_for("https", host, one.path, 0.0) for host in led_to)]

    @property
    def living(self) -> list[Cookie]:
        """The cookies that are sent."""
        return [one for one in self.cookies if not 0 < one.expires <= self.since]

    def in_vain(self, urls: Iterable[str], now: Instant) -> dict[str, str]:
        """Why no request for the hosts of these URLs will carry any of it, as a report's setting; empty: some may.

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
        if any(not 0 < one.expires <= now for one in own) or any(
            urlsplit(one).hostname in hosts for one in self.storage
        ):
            return {}
        named = ", ".join(hosts[:3]) + (" and others" if hosts[3:] else "")
        why = f"those for {named} had expired" if own else f"none was for {named}"
        return {"session_cookies": why}

    def warnings(self, specs: Iterable[CaptureSpec]) -> Iterator[str]:
        """What to say of that before the first request."""
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
        r"""A request without its secrets, as long as it was.

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
        """The secrets of the session: values of its cookies, what scripts had stored, passwords."""
        stored = {value for own in self.storage.values() for value in own.values()}
        passwords = {text for one in self.passwords.values() for text in (_basic(one), one.partition(":")[2])}
        return sorted({one.value for one in self.cookies} | stored | passwords)

    def note_of(self, url: str) -> str:
        """What a reader must know of an address that holds one: it is a record's name, and stays. Empty: it does not.

        >>> Login((Cookie("s", "top/secret", "h"),)).note_of("http://h/?s=top%2Fsecret")[:32]
        'addresses hold values of the ses'
        """
        return _IN_URLS if self.without(url) != url else ""

    def described(self, specs: Sequence[CaptureSpec]) -> str:
        """Whose requests are in the WARC files, and what becomes of its secrets, as warcinfo says it."""
        whose = next((spec.session for spec in specs), "")
        if (vain := [str(spec.settings.get("session_cookies", "")) for spec in specs]) and all(vain):
            whose = f"{whose}, of whose cookies {vain[0]}"
        treated = "kept in requests" if self.keeps_secrets else "masked in requests, but not in addresses"
        return f"{whose}; its secrets are {treated}"

    def guarded(self, exchange: Exchange, told: Callable[[str], None] | None) -> Exchange:
        """An exchange as it is archived; ``told`` is given what a reader must know of its address."""
        if told and (note := self.note_of(exchange.url)):
            told(note)
        return replace(exchange, request=self.redacted(exchange.request))

    def without(self, text: str) -> str:
        """A text without them, as long as it was."""
        return self._masked(text.encode(errors="surrogatepass")).decode(errors="surrogatepass")

    def _masked(self, data: bytes) -> bytes:
        return self._secrets.sub(lambda found: b"*" * len(found[0]), data)

    @cached_property
    def _secrets(self) -> re.Pattern[bytes]:
        """Values in whatever form, the longest first: one may hold another."""
        known = {value for value in self.values if len(value) >= _SHORTEST}
        known |= {token for own in self.storage.values() for text in own.values() for token in _tokens(text)}
        longest = sorted(known, key=len, reverse=True)
        return re.compile(b"|".join(map(_in_any_form, longest)) or b"(?!)")


def _hosts(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((urlsplit(url).hostname or "").rstrip(".") for url in urls))


def _in_any_form(value: str) -> bytes:
    r"""A pattern of a value as it is, and as addresses, forms and JSON have it.

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
    """What looks like a token in JSON that scripts had stored.

    >>> list(_tokens('{"user": "ann", "auth": {"token": "eyJhbGciOiJIUzI1NiJ9.e30"}}')), list(_tokens("dark"))
    (['eyJhbGciOiJIUzI1NiJ9.e30'], [])
    """
    try:
        waiting = [json.loads(stored)]
    except (ValueError, RecursionError):
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and _TOKEN.fullmatch(one):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def is_log_out(url: str) -> bool:
    """Would a request for it end a session, by its name?

    >>> [is_log_out(f"http://h/{name}") for name in ("logout", "w?title=Special:UserLogout", "a/blog-out", "logoutput")]
    [True, True, False, False]
    """
    return _LOG_OUT.search(unquote(url.partition("://")[2].partition("/")[2])) is not None


def _basic(password: str) -> str:
    """User and password as RFC 7617 has them."""
    return b64encode(password.encode()).decode()


def read_login(
    cookies: str | None, state: str | None, netrc: str | None = None, *, keeps_secrets: bool = False
) -> Login | None:
    """The login of these files; ``None``: there is none. What is logged from now on has none of its secrets.

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
    """Whoever handles them: each record is made without its secrets."""
    made = logging.getLogRecordFactory()

    def make(*given: Any, **more: Any) -> logging.LogRecord:
        record = made(*given, **more)
        with suppress(Exception):  # what cannot be said is its handler's to tell
            said = record.getMessage()
            if (masked := login.without(said)) != said:
                record.msg, record.args = masked, ()
        return record

    logging.setLogRecordFactory(make)


def read_cookies(file: str) -> tuple[Cookie, ...]:
    """Cookies of a file as Netscape's browser kept them (cookies.txt); browsers' add-ons and curl write it.

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
    """``user:password`` by host, of a file as curl, wget and ftp read it (``machine HOST login USER password WORD``).

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    from netrc import NetrcParseError, netrc  # only where there are passwords

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
    """Cookies and local storage as Playwright keeps them (``context.storage_state(path=…)``).

    Raises :class:`~sharc_crawler.errors.UsageError`.
    """
    try:
        known = json.loads(_text("state", file))
        cookies = tuple(map(_of_state, known.get("cookies", ())))
        storage = {
            one["origin"]: {str(item["name"]): str(item["value"]) for item in one["localStorage"]}
            for one in known.get("origins", ())
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
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
    for one in cookies:
        if re.search(r"[\x00-\x20\x7f;]", one.name + one.value) or not (one.name + one.value).isascii():
            raise UsageError(
                f"{given}: the cookie {one.name!r} has characters that no header may carry; export it anew"
            )
    return cookies


def _text(name: str, file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"{name}={file!r} cannot be read: {why}") from error
