"""Print the CPU time of intervals and of a comparison, all threads counted, in milliseconds.

A program of its own: the number of BLAS threads is read when numpy is loaded.
"""

import time
from collections.abc import Callable

import peers
import trec_collections as data

import karat

ROUNDS = 3
# Each run orders the same hits by their place times one of these, modulo a prime.
STEPS = (1, 2, 3, 5)
PRIME = 23


def main() -> None:
    """Measure 6,980 queries x 6 metrics: one run, and four runs against each other."""
    qrels, run = data.msmarco(depth=20)
    runs = {
        f"run{step}": {
            query: {document: float(place * step % PRIME) for place, document in enumerate(hits)}
            for query, hits in run.items()
        }
        for step in STEPS
    }
    calls: dict[str, Callable[[], object]] = {
        "evaluate": lambda: karat.evaluate(qrels, run, peers.METRICS),
        "compare": lambda: karat.compare(qrels, runs, peers.METRICS),
    }
    for name, call in calls.items():
        times = []
        for _ in range(ROUNDS):
            start = time.process_time_ns()
            call()
            times.append(time.process_time_ns() - start)
        print(f"{name:12}{min(times) / 1e6:8.0f}")


if __name__ == "__main__":
    main()
