"""Text of ours with words from outside, none of which steers a terminal or turns the text round."""

from __future__ import annotations

import re

from sharc_crawler.report.words import printable

_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  #: not tabs and ends of lines


def steady(text: str) -> str:
    r"""The text with such characters spelled out.

    >>> steady("a\u202eb\x1b[2J\n")
    'a\\u202eb\\x1b[2J\n'
    """
    return _STEERING.sub(lambda found: printable(found[0]), text)
