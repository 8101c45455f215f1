"""Messages about arguments, for somebody who gives settings."""

from __future__ import annotations

import re

from sharc_crawler.options.reading import ARGUMENTS

_GIVEN = re.compile(rf"(?<![\w.-])(?P<name>{'|'.join(name for name, row in ARGUMENTS.items() if row.setting)})=")


def as_settings(text: str) -> str:
    """A message about arguments, for somebody who gives settings.

    >>> as_settings("output='captures' is not writable; give resume=1, or for=2h")
    "SHARC_OUTPUT='captures' is not writable; give SHARC_RESUME=1, or for=2h"
    """
    return _GIVEN.sub(lambda given: f"{ARGUMENTS[given['name']].setting}=", text)
