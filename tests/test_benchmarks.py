"""Benchmarks and examples are run by hand: what they take from the package must still be there."""

from __future__ import annotations

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [path for room in ("benchmarks", "examples") for path in sorted((ROOT / room).rglob("*.py"))]


def is_there(module: str, name: str) -> bool:
    """Has the module such a name, or the package such a module?"""
    found = import_module(module)
    return hasattr(found, name) or (hasattr(found, "__path__") and find_spec(f"{module}.{name}") is not None)


@pytest.mark.slow
def test_what_benchmarks_and_examples_import_is_there():
    lost = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (module := node.module or "").startswith("sharc_crawler"):
                lost += [f"{path.name}: {module}.{one.name}" for one in node.names if not is_there(module, one.name)]
    assert lost == []
