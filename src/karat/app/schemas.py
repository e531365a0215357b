"""Results in the file formats of other benchmarks, with the measures that each needs."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from statistics import fmean, median, stdev
from typing import NamedTuple

from karat.formats.results import (
    AgentResults,
    CaseResult,
    outcome_name,
    write_results_csv,
    write_results_json,
)
from karat.model import Dataset, Outcome
from karat.model.evaluation import Evaluation
from karat.model.timings import RunResult
from karat.report.findings.latency import latencies_ms
from karat.report.table import known
from karat.scoring.metrics import parse
from karat.scoring.score import (
    cluster_labels,
    evaluate_run,
    slice_rows,
    with_intervals,
    with_measures,
)
from karat.scoring.settings import Confidence, Scoring

SET_F1 = "set-f1"
PERCENTILES = (50, 90, 99)


class ResultSchema(NamedTuple):
    """How another benchmark stores results: the endings of its files, and what writes one.

    *write* receives one run, or all of them where a file *holds_several*.
    """

    suffixes: tuple[str, ...]
    write: "Callable[[Sequence[RunExport], Path], None]"
    holds_several: bool = False


@dataclass(frozen=True, slots=True)
class RunExport:
    """A run on its gold set, how it is judged, and when that was.

    *known* are the scores of the run as far as they were computed before.
    """

    gold: Dataset
    measured: RunResult
    timestamp: str
    scoring: Scoring = field(default_factory=Scoring)
    confidence: Confidence = field(default_factory=Confidence)
    known: Evaluation | None = None

    def named(self, measure: str) -> str:
        """Return *measure* as scores name it, with the lowest relevant grade if one is set."""
        return str(parse(measure, level=self.scoring.level))

    def evaluated(self, measures: Iterable[str], *, by: Sequence[str] = ()) -> Evaluation:
        """Return the scores by *measures*, whichever the settings name."""
        scoring = replace(self.scoring, measures=tuple(measures))
        parsed = scoring.parsed(self.gold)
        run, known = self.measured, self.known
        if known is None or not set(map(str, parsed)) <= known.table.columns.keys():
            known = evaluate_run(
                self.gold, run.run, scoring=scoring, confidence=None, slices={}, name=run.name
            )
        return with_intervals(
            with_measures(known, parsed),
            parsed,
            self.confidence,
            slices=slice_rows(self.gold, by),
            clusters=cluster_labels(self.gold, self.confidence.cluster),
        )

    def latencies_ms(self) -> list[float]:
        """Return the latency of each query, NaN where there is none."""
        return latencies_ms(self.measured, self.gold.query_ids)


def agent_results(judged: RunExport) -> AgentResults:
    """Return one agent with the F1 of everything it returned, and its latencies."""
    gold, run = judged.gold, judged.measured.run
    evaluation = judged.evaluated((SET_F1,))
    scores = evaluation.table.columns[judged.named(SET_F1)]
    times = judged.latencies_ms()
    rows = {query_id: index for index, query_id in enumerate(run.query_ids)}
    cases = []
    for row, query in enumerate(gold.queries()):
        index = rows.get(query.id)
        answer = None if index is None else run.answer(index)
        outcome = answer.outcome if answer else Outcome.ERROR
        cases.append(
            CaseResult(
                query.id,
                list(dict.fromkeys(hit.path for hit in (answer.hits if answer else ()))),
                list(dict.fromkeys(target.path for target in query.targets if target.grade > 0)),
                known(scores[row]),
                known(times[row]),
                {"outcome": outcome_name(outcome)},
            )
        )
    return AgentResults(
        judged.measured.name,
        judged.timestamp,
        {**_spread([score for score in scores if not isnan(score)]), **_percentiles(times)},
        cases,
    )


def _write_agent(judged: Sequence[RunExport], path: Path) -> None:
    (run,) = judged
    write = write_results_csv if path.suffix.lower() == ".csv" else write_results_json
    write(agent_results(run), path)


AGENTS = ResultSchema((".json", ".csv"), _write_agent)


def _spread(scores: Sequence[float]) -> dict[str, float | None]:
    """Return mean, median and the standard deviation of a sample, which is 0 for one score."""
    return {
        "mean_f1": known_mean(scores),
        "median_f1": median(scores) if scores else None,
        "std_f1": stdev(scores) if len(scores) > 1 else 0.0 if scores else None,
    }


def _percentiles(times: Sequence[float]) -> dict[str, float | None]:
    from karat.scoring.stats import known_percentiles

    values = known_percentiles(times, PERCENTILES)
    names = (f"p{point}_latency_ms" for point in PERCENTILES)
    return dict(zip(names, values, strict=True))


def known_mean(values: Sequence[float]) -> float | None:
    """Return the mean of *values* that are not NaN, None without one."""
    numbers = [value for value in values if not isnan(value)]
    return fmean(numbers) if numbers else None
