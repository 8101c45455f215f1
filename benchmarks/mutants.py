"""How many small faults the tests notice: a sample of mutants, each run against the tests that reach its line.

    python benchmarks/mutants.py --seed 1 --sample 30 --slow frontier strategies evidence storage

The tests are those of the rooms and the examples in their modules: the quick ones, with ``--slow`` then the others of a
default run. What code a test runs in another process is not mutated there.

One change a mutant: a comparison, an arithmetic or logical operator, a number, a truth value or a condition is turned
into another, a call whose value nobody takes is left out, a value is not returned. What cannot fail a test is left
alone: annotations, text, log messages, decorators, ``strict`` of a ``zip``, ``None`` in place of ``False``. A mutant is
killed if a test fails, or takes many times as long.

The tests are collected once and run once, so that it is known which of them reach a line (by coverage.py, which is no
dependency of ours: ``pip install coverage``). Each mutant is then a fork of that process: its function is given the
mutated code, and the tests that reach it run, quickest first. What is no function's (constants, defaults, fields) is
mutated in a copy of the project, and run by a process of its own against the tests that reach its module.

A mutant that nobody can tell from the program (a cache's bound, how soon a table grows) is listed with its reason in
``mutants_equivalent.yaml``, by its line's text without the comment. It is not run, and does not count. One that a test
could tell is not listed, even if none does.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from contextlib import contextmanager
from functools import cache, partial
from importlib import import_module
from inspect import CO_OPTIMIZED
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from hypothesis import HealthCheck, settings
from scipy.stats import binomtest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[1]
TIMES, SECONDS = (
    5,
    20,
)  #: a mutant that takes so many times the processor time of its tests, and so much more, never ends
PYTEST = ["-q", "-p", "no:cacheprovider", "-s", "--timeout=300"]
EQUIVALENT = Path(__file__).with_name("mutants_equivalent.yaml")
QUICK, SLOW, EQUAL, SURVIVED = "killed by quick tests", "killed by slow tests", "equivalent", "survived"
CACHE = type(cache(int))
SERVES = {"socket.bind", "subprocess.Popen"}  #: what a quick test does not do
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.Break: ast.Continue, ast.Continue: ast.Break,
}  # fmt: skip
UNTOUCHED = ("annotation", "returns", "decorator_list")


Swapped = list[tuple[FunctionType, CodeType]]  #: the functions that get other code, and it


class Place(NamedTuple):
    """A node that may be mutated, the lines it is on, and what puts another in its place."""

    node: ast.AST
    first: int
    last: int
    put: Callable[[ast.AST], None]
    of: ast.AST  #: what it is a part of


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
            yield Place(child, own[0], shown or own[1], place, node)
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


KEY = ("file", "text", "what")  #: of a mutant that is listed


class Mutant(NamedTuple):
    """A node of a module, and what it is turned into."""

    file: str  #: from the project's folder
    tree: ast.Module
    place: Place
    new: ast.AST

    @contextmanager
    def made(self) -> Iterator[ast.Module]:
        """The module's tree with the mutant in it."""
        self.place.put(ast.copy_location(self.new, self.place.node))
        try:
            yield ast.fix_missing_locations(self.tree)
        finally:
            self.place.put(self.place.node)

    def told(self) -> dict[str, Any]:
        """Where it is, what it changes, and what the line says, but for its comment."""
        text = (ROOT / self.file).read_text().splitlines()[self.place.first - 1].partition("  #")[0].strip()
        what = f"{_shown(self.place.node)} -> {_shown(self.new)}"
        if isinstance(self.place.node, ast.operator | ast.cmpop | ast.boolop):  # there may be several on a line
            what += f" in {_shown(self.place.of)}"
        return {"file": self.file, "line": self.place.first, "what": what, "text": text}


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        return "if " + ast.unparse(node.test)
    return ast.unparse(node).split("\n")[0][:100] or type(node).__name__


def modules(rooms: list[str]) -> dict[str, list[Path]]:
    """The modules of each room; a room may be one module."""
    found = {}
    for room in rooms:
        path = ROOT / "sharc_crawler" / room
        found[room] = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return found


def changed_since(commit: str) -> set[tuple[str, int]]:
    """The lines that a commit did not have: file and number. A line that only moved with its file is no other."""
    command = ["git", "diff", "--unified=0", "--find-renames", commit, "--", "sharc_crawler"]
    lines, file = set(), ""
    for line in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            lines |= {(file, int(hunk[1]) + more) for more in range(int(hunk[2] or 1))}
    return lines


def sampled(rooms: list[str], size: int, seed: int, since: str | None = None) -> list[Mutant]:
    """So many mutants of each room, each as likely as any other; of the lines that changed since a commit, if given."""
    chosen: list[Mutant] = []
    changed = changed_since(since) if since else set()
    for room, files in modules(rooms).items():
        every = []
        for file in files:
            tree = ast.parse(file.read_text())
            name = str(file.relative_to(ROOT))
            every += [Mutant(name, tree, place, new) for place in list(places(tree)) for new in mutants_of(place.node)]
        if since:
            every = [one for one in every if (one.file, one.place.first) in changed]
        print(f"{room}: {len(every):,} mutants", flush=True)
        chosen += random.Random(f"{seed} {room}").sample(every, min(size, len(every)))
    random.Random(seed).shuffle(chosen)  # where a run is cut short, what is done is a sample of all rooms
    return chosen


def swaps(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """The functions whose code differs; ``ValueError`` where code differs that is no function's."""
    inner = [[one for one in code.co_consts if isinstance(one, CodeType)] for code in (old, new)]
    if old.co_flags & CO_OPTIMIZED:
        yield old, new
    elif _own(old) != _own(new) or len(inner[0]) != len(inner[1]):
        raise ValueError(f"{old.co_qualname} is no function")
    for before, after in zip(*inner, strict=False):
        if before != after and _name(before) == _name(after):
            yield from swaps(before, after)


def _own(code: CodeType) -> tuple[bytes, list[object]]:
    return code.co_code, [one for one in code.co_consts if not isinstance(one, CodeType)]


def _name(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def forked(work: Callable[[], int]) -> int:
    """Its result; negative where it was ended by a signal."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), 1)
        code = work()
    finally:
        os._exit(code)


class Mutating:
    """In place of pytest's own loop over the tests: one run that notes what each reaches, then the mutants."""

    def __init__(self, given: argparse.Namespace, scratch: Path) -> None:
        self.given, self.scratch = given, scratch
        self.reached: dict[str, dict[str, list[str]]] = {}
        self.took: dict[str, float] = {}
        self.slow: set[str] = set()
        self.equal = {tuple(one[key] for key in KEY) for one in yaml.safe_load(EQUIVALENT.read_text())}
        self.functions: dict[tuple[str, str, int], list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []

    def pytest_sessionstart(self) -> None:
        """A test that is slow on a busy machine has not failed."""
        settings.register_profile("mutants", settings.get_profile("default"), suppress_health_check=list(HealthCheck))
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.session, self.tests = session, {one.nodeid: one for one in session.items}
        self._load()
        found = self.given.reach or self.scratch / "reach.json"
        if not found.exists():
            forked(partial(self._measure, found))
        self.reached, self.took, serving = json.loads(found.read_text())
        self.slow = {name for name, test in self.tests.items() if test.get_closest_marker("slow")} | set(serving)
        print(f"left out, for they fail without any mutant: {sorted(self.tests.keys() - self.took.keys())}")
        mutants = sampled(self.given.rooms, self.given.sample, self.given.seed, self.given.since)
        children = []
        for job in range(self.given.jobs):
            if not (child := os.fork()):
                self._work(job, mutants[job :: self.given.jobs])
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
        return True

    def _load(self) -> None:
        """All functions of the rooms, by where their code says it is from; and what keeps their results."""
        names = set()
        for file in chain.from_iterable(modules(self.given.rooms).values()):
            names.add(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"))
        for name in names:
            import_module(name)
        gc.unfreeze()
        for one in gc.get_objects():
            if isinstance(one, FunctionType):
                self.functions[_name(one.__code__)].append(one)
            elif isinstance(one, CACHE) and one.__module__ in names:
                self.caches.append(one)
        gc.collect()
        gc.freeze()  # a fork would copy what its collector looks at: most of its time

    def _run(self, tests: list[pytest.Item]) -> Iterator[tuple[str, float, bool]]:
        """Each, the processor time it took, and whether it passed."""
        for test, after in zip(tests, [*tests[1:], None], strict=True):
            for one in self.caches:  # what a former test computed is no line that this one does not reach
                one.cache_clear()
            before, failed = time.process_time(), self.session.testsfailed
            self.session.config.hook.pytest_runtest_protocol(item=test, nextitem=after)
            yield test.nodeid, time.process_time() - before, self.session.testsfailed == failed

    def _measure(self, found: Path) -> int:
        import coverage

        events: set[str] = set()
        sys.addaudithook(lambda event, _: events.add(event) if event in SERVES else None)
        files = [str(file) for file in chain.from_iterable(modules(self.given.rooms).values())]
        measuring = coverage.Coverage(data_file=None, include=files, config_file=False)
        measuring.start()
        tests, took, serving = list(self.tests.values()), {}, []
        measuring.switch_context(tests[0].nodeid)
        for place, (test, seconds, passed) in enumerate(self._run(tests), 1):
            took.update({test: seconds} if passed else {})
            serving += [test] if events else []
            events.clear()
            measuring.switch_context(tests[place].nodeid if place < len(tests) else "end")
        measuring.stop()
        data = measuring.get_data()
        reached = {
            str(Path(file).relative_to(ROOT)): {
                line: [test for test in by if test in took] for line, by in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
        found.write_text(json.dumps((reached, took, serving)))
        return 0

    def _work(self, job: int, mutants: list[Mutant]) -> None:
        """One worker's share, a line a mutant."""
        folder = self.scratch / str(job)
        ignored = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "captures", ".hypothesis")
        shutil.copytree(ROOT, folder, ignore=ignored)
        with self.given.out.open("a", buffering=1) as file:
            for mutant in mutants:
                told = mutant.told()
                equal = tuple(told[key] for key in KEY) in self.equal
                file.write(json.dumps({**told, **({"end": EQUAL} if equal else self._tried(mutant, folder))}) + "\n")

    def _tried(self, mutant: Mutant, folder: Path) -> dict[str, Any]:
        by_line = self.reached.get(mutant.file, {})
        lines = [str(line) for line in range(mutant.place.first, mutant.place.last + 1)]
        of_module = {test for tests in by_line.values() for test in tests}
        reaching = {test for line in lines for test in by_line.get(line, ())}
        swapped = self._swapped(mutant)
        tests = sorted(reaching or of_module if swapped else of_module, key=self.took.__getitem__)
        return {"end": self._end(mutant, folder, tests, swapped), "tests": len(tests), "reached": bool(reaching)}

    def _end(self, mutant: Mutant, folder: Path, tests: list[str], swapped: Swapped) -> str:
        """Who kills it; what no test reaches survives."""
        for end, slow in ((QUICK, False), (SLOW, True)):
            some = [test for test in tests if (test in self.slow) == slow]
            limit = int(TIMES * sum(map(self.took.__getitem__, some)) + SECONDS)
            if swapped and some and forked(partial(self._dies, swapped, some, limit)) != 0:
                return end
            if not swapped and some and self._dies_apart(mutant, folder, some, limit):
                return end
        return SURVIVED

    def _swapped(self, mutant: Mutant) -> Swapped:
        """The functions that get other code; none where the mutant needs the module loaded anew."""
        name = str(ROOT / mutant.file)
        plain = compile(mutant.tree, name, "exec", dont_inherit=True)
        with mutant.made() as tree:
            changed = compile(tree, name, "exec", dont_inherit=True)
        try:
            pairs = list(swaps(plain, changed))
        except ValueError:
            return []
        if any(old.co_freevars != new.co_freevars or old.co_name == "__new__" for old, new in pairs):
            return []  # a kind's members are made while its module is loaded
        return [(one, new) for old, new in pairs for one in self.functions[_name(old)]]

    def _dies(self, swapped: Swapped, tests: list[str], limit: int) -> int:
        """Does a test fail in this process, with other code in these functions? At the first, it is known."""
        spent = int(time.process_time())
        resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, spent + limit))
        for function, code in swapped:
            function.__code__ = code
        return int(not all(passed for *_, passed in self._run([self.tests[test] for test in tests])))

    def _dies_apart(self, mutant: Mutant, folder: Path, tests: list[str], limit: int) -> bool:
        """Does a test fail in a process of its own, on a copy of the project with the module mutated?"""
        file = folder / mutant.file
        before = file.read_text()
        with mutant.made() as tree:
            file.write_text(ast.unparse(tree))
        limited = partial(resource.setrlimit, resource.RLIMIT_CPU, (limit + SECONDS, limit + SECONDS))
        own = Path(mutant.file).stem  # its own tests first: they are the likeliest to fail
        files = sorted({test.split("::")[0] for test in tests}, key=lambda name: (own not in name, name))
        others = [test for test in self.tests if test not in tests and test.split("::")[0] in files]
        command = [sys.executable, "-m", "pytest", *PYTEST, "-x", *(f"--deselect={test}" for test in others), *files]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                preexec_fn=limited,
                stdout=subprocess.DEVNULL,
                check=False,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )
        finally:
            file.write_text(before)
        return done.returncode != 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", help="rooms of the package, or modules (strategies/planned.py)")
    parser.add_argument("--tests", nargs="*", help="folders of tests; those of the rooms, unless given")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=30, help="mutants of a room")
    parser.add_argument("--since", metavar="COMMIT", help="draw from the lines alone that changed since")
    parser.add_argument("--reach", type=Path, help="file of what each test reaches: made, or as a former run made it")
    parser.add_argument("--slow", action="store_true", help="what the quick tests let live meets the others, too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("mutants.jsonl"))
    given = parser.parse_args()
    given.out, given.reach = given.out.resolve(), given.reach and given.reach.resolve()
    rooms = {room.split("/")[0] for room in given.rooms}
    tests = given.tests or sorted(f"{place}/{room}" for place in ("tests", "sharc_crawler") for room in rooms)
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = scratch
        quick = [] if given.slow else ["--quick"]
        code = pytest.main([*PYTEST, *quick, *tests], [Mutating(given, Path(scratch))])
    return summary(given.out) if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else int(code)


def summary(out: Path) -> int:
    """Killed of all, by room; then who survived."""
    done = [json.loads(line) for line in out.read_text().splitlines()]
    for room in sorted({one["file"].split("/")[1] for one in done}):
        print(f"{room}: {_told([one for one in done if one['file'].split('/')[1] == room])}")
    for one in done:
        if one["end"] == SURVIVED:
            print(f"{one['file']}:{one['line']}: {one['what']}    | {one['text']}")
    print(_told(done))
    return 0


def _told(done: list[dict[str, Any]]) -> str:
    ends = Counter(one["end"] for one in done)
    killed, counted = ends[QUICK] + ends[SLOW], len(done) - ends[EQUAL]
    low, high = binomtest(killed, counted).proportion_ci() if counted else (0, 1)
    each = ", ".join(f"{ends[end]} {end}" for end in (QUICK, SLOW, SURVIVED, EQUAL))
    return f"{killed} of {counted} killed ({low:.0%} to {high:.0%}, 95 % interval): {each}"


if __name__ == "__main__":
    sys.exit(main())
