"""CPU time and memory of Karat over the size of its input, with the exponent of growth.

Each axis grows in powers of ten, everything else stays fixed: queries, documents, snapshots,
configurations, and result rows (TREC text and Parquet). The data is synthetic and seeded. Each
point is one `karat` command in a process of its own, with one worker and an empty cache. CPU time
includes all processes that it starts; memory is the peak of the sum over them. The exponent is the
slope of a line through all points in a log-log plot, and the slope between the last two: 1 is
linear. At small sizes start-up dominates, so that the last slope says more.

    .venv/bin/python benchmarks/scale.py                      # three powers of ten, about a minute
    .venv/bin/python benchmarks/scale.py --powers 5 --budget 120
    .venv/bin/python benchmarks/scale.py --axis documents --axis rows --json

An axis ends early where the next point would probably take more than --budget seconds of CPU time.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from math import log10
from pathlib import Path
from typing import NamedTuple

# Not this folder itself: its statistics.py would hide the standard library's.
del sys.path[0]

WORDS = 20_000
WORDS_OF_DOCUMENT = 60
HITS = 100
POLL_S = 0.02
PAGE = os.sysconf("SC_PAGE_SIZE")


class Axis(NamedTuple):
    """What grows: *first* is the smallest size, *command* writes data and returns arguments."""

    first: int
    fixed: str
    command: Callable[[Path, int], list[str]]


class Point(NamedTuple):
    """The cost of one command."""

    size: int
    cpu_s: float
    peak_mb: float


def text(rng: random.Random, words: int) -> str:
    """Return words with the skewed frequencies of a language."""
    return " ".join(f"w{int(WORDS * rng.random() ** 3)}" for _ in range(words))


def collection(folder: Path, *, documents: int, queries: int) -> list[str]:
    """Write a BEIR collection whose queries are parts of documents; return how to evaluate it."""
    rng = random.Random(1)
    wanted = {number * documents // queries: number for number in range(queries)}
    spread = max(1, queries // documents)
    (folder / "qrels").mkdir(parents=True)
    with (
        (folder / "corpus.jsonl").open("w", encoding="utf-8") as corpus,
        (folder / "queries.jsonl").open("w", encoding="utf-8") as asked,
        (folder / "qrels" / "test.tsv").open("w", encoding="utf-8") as judged,
    ):
        judged.write("query-id\tcorpus-id\tscore\n")
        for number in range(documents):
            content = text(rng, WORDS_OF_DOCUMENT)
            print(json.dumps({"_id": f"d{number}", "title": "", "text": content}), file=corpus)
            for part in range(spread if queries >= documents else number in wanted):
                words = " ".join(rng.sample(content.split(), 6))
                name = f"q{number}-{part}"
                print(json.dumps({"_id": name, "text": words}), file=asked)
                print(f"{name}\td{number}\t1", file=judged)
    return ["evaluate", str(folder), "--corpus", str(folder), "-e", "bm25", "--timed", "none"]


def by_queries(folder: Path, size: int) -> list[str]:
    """Return the evaluation of *size* queries on 100 documents."""
    return collection(folder / "beir", documents=100, queries=size)


def by_documents(folder: Path, size: int) -> list[str]:
    """Return the evaluation of 50 queries on *size* documents."""
    return collection(folder / "beir", documents=size, queries=50)


def by_snapshots(folder: Path, size: int) -> list[str]:
    """Return the evaluation of *size* queries, each on a commit of its own, of 50 files."""
    rng = random.Random(1)
    repository = folder / "repository"
    repository.mkdir()
    lines = []
    for number in range(size):
        lines += ["commit refs/heads/main", f"committer a <a@example.org> {10**9 + number} +0000"]
        lines += ["data 1", "x"]
        for file in range(50) if number == 0 else [number % 50]:
            content = text(rng, WORDS_OF_DOCUMENT)
            lines += [f"M 100644 inline f{file}.md", f"data {len(content)}", content]
        lines += [f"reset refs/tags/v{number}", "from refs/heads/main", ""]
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    subprocess.run(
        ["git", "-C", str(repository), "fast-import", "--quiet"],
        input="\n".join(lines).encode(),
        check=True,
    )
    cases = [
        {
            "id": f"q{number}",
            "query": text(rng, 6),
            "ground_truth_files": [f"f{number % 50}.md"],
            "base_commit": f"v{number}",
            "tags": {"repository": "r"},
        }
        for number in range(size)
    ]
    described = {"repositories": [{"name": "r", "path": str(repository)}]}
    gold = {"format": "karat-gold", "version": 1, "test_cases": cases, "metadata": described}
    file = folder / "gold.json"
    file.write_text(json.dumps(gold), encoding="utf-8")
    return ["evaluate", str(file), "-e", "bm25", "--timed", "none"]


def by_configurations(folder: Path, size: int) -> list[str]:
    """Return the sweep of *size* values of k1 on 100 documents and 100 queries."""
    values = [round(0.5 + 2 * number / size, 6) for number in range(size)]
    matrix = folder / "matrix.yaml"
    matrix.write_text(json.dumps({"search_modes": ["sparse"], "k1": values}), encoding="utf-8")
    _, beir, *_ = collection(folder / "beir", documents=100, queries=100)
    options = ["--matrix", str(matrix), "--allow", str(size), "--timed", "none"]
    return ["sweep", beir, "--corpus", beir, *options]


def by_rows(folder: Path, size: int) -> list[str]:
    """Return the scoring of a TREC run of *size* rows, 100 for each query."""
    qrels, run = folder / "a.qrels", folder / "a.run"
    rng = random.Random(1)
    with qrels.open("w", encoding="utf-8") as judged, run.open("w", encoding="utf-8") as hits:
        for query in range(max(1, size // HITS)):
            found = rng.sample(range(100_000), HITS)
            for document in found[:5]:
                judged.write(f"q{query} 0 d{document} 1\n")
            for rank, document in enumerate(sorted(found), 1):
                hits.write(f"q{query} Q0 d{document} {rank} {HITS - rank} t\n")
    return ["score", str(qrels), str(run)]


def by_parquet_rows(folder: Path, size: int) -> list[str]:
    """Return the scoring of the same rows in a Parquet file."""
    command, qrels, run = by_rows(folder, size)
    file = folder / "a.parquet"
    code = (
        "import sys, polars as pl\n"
        "names = ['query_id', 'q0', 'path', 'rank', 'score', 'tag']\n"
        "frame = pl.read_csv(sys.argv[1], separator=' ', has_header=False, new_columns=names)\n"
        "frame.select('query_id', 'path', 'rank', pl.col('score').cast(float))"
        ".write_parquet(sys.argv[2])"
    )
    subprocess.run([sys.executable, "-c", code, run, str(file)], check=True)
    return [command, qrels, str(file)]


AXES = {
    "queries": Axis(100, "100 documents, bm25", by_queries),
    "documents": Axis(100, "50 queries, bm25", by_documents),
    "snapshots": Axis(10, "50 files, one query each, bm25", by_snapshots),
    "configurations": Axis(1, "100 documents, 100 queries", by_configurations),
    "rows": Axis(10_000, "TREC text, 100 hits a query", by_rows),
    "parquet rows": Axis(10_000, "Parquet, 100 hits a query", by_parquet_rows),
}


def tree(pid: int) -> Iterator[int]:
    """Yield a process and all below it."""
    yield pid
    with suppress(OSError):
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in children.read_text(encoding="utf-8").split():
                yield from tree(int(child))


def resident_bytes(pid: int) -> int:
    """Return the memory of a process and all below it; shared pages count for each."""
    total = 0
    for each in tree(pid):
        with suppress(OSError, IndexError):
            total += int(Path(f"/proc/{each}/statm").read_text(encoding="utf-8").split()[1]) * PAGE
    return total


def measure(arguments: Sequence[str], folder: Path, size: int) -> Point:
    """Run a command; its output is shown only where it fails."""
    environment = {
        **os.environ,
        "KARAT_CACHE": str(folder / "cache"),
        "KARAT_STORE": str(folder / "karat.db"),
        "KARAT_WORKERS": "1",
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "karat", *arguments],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
        peak, ended = 0, (0, 0)
        while ended[0] == 0:
            peak = max(peak, resident_bytes(process.pid))
            time.sleep(POLL_S)
            *ended, used = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(ended[1])
    if process.returncode:
        sys.exit((folder / "log").read_text(encoding="utf-8")[-2000:])
    return Point(size, used.ru_utime + used.ru_stime, peak / 1e6)


def points(axis: Axis, powers: int, budget_s: float) -> Iterator[Point]:
    """Yield the cost at each size, up to *powers* of them and as long as *budget_s* allows."""
    for power in range(powers):
        size = axis.first * 10**power
        with tempfile.TemporaryDirectory(prefix="karat-scale-") as name:
            point = measure(axis.command(Path(name), size), Path(name), size)
        yield point
        if point.cpu_s * 10 > budget_s:
            return


def slope(values: Sequence[tuple[float, float]]) -> float:
    """Return the slope of the least-squares line through the logarithms of *values*.

    >>> round(slope([(1, 2), (10, 200), (100, 20_000)]), 6)
    2.0
    """
    xs, ys = [log10(x) for x, _ in values], [log10(y) for _, y in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    if not spread:
        return float("nan")
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread


def summary(name: str, found: Sequence[Point]) -> dict[str, object]:
    """Return the points of an axis and the exponents of CPU time and memory."""
    cpu = [(point.size, point.cpu_s) for point in found]
    memory = [(point.size, point.peak_mb) for point in found]
    return {
        "axis": name,
        "fixed": AXES[name].fixed,
        "points": [point._asdict() for point in found],
        "cpu_exponent": slope(cpu),
        "cpu_exponent_last": slope(cpu[-2:]),
        "memory_exponent": slope(memory),
        "memory_exponent_last": slope(memory[-2:]),
    }


def table(found: Sequence[dict[str, object]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| axis | fixed | size: CPU s / peak MB | CPU exponent, last | memory exponent, last |"
    yield "|---|---|---|---|---|"
    for row in found:
        cells = [
            f"{point['size']:,}: {point['cpu_s']:.1f} / {point['peak_mb']:,.0f}"
            for point in row["points"]
        ]
        cpu = f"{row['cpu_exponent']:.2f}, {row['cpu_exponent_last']:.2f}"
        memory = f"{row['memory_exponent']:.2f}, {row['memory_exponent_last']:.2f}"
        yield f"| {row['axis']} | {row['fixed']} | {'; '.join(cells)} | {cpu} | {memory} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--axis", action="append", choices=AXES, help="repeatable; default: all")
    parser.add_argument("--powers", type=int, default=3, help="points of each axis")
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds of one point")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = []
    for name in options.axis or AXES:
        if not options.json:
            print(f"{name} ...", file=sys.stderr)
        found.append(summary(name, list(points(AXES[name], options.powers, options.budget))))
    print(json.dumps(found, indent=1) if options.json else "\n".join(table(found)))


if __name__ == "__main__":
    main()
