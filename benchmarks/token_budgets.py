"""What an agent finds within a token budget: grep-and-read against bm25, fast and balanced.

    python benchmarks/token_budgets.py REPOSITORY... [--queries 100]

Mines cases from each repository, with files and with lines as targets, and runs the engines on the
versions before each change. Prints recall by tokens read with its interval as Markdown, and the
verdict of each budget over the cases of all repositories, which are resampled together.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

# This folder's statistics.py would hide the standard library's.
sys.path.pop(0)

import karat
from karat.formats import read_dataset, read_run

ENGINES = ("grep-and-read", "bm25", "fast", "balanced")
BUDGETS = (500, 1000, 2000, 4000, 8000)
MEASURES = [f"recall@{budget}tok" for budget in BUDGETS]
SEED = 7


def command(*arguments: str, folder: Path) -> None:
    """Run karat with *arguments* in *folder*; its output is shown only if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "karat", *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"karat {' '.join(arguments)}\n{done.stdout}\n{done.stderr}")


def means(path: Path) -> dict[tuple[str, str], str]:
    """Return the mean and the interval of each run and measure of a comparison in JSON."""
    cells = {}
    for each in json.loads(path.read_text())["comparison"]["means"]:
        ends = f"[{each['interval']['low']:.2f}, {each['interval']['high']:.2f}]"
        cells[each["system"], each["metric"]] = f"{each['mean']:.3f} {ends}"
    return cells


def compare(repository: str, level: str, folder: Path, queries: int) -> list[karat.Run]:
    """Compare the engines on cases of *repository* with targets of *level*; return their runs."""
    gold, result, runs = (folder / name for name in ("gold.json", "result.json", "runs"))
    runs.mkdir(parents=True)
    command("generate", "--repo", repository, "--level", level, "-o", str(gold), folder=folder)
    command(
        *("compare", str(gold), "--agents", *ENGINES, "-m", ",".join(MEASURES)),
        *("--sample", str(queries), "--seed", str(SEED), "--timed", "none"),
        *("--run-out", str(runs / "{engine}.jsonl"), "-o", str(result)),
        folder=folder,
    )
    cells = means(result)
    for engine in ENGINES:
        row = " | ".join(cells[engine, measure] for measure in MEASURES)
        print(f"| {Path(repository).parent.name} | {level} | {engine} | {row} |", flush=True)
    return [read_run(runs / f"{engine}.jsonl") for engine in ENGINES]


def joined(
    parts: Sequence[tuple[karat.Dataset, Sequence[karat.Run]]], match: str
) -> tuple[karat.Dataset, list[karat.Run]]:
    """Return the gold sets and the runs of several repositories as one; ids have a number."""
    truth = [
        query._replace(id=f"{number}:{query.id}")
        for number, (gold, runs) in enumerate(parts)
        for query in gold.queries()
        if query.id in set(runs[0].query_ids)
    ]
    together = [
        karat.Run.of(
            [
                answer._replace(query_id=f"{number}:{answer.query_id}")
                for number, (_, runs) in enumerate(parts)
                for answer in runs[row].answers()
            ],
            name=engine,
            metadata={"ties": "order"},
        )
        for row, engine in enumerate(ENGINES)
    ]
    return karat.Dataset.of(truth, match=match), together


def main() -> None:
    """Print the figures of each repository and level, and the verdicts over all of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repositories", nargs="+", metavar="REPOSITORY")
    parser.add_argument("--queries", type=int, default=100)
    arguments = parser.parse_args()
    print(f"| repository | targets | engine | {' | '.join(f'{b:,}' for b in BUDGETS)} |")
    print("|---|---|---|" + "---|" * len(BUDGETS))
    repositories = [str(Path(each).resolve()) for each in arguments.repositories]
    verdicts = []
    for level in ("file", "line"):
        parts = []
        with TemporaryDirectory() as folder:
            for number, repository in enumerate(repositories):
                own = Path(folder, str(number))
                runs = compare(repository, level, own, arguments.queries)
                parts.append((read_dataset(own / "gold.json"), runs))
        gold, together = joined(parts, parts[0][0].match)
        for measure in MEASURES:
            contest = karat.compare(gold, together, [measure])
            verdicts.append(f"- {level} targets, {measure}, {len(gold)} cases: {contest.verdict}")
    print("\n" + "\n".join(verdicts))


if __name__ == "__main__":
    main()
