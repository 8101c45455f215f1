"""Text from outside, for terminals."""

from __future__ import annotations

from rich.text import Text

from sharc_crawler.report.words import printable


def foreign(text: str, style: str = "") -> Text:
    """Text from outside for a table or a line: it steers neither the terminal nor the markup."""
    return Text(printable(text), style)
