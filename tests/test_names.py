"""A name means one thing, wherever it is read."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import sharc_crawler

PACKAGE = Path(sharc_crawler.__file__).parent


def test_a_class_name_occurs_once_in_the_package():
    trees = [ast.parse(path.read_bytes()) for path in PACKAGE.rglob("*.py")]
    names = Counter(
        node.name for tree in trees for node in ast.iter_child_nodes(tree) if isinstance(node, ast.ClassDef)
    )
    assert len(names) > 400, "the package was found"
    assert [name for name, times in names.items() if times > 1] == []
