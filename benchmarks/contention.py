"""How long others wait while one heavy statistics request runs, in a real `karat serve`.

A heavy benchmark (1,000 queries, 12 runs) and a small one (20 queries, 2 runs) run over Karat's own
source. Then one client requests a comparison of the heavy benchmark. Until its response comes,
another client repeats light requests (lists, the benchmark) and statistics of the small benchmark,
each with other arguments, so that no response is cached. On a busy machine all of them wait for a
core; compare two versions of Karat on the same machine.

    .venv/bin/python benchmarks/contention.py
    .venv/bin/python benchmarks/contention.py --queries 200 --json
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from threading import Thread
from time import perf_counter

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from live_service import gold, prepared, service  # noqa: E402

from karat.client import Client  # noqa: E402
from karat.scoring.stats.moments import percentiles  # noqa: E402

HEAVY = {
    "search_modes": ["sparse"],
    "top_k_values": [10, 20],
    "k1": [0.9, 1.2, 1.6],
    "b": [0.4, 0.75],
}
SMALL = {"search_modes": ["sparse"], "top_k_values": [10, 20]}


def completed(client: Client, folder: Path, queries: int, matrix: dict[str, object]) -> str:
    """Return a benchmark of *matrix* that has ended."""
    asked = folder / f"{queries}.json"
    asked.write_text(gold(queries, 2), encoding="utf-8")
    benchmark = prepared(client, asked, matrix, timing="none", index={"dense": False})
    client.start(benchmark)
    for _ in client.events(benchmark):
        pass
    return benchmark


def small_requests(client: Client, benchmark: str) -> Iterator[Callable[[], object]]:
    """Yield requests for statistics of *benchmark*, each for another result."""
    runs = [run.id for run in client.results(benchmark).runs]
    known = client.results(benchmark).runs[0].metrics_flat
    for metric in known:
        for run in runs:
            yield lambda run=run, metric=metric: client.comparison(
                benchmark, baseline=run, metric=metric
            )


def milliseconds(request: Callable[[], object]) -> float:
    """Return how long *request* takes."""
    begun = perf_counter()
    request()
    return (perf_counter() - begun) * 1e3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000, help="of the heavy benchmark")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-contention-") as name:
        folder = Path(name)
        with service(folder) as (address, _), Client(address) as client, Client(address) as other:
            heavy = completed(client, folder, options.queries, HEAVY)
            small = completed(client, folder, 20, SMALL)
            requests = small_requests(client, small)
            # The processes of both are started, and the small benchmark is loaded.
            first_ms = milliseconds(next(requests))
            alone_ms = milliseconds(next(requests))
            light = cycle(
                (client.me, lambda: next(client.benchmarks()), lambda: client.benchmark(small))
            )
            baseline = client.results(heavy).runs[0].id
            taken: list[float] = []
            thread = Thread(
                target=lambda: taken.append(
                    milliseconds(lambda: other.comparison(heavy, baseline=baseline))
                )
            )
            light_ms: list[float] = []
            small_ms: list[float] = []
            thread.start()
            while thread.is_alive():
                light_ms += [milliseconds(next(light)) for _ in range(20)]
                if (request := next(requests, None)) and thread.is_alive():
                    small_ms.append(milliseconds(request))
            thread.join()
    figures = {
        "heavy_s": taken[0] / 1e3,
        "light": len(light_ms),
        "light_p95_ms": percentiles(light_ms, (95,))[0],
        "small": len(small_ms),
        "small_p50_ms": percentiles(small_ms, (50,))[0],
        "small_p95_ms": percentiles(small_ms, (95,))[0],
        "small_first_ms": first_ms,
        "small_alone_ms": alone_ms,
    }
    if options.json:
        print(json.dumps(figures))
        return
    print(f"heavy request: {figures['heavy_s']:.1f} s")
    print(f"light requests meanwhile: {len(light_ms)}, p95 {figures['light_p95_ms']:.0f} ms")
    print(
        f"small statistics meanwhile: {len(small_ms)}, p50 {figures['small_p50_ms']:.0f} ms", end=""
    )
    print(f", p95 {figures['small_p95_ms']:.0f} ms; without the heavy one {alone_ms:.0f} ms")


if __name__ == "__main__":
    main()
