"""How long readers wait while a service works: many clients poll and stream, a benchmark runs.

A real `karat serve` with one worker indexes Karat's own source and runs a matrix over it. Half of
the clients ask again and again for the lists, the benchmark and its results; the other half follow
its events. Meanwhile a dataset at the limits (1,000 queries of 100 judgments) is uploaded. Printed
are the percentiles of all reads, and the memory of the service before and after. On a busy machine
the readers wait for the processor, not for the service: only an idle one shows what it can do.

    .venv/bin/python benchmarks/server.py
    .venv/bin/python benchmarks/server.py --clients 100 --pause 0.1
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from karat.client import Client, ServiceError  # noqa: E402
from karat.stats.percentile import percentiles  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
GOAL_MS = 250.0
WORDS = ("chunk", "corpus", "query", "engine", "path", "line", "score", "rank", "metric", "tree")


@contextmanager
def service(folder: Path) -> Iterator[tuple[str, int]]:
    """Give the address and the process of a service that keeps everything in *folder*."""
    command = [sys.executable, "-m", "karat", "serve", "--port", "0", "--root", str(ROOT)]
    # A cache of its own: the times of others who use Karat on this machine are not waited for.
    environment = {**os.environ, "KARAT_CACHE": str(folder / "cache")}
    log = folder / "log"
    with (
        log.open("w", encoding="utf-8") as stream,
        subprocess.Popen(command, cwd=folder, env=environment, stderr=stream) as process,
    ):
        try:
            while not (found := re.search(r"answers at (\S+)", log.read_text(encoding="utf-8"))):
                sleep(0.1)
            yield found[1], process.pid
        finally:
            process.terminate()


def rss_mb(pid: int) -> float:
    """Return the memory of a process that is really there."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def gold(queries: int, judgments: int) -> str:
    """Return a dataset of words of the trade, whose documents are files of the source."""
    files = [path.relative_to(ROOT / "src") for path in sorted((ROOT / "src").rglob("*.py"))]
    rows = [
        {
            "query_key": f"q{number}",
            "query_text": f"{WORDS[number % 10]} of a {WORDS[number // 10 % 10]} {number}",
            "relevant_docs": [
                {"doc_ref": {"path": str(files[(number + each) % len(files)])}}
                for each in range(judgments)
            ],
        }
        for number in range(queries)
    ]
    return json.dumps({"queries": rows})


def prepared(client: Client, folder: Path) -> str:
    """Return a benchmark that is ready to be started."""
    source = {"kind": "git", "path": str(ROOT / "src"), "revision": "HEAD"}
    made = client.create_collection("Source", source, index={"model": "static"})
    for _ in client.operation_events(str(made.operation_uuid)):
        pass
    file = folder / "gold.json"
    file.write_text(gold(200, 2), encoding="utf-8")
    dataset = client.upload_dataset("Words", file)
    mapping = client.map(dataset.id, made.id)
    client.resolve(dataset.id, mapping.id)
    matrix = {"search_modes": ["sparse", "dense", "hybrid"], "top_k_values": [5, 10, 20]}
    return client.create_benchmark("Load", mapping.id, matrix).id


class Clients:
    """Everybody who asks meanwhile; what went wrong is counted."""

    def __init__(self, address: str, benchmark: str, *, pause: float) -> None:
        """Ask about *benchmark*, each client *pause* seconds after its last answer."""
        self.address = address
        self.benchmark = benchmark
        self.pause = pause
        self.ended = Event()
        self.reads_ms: list[float] = []
        self.events = 0
        self.errors: list[str] = []

    def poll(self) -> None:
        """Ask for one thing after the other until the benchmark has ended."""
        with Client(self.address) as client:
            asked = (
                lambda: client.benchmark(self.benchmark),
                lambda: next(client.benchmarks()),
                lambda: client.results(self.benchmark),
                lambda: next(client.datasets()),
                client.me,
            )
            turn = 0
            while not self.ended.is_set():
                begun = perf_counter()
                try:
                    asked[turn % len(asked)]()
                except ServiceError as error:
                    self.errors.append(str(error))
                self.reads_ms.append((perf_counter() - begun) * 1e3)
                turn += 1
                sleep(self.pause)

    def stream(self) -> None:
        """Follow the events to the last one."""
        with Client(self.address) as client:
            try:
                last = 0
                for event in client.events(self.benchmark):
                    if event.id <= last:
                        self.errors.append(f"event {event.id} after {last}")
                    last = event.id
                    self.events += 1
            except ServiceError as error:
                self.errors.append(str(error))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two reads")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="karat-load-") as name:
        folder = Path(name)
        with service(folder) as (address, pid), Client(address) as client:
            benchmark = prepared(client, folder)
            large = folder / "large.json"
            large.write_text(gold(1_000, 100), encoding="utf-8")
            before = rss_mb(pid)
            clients = Clients(address, benchmark, pause=options.pause)
            client.start(benchmark)
            roles = [clients.poll, clients.stream] * (options.clients // 2)
            threads = [Thread(target=role, daemon=True) for role in roles]
            begun = perf_counter()
            for thread in threads:
                thread.start()
                # They come one after the other; that all of them ask first at once says little.
                sleep(options.pause / len(threads))
            sent = perf_counter()
            client.upload_dataset("Limits", large)
            upload_s = perf_counter() - sent
            for _ in client.events(benchmark):
                pass
            clients.ended.set()
            for thread in threads:
                thread.join()
            took = perf_counter() - begun
            after = rss_mb(pid)
            found = client.benchmark(benchmark)
    p50, p99 = percentiles(clients.reads_ms, (50, 99))
    print(f"{found.completed_runs} of {found.total_runs} runs in {took:.0f} s, {found.status}")
    print(f"reads: {len(clients.reads_ms):,}, p50 {p50:.0f} ms, p99 {p99:.0f} ms", end="")
    print(f", slowest {max(clients.reads_ms):.0f} ms; goal: p99 below {GOAL_MS:.0f} ms")
    print(f"events: {clients.events:,} received, in order")
    print(f"upload of {large.name}: {upload_s:.1f} s")
    print(f"memory of the service: {before:.0f} MB before, {after:.0f} MB after")
    print(f"errors: {len(clients.errors)} {clients.errors[:3] or ''}")


if __name__ == "__main__":
    main()
