"""Fuzz the parsers we own, guided by coverage: sitemaps, robots.txt, exchanges, archives' files, our own state.

    pip install -e '.[fuzz]'                                    # atheris (libFuzzer): Linux, Python 3.11 to 3.13
    python benchmarks/fuzz.py --target robots --minutes 10      # one parser
    python benchmarks/fuzz.py --minutes 10                      # each in its turn

What breaks a promise (an exception that is not one of ours, an invariant of `fuzz_targets.py`, more than 5 CPU seconds)
is a finding. It is kept with its input, each kind once, and fuzzing goes on. Corpus and findings lie in `--corpus`,
never in the repository; a later run begins with what an earlier one has found. libFuzzer is given `--seed`, so that one
run is like another as far as the machine's speed lets it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
SLOW = 5.0  #: CPU seconds for one input of at most LONGEST bytes
LONGEST = 1_000_000


@dataclass
class Session:
    """One target's run: counts, stops in time, keeps findings."""

    target: str
    folder: Path
    seconds: float  #: of processor time: on a busy machine the clock says nothing
    executions: int = 0
    findings: dict[str, str] = field(default_factory=dict)  #: what went wrong, and where → the file of its input
    started: float = field(default_factory=time.monotonic)
    told: float = 0.0

    def run(self, function: Callable[[bytes], None], data: bytes) -> None:
        """One input."""
        before = time.process_time()
        try:
            function(data)
        except Exception as error:  # whatever it is, it is the finding
            self._found(_name(error), data)
        if (took := time.process_time() - before) > SLOW:
            self._found(f"{took:.0f} s of CPU", data)
        self.executions += 1
        over = time.process_time() > self.seconds
        if over or time.monotonic() - self.told > 10:
            self.told = time.monotonic()
            self._tell()
        if over:
            os._exit(0)  # libFuzzer does not come back

    def _found(self, name: str, data: bytes) -> None:
        if name not in self.findings:
            path = self.folder / f"finding-{hashlib.sha1(data).hexdigest()[:12]}"
            path.write_bytes(data)
            path.with_suffix(".txt").write_text(f"{name}\n\n{traceback.format_exc()}")
            self.findings[name] = str(path)

    def _tell(self) -> None:
        cpu = time.process_time()
        said = {**asdict(self), "folder": str(self.folder), "cpu": cpu, "wall": time.monotonic() - self.started}
        draft = self.folder / "session.json.tmp"
        draft.write_text(json.dumps(said, indent=1))
        draft.replace(self.folder / "session.json")


def _name(error: Exception) -> str:
    """The kind of a finding: exception and innermost place in our code."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if str(ROOT) in frame.filename]
    ours = [frame for frame in frames if "sharc_crawler" in frame.filename.removeprefix(str(ROOT))] or frames
    return f"{type(error).__name__} in {Path(ours[-1].filename).name}:{ours[-1].lineno}"


def fuzz(target: str, folder: Path, seconds: float, seed: int) -> None:
    """Fuzz one target in this process, which ends with it."""
    import atheris

    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=["sharc_crawler", "protego", "warcio", "w3lib"]):
        from benchmarks.fuzz_targets import TARGETS

    chosen = TARGETS[target]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for data in chosen.seeds():
        (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)
    session = Session(target, folder, seconds)
    limits = (f"-max_len={LONGEST}", "-timeout=120", "-rss_limit_mb=3000", f"-artifact_prefix={folder}/stopped-")
    atheris.Setup(
        ["fuzz", str(corpus), f"-seed={seed}", *limits, "-print_final_stats=1"],
        lambda data: session.run(chosen.run, bytes(data)),
    )
    atheris.Fuzz()


def begin(target: str, args: argparse.Namespace) -> Path:
    """Fuzz one target in a process of its own; its folder."""
    folder = args.corpus / target
    folder.mkdir(parents=True, exist_ok=True)
    words = (sys.executable, __file__, "--here", "--target", target, "--minutes", str(args.minutes))
    with (folder / "libfuzzer.log").open("w") as log:
        code = subprocess.run(
            [*words, "--corpus", args.corpus, "--seed", str(args.seed)], stdout=log, stderr=log, check=False
        ).returncode
    if code:
        print(f"{target}: ended with exit code {code} before its time, see {folder}/libfuzzer.log and stopped-*")
    return folder


def show(folder: Path) -> int:
    """One row of the table; the number of findings."""
    said = json.loads((folder / "session.json").read_text())
    print(
        f"| {said['target']} | {said['wall'] / 60:.1f} | {said['cpu'] / 60:.1f} | {said['executions']:,} "
        f"| {len(said['findings'])} |",
        flush=True,
    )
    for name, path in said["findings"].items():
        print(f"    {name}: {path}", flush=True)
    return len(said["findings"])


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", action="append", help="parser, several allowed; default: all")
    parser.add_argument("--minutes", type=float, default=10, help="of processor time, for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=Path.home() / ".cache" / "sharc-fuzz")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.corpus = args.corpus.resolve()
    if args.here:
        fuzz(args.target[0], args.corpus / args.target[0], 60 * args.minutes, args.seed)
    sys.path.insert(0, str(ROOT))
    from benchmarks.fuzz_targets import TARGETS

    wanted = args.target or list(TARGETS)
    if unknown := set(wanted) - TARGETS.keys():
        parser.error(f"--target {', '.join(sorted(unknown))}: choose from {', '.join(TARGETS)}")
    print("| target | minutes | of CPU | executions | findings |\n|---|---:|---:|---:|---:|", flush=True)
    sys.exit(min(1, sum(show(begin(target, args)) for target in wanted)))


if __name__ == "__main__":
    main()
