"""What isolation costs: a query asked through the runner, against calling the engine directly.

The engine runs in its own process and each answer is stored in a SQLite file. What a query takes
from one answer to the next, less what its search takes, is the overhead. There are two passes: the
one for hits asks the next query while an answer is stored; the one for times does nothing while an
engine searches, so that storing is a part of its overhead. Its latencies, taken inside the process,
are compared with those of the same engine called in this one. Runner and engine take turns, round
by round, and the best of each query counts. On a busy machine both processes wait to be woken, and
find their caches cold, which no engine in one process does: only an idle one shows the overhead.

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
from karat.model import Answer, Dataset, Query  # noqa: E402
from karat.model.timings import Sample  # noqa: E402
from karat.runner import (  # noqa: E402
    Configuration,
    Settings,
    Source,
    one_visit,
    quality,
    timing,
)
from karat.runner.events import Hooks  # noqa: E402
from karat.runner.sources import Opener  # noqa: E402
from karat.store import Kind, Plan, PlannedRun, SqlStore  # noqa: E402

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
    """Keeps each answer as it ends, and when that was."""

    def __init__(self, store: SqlStore, run: str) -> None:
        """Keep answers as those of *run*."""
        self._store = store
        self._run = run
        self.ends: list[int] = []
        self.storing: list[int] = []
        self.samples: list[Sample] = []

    def on_answer(self, _: str, answer: Answer, sample: Sample | None) -> None:
        """Store *answer*."""
        started = perf_counter_ns()
        self._store.add(self._run, answer, sample)
        self.ends.append(perf_counter_ns())
        self.storing.append(self.ends[-1] - started)
        if sample:
            self.samples.append(sample)

    def apart_ms(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Return how long after the one before it each query ended; the first has none."""
        return np.diff(self.ends) / 1e6


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
        planned = PlannedRun(configuration.name, configuration.spec)
        plan = Plan("overhead", Kind.EVALUATE, queries, (planned,))
        run = store.show(store.experiment(plan)).runs[0].id
        store.claim(run)
        sink = Stored(store, run)
        settings = Settings(warm_up=3, repetitions=1)
        visits = one_visit(queries, source, seed=0)
        hooks = Hooks(sink=sink)
        if timed:
            [measured] = timing([configuration], queries, visits, settings=settings, hooks=hooks)
        else:
            [measured] = quality([(configuration,)], queries, visits, hooks=hooks)
        if measured.notes["status"] != "completed":
            raise SystemExit(str(measured.notes))
        return sink


def directly(configuration: Configuration, queries: Dataset, source: Source) -> list[int]:
    """Ask all *queries* in this process, in the runner's order; return what each took."""
    opener = Opener()
    engine = build(configuration.spec)
    engine.index(opener.open(source))
    taken = []
    [visit] = one_visit(queries, source, seed=0)
    texts = [queries.texts[row] for row in visit.rows]
    for text in (*texts[:3], *texts):
        started = perf_counter_ns()
        engine.search(text, configuration.k)
        taken.append(perf_counter_ns() - started)
    opener.close()
    return taken[3:]


def main() -> int:
    """Measure every engine; return 1 where one exceeds the goal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", default=str(Path(__file__).parents[1] / "src"))
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    queries, source = dataset(options.queries), Source.folder(options.tree)
    print(
        "| engine | directly, p50 ms | in its process | for hits | for times | storing | goal | |"
    )
    print("|---|---|---|---|---|---|---|---|")
    missed = False
    for name, spec, k in ENGINES:
        configuration = Configuration(name, parse_spec(spec), k)
        direct, inside, hits, times, storing = [], [], [], [], []
        for _ in range(options.rounds):
            direct.append(np.array(directly(configuration, queries, source)) / 1e6)
            hits.append(through(configuration, queries, source, timed=False).apart_ms())
            sink = through(configuration, queries, source, timed=True)
            inside.append(np.array([sample.cold_ns for sample in sink.samples]) / 1e6)
            times.append(sink.apart_ms() - inside[-1][1:])
            storing.append(np.array(sink.storing) / 1e6)
        # The best of each query: a busy machine hurts all alike. The hits come without times, so
        # their searches are those called directly; the best of each is taken before they are
        # subtracted, or a round in which those were slow would pass for a small overhead.
        best = [np.min(ms, axis=0) for ms in (direct, inside, hits, times, storing)]
        best[2] = best[2] - best[0][1:]
        here, there, *added, stored = (float(np.median(ms)) for ms in best)
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
