"""Speed of the built-in engines against their peers in one run, and the cost of an index.

All candidates take turns on the same chunks, each with its own tokeniser. The best CPU time of
several rounds counts for building, the best of each query for searching, so that a busy machine
affects all equally. The ratios matter, not the absolute times. Only the part ``index`` has goals in
seconds, for 45,000 lines on two idle cores.

    .venv-bench/bin/python benchmarks/engines.py                     # chunks that are made up
    .venv-bench/bin/python benchmarks/engines.py --tree path/to/code # chunks of real code
    .venv-bench/bin/python benchmarks/engines.py --only lexical --chunks 20000
    .venv/bin/python benchmarks/engines.py --only index --tree path/to/code --suffix .rs
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

import code_chunks  # noqa: E402
import lexical_peers  # noqa: E402
import numpy as np  # noqa: E402

from karat.corpus import from_texts  # noqa: E402

# Karat may take this many times the peer's CPU time to build, and its median time to search.
GOALS = {
    ("lexical", "build", "tantivy"): 4.0,
    ("lexical", "search", "bm25s"): 2.0,
    ("dense", "search", "faiss"): 1.0,
    ("index", "lexical", "45k lines, s"): 1.0,
    ("index", "fast", "45k lines, s"): 3.0,
    ("index", "balanced", "45k lines, s"): 35.0,
    ("overhead", "python", "a search, ms"): 0.2,
}
K = 10
DIMENSION = 384
LINES = 45_000


def cpu_s(work: Callable[[], object]) -> float:
    """Return the CPU seconds of all threads that *work* takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def lexical(options: argparse.Namespace) -> dict[tuple[str, str, str], float]:
    """Measure building and searching by words; return the goal's figures by peer."""
    tree = options.tree
    chunks = (
        code_chunks.of_tree(tree, options.chunks) if tree else code_chunks.made_up(options.chunks)
    )
    queries = code_chunks.queries(chunks, options.queries)
    size = sum(map(len, chunks)) / 1e6
    print(f"{len(chunks)} chunks, {size:.0f} million characters, {len(queries)} queries, k = {K}\n")
    build = {}
    searches = {}
    best = {}
    for round_number in range(options.rounds):
        for name, index in lexical_peers.available().items():
            made: list[lexical_peers.Search] = []
            used = cpu_s(lambda index=index, made=made: made.append(index(chunks, K)))
            build[name] = min(used, build.get(name, used))
            searches[name] = made[0]
        for name, search in searches.items():
            for query in queries[: 50 if not round_number else 0]:
                search(query)
            taken = np.array([query_ns(search, query) for query in queries]) / 1e6
            best[name] = np.minimum(taken, best.get(name, taken))
    print("| engine | build CPU s | ratio | p50 ms | ratio | p99 ms |\n|---|---|---|---|---|---|")
    figures = {}
    for name, taken in best.items():
        middle, late = np.percentile(taken, [50, 99])
        built = build["karat"] / build[name]
        searched = np.percentile(best["karat"], 50) / middle
        figures["lexical", "build", name] = built
        figures["lexical", "search", name] = float(searched)
        row = f"{build[name]:.1f} | {built:.2f} | {middle:.3f} | {searched:.2f} | {late:.3f}"
        print(f"| {name} | {row} |", flush=True)
    return figures


def query_ns(search: lexical_peers.Search, query: str) -> int:
    """Return the nanoseconds of one search."""
    start = time.perf_counter_ns()
    search(query)
    return time.perf_counter_ns() - start


def dense(options: argparse.Namespace) -> dict[tuple[str, str, str], float]:
    """Measure exact search by vectors against faiss's flat index, one query at a time."""
    import faiss

    from karat.engines.fusion import top
    from karat.engines.vector_rows import VectorTable

    random = np.random.default_rng(1)
    rows = random.standard_normal((options.chunks, DIMENSION), np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    queries = rows[: min(options.queries, 200)] + 0.1 * rows[-min(options.queries, 200) :]
    table = VectorTable()
    table.extend(rows)
    flat = faiss.IndexFlatIP(DIMENSION)
    flat.add(rows)
    searches = {
        "karat": lambda query: top(table.products(query), K),
        "faiss": lambda query: flat.search(query[None], K),
    }
    best = {}
    for _ in range(options.rounds):
        for name, search in searches.items():
            taken = np.array([query_ns(search, query) for query in queries]) / 1e6
            best[name] = np.minimum(taken, best.get(name, taken))
    for name, taken in best.items():
        print(f"{name}: p50 {np.median(taken):.2f} ms, p99 {np.percentile(taken, 99):.2f} ms")
    ratio = float(np.median(best["karat"]) / np.median(best["faiss"]))
    return {("dense", "search", "faiss"): ratio}


def index(options: argparse.Namespace) -> dict[tuple[str, str, str], float]:
    """Measure reading, cutting and indexing a tree by each profile, with nothing from a cache."""
    from karat.engines.registry import PROFILES
    from karat.engines.spec import build
    from karat.experiments.workers.sources import load_corpus

    if options.tree is None:
        print("needs --tree")
        return {}
    figures = {}
    for profile in ("lexical", "fast", "balanced"):
        # Loading a model is part of starting, not of indexing.
        build(PROFILES[profile]).index(from_texts({"a.py": "x = 1"}))
        took = []
        for _ in range(options.rounds if profile != "balanced" else 1):
            engine = build({**PROFILES[profile], "cache": False})
            start = time.perf_counter()
            corpus = load_corpus(str(options.tree))
            kept = tuple(d for d in corpus if d.path.endswith(options.suffix))
            corpus = replace(corpus, documents=kept)
            engine.index(corpus)
            took.append(time.perf_counter() - start)
        lines = sum(text.count("\n") for _, text in corpus.texts())
        per_goal = min(took) * LINES / lines
        print(f"{profile}: {min(took):.2f} s for {len(corpus)} files, {lines:,} lines")
        figures["index", profile, "45k lines, s"] = per_goal
    return figures


def overhead(options: argparse.Namespace) -> dict[tuple[str, str, str], float]:
    """Measure the overhead of calling a Python class that does nothing."""
    from karat.engines.spec import build

    engine = build("null_engine:NullEngine")
    engine.index(from_texts({"a.py": "x = 1"}))
    calls = range(options.queries)
    taken = [query_ns(lambda query: engine.search(query, K), "anything") for _ in calls]
    print(
        f"python: p50 {np.median(taken) / 1e6:.4f} ms, p99 {np.percentile(taken, 99) / 1e6:.4f} ms"
    )
    return {("overhead", "python", "a search, ms"): float(np.median(taken)) / 1e6}


# A further part is a function like these and its line here.
PARTS = {"lexical": lexical, "dense": dense, "index": index, "overhead": overhead}


def main() -> int:
    """Run the parts and return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tree", type=Path, help="take the chunks from this folder")
    parser.add_argument("--suffix", default="", help="only files that end so, for the part index")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    missed = False
    for part in options.only:
        print(f"== {part}")
        figures = PARTS[part](options)
        for goal, limit in GOALS.items():
            if goal[0] == part and goal in figures:
                kept = figures[goal] <= limit
                missed |= not kept
                verdict = "kept" if kept else "MISSED"
                print(f"{goal[1]}: {figures[goal]:.2f} of {goal[2]}, at most {limit}: {verdict}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
