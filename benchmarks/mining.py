"""Cost of mining a history and of searching its snapshots, against their peers.

Every step is a separate process; its CPU time, children included, counts, the best of several
rounds in which the candidates take turns. The ratios matter, not the absolute times.

    .venv-bench/bin/python benchmarks/mining.py --tree REPOSITORY [--tree REPOSITORY ...]
    .venv-bench/bin/python benchmarks/mining.py --tree REPOSITORY --only scan cases --rounds 5
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

STEPS = str(Path(__file__).parent / "support" / "mining_steps.py")
# Short steps are repeated this often in a round, so that one outlier does not decide.
TURNS = 5
# A goal may be stricter for a history with this many commits.
LONG = 10_000


class Figure(NamedTuple):
    """A measurement, and its lower or upper limit (None: no goal)."""

    what: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def missed(self) -> bool:
        """Say whether a goal is missed."""
        low, high = self.least, self.most
        return (low is not None and self.value < low) or (high is not None and self.value > high)

    def __str__(self) -> str:
        goals = (("at least", self.least), ("at most", self.most))
        wanted = "".join(f"{words} {goal:g}" for words, goal in goals if goal is not None)
        verdict = "MISSED" if self.missed else "kept" if wanted else ""
        return f"| {self.what} | {self.value:.2f} | {wanted} | {verdict} |"


def cpu_s(command: Sequence[str]) -> tuple[float, bytes]:
    """Return the CPU seconds of *command* with all its children, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, done.stdout


def step(name: str, tree: Path, number: int = 0) -> dict[str, Any]:
    """Return the figures of a step, with the CPU seconds of its process."""
    spent, printed = cpu_s([sys.executable, STEPS, name, str(tree), str(number)])
    return {**json.loads(printed), "process_s": spent}


def git_log_s(tree: Path) -> float:
    """Return the CPU seconds of Git alone, with the commands that Karat uses."""
    asked = ["git", "-C", str(tree), "log", "--no-merges", "--raw", "-z", "-M100%"]
    return cpu_s(["sh", "-c", 'exec "$@" > /dev/null', "sh", *asked])[0]


def scan(tree: Path, options: argparse.Namespace) -> list[Figure]:
    """Compare reading the history with Git alone; the start of the interpreter does not count."""
    rounds = [(git_log_s(tree), step("scan", tree)) for _ in range(TURNS * options.rounds)]
    git = min(alone for alone, _ in rounds)
    karat = min(figures["cpu_s"] for _, figures in rounds)
    read = rounds[0][1]
    chosen = min(step("filters", tree)["cpu_s"] for _ in range(options.rounds))
    print(f"{read['commits']} commits: git log {git:.2f} s, scan {karat:.2f} s")
    return [
        Figure("scan, times the CPU of git log --raw", karat / git, most=1.3),
        Figure("scan, peak memory in MB", max(each["peak_mb"] for _, each in rounds), most=100),
        Figure("filters, CPU s", chosen),
        Figure("filters, thousand commits a second", read["commits"] / chosen / 1000),
    ]


def cases(tree: Path, options: argparse.Namespace) -> list[Figure]:
    """Compare mining cases with PyDriller's reading of the same history.

    Both processes count from start to end, interpreter and imports included. The preparation of the
    peer's step does not count. If only some commits are read, their time is scaled up, and the
    start is not. Karat has more rounds, because each is fifty times as short.
    """
    taken: dict[str, list[float]] = {"pydriller": [], "lines": [], "symbols": []}
    for _ in range(options.rounds):
        peer = step("pydriller", tree, options.peer_commits)
        start_s = peer["process_s"] - peer["prepared_s"] - peer["cpu_s"]
        taken["pydriller"].append(start_s + peer["cpu_s"] * peer["all"] / peer["commits"])
        for name in ("lines", "symbols") * TURNS:
            done = step(name, tree, options.cases)
            taken[name].append(done["process_s"])
    sampled = peer["commits"] < peer["all"]
    how = f"scaled from {peer['commits']} spread evenly" if sampled else "all of them"
    print(f"PyDriller reads {peer['all']} commits, {how}; Karat makes {done['cases']} cases")
    for name, rounds in taken.items():
        print(f"  {name}: {min(rounds):.2f} to {max(rounds):.2f} s")
    best = {name: min(rounds) for name, rounds in taken.items()}
    pydriller = best["pydriller"]
    least = 50 if peer["all"] >= LONG else 20
    return [
        Figure("files and lines, times less CPU than PyDriller", pydriller / best["lines"], 50),
        Figure("with symbols, times less CPU than PyDriller", pydriller / best["symbols"], least),
    ]


def chunks(tree: Path, options: argparse.Namespace) -> list[Figure]:
    """Count the distinct chunks of code in the snapshots of recent cases."""
    found = step("chunks", tree, options.cases)
    print(f"{found['snapshots']} parents of two years' cases, {found['entries']} files of code")
    for name in ("definitions", "syntax", "blobs"):
        print(f"  {name}: {found[name][0]} distinct, {found[name][1]} in the newest tree")
    long = found["snapshots"] == options.cases
    ratios = {name: found[name][0] / found[name][1] for name in ("definitions", "syntax", "blobs")}
    return [
        Figure("functions, of one tree", ratios["definitions"], most=1.25 if long else None),
        Figure("default chunks, of one tree", ratios["syntax"]),
        Figure("files, of one tree", ratios["blobs"]),
    ]


def search(tree: Path, options: argparse.Namespace) -> list[Figure]:
    """Compare one index with a view for each snapshot to an index for each."""
    found = step("search", tree, options.cases)
    shared, each = found["shared_s"], found["rebuilt_s"]
    print(
        f"{found['snapshots']} snapshots: shared {shared:.1f} s; rebuilt {each:.2f} s each, mean "
        f"of {found['samples']}; rows {found['rows'][0]}, of the oldest tree {found['rows'][1]}"
    )
    if not found["alike"]:
        raise SystemExit("a view and an index of its own gave different hits")
    return [
        Figure("BM25 by views, times less CPU than rebuilding", found["snapshots"] * each / shared)
    ]


PARTS: dict[str, Callable[[Path, argparse.Namespace], list[Figure]]] = {
    part.__name__: part for part in (scan, cases, chunks, search)
}


def main() -> int:
    """Run the parts on every tree and return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, action="append", required=True, help="a repository")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=250)
    parser.add_argument(
        "--peer-commits", type=int, default=5_000, help="a longer history is sampled for PyDriller"
    )
    options = parser.parse_args()
    # An installed Python has byte code; some machines do not allow to write it.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    missed = False
    with TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        for tree in options.tree:
            for part in options.only:
                print(f"== {tree}: {part}")
                figures = PARTS[part](tree, options)
                print("\n| what | measured | goal | |\n|---|---|---|---|")
                print(*figures, sep="\n", end="\n\n", flush=True)
                missed |= any(figure.missed for figure in figures)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
