"""Speed of the built-in engines against their peers, in one run.

All candidates take turns on the same chunks, each with its own tokenising; the best CPU time of
several rounds counts for building, the best of each query for searching, so that a busy machine
hurts all alike. The ratios are what matters, not the times.

    .venv-bench/bin/python benchmarks/engines.py                     # chunks that are made up
    .venv-bench/bin/python benchmarks/engines.py --tree path/to/code # chunks of real code
    .venv-bench/bin/python benchmarks/engines.py --only lexical --chunks 20000
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

import code_chunks  # noqa: E402
import lexical_peers  # noqa: E402
import numpy as np  # noqa: E402

# Karat may take this many times the peer's CPU time to build, and its median time to search.
GOALS = {
    ("lexical", "build", "tantivy"): 4.0,
    ("lexical", "search", "bm25s"): 2.0,
}
K = 10


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


# A further part, such as dense or overhead, is a function like `lexical` and its line here.
PARTS = {"lexical": lexical}


def main() -> int:
    """Run the parts and return 1 where a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tree", type=Path, help="take the chunks from this folder")
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
