"""The cost of one grade in the service: a real `karat serve`, 12 runs over 120 queries.

For each grade the requests of the page are sent: the grade itself, the remaining hits, the dataset,
and the text of the next document. The output is the CPU time of the service with all its processes,
and the latency of the next hit.

    .venv/bin/python benchmarks/judging.py
    .venv/bin/python benchmarks/judging.py --queries 1000 --grades 50
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

import httpx  # noqa: E402
from live_service import gold, prepared, service  # noqa: E402

from karat.client import Client  # noqa: E402
from karat.scoring.stats.moments import percentiles  # noqa: E402

GOAL_MS = 50.0
MATRIX = {
    "search_modes": ["sparse", "dense", "hybrid"],
    "top_k_values": [10, 20],
    "score_thresholds": [None, 0.2],
}


def tree(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    found = [pid]
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text(encoding="utf-8").split():
            found += tree(int(child))
    return found


def cpu_ms(pid: int) -> float:
    """Return how long a process and those that it has started have worked, ended ones included."""
    total = 0
    for each in tree(pid):
        fields = Path(f"/proc/{each}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        total += sum(map(int, fields[11:15]))
    return total * 1e3 / os.sysconf("SC_CLK_TCK")


class Page:
    """The requests of the page that judges."""

    def __init__(self, address: str, dataset: str, benchmark: str, collection: str) -> None:
        """Judge the hits of *benchmark*."""
        self.http = httpx.Client(base_url=f"{address}/api/v2", timeout=600)
        self.dataset = f"/benchmark-datasets/{dataset}"
        self.params = {"benchmark": benchmark}
        self.content = f"/collections/{collection}/documents/content"

    def unjudged(self) -> dict:
        """Return the hits that are left."""
        answer = self.http.get(f"{self.dataset}/unjudged", params=self.params)
        return answer.raise_for_status().json()

    def grade(self, left: dict, grade: int) -> None:
        """Give the first hit a grade."""
        hit = left["hits"][0]
        edit = {"query_id": hit["query_id"], "path": hit["path"], "grade": grade}
        edit |= {"version": left["version"]}
        if hit["start_line"]:
            edit |= {"start_line": hit["start_line"], "end_line": hit["end_line"]}
        self.http.put(f"{self.dataset}/judgments", json=edit).raise_for_status()

    def look(self, left: dict) -> None:
        """Request the context of the next hit."""
        self.http.get(self.dataset).raise_for_status()
        path = {"path": left["hits"][0]["path"]}
        self.http.get(self.content, params=path).raise_for_status()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=120)
    parser.add_argument("--grades", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-judging-") as name:
        folder = Path(name)
        with service(folder) as (address, pid), Client(address) as client:
            asked = folder / "gold.json"
            asked.write_text(gold(options.queries, 2), encoding="utf-8")
            benchmark = prepared(client, asked, MATRIX)
            client.start(benchmark)
            for _ in client.events(benchmark):
                pass
            found = client.benchmark(benchmark)
            # The worker needs a moment after it has reported the end of its work.
            sleep(2)
            dataset = next(client.datasets()).id
            collection = next(client.collections()).id
            page = Page(address, dataset, benchmark, collection)
            begun = cpu_ms(pid)
            left = page.unjudged()
            first_ms, total = cpu_ms(pid) - begun, left["total"]
            page.look(left)
            waits_ms = []
            begun = cpu_ms(pid)
            for number in range(options.grades):
                sent = perf_counter()
                page.grade(left, number % 4)
                left = page.unjudged()
                page.look(left)
                waits_ms.append((perf_counter() - sent) * 1e3)
            each_ms = (cpu_ms(pid) - begun) / options.grades
            begun = cpu_ms(pid)
            sleep(2)
            idle_ms = (cpu_ms(pid) - begun) / 2
    busy_ms = each_ms - idle_ms * sum(waits_ms) / len(waits_ms) / 1e3
    p50, worst = percentiles(waits_ms, (50, 100))
    print(f"{found.completed_runs} runs over {options.queries} queries, {total:,} unjudged hits")
    print(f"first page: {first_ms:.0f} ms of processor time")
    print(
        f"each of {options.grades} grades: {busy_ms:.1f} ms; goal: below {GOAL_MS:.0f} ms", end=""
    )
    print(f" (idle, the service spends {idle_ms:.0f} ms a second)")
    print(f"waited for the next hit: p50 {p50:.0f} ms, longest {worst:.0f} ms")


if __name__ == "__main__":
    main()
