"""karat compare: runs compared on one gold set."""

from collections.abc import Iterable, Sequence

from karat.app.human_sample import sampled_gold
from karat.app.score import (
    RunSource,
    TruthSource,
    distinct_names,
    load_judgments,
    load_run,
    whole_run,
)
from karat.errors import InputError
from karat.model import Run
from karat.model.evaluation import ComparisonResult
from karat.scoring.compare import compare_scored_runs
from karat.scoring.labels import LabelRule
from karat.scoring.matching.judge import Scored
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.whole_files import has_parts, judge_whole_files


def compare(
    truth: TruthSource,
    runs: Sequence[RunSource],
    *,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] = (),
    names: Sequence[str] | None = None,
    run_format: str | None = None,
    labels: LabelRule = LabelRule(),  # noqa: B008 - immutable
) -> ComparisonResult:
    """Return the scores of each of *runs* on *truth*, and the significance of their differences.

    *labels* says whether labels of models count.
    """
    if len(runs) < 2:
        given = "only one run" if runs else "no run"
        raise InputError(f"{given} to compare; give two runs or more")
    scoring = scoring or Scoring()
    confidence = confidence or Confidence()
    gold = load_judgments(truth, labels=labels)
    named = dict(zip(names or distinct_names(runs), runs, strict=True))
    if confidence.human_sample:
        whole = {
            name: whole_run(run, gold, name=name, format=run_format) for name, run in named.items()
        }
        gold, named = sampled_gold(gold, whole, confidence.human_sample, scoring), {**whole}
    loaded: Iterable[tuple[str, Run | Scored]] = (
        (name, load_run(run, gold, scoring=scoring, format=run_format))
        for name, run in named.items()
    )
    if has_parts(gold, scoring):
        # Which runs have parts is known when all are read; otherwise one is read at a time.
        loaded = list(loaded)
        scoring = judge_whole_files(gold, dict(loaded), scoring)
    evaluations = tuple(
        evaluate_run(gold, run, scoring=scoring, confidence=None, slices={}, name=name)
        for name, run in loaded
    )
    return compare_scored_runs(
        gold, evaluations, measures=scoring.parsed(gold), confidence=confidence, by=by
    )
