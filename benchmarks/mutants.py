"""How many small faults the tests notice: a sample of mutants, each run against the tests of its room.

    python benchmarks/mutants.py --seed 1 --sample 60 frontier strategies evidence storage

One change a mutant: a comparison, an arithmetic or logical operator, a number, a truth value or a condition is turned
into another, a call whose value nobody takes is left out, a value is not returned. What cannot fail a test is left
alone: annotations, text, log messages, decorators, ``strict`` of a ``zip``, ``None`` in place of ``False``. A mutant is
killed if a test fails, or never ends: of the quick ones, first those that reach its line, then all of its room; where
these all pass, of the others of its room that the default run has.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import resource
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 180  #: of the processor; a mutant that needs more never ends
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip
UNTOUCHED = ("annotation", "returns", "decorator_list")


class Place(NamedTuple):
    """A node that may be mutated, the lines it is on, and what puts another in its place."""

    node: ast.AST
    first: int
    last: int
    put: Callable[[ast.AST], None]


def places(node: ast.AST, first: int = 1, last: int = 1) -> Iterator[Place]:
    """All below a node; an operator is where its expression is, a condition counts to its colon."""
    for name, value in ast.iter_fields(node):
        if name in UNTOUCHED:
            continue
        for at, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _left_alone(child):
                continue
            place = partial(setattr, node, name) if at is None else partial(value.__setitem__, at)
            own = getattr(child, "lineno", first), getattr(child, "end_lineno", last)
            shown = child.test.end_lineno if isinstance(child, ast.If | ast.While) else own[1]
            yield Place(child, own[0], shown or own[1], place)
            yield from places(child, *own)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True
    text = ast.unparse(node) if isinstance(node, ast.Expr | ast.Assign) else ""
    return isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom) or text.startswith(("logger.", "__all__"))


def mutants_of(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be turned into."""
    if type(node) in OTHER:
        yield OTHER[type(node)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) not in ("None", "False"):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(
        node.test, ast.Name | ast.Attribute | ast.Call
    ):
        fields = {**dict(ast.iter_fields(node)), "test": ast.UnaryOp(ast.Not(), node.test)}
        yield type(node)(**fields)


def mutants(file: Path) -> Iterator[dict[str, Any]]:
    """All of a module: where, what it says there, and the whole source."""
    text = file.read_text()
    tree = ast.parse(text)
    for node, first, last, put in list(places(tree)):
        for new in mutants_of(node):
            put(ast.copy_location(new, node))
            source = ast.unparse(ast.fix_missing_locations(tree))
            put(node)
            what = f"{_shown(node)} -> {_shown(new)}"
            yield {
                "line": first,
                "last": last,
                "what": what,
                "text": text.splitlines()[first - 1].strip(),
                "source": source,
            }


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return "if " + ast.unparse(node.test)
    return ast.unparse(node).split("\n")[0][:60] or type(node).__name__


class Reach:
    """Which test reaches which line of the package, and how long each takes."""

    def __init__(self) -> None:
        import coverage

        self.coverage = coverage.Coverage(data_file=None, include=["*/sharc_crawler/*"], config_file=False)
        self.took: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        self.failed += [report.nodeid] if report.failed else []

    def pytest_runtest_logfinish(self) -> None:
        self.coverage.switch_context("")

    def write(self, file: Path) -> None:
        data = self.coverage.get_data()
        reached = {
            str(Path(name).relative_to(Path.cwd())): data.contexts_by_lineno(name) for name in data.measured_files()
        }
        file.write_text(json.dumps({"reached": reached, "took": self.took, "failed": self.failed}))


class Chosen:
    """Only these tests, quickest first."""

    def __init__(self, order: list[str]) -> None:
        self.order = {test: place for place, test in enumerate(order)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((one for one in items if one.nodeid in self.order), key=lambda one: self.order[one.nodeid])


def forked(work: Callable[[], int]) -> int:
    """Its result; negative where it was ended by a signal."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        code = work()
    finally:
        os._exit(code)


def pytest_in(folder: Path, arguments: list[str], *plugins: object) -> int:
    """A run of the folder's tests on the folder's package."""
    import pytest

    os.chdir(folder)
    with Path(os.devnull).open("w") as nothing:
        for stream in (1, 2):
            os.dup2(nothing.fileno(), stream)
    sys.path.insert(0, str(folder))
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments], [*plugins]))


def measure(folder: Path, tests: list[str], found: Path) -> int:
    """Run the quick tests once; all must pass."""
    reach = Reach()
    reach.coverage.start()
    code = pytest_in(folder, ["--quick", *tests], reach)
    reach.coverage.stop()
    reach.write(found)
    return code


def dies(folder: Path, tests: list[str]) -> bool:
    """Does one of the tests fail on the package as it lies in the folder?"""
    if not tests:
        return False
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    sys.dont_write_bytecode = True
    return pytest_in(folder, ["--quick", "-x", *sorted({test.split("::")[0] for test in tests})], Chosen(tests)) != 0


def dies_slowly(folder: Path, room: str) -> bool:
    """Does one of the room's tests fail, of all that the default run has?"""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    sys.dont_write_bytecode = True
    return pytest_in(folder, ["-x", f"tests/{room}"]) != 0


def killed_by(folder: Path, mutant: dict[str, Any], reach: dict[str, Any]) -> str:
    """``"quick"``: by quick tests that reach its line, or others of its room; ``"default"``: by its room's alone."""
    file, took = folder / mutant["file"], reach["took"]
    before, stamp = file.read_text(), file.stat()
    by_line = reach["reached"].get(mutant["file"], {})
    reaching = {
        test for line in range(mutant["line"], mutant["last"] + 1) for test in by_line.get(str(line), ()) if test
    }
    room = mutant["file"].split("/")[1]
    own = {test for test in took if f"/{room}/" in test.split("::")[0]}
    rounds = [reaching & own, (reaching | own) - (reaching & own)]
    file.write_text(mutant["source"])
    try:
        if any(forked(partial(dies, folder, sorted(tests, key=took.__getitem__))) for tests in rounds):
            return "quick"
        return "default" if forked(partial(dies_slowly, folder, room)) else ""
    finally:
        file.write_text(before)
        os.utime(file, (stamp.st_atime, stamp.st_mtime))


def work(folder: Path, sample: list[dict[str, Any]], reach: dict[str, Any], out: Path) -> int:
    """One worker's share, a line a mutant."""
    with out.open("a", buffering=1) as file:
        for mutant in sample:
            kept = {name: value for name, value in mutant.items() if name != "source"}
            file.write(json.dumps({**kept, "killed": killed_by(folder, mutant, reach)}) + "\n")
    return 0


def sampled(folder: Path, rooms: list[str], size: int, seed: int) -> list[dict[str, Any]]:
    """So many mutants of each room, each as likely as any other."""
    chosen = []
    for room in rooms:
        path = folder / "sharc_crawler" / room
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        every = [{"file": str(file.relative_to(folder)), **one} for file in files for one in mutants(file)]
        print(f"{room}: {len(every):,} mutants", flush=True)
        chosen += random.Random(f"{seed} {room}").sample(every, min(size, len(every)))
    random.Random(seed).shuffle(chosen)  # where a run is cut short, what is done is a sample of all rooms
    return chosen


def copy(folder: Path) -> Path:
    """The project as it is in the work tree."""
    ignored = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "captures", ".hypothesis")
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", help="rooms of the package, or modules (strategies/planned.py)")
    parser.add_argument("--tests", nargs="*", default=[], help="folders of tests; all, unless given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=60, help="mutants of a room")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    given = parser.parse_args()
    given.out = given.out.resolve()
    for name in ("hypothesis.strategies", "lxml.html", "scipy.stats"):  # what all tests need is loaded before the forks
        import_module(name)
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        folders = [copy(Path(temporary) / str(job)) for job in range(given.jobs)]
        sample = sampled(folders[0], given.rooms, given.sample, given.seed)
        found = Path(temporary) / "reach.json"
        forked(partial(measure, folders[0], given.tests, found))
        reach = json.loads(found.read_text())
        if reach["failed"]:
            sys.exit(f"without any mutant these fail: {reach['failed']}")
        shares = defaultdict(list)
        for place, mutant in enumerate(sample):
            shares[place % given.jobs].append(mutant)
        children = []
        for job, folder in enumerate(folders):
            if not (child := os.fork()):
                os._exit(work(folder, shares[job], reach, given.out))
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
    return summary(given.out)


def summary(out: Path) -> int:
    """Killed of all, by room; then who survived."""
    done = [json.loads(line) for line in out.read_text().splitlines()]
    for room in sorted({one["file"].split("/")[1] for one in done}):
        own = [one for one in done if one["file"].split("/")[1] == room]
        print(f"{room}: {_told(own)}")
    for one in done:
        if not one["killed"]:
            print(f"{one['file']}:{one['line']}: {one['what']}    | {one['text']}")
    print(_told(done))
    return 0


def _told(done: list[dict[str, Any]]) -> str:
    by = Counter(one["killed"] for one in done)
    return f"{len(done) - by['']} of {len(done)} killed, {by['quick']} of them by quick tests"


if __name__ == "__main__":
    sys.exit(main())
