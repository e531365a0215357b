"""Speed of the metrics against pytrec_eval, ranx, ir_measures and trec_eval, in one run.

All candidates take turns on the same seeded data; the best CPU time of several rounds counts, so
that a busy machine affects all equally. The ratios matter, not the absolute times.

    make bench                                                   # everything but trec_eval
    .venv-bench/bin/python benchmarks/metrics.py --only memory small
    .venv-bench/bin/python benchmarks/metrics.py --trec-eval path/to/trec_eval
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

# One thread for all linear algebra, as on Karat's command line: CPU time counts all threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

import peers  # noqa: E402
import trec_collections as data  # noqa: E402

ROUNDS = {"memory": 5, "dense": 60, "small": 9, "file": 2, "compare": 3}
WITH_INTERVALS = "karat, with intervals"
PARTS = ("memory", "dense", "small", "file", "compare", "threads")

GOALS = {
    "memory": {"pytrec_eval": 15.0, "ranx": 40.0},
    "intervals": {"pytrec_eval": 5.0},
    "dense": {"pytrec_eval": 2.0, "ranx": 6.0},
    "small": {"pytrec_eval": 2.0},
    "file": {"pytrec_eval": 4.0, "trec_eval": 4.0, "ranx": 13.0},
    "compare": {"ranx": 100.0},
}


def best_cpu(candidates: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the best CPU time of each candidate in milliseconds; they take turns."""
    best = dict.fromkeys(candidates, float("inf"))
    for _ in range(rounds):
        for name, run in candidates.items():
            start = time.process_time_ns()
            run()
            best[name] = min(best[name], (time.process_time_ns() - start) / 1e6)
    return best


def best_cold(commands: dict[str, list[str]], rounds: int) -> dict[str, float]:
    """Return the best CPU time of whole processes in milliseconds; they take turns."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(rounds):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            best[name] = min(best[name], used * 1e3)
    return best


def report(title: str, times: dict[str, float], goals: dict[str, float]) -> None:
    """Print the times, and how many times longer each peer takes than Karat."""
    own = times["karat"]
    print(f"\n{title}")
    print(f"{'':28}{'CPU ms':>12}{'ratio':>10}{'goal':>8}")
    for name, value in times.items():
        goal = goals.get(name)
        mark = "" if goal is None else f"{goal:.0f}"
        missed = "  missed" if goal is not None and value / own < goal else ""
        print(f"{name:28}{value:12.1f}{value / own:10.2f}{mark:>8}{missed}")


def print_peak() -> None:
    """Print the most memory that evaluating allocates at one time, in MB.

    Not the growth of the process: making the data leaves enough freed memory to hide in.
    """
    qrels, run = data.msmarco()
    peers.karat(*data.dense())  # everything is imported
    tracemalloc.start()
    peers.karat(qrels, run)
    print(f"{tracemalloc.get_traced_memory()[1] / 1e6:.1f}")


def in_memory(part: str, title: str, qrels: data.Qrels, run: data.RunDict) -> None:
    """Measure dictionaries to numbers, everything imported and warm.

    Karat takes a second turn with intervals, which the peers do not have.
    """
    functions = peers.available() | {WITH_INTERVALS: peers.karat_with_intervals}
    candidates = {
        name: (lambda function=function: function(qrels, run))
        for name, function in functions.items()
    }
    for function in candidates.values():
        function()
    times = best_cpu(candidates, ROUNDS[part])
    report(title, times, GOALS[part])
    others = {name: times[name] for name in times if name not in ("karat", WITH_INTERVALS)}
    goals = GOALS["intervals"] if part == "memory" else {}
    report(f"{title}; karat with intervals", {"karat": times[WITH_INTERVALS]} | others, goals)


def cold_small(folder: Path) -> None:
    """Measure whole processes on 127 queries with 10 hits each."""
    qrels, run = data.write(folder, "small", *data.small())
    python = sys.executable
    karat = [python, "-m", "karat", "score", qrels, run]
    times = best_cold(
        {
            "karat": [*karat, "--ci", "none"],
            WITH_INTERVALS: karat,
            "pytrec_eval": [python, peers.script("pytrec"), qrels, run],
            "ir_measures": [python, peers.script("ir_measures"), qrels, run],
        },
        ROUNDS["small"],
    )
    report("Cold process, 127 queries x 10 hits, files to numbers", times, GOALS["small"])
    print(
        f"karat under 100 ms: {times['karat'] < 100}; "
        f"with intervals under 400 ms: {times[WITH_INTERVALS] < 400}"
    )


def cold_file(folder: Path, trec_eval: str | None) -> None:
    """Measure whole processes on a run file of 250 MB."""
    qrels, run = data.write(folder, "large", *data.msmarco())
    python = sys.executable
    commands = {
        "karat": [python, "-m", "karat", "score", qrels, run, "--ci", "none", *peers.KARAT_FLAGS],
        "pytrec_eval": [python, peers.script("pytrec"), qrels, run],
        "ir_measures": [python, peers.script("ir_measures"), qrels, run],
        "ranx": [python, peers.script("ranx"), qrels, run],
    }
    if trec_eval:
        commands["trec_eval"] = [trec_eval, *peers.TREC_EVAL_FLAGS, qrels, run]
    size = Path(run).stat().st_size / 1e6
    times = best_cold(commands, ROUNDS["file"])
    report(f"Cold process, TREC run of {size:.0f} MB, file to numbers", times, GOALS["file"])


def comparison() -> None:
    """Measure 5 systems x 6 metrics x 127 queries with 9,999 resamples."""
    qrels, runs = data.five_systems()
    candidates = {
        "karat": lambda: peers.karat_compare(qrels, runs),
        "ranx": lambda: peers.ranx_compare(qrels, runs),
    }
    for function in candidates.values():
        function()
    times = best_cpu(candidates, ROUNDS["compare"])
    report(
        "Comparison: 5 systems x 6 metrics x 127 queries, 9,999 resamples (ranx: Fisher)",
        times,
        GOALS["compare"],
    )


def threads() -> None:
    """Measure the cost of statistics with one BLAS thread, the default number, and eight."""
    script = Path(__file__).parent / "support" / "statistics_cost.py"
    print("\nStatistics of 6,980 queries x 6 metrics, 9,999 resamples: CPU ms of all threads")
    for setting in ("1", None, "8"):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        environment |= {"OPENBLAS_NUM_THREADS": setting} if setting else {}
        print(f"BLAS threads: {setting or 'default'}", flush=True)
        subprocess.run([sys.executable, script], check=True, env=environment)


def main() -> None:
    """Run the selected parts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--trec-eval", metavar="BINARY", help="trec_eval 10, built with -O3")
    parser.add_argument("--peak", action="store_true", help="only print the extra peak memory")
    arguments = parser.parse_args()
    if arguments.peak:
        print_peak()
        return
    print(f"peers: {peers.versions()}")
    if "memory" in arguments.only:
        in_memory("memory", "In memory, 6,980 queries x 1,000 hits", *data.msmarco())
        peak = subprocess.run(
            [sys.executable, __file__, "--peak"], check=True, capture_output=True, text=True
        )
        print(f"extra peak memory of karat: {peak.stdout.strip()} MB (goal: 10)")
        in_memory("memory", "The same, hits in no order", *data.shuffled(*data.msmarco()))
    if "dense" in arguments.only:
        in_memory("dense", "In memory, 43 queries x 1,000 hits, 216 judgments each", *data.dense())
    if "compare" in arguments.only:
        comparison()
    if "threads" in arguments.only:
        threads()
    with tempfile.TemporaryDirectory() as folder:
        if "small" in arguments.only:
            cold_small(Path(folder))
        if "file" in arguments.only:
            cold_file(Path(folder), arguments.trec_eval)


if __name__ == "__main__":
    main()
