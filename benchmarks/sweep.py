"""The cost of a matrix of 48 configurations, against its distinct retrievals.

Dense, sparse and hybrid with two rrf_k are 4 retrievals; times 2 (reranked or not), 3 depths and 2
thresholds they are 48 configurations. The necessary work is: rank by words once, rank by vectors
once, and rerank the first hits of each of the 4, with each text embedded once. The benchmark does
this by hand ("distinct"), and compares it with the same engines in one group, from which all 48 are
cut ("sweep"); then with the runner, including its processes, packing and storing. Both are counted
in work and in CPU seconds of all processes; indexing is done once in both and does not count.

    .venv/bin/python benchmarks/sweep.py --tree path/to/code
"""

import argparse
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

import code_chunks  # noqa: E402

from karat.corpus import Corpus, from_folder  # noqa: E402
from karat.engines.engine_group import Current, build_group  # noqa: E402
from karat.engines.registry import has_absolute_scores  # noqa: E402
from karat.engines.rerank.base import MaxSim, maxsim  # noqa: E402
from karat.engines.rerank.engine import DEPTH, Passages  # noqa: E402
from karat.engines.spec import build  # noqa: E402
from karat.engines.stages import DenseStage, LexicalStage  # noqa: E402
from karat.experiments.matrix import Matrix  # noqa: E402
from karat.experiments.measure import measure_quality  # noqa: E402
from karat.experiments.plan import SearchGroups, SharedSearch, group_searches  # noqa: E402
from karat.experiments.store import ExperimentDefinition, ExperimentKind, RunDefinition, SqlStore  # noqa: E402
from karat.experiments.workers import Callbacks, Source, all_queries_on, cut  # noqa: E402
from karat.extensions.models.onnx import OnnxEmbedder  # noqa: E402
from karat.model import Answer, Dataset, Query  # noqa: E402
from karat.model.timings import LatencySample  # noqa: E402

MATRIX = Matrix(
    search_modes=("dense", "sparse", "hybrid"),
    use_reranker=(False, True),
    top_k_values=(10, 20, 50),
    rrf_k_values=(20, 60),
    score_thresholds=(None, 0.3),
)
GOAL = 1.3
NAMES = ("distinct", "sweep", "distinct again", "sweep again")
DONE = ("stages scored", "queries embedded", "texts reranked", "texts embedded")


class Cost(NamedTuple):
    """Counts of work by kind, and the CPU seconds it took."""

    work: Counter[str]
    cpu_s: float


def counted(
    owner: type, name: str, what: Callable[..., tuple[str, int]], done: Counter[str]
) -> None:
    """Make every call of the method *name* add its work to *done*."""
    original = getattr(owner, name)

    def counting(self: object, *given: object) -> object:
        kind, times = what(*given)
        done[kind] += times
        return original(self, *given)

    setattr(owner, name, counting)


def counters() -> Counter[str]:
    """Return a counter of the work of all engines in this process from now on."""
    done: Counter[str] = Counter()
    counted(LexicalStage, "scores", lambda _: ("stages scored", 1), done)
    counted(DenseStage, "scores", lambda _: ("stages scored", 1), done)
    counted(MaxSim, "scores", lambda _, texts: ("texts reranked", len(texts)), done)
    for name in ("embed", "token_vectors"):
        counted(
            OnnxEmbedder,
            name,
            lambda texts, kind: (
                "queries embedded" if kind == "query" else "texts embedded",
                len(texts),
            ),
            done,
        )
    return done


@contextmanager
def measured(done: Counter[str], costs: list[Cost]) -> Iterator[None]:
    """Add the work inside the ``with`` block to *costs*."""
    done.clear()
    start = time.process_time()
    yield
    costs.append(Cost(done.copy(), time.process_time() - start))


class Heads:
    """The texts that a reranker reads for each query, one list for each retrieval."""

    def __init__(self, corpus: Corpus, plain: Sequence[SharedSearch]) -> None:
        """Index *corpus* for the engines of *plain*, which rerank nothing."""
        self._passages = Passages(corpus)
        self._family = build_group([one.search.spec for one in plain])
        self._family.show(corpus)

    def __call__(self, query: str) -> list[list[str]]:
        """Return the texts for *query*."""
        engines = self._family.engines
        return [self._passages.texts(engine.search(query, DEPTH)) for engine in engines]


def distinct(
    queries: Sequence[str], heads: Sequence[list[list[str]]], corpus: Corpus
) -> Callable[[], None]:
    """Return a function that does the distinct work once: two rankings, and the rerankings."""
    words, vectors, reranker = build("bm25"), build("dense"), maxsim()
    reranker.current = Current()
    depth = max(MATRIX.top_k_values)
    for engine in (words, vectors):
        engine.index(corpus)

    def work() -> None:
        for query, lists in zip(queries, heads, strict=True):
            words.search(query, depth)
            vectors.search(query, depth)
            for texts in lists:
                reranker.scores(query, texts)

    return work


def swept(
    queries: Sequence[str], retrievals: Sequence[SharedSearch], corpus: Corpus
) -> Callable[[], None]:
    """Return a function that runs each engine once, and cuts all configurations from its hits."""
    family = build_group([one.search.spec for one in retrievals])
    family.show(corpus)

    def work() -> None:
        for query in queries:
            for engine, (search, configurations) in zip(family.engines, retrievals, strict=True):
                hits = engine.search(query, search.k)
                for configuration in configurations:
                    cut(
                        hits,
                        k=configuration.k,
                        threshold=configuration.threshold,
                        by_score=has_absolute_scores(configuration.spec),
                    )

    return work


class Cuts:
    """Keeps each answer for all configurations that are cut from it."""

    def __init__(self, store: SqlStore, plan: SearchGroups, dataset: Dataset) -> None:
        """Plan a run for each configuration."""
        planned = tuple(
            RunDefinition(configuration.name, configuration.spec)
            for configuration in plan.configurations
        )
        made = store.experiment(
            ExperimentDefinition("sweep", ExperimentKind.SWEEP, dataset, planned)
        )
        self._runs = {run.label: run.id for run in store.show(made).runs}
        self._entries = {
            one.search.name: one.configurations for group in plan.groups for one in group
        }
        self._store = store

    def on_answer(self, run: str, answer: Answer, sample: LatencySample | None) -> None:
        """Store *answer* as often as there are configurations."""
        for configuration in self._entries[run]:
            scale = has_absolute_scores(configuration.spec)
            hits = cut(
                answer.hits, k=configuration.k, threshold=configuration.threshold, by_score=scale
            )
            self._store.add(self._runs[configuration.name], answer._replace(hits=hits), sample)


def through_the_runner(plan: SearchGroups, queries: Sequence[str], tree: Path) -> float:
    """Return the CPU seconds of this process and its engines for *queries*, stored."""
    dataset = Dataset.of([Query(f"q{row}", text) for row, text in enumerate(queries)])
    snapshots = all_queries_on(dataset, Source.folder(str(tree)), seed=0)
    groups = [tuple(one.configuration for one in group) for group in plan.groups]
    start = _all_cpu_s()
    with tempfile.TemporaryDirectory() as folder, SqlStore(Path(folder) / "runs.sqlite") as store:
        callbacks = Callbacks(on_result=Cuts(store, plan, dataset).on_answer)
        found = measure_quality(groups, dataset, snapshots, callbacks=callbacks)
    if any(one.notes["status"] != "completed" for one in found):
        raise SystemExit(str([one.notes for one in found]))
    return _all_cpu_s() - start


def _all_cpu_s() -> float:
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(kind) for kind in kinds]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def main() -> int:
    """Measure all three; return 1 where the sweep exceeds the goal."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    queries = code_chunks.queries(code_chunks.of_tree(options.tree, 100_000), options.queries)
    corpus = from_folder(options.tree)
    plan = group_searches(MATRIX.configurations(), files=False)
    [retrievals] = plan.groups
    plain = [one for one in retrievals if one.search.spec.name != "rerank"]
    print(
        f"{len(plan.configurations)} configurations, {len(retrievals)} searches, "
        f"{len(queries)} queries "
        f"on {len(corpus)} documents"
    )
    heads = list(map(Heads(corpus, plain), queries))
    done = counters()
    costs: dict[str, list[Cost]] = {name: [] for name in NAMES}
    for _ in range(options.rounds):
        ways = distinct(queries, heads, corpus), swept(queries, retrievals, corpus)
        # Twice: the second time all texts are in the cache, and only the rest is measured.
        for names in (NAMES[:2], NAMES[2:]):
            for name, way in zip(names, ways, strict=True):
                with measured(done, costs[name]):
                    way()
    best = {name: min(found, key=lambda cost: cost.cpu_s) for name, found in costs.items()}
    first, second, again, second_again = (best[name] for name in NAMES)
    index_s = through_the_runner(plan, queries[:1], options.tree)
    runner_s = through_the_runner(plan, queries, options.tree) - index_s
    rows = [(kind, first.work[kind], second.work[kind]) for kind in DONE]
    rows += [
        ("CPU seconds", first.cpu_s, second.cpu_s),
        ("CPU seconds by the runner, stored", first.cpu_s, runner_s),
        ("CPU seconds, all texts embedded before", again.cpu_s, second_again.cpu_s),
    ]
    print("\n| | distinct | sweep | ratio |\n|---|---|---|---|")
    for what, least, taken in rows:
        print(f"| {what} | {_shown(least)} | {_shown(taken)} | {taken / least:.2f} |")
    return int(any(taken / least > GOAL for _, least, taken in rows))


if __name__ == "__main__":
    sys.exit(main())
