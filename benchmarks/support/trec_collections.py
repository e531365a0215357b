"""Seeded collections for the benchmarks: judgments and runs as dictionaries, or as TREC files."""

from pathlib import Path

import numpy as np

Qrels = dict[str, dict[str, int]]
RunDict = dict[str, dict[str, float]]


def msmarco(queries: int = 6_980, depth: int = 1_000) -> tuple[Qrels, RunDict]:
    """Return many queries with about one relevant document each; scores are rounded to tie."""
    rng = np.random.default_rng(1)
    qrels: Qrels = {}
    run: RunDict = {}
    for number in range(queries):
        ids = [f"D{value}" for value in rng.choice(8_800_000, depth, replace=False)]
        scores = np.sort(np.round(rng.normal(20, 5, depth), 3))[::-1]
        query = str(1_000_000 + number)
        run[query] = dict(zip(ids, scores.tolist(), strict=True))
        place = min(int(rng.exponential(30)), depth - 1)
        found = ids[place] if rng.random() < 0.85 else "D-none"
        qrels[query] = {found: 1}
        if rng.random() < 0.06:
            qrels[query][ids[5]] = 1
    return qrels, run


def shuffled(qrels: Qrels, run: RunDict) -> tuple[Qrels, RunDict]:
    """Return the same run with each query's hits in no order."""
    rng = np.random.default_rng(2)
    mixed: RunDict = {}
    for query, hits in run.items():
        items = list(hits.items())
        mixed[query] = dict(items[place] for place in rng.permutation(len(items)))
    return qrels, mixed


def dense() -> tuple[Qrels, RunDict]:
    """Return few queries with many graded judgments."""
    rng = np.random.default_rng(3)
    qrels: Qrels = {}
    run: RunDict = {}
    for number in range(43):
        ids = [f"D{value}" for value in rng.choice(8_800_000, 1_000, replace=False)]
        scores = np.sort(np.round(rng.normal(20, 5, 1_000), 3))[::-1]
        query = str(number)
        run[query] = dict(zip(ids, scores.tolist(), strict=True))
        judged = [ids[place] for place in rng.choice(1_000, 130, replace=False)]
        judged += [f"D-none{place}" for place in range(86)]
        qrels[query] = {document: int(rng.integers(0, 4)) for document in judged}
    return qrels, run


def small(seed: int = 4) -> tuple[Qrels, RunDict]:
    """Return a code search: 127 queries, 10 hits named path:first-last."""
    rng = np.random.default_rng(seed)
    places = [
        f"src/module{n % 61}/file{n % 37}.rs:{n * 10 % 900 + 1}-{n * 10 % 900 + 40}"
        for n in range(3_000)
    ]
    truth = np.random.default_rng(0)
    qrels: Qrels = {}
    run: RunDict = {}
    for number in range(127):
        wanted = [places[n] for n in truth.choice(3_000, truth.integers(1, 4), replace=False)]
        hits = [places[n] for n in rng.choice(3_000, 10, replace=False)]
        if rng.random() < 0.8:
            hits[min(int(rng.exponential(2)), 9)] = wanted[0]
        query = f"q{number}"
        qrels[query] = {place: 2 - (rank > 0) for rank, place in enumerate(wanted)}
        run[query] = {
            place: round(1 - rank * 0.04, 2) for rank, place in enumerate(dict.fromkeys(hits))
        }
    return qrels, run


def five_systems() -> tuple[Qrels, dict[str, RunDict]]:
    """Return five searches over the same 127 queries."""
    runs = {f"system{number}": small(seed=10 + number)[1] for number in range(5)}
    return small()[0], runs


def write(folder: Path, name: str, qrels: Qrels, run: RunDict) -> tuple[str, str]:
    """Write both as TREC files and return their paths."""
    qrels_path, run_path = folder / f"{name}.qrels", folder / f"{name}.run"
    with qrels_path.open("w", encoding="ascii") as out:
        for query, judged in qrels.items():
            out.writelines(f"{query} 0 {document} {grade}\n" for document, grade in judged.items())
    with run_path.open("w", encoding="ascii") as out:
        for query, hits in run.items():
            out.writelines(
                f"{query} Q0 {document} {rank} {score} bench\n"
                for rank, (document, score) in enumerate(hits.items(), 1)
            )
    return str(qrels_path), str(run_path)
