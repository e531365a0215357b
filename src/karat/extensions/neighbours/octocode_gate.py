"""Run octocode's benchmark: search for every question of its CSV, and apply rules."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from karat.app.evaluate import evaluate_experiment
from karat.app.gate import GateRules, gate
from karat.experiments.plan import ExperimentRequest, engine_configurations
from karat.experiments.run import run_experiment
from karat.experiments.run_records import run_with_latencies
from karat.experiments.store import ExperimentKind, Store
from karat.experiments.target_check import Where
from karat.experiments.workers import RunEvent, RunSettings
from karat.extensions.neighbours.schemas import OCTOCODE_FIELDS, OctocodeResults, octocode_averages
from karat.model import Dataset
from karat.model.coverage import CorpusCoverage
from karat.model.evaluation import Evaluation
from karat.model.gate import Baseline, Gate
from karat.scoring.metrics import parse
from karat.scoring.settings import Confidence, Scoring

LEAST = "hit@5=0.70"
# Environment variables of octocode's providers, passed on if they are set.
KEYS = (
    *("VOYAGE_API_KEY", "JINA_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY"),
    *("OPENROUTER_API_KEY", "TOGETHER_API_KEY"),
)
TIMEOUT_S = 60


class OctocodeGate(NamedTuple):
    """The outcome of the gate, its scores and settings, and octocode's averages."""

    gate: Gate
    evaluation: Evaluation
    results: OctocodeResults
    scoring: Scoring


def octocode_engine(mode: str = "code", *, threshold: float | None = None) -> dict[str, object]:
    """Return octocode's command line; *threshold* is the least similarity that it returns.

    >>> octocode_engine("docs", threshold=0.5)["command"][3:]
    ['--format', 'json', '--mode', 'docs', '--threshold', '0.5']
    """
    command = ["octocode", "search", "{query}", "--format", "json", "--mode", mode]
    if threshold is not None:
        command += ["--threshold", f"{threshold:g}"]
    return {
        "engine": "command",
        "name": "octocode",
        "command": command,
        "output": "octocode",
        "env": list(KEYS),
        "timeout_s": TIMEOUT_S,
    }


def octocode_gate(
    gold: Dataset,
    engine: str | Mapping[str, object],
    rules: GateRules,
    store: Store,
    *,
    corpus: str = ".",
    kind: str | None = None,
    max_results: int = 20,
    baseline: Baseline | None = None,
    confidence: Confidence | None = None,
    allow_changed: bool = False,
    listen: Callable[[RunEvent], None] = lambda _: None,
    on_searched: Callable[[CorpusCoverage], None] = lambda _: None,
    wait: bool = True,
) -> OctocodeGate:
    """Search *corpus* for every question of *gold*, and apply *rules* to the results.

    *kind* is ``docs`` or ``code``, by default all files are searched.

    Every query runs again each time; results are stored in *store*. A query that ends in an error
    counts 0. A measure that needs more than *max_results* hits is None among the results.
    Latency is measured only where *rules* limit it; without *wait*, also while other karat runs
    disturb it.
    """
    measures = tuple(
        name for name in OCTOCODE_FIELDS.values() if (parse(name).k or 0) <= max_results
    )
    scoring = Scoring(measures)
    request = ExperimentRequest(
        gold=gold,
        configurations=engine_configurations([engine], k=max_results),
        where=Where(corpus=corpus, kind=kind),
        kind=ExperimentKind.EVALUATE,
        scoring=scoring,
        settings=RunSettings(warm_up=0, repetitions=1, timeout_s=TIMEOUT_S),
        timed=None if rules.latencies_ms else 0,
        wait=wait,
    )
    done = run_experiment(request, store, listen=listen, on_searched=on_searched, again=True)
    if done.interrupted:
        raise KeyboardInterrupt
    evaluated = evaluate_experiment(gold, done, scoring=scoring, confidence=confidence)
    decided = gate(
        gold,
        run_with_latencies(evaluated.runs[0]),
        rules,
        baseline=baseline,
        scoring=scoring,
        confidence=confidence,
        allow_changed=allow_changed,
    )
    evaluation = cast("Evaluation", evaluated.overall)  # of one engine, so that nothing is compared
    return OctocodeGate(decided, evaluation, octocode_averages(evaluation), scoring)
