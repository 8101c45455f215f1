"""The files that a page of the docs shows in full, as they stand there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parents[1] / "docs"
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def files(page: str) -> dict[str, str]:
    """By name."""
    return dict(FILE.findall((DOCS / page).read_text(encoding="utf-8")))


def module(page: str, name: str) -> ModuleType:
    """One of them, as Python imports it."""
    made = ModuleType(name.removesuffix(".py"))
    exec(compile(files(page)[name], f"{page}: {name}", "exec"), made.__dict__)
    return made


def install(page: str, folder: Path) -> None:
    """Put them where Python finds them, with what an installer makes of ``pyproject.toml``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files(page).items():
        (folder / name).write_text(text, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n")
    ((group, points),) = project["entry-points"].items()
    lines = "".join(f"{name} = {where}\n" for name, where in points.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}")
