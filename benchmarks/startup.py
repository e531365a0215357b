"""CPU of cold commands, at two revisions of Karat: `karat --help`, and `karat score` of 127 x 10.

Both revisions run in turn with the interpreter and the packages of this one, their byte code
compiled beforehand. The CPU time (user and system) of the best and the median round is printed;
on a busy machine --instructions counts instructions with valgrind instead, once for each.

    git worktree add ../before REVISION
    .venv/bin/python benchmarks/startup.py --before ../before
"""

import argparse
import compileall
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from numpy import median

ROOT = Path(__file__).resolve().parents[1]
QUERIES, HITS = 127, 10
COUNTED = re.compile(r"Collected : (\d+)")


def main() -> None:
    """Measure both revisions in turn, and print one line for each command and revision."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="a work tree of Karat")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--instructions", action="store_true", help="count with valgrind")
    options = parser.parse_args()
    trees = {"before": options.before.resolve(), "after": ROOT}
    for tree in trees.values():
        compileall.compile_dir(tree / "src" / "karat", quiet=1)
    with tempfile.TemporaryDirectory() as name:
        gold, run = Path(name) / "qrels.txt", Path(name) / "bm25.run"
        write_files(gold, run)
        for command in (["--help"], ["score", str(gold), str(run), "--ci", "none"]):
            print(f"karat {command[0]}")
            if options.instructions:
                counts = {label: instructions(tree, command) for label, tree in trees.items()}
                show({label: [count / 1e6] for label, count in counts.items()}, "million")
                continue
            taken: dict[str, list[float]] = {label: [] for label in trees}
            for _ in range(options.rounds):
                for label, tree in trees.items():
                    taken[label].append(cpu_ms(tree, command))
            show(taken, "ms")


def write_files(gold: Path, run: Path) -> None:
    """Write judgments and a run in which every query has three relevant hits."""
    chance = random.Random(0)
    judgments, hits = [], []
    for query in range(QUERIES):
        documents = chance.sample(range(1_000), HITS)
        judgments += [f"q{query} 0 d{each} 1\n" for each in chance.sample(documents, 3)]
        hits += [
            f"q{query} Q0 d{each} {rank} {HITS - rank} x\n" for rank, each in enumerate(documents)
        ]
    gold.write_text("".join(judgments))
    run.write_text("".join(hits))


def cpu_ms(tree: Path, command: list[str]) -> float:
    """Return the CPU time of one process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *command], stdout=subprocess.DEVNULL, env=environment(tree)
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"karat {' '.join(command)} failed in {tree}")
    return (used.ru_utime + used.ru_stime) * 1000


def instructions(tree: Path, command: list[str]) -> int:
    """Return the instructions of one process."""
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.devnull}"]
    done = subprocess.run(
        [*valgrind, sys.executable, "-m", "karat", *command],
        capture_output=True,
        text=True,
        check=False,
        env=environment(tree),
    )
    if not (found := COUNTED.search(done.stderr)):
        sys.exit(done.stderr)
    return int(found[1])


def environment(tree: Path) -> dict[str, str]:
    """Return the environment in which the Karat of *tree* runs, the same each time."""
    return {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONHASHSEED": "0"}


def show(taken: dict[str, list[float]], unit: str) -> None:
    """Print the best and the median of each revision, and their ratio."""
    for label, times in taken.items():
        print(f"  {label}: best {min(times):.1f}, median {median(times):.1f} {unit}")
    best = min(taken["after"]) / min(taken["before"])
    print(f"  ratio: {best:.3f}; of medians {median(taken['after']) / median(taken['before']):.3f}")


if __name__ == "__main__":
    main()
