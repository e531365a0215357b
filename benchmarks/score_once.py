"""CPU of the parent process of `karat compare --agents`, at two revisions of Karat.

Engines search in worker processes; the parent process stores the results, reads them back, scores
them and compares the runs. Both revisions run the same command in turn, on the same generated
corpus, each time with an empty store; embeddings are cached by a first run that is not measured.

    git worktree add ../before REVISION
    .venv/bin/python benchmarks/score_once.py --before ../before
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from numpy import median

ROOT = Path(__file__).resolve().parents[1]
WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("ando", "ire", "olu", "ena")]
# RUSAGE_SELF leaves the worker processes out.
BOOT = """
import resource, sys
from karat.cli import main
try:
    main(sys.argv[1:])
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"cpu_s={used.ru_utime + used.ru_stime}", file=sys.stderr)
"""


def main() -> None:
    """Measure both revisions in turn, and print the median of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path, required=True, help="a work tree of Karat")
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--engines", nargs="+", default=["bm25", "hybrid"])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    trees = {"before": options.before.resolve(), "after": ROOT}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder / "corpus", options.files)
        write_gold(folder / "gold.json", options.queries, options.files)
        cpu_s(ROOT, folder, options.engines)
        taken: dict[str, list[float]] = {label: [] for label in trees}
        for _ in range(options.rounds):
            for label, tree in trees.items():
                taken[label].append(cpu_s(tree, folder, options.engines))
    for label, times in taken.items():
        shown = " ".join(f"{seconds:.2f}" for seconds in times)
        print(f"{label}: median {median(times):.2f} s of CPU in the parent process ({shown})")
    saved_s = median(taken["before"]) - median(taken["after"])
    print(f"saved: {saved_s / options.queries * 1000:.2f} ms per query")


def write_corpus(folder: Path, files: int) -> None:
    """Write *files* texts that share their words, so that a query finds at least 100 of them."""
    chance = random.Random(0)
    folder.mkdir()
    for number in range(files):
        text = f"file{number} " + " ".join(chance.sample(WORDS, 24))
        (folder / f"file{number}.txt").write_text(f"{text}\n", encoding="utf-8")


def write_gold(path: Path, queries: int, files: int) -> None:
    """Write a gold set of *queries* queries with one file each."""
    chance = random.Random(1)
    cases = []
    for number in range(queries):
        wanted = chance.randrange(files)
        words = [*chance.sample(WORDS, 3), f"file{wanted}"]
        cases.append(
            {
                "id": f"q{number}",
                "query": " ".join(words),
                "ground_truth_files": [f"file{wanted}.txt"],
            }
        )
    path.write_text(json.dumps({"test_cases": cases, "metadata": {}}), encoding="utf-8")


def cpu_s(tree: Path, folder: Path, engines: list[str]) -> float:
    """Return the CPU seconds that the parent process of one comparison takes."""
    store = folder / "store.db"
    command = ["compare", "gold.json", "--corpus", "corpus", "--timed", "none", "--json"]
    command += ["--store", str(store), "--agents", *engines]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "src"),
        "KARAT_CACHE": str(folder / "cache"),
    }
    done = subprocess.run(
        [sys.executable, "-c", BOOT, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    for path in folder.glob("store.db*"):
        path.unlink()
    if done.returncode:
        sys.exit(done.stderr)
    return float(done.stderr.rpartition("cpu_s=")[2])


if __name__ == "__main__":
    main()
