"""A name means one thing, wherever it is read."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import sharc_crawler

PACKAGE = Path(sharc_crawler.__file__).parent
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)


def test_a_class_name_occurs_once_in_the_package():
    names = Counter(name for path in PACKAGE.rglob("*.py") for name in CLASS.findall(path.read_text("utf-8")))
    assert len(names) > 400, "the package was found"
    assert [name for name, times in names.items() if times > 1] == []
