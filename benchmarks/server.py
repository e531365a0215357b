"""Latency of reads under load: many clients poll and stream while a benchmark runs.

A real `karat serve` with one worker indexes Karat's own source and runs a matrix over it. Half of
the clients poll the lists, the benchmark and its results; the other half stream its events.
Meanwhile a dataset at the limits (1,000 queries of 100 judgments) is uploaded. The output has the
percentiles of all reads, and the memory of the service before and after. On a busy machine the
readers wait for the processor, not for the service: measure latency on an idle one. The CPU time
of the service per read, streams and upload included, is meaningful on any machine.

    .venv/bin/python benchmarks/server.py
    .venv/bin/python benchmarks/server.py --clients 100 --pause 0.1
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, sleep

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from live_service import gold, prepared, service  # noqa: E402

from karat.client import Client, ServiceError  # noqa: E402
from karat.scoring.stats.moments import percentiles  # noqa: E402

GOAL_MS = 250.0
MATRIX = {"search_modes": ["sparse", "dense", "hybrid"], "top_k_values": [5, 10, 20]}


def rss_mb(pid: int) -> float:
    """Return the memory of a process that is really there."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def cpu_s(pid: int) -> float:
    """Return how long a process has really worked, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


class Clients:
    """All concurrent clients; failures are counted."""

    def __init__(self, benchmark: str, *, pause: float) -> None:
        """Ask about *benchmark*, each client *pause* seconds after its last answer."""
        self.benchmark = benchmark
        self.pause = pause
        self.ended = Event()
        self.reads_ms: list[float] = []
        self.events = 0
        self.errors: list[str] = []

    def poll(self, client: Client) -> None:
        """Ask for one thing after the other until the benchmark has ended."""
        with client:
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

    def stream(self, client: Client) -> None:
        """Follow the events to the last one."""
        with client:
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
            asked, large = folder / "gold.json", folder / "large.json"
            asked.write_text(gold(200, 2), encoding="utf-8")
            benchmark = prepared(client, asked, MATRIX)
            large.write_text(gold(1_000, 100), encoding="utf-8")
            before, worked_s = rss_mb(pid), cpu_s(pid)
            clients = Clients(benchmark, pause=options.pause)
            roles = [clients.poll, clients.stream] * (options.clients // 2)
            # Creating a client takes longer than many reads, and all of them share this process.
            threads = [Thread(target=role, args=(Client(address),), daemon=True) for role in roles]
            client.start(benchmark)
            begun = perf_counter()
            for thread in threads:
                thread.start()
                # Clients start one after the other; a burst of first requests is not
                # representative.
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
            after, worked_s = rss_mb(pid), cpu_s(pid) - worked_s
            found = client.benchmark(benchmark)
    p50, p99 = percentiles(clients.reads_ms, (50, 99))
    print(f"{found.completed_runs} of {found.total_runs} runs in {took:.0f} s, {found.status}")
    print(f"reads: {len(clients.reads_ms):,}, p50 {p50:.0f} ms, p99 {p99:.0f} ms", end="")
    print(f", slowest {max(clients.reads_ms):.0f} ms; goal: p99 below {GOAL_MS:.0f} ms")
    each_ms = worked_s * 1e3 / len(clients.reads_ms)
    print(f"processor time of the service: {worked_s:.1f} s, {each_ms:.1f} ms a read")
    print(f"events: {clients.events:,} received, in order")
    print(f"upload of {large.name}: {upload_s:.1f} s")
    print(f"memory of the service: {before:.0f} MB before, {after:.0f} MB after")
    print(f"errors: {len(clients.errors)} {clients.errors[:3] or ''}")


if __name__ == "__main__":
    main()
