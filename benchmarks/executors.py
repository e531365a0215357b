"""The cost of units and executors, and whether a killed worker changes any hit.

    .venv/bin/python benchmarks/executors.py --tree REPOSITORY            # all parts
    .venv/bin/python benchmarks/executors.py --only kill

``units`` compares the CPU time of one unit with that of many, in one session. ``overhead`` runs
units of one query by an engine that does nothing on Dask. ``kill`` ends the driver (and repeats the
command), then a Dask worker, with signal 9 at 30 % of a sweep, and compares all run files with
those of a local sweep, byte by byte. ``embed`` counts the texts that four Dask workers with caches
of their own embed, without and with a cache that they share, in proportion to one worker.
"""

import argparse
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from filecmp import cmp
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from karat.engines.spec import parse_spec  # noqa: E402
from karat.experiments.executors import Executor, open_executor  # noqa: E402
from karat.experiments.measure import measure_quality  # noqa: E402
from karat.experiments.workers import (  # noqa: E402
    Configuration,
    SnapshotQueries,
    Source,
    all_queries_on,
)
from karat.extensions.cluster import schedule  # noqa: E402
from karat.extensions.cluster.threads import ThreadExecutor  # noqa: E402
from karat.model import Dataset, Query  # noqa: E402

ROOT = Path(__file__).parents[1]
SNAPSHOTS, ROUNDS, NULL_UNITS = 40, 2, 200
POLL_S = 0.05
KILL_AT = 0.3
MODEL = "dense(model=static)"


def main() -> None:
    """Run the parts that are wanted."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", default=str(ROOT), help="a Git repository")
    parser.add_argument("--only", choices=("units", "overhead", "kill", "embed"))
    wanted = parser.parse_args()
    if wanted.only in (None, "units"):
        units(wanted.tree)
    if wanted.only in (None, "overhead"):
        overhead()
    if wanted.only in (None, "kill"):
        kill(wanted.tree)
    if wanted.only in (None, "embed"):
        embed(wanted.tree)


def units(tree: str) -> None:
    """Print the CPU time of many units in proportion to that of one."""
    subjects = _git(tree, "log", "--no-merges", f"-{SNAPSHOTS}", "--format=%H%x09%s", "--reverse")
    commits = [line.partition("\t")[::2] for line in subjects.splitlines()]
    gold = Dataset.of([Query(commit, subject) for commit, subject in commits])
    chain = [
        SnapshotQueries(Source.git(tree, commit), (row,)) for row, (commit, _) in enumerate(commits)
    ]
    corpus = all_queries_on(gold, Source.git(tree, commits[-1][0]), seed=0)
    bm25 = (Configuration("bm25", parse_spec("bm25")),)
    for name, snapshots, many, goal in (("corpus", corpus, 8, 1.15), ("snapshots", chain, 20, 1.3)):
        best = {}
        for count in (1, many) * ROUNDS:
            with _size(len(gold) // count):
                used = cpu_s(
                    partial(measure_quality, [bm25], gold, snapshots, executor=ThreadExecutor())
                )
            best[count] = min(best.get(count, used), used)
        print(
            f"{name}: 1 unit {best[1]:.2f} s, {many} units {best[many]:.2f} s, "
            f"ratio {best[many] / best[1]:.2f} (goal {goal})"
        )


def overhead() -> None:
    """Print the time of a unit that does nothing, on Dask and in a thread."""
    from distributed import LocalCluster

    gold = Dataset.of([Query(str(row), "text") for row in range(NULL_UNITS)])
    snapshots = all_queries_on(gold, Source.of_texts({"a.py": ""}), seed=0)
    null = (Configuration("null", parse_spec("null_engine:NullEngine")),)

    def run(executor: Executor) -> None:
        measure_quality([null], gold, snapshots, executor=executor)

    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        dask = open_executor(cluster.scheduler_address.replace("tcp:", "dask:"))
        for name, executor in (("dask", dask), ("threads", ThreadExecutor())):
            spent = {}
            for size in (NULL_UNITS, 1):
                with _size(size):
                    before, started = _own_s(), time.perf_counter()
                    run(executor)
                    spent[size] = time.perf_counter() - started, _own_s() - before
            wall, cpu = (
                1e3 * (spent[1][place] - spent[NULL_UNITS][place]) / NULL_UNITS for place in (0, 1)
            )
            print(
                f"{name}: {wall:.1f} ms a unit, {cpu:.1f} ms CPU of driver and scheduler (goal 10)"
            )


def kill(tree: str) -> None:
    """Compare the run files of a disturbed sweep on Dask with those of a local one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subjects = _git(tree, "log", "--no-merges", "-300", "--format=%s").splitlines()
        lines = [
            "query,result1",
            *(f"{_words(line)},README.md" for line in dict.fromkeys(subjects)),
        ]
        (folder / "gold.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "local").mkdir()
        _sweep(folder, "local", tree, "local").wait()
        with _cluster(folder) as (address, workers):
            for victim in ("driver", "worker"):
                (folder / victim).mkdir()
                url = address.replace("tcp:", "dask:")
                _disturbed(folder, victim, partial(_sweep, folder, victim, tree, url), workers)


def _disturbed(
    folder: Path,
    victim: str,
    begin: "Callable[[], subprocess.Popen[bytes]]",
    workers: "Sequence[subprocess.Popen[bytes]]",
) -> None:
    """Kill the driver, which is begun again, or a worker, and compare the run files."""
    sweep = begin()
    total = _answers(folder / "local.db")
    while sweep.poll() is None and _answers(folder / f"{victim}.db") < KILL_AT * total:
        time.sleep(POLL_S)
    at = _answers(folder / f"{victim}.db")
    (sweep if victim == "driver" else workers[0]).send_signal(signal.SIGKILL)
    code = sweep.wait()
    if victim == "driver":
        code = begin().wait()
    files = sorted(path.name for path in (folder / "local").iterdir())
    same = [cmp(folder / "local" / one, folder / victim / one, shallow=False) for one in files]
    print(
        f"kill: {victim} ended at {at} of {total} answers, exit code {code}, "
        f"{sum(same)} of {len(files)} run files identical"
    )


def embed(tree: str) -> None:
    """Print how many texts workers embed, and whether their hits are those of one worker."""
    karat = [sys.executable, "-m", "karat"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        mine = ["generate", "--repo", tree, "--limit", f"{SNAPSHOTS}", "-o", "gold.json"]
        subprocess.run([*karat, *mine], cwd=folder, check=True, capture_output=True)
        embedded: dict[str, int] = {}
        for label, workers, tier in (("one", 1, ""), ("own", 4, ""), ("shared", 4, "tier")):
            place = folder / label
            place.mkdir()
            before = _children_s()
            environments = [{"KARAT_CACHE": f"{place}/{number}"} for number in range(workers)]
            with _cluster(place, environments) as (address, _):
                _wait_for_workers(address, workers)
                # The driver alone knows the folder; the workers learn it from their units.
                own = {"KARAT_CACHE_REMOTE": f"file://{place}/{tier}"} if tier else {}
                command = [*karat, "evaluate", "gold.json", "--engine", MODEL, "--timed", "none"]
                command += ["--draws", "99", "--json", "--store", f"{label}.db"]
                command += ["--run-out", f"{label}.run"]
                command += ["--executor", address.replace("tcp:", "dask:")]
                done = subprocess.run(
                    command,
                    cwd=folder,
                    check=True,
                    capture_output=True,
                    env={**os.environ, **own},
                )
            embedded[label] = int(json.loads(done.stdout)["work"][MODEL]["embedded"])
            print(
                f"embed: {label}: {workers} workers embedded {embedded[label]} texts, "
                f"ratio {embedded[label] / embedded['one']:.2f}, hits identical: "
                f"{cmp(folder / 'one.run', folder / f'{label}.run', shallow=False)}, "
                f"{_children_s() - before:.0f} s CPU"
            )


def _wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count)


def cpu_s(run: Callable[[], object]) -> float:
    """Return the CPU time of *run* and of the processes that it starts."""
    before = _own_s() + _children_s()
    run()
    return _own_s() + _children_s() - before


def _own_s() -> float:
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _children_s() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextmanager
def _size(queries: int) -> Iterator[None]:
    """Let a unit have at most so many queries."""
    before = schedule.FIRST_QUERIES, schedule.MOST_QUERIES, schedule.UNIT_S
    schedule.FIRST_QUERIES = schedule.MOST_QUERIES = queries
    try:
        yield
    finally:
        schedule.FIRST_QUERIES, schedule.MOST_QUERIES, schedule.UNIT_S = before


@contextmanager
def _cluster(
    folder: Path, environments: Sequence[Mapping[str, str]] = ({}, {})
) -> "Iterator[tuple[str, list[subprocess.Popen[bytes]]]]":
    """Start a scheduler and a worker for each of *environments*, as processes."""
    file = folder / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    logs = (folder / "dask.log").open("wb")
    quiet = ("--no-dashboard",)
    options = {"stdout": logs, "stderr": logs, "cwd": folder}
    scheduler = subprocess.Popen(
        [
            *dask,
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            *quiet,
            "--scheduler-file",
            file,
        ],
        **options,
    )
    worker = [*dask, "worker", "--scheduler-file", file, "--nthreads", "1", "--no-nanny"]
    workers = [
        subprocess.Popen(
            [*worker, "--no-dashboard", "--host", "127.0.0.1"],
            env={**os.environ, **environment},
            **options,
        )
        for environment in environments
    ]
    try:
        while not file.exists():
            time.sleep(POLL_S)
        yield json.loads(file.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        logs.close()


def _sweep(folder: Path, name: str, tree: str, executor: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "karat", "sweep", "gold.csv", "--suite", "quick_test"]
    command += [
        "--corpus",
        tree,
        "--rev",
        "HEAD",
        "--timed",
        "none",
        "--draws",
        "99",
        "--executor",
        executor,
    ]
    command += ["--store", f"{name}.db", "--run-out", f"{name}/{{engine}}.run"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)


def _answers(store: Path) -> int:
    """Return how many query results a store has."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as opened:
        try:
            return int(opened.execute("SELECT count(*) FROM answers").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def _words(line: str) -> str:
    return "".join(letter for letter in line if letter.isalnum() or letter == " ")


def _git(tree: str, *arguments: str) -> str:
    done: Sequence[str] = ("git", "-C", tree, *arguments)
    return subprocess.run(done, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    os.environ.setdefault("KARAT_WORKERS", "2")
    main()
