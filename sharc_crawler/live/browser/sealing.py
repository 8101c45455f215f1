"""What pages asked for in a session, as it lies on the disk: whoever has the session reads it, and nobody else.

A page's scripts send more secrets than the session's own values (a token that they were given just now), and a crawl
that goes on needs them: they are locked with a key that is made of the session's values, which are on no disk of ours.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken

from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    from sharc_crawler.login import Login

_COST = 1 << 14  #: of the key: tens of milliseconds, once a crawl


class Seal:
    """Encryption by a key that is made of a session's secrets.

    >>> from sharc_crawler.login import Cookie, Login
    >>> seal = Seal(Login((Cookie("sid", "topsecret", "h"),)))
    >>> seal.opened(seal.closed("Bearer abc"))
    'Bearer abc'
    """

    def __init__(self, login: Login) -> None:
        said = "\n".join(login.values).encode()
        key = hashlib.scrypt(said, salt=b"sharc-crawler: answers", n=_COST, r=8, p=1, dklen=32)
        self._lock = Fernet(urlsafe_b64encode(key))

    def closed(self, text: str) -> bytes:
        """Not to be read without the session."""
        return self._lock.encrypt(text.encode())

    def opened(self, data: bytes) -> str:
        """The text; raises :class:`~sharc_crawler.errors.UsageError` where another session closed it."""
        try:
            return self._lock.decrypt(data).decode()
        except InvalidToken:
            raise UsageError(
                "the capture was begun with other values of cookies= or state=, and only with those can it be told what"
                " its pages had asked for: give the same file as before, or another folder as output="
            ) from None
