"""End to end on a large repository: mine a gold set, evaluate an engine on it, write the report.

Each step is a separate command with initially empty caches. Its time is wall-clock time and CPU
time of all processors, its memory the peak of its largest process. One process per core runs the
queries; with --timed all, each query runs again alone to measure its latency.

    .venv/bin/python benchmarks/endtoend.py --tree path/to/django
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

MB = 1024  # The system reports memory in units of 1,024 bytes.


class Step(NamedTuple):
    """The cost of a command, and the last line that it printed."""

    seconds: float
    cpu: float
    megabytes: float
    said: str


def measured(arguments: Sequence[str], folder: Path) -> Step:
    """Return the cost of ``karat *arguments*``; a failure ends the benchmark."""
    log = folder / "log.txt"
    started = perf_counter()
    with log.open("w") as output:
        command = [sys.executable, "-m", "karat", *arguments]
        apart = {**os.environ, "KARAT_CACHE": str(folder / "cache")}
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, cwd=folder, env=apart
        )
        # Includes child processes.
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text()
    if process.returncode:
        sys.exit(f"karat {' '.join(arguments)}\n{text}")
    cpu = used.ru_utime + used.ru_stime
    lines = [line for line in text.splitlines() if line.strip()]
    return Step(perf_counter() - started, cpu, used.ru_maxrss / MB, lines[-1] if lines else "")


def main() -> None:
    """Measure every step, and print one line of it."""
    parser = argparse.ArgumentParser(description="the whole way on a large repository")
    parser.add_argument("--tree", required=True, help="a Git repository with a long history")
    parser.add_argument("--commits", type=int, default=10_000)
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--engine", default="bm25")
    parser.add_argument("--timed", default="none", help="how many queries are timed, or all")
    given = parser.parse_args()
    repository = str(Path(given.tree).resolve())
    print(f"load at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print("| step | seconds | CPU seconds | memory, MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mine = ("--max-commits", str(given.commits), "--limit", str(given.cases))
        search = ("--engine", given.engine, "--timed", given.timed, "--run-out", "run.jsonl")
        steps = {
            "generate": ("generate", "--repo", repository, *mine, "-o", "gold.json"),
            "evaluate": ("evaluate", "gold.json", *search),
            "report": ("report", "gold.json", "run.jsonl", "-o", "report.html"),
        }
        for step, arguments in steps.items():
            seconds, cpu, megabytes, said = measured(arguments, folder)
            print(f"| {step} | {seconds:.1f} | {cpu:.1f} | {megabytes:.0f} |", flush=True)
            print(f"  {said}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
