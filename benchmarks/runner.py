"""The cost of isolation: a query through the runner against a direct call of the engine.

The engine runs in its own process and each answer is stored in a SQLite file. The overhead is the
mean time per query, from the first answer to the last, minus the search time. There are two passes:
the quality pass sends the next query while answers are stored; the timing pass is idle while an
engine searches, so storing is a part of its overhead. Latencies measured inside the process are
compared with those of the same engine called directly. Runner and engine take turns, and the best
round of each counts. On a busy machine both processes wait for the scheduler and find cold caches,
which an engine in one process does not: measure the overhead on an idle machine.

    .venv/bin/python benchmarks/runner.py                       # Karat's own source
    .venv/bin/python benchmarks/runner.py --tree path/to/code
"""

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter_ns

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

import numpy as np  # noqa: E402

from karat.engines.spec import build, parse_spec  # noqa: E402
from karat.experiments.measure import measure_quality  # noqa: E402
from karat.experiments.store import (  # noqa: E402
    Buffer,
    ExperimentDefinition,
    ExperimentKind,
    RunDefinition,
    SqlStore,
)
from karat.experiments.workers import (  # noqa: E402
    Configuration,
    RunSettings,
    Source,
    all_queries_on,
    measure_latency,
)
from karat.experiments.workers.run_collector import Callbacks  # noqa: E402
from karat.experiments.workers.sources import Opener  # noqa: E402
from karat.model import Answer, Dataset, Query  # noqa: E402
from karat.model.timings import LatencySample  # noqa: E402

ENGINES = (
    ("null, 1 hit", "null_engine:NullEngine", 10),
    ("bm25, 10 hits", "bm25", 10),
    ("bm25, 100 hits", "bm25", 100),
    ("hybrid, 100 hits", "hybrid", 100),
)
# Over calling the engine directly: at most this share, or this many milliseconds if that is more.
SHARE, FLOOR_MS = 0.05, 0.5
WORDS = ("chunk", "corpus", "query", "engine", "path", "line", "score", "rank", "metric", "tree")


class Stored:
    """Keeps the answers of *run* as a sweep does, and remembers how long all of that took."""

    def __init__(self, buffer: Buffer, run: str) -> None:
        """Keep answers as those of *run*."""
        self._buffer = buffer
        self._run = run
        self.storing_ns = 0
        self.ends: list[int] = []
        self.samples: list[LatencySample] = []

    def on_answer(self, _: str, answer: Answer, sample: LatencySample | None) -> None:
        """Store *answer*."""
        started = perf_counter_ns()
        self._buffer.add(self._run, answer, sample)
        self.ends.append(perf_counter_ns())
        self.storing_ns += self.ends[-1] - started
        if sample:
            self.samples.append(sample)

    def flush(self) -> None:
        """Store the rest; the last query pays for it, the end of the process does not."""
        started = perf_counter_ns()
        self._buffer.flush()
        self.ends[-1] += perf_counter_ns() - started

    @property
    def each_ms(self) -> float:
        """Return the mean time per query, from the end of the first to the end of the last."""
        return (self.ends[-1] - self.ends[0]) / (len(self.ends) - 1) / 1e6


def dataset(count: int) -> Dataset:
    """Return queries of two or three words."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, rng.integers(2, 4))) for _ in range(count)]
    return Dataset.of([Query(f"q{row}", text) for row, text in enumerate(texts)])


def through(
    configuration: Configuration, queries: Dataset, source: Source, *, timed: bool
) -> Stored:
    """Ask all *queries* through the runner; return when each ended."""
    with tempfile.TemporaryDirectory() as folder, SqlStore(Path(folder) / "runs.sqlite") as store:
        planned = RunDefinition(configuration.name, configuration.spec)
        plan = ExperimentDefinition("overhead", ExperimentKind.EVALUATE, queries, (planned,))
        run = store.show(store.experiment(plan)).runs[0].id
        store.claim(run)
        sink = Stored(Buffer(store), run)
        settings = RunSettings(warm_up=3, repetitions=1)
        snapshots = all_queries_on(queries, source, seed=0)
        callbacks = Callbacks(on_result=sink.on_answer)
        if timed:
            [measured] = measure_latency(
                [configuration], queries, snapshots, settings=settings, callbacks=callbacks
            )
        else:
            [measured] = measure_quality(
                [(configuration,)], queries, snapshots, callbacks=callbacks
            )
        sink.flush()
        if measured.notes["status"] != "completed":
            raise SystemExit(str(measured.notes))
        return sink


def directly(configuration: Configuration, queries: Dataset, source: Source) -> list[int]:
    """Run all *queries* in this process, in the runner's order; return the time of each."""
    opener = Opener()
    engine = build(configuration.spec)
    engine.index(opener.open(source))
    taken = []
    [snapshot] = all_queries_on(queries, source, seed=0)
    texts = [queries.texts[row] for row in snapshot.rows]
    for text in (*texts[:3], *texts):
        started = perf_counter_ns()
        engine.search(text, configuration.k)
        taken.append(perf_counter_ns() - started)
    opener.close()
    return taken[3:]


def mean_ms(taken_ns: list[int]) -> float:
    """Return the mean in milliseconds."""
    return float(np.mean(taken_ns)) / 1e6


def main() -> int:
    """Measure every engine; return 1 where one exceeds the goal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", default=str(Path(__file__).parents[1] / "src"))
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    queries, source = dataset(options.queries), Source.folder(options.tree)
    print("| engine | directly, ms | in its process | for hits | for times | storing | goal | |")
    print("|---|---|---|---|---|---|---|---|")
    missed = False
    for name, spec, k in ENGINES:
        configuration = Configuration(name, parse_spec(spec), k)
        rounds = []
        for _ in range(options.rounds):
            direct = mean_ms(directly(configuration, queries, source)[1:])
            hits = through(configuration, queries, source, timed=False)
            times = through(configuration, queries, source, timed=True)
            inside = mean_ms([sample.cold_ns for sample in times.samples[1:]])
            storing = times.storing_ns / len(times.ends) / 1e6
            rounds.append((direct, inside, hits.each_ms, times.each_ms - inside, storing))
        # The best of each: a busy machine affects all equally. The quality pass has no search
        # times, so those of direct calls are used; take the best of both before subtracting, or a
        # round with slow direct calls would show a small overhead.
        here, there, asked, timed, stored = map(min, zip(*rounds, strict=True))
        added = (asked - here, timed)
        goal = max(SHARE * here, FLOOR_MS)
        kept = max(added) <= goal
        missed |= not kept
        verdict = "kept" if kept else "MISSED"
        print(
            f"| {name} | {here:.3f} | {there:.3f} | {added[0]:.3f} | {added[1]:.3f} "
            f"| {stored:.3f} | {goal:.2f} | {verdict} |"
        )
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
