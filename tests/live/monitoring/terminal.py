"""A terminal with few columns, as far as a line that is rewritten needs one."""

from __future__ import annotations

import re
from io import StringIO

COLUMNS = 20


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def rows(self) -> list[str]:
        """What it shows."""
        rows, column, breaks = [""], 0, True
        for one in re.findall(r"\x1b\[\?7[lh]|\x1b\[2K|\r|\n|[^\x1b]", self.getvalue()):
            if one.startswith("\x1b[?7"):
                breaks = one.endswith("h")
            elif one == "\x1b[2K":
                rows[-1] = " " * column
            elif one == "\r":
                column = 0
            elif one == "\n" or (column == COLUMNS and breaks):
                rows, column = [*rows, "" if one == "\n" else one], int(one != "\n")
            else:
                column = min(column, COLUMNS - 1)
                rows[-1] = rows[-1][:column] + one + rows[-1][column + 1 :]
                column += 1
        return rows
