"""Hold a run to its rules: minimums, what it may lose against a baseline, latencies."""

from collections.abc import Iterator
from dataclasses import replace

from karat.app.baseline import Common, Ranked, common_with, ranked
from karat.app.compare import compared_tables
from karat.app.gate_checks import SAME, latency_check, minimum_check, regression_check
from karat.app.gate_rules import Rules
from karat.app.settings import Confidence, Scoring
from karat.app.slicing import cluster_labels
from karat.app.sources import RunSource, load_run, run_name
from karat.app.stored import DISTURBED
from karat.errors import InputError
from karat.metrics import Measure, parse_all
from karat.model import Dataset, Outcome, Run
from karat.model.baseline import Baseline
from karat.model.gate import Check, Decision, Gate, Moved
from karat.report.score_view import note_lines
from karat.report.table import number
from karat.stats import verdict

__all__ = ["gate"]

MOST_MOVED = 5
NS_PER_MS = 1_000_000


def gate(
    gold: Dataset,
    run: RunSource,
    rules: Rules,
    *,
    baseline: Baseline | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    allow_changed: bool = False,
    run_format: str | None = None,
) -> Gate:
    """Return what each of *rules* says of *run*.

    One number for what may be lost holds for the measures of *scoring*, or without any for all of
    the *baseline*; where no rule says how much may be lost, it is nothing.
    """
    scoring = scoring or Scoring()
    confidence = confidence or Confidence()
    limits = _limits(rules, scoring, baseline)
    measures = list(dict.fromkeys((*rules.minimums, *limits)))
    if not measures and not rules.latencies_ms:
        raise InputError("nothing to check; expected a minimum, a baseline or a latency")
    name = run_name(run, 1)
    loaded = load_run(run, gold, scoring=scoring, format=run_format)
    times, disturbed = _latencies_ms(loaded)
    now = ranked(gold, loaded, measures, scoring=scoring, name=name, confidence=confidence)
    means = {summary.measure: summary for summary in now.evaluation.summaries}
    least = rules.min_queries
    found = Gate(
        name=name,
        queries=len(gold),
        checks=tuple(
            minimum_check(means[str(measure)], limit, min_queries=least)
            for measure, limit in rules.minimums.items()
        ),
        strict=rules.strict,
        notes=(*now.evaluation.warnings, *note_lines(now.evaluation)),
    )
    if baseline and limits:
        common = common_with(
            baseline, gold, list(limits), scoring=scoring, allow_changed=allow_changed
        )
        against = _Against(gold, common, now, confidence)
        found = against.judged(found, limits, min_queries=least)
    slow = (
        latency_check(times, percentile, limit, min_queries=least, disturbed=disturbed)
        for percentile, limit in rules.latencies_ms.items()
    )
    return replace(found, checks=(*found.checks, *slow))


class _Against:
    """A run beside its baseline, on the queries that both answer for."""

    def __init__(self, gold: Dataset, common: Common, now: Ranked, confidence: Confidence) -> None:
        self._gold = gold
        self._common = common
        self._now = now
        self._confidence = confidence

    def judged(self, found: Gate, limits: dict[Measure, float], *, min_queries: int) -> Gate:
        """Return *found* with the checks of *limits*, what moved, and the verdict in words."""
        old, new = self._common.table, self._now.evaluation.table
        if old.name == new.name:
            old = replace(old, name=f"{old.name} (baseline)")
        comparison = compared_tables(
            [old, new],
            list(limits),
            self._common.rows,
            replace(self._confidence, pairs="baseline", correction="none"),
            clusters=cluster_labels(self._gold, self._confidence.cluster),
        )
        checks = [
            regression_check(
                comparison.difference(old.name, new.name, str(measure)),
                limit,
                lower_is_better=not measure.definition.higher_is_better,
                min_queries=min_queries,
            )
            for measure, limit in limits.items()
        ]
        lead = next(iter(limits))
        moved = sorted(self._moved(lead), key=lambda pair: (pair[0], _climb(pair[1])))
        return replace(
            found,
            checks=(*found.checks, *checks),
            baseline=old.name,
            lead=str(lead),
            worst=tuple(query for change, query in moved[:MOST_MOVED] if change < -SAME),
            best=tuple(query for change, query in moved[: -MOST_MOVED - 1 : -1] if change > SAME),
            verdict=verdict(comparison),
            notes=(*found.notes, *self._notes(checks)),
        )

    def _moved(self, lead: Measure) -> Iterator[tuple[float, Moved]]:
        """Yield each query that both have a score for, with how much better it became."""
        sign = 1.0 if lead.definition.higher_is_better else -1.0
        old = self._common.table.columns[str(lead)]
        new = self._now.evaluation.table.columns[str(lead)]
        for row in self._common.rows:
            change = sign * (new[row] - old[row])
            if abs(change) > SAME:  # not of NaN either
                yield (
                    change,
                    Moved(
                        self._gold.query_ids[row],
                        self._gold.texts[row],
                        old[row],
                        new[row],
                        self._common.ranks[row],
                        self._now.ranks[row],
                    ),
                )

    def _notes(self, checks: list[Check]) -> Iterator[str]:
        if self._common.note:
            yield f"the gold set is not the one of the baseline: {self._common.note} and compared"
        for check in checks:
            seen = check.detectable
            if (
                seen is not None
                and seen > check.limit > 0
                and check.decision is not Decision.FAILED
            ):
                yield (
                    f"{check.subject}: the smallest loss that {check.n} queries find in 4 of 5 "
                    f"cases is {number(seen, digits=3).text}, more than the {check.limit:g} allowed"
                )


def _limits(rules: Rules, scoring: Scoring, baseline: Baseline | None) -> dict[Measure, float]:
    """Return what each measure may lose against the baseline."""
    if baseline is None:
        if rules.regressions or rules.any_regression is not None:
            raise InputError("a regression is one against a baseline; expected --baseline FILE")
        return {}
    of_all = rules.any_regression
    if of_all is None:
        if rules.regressions:
            return dict(rules.regressions)
        of_all = 0.0
    chosen = parse_all(scoring.measures, level=scoring.level) or parse_all(baseline.means)
    compared = {
        measure: rules.regressions.get(measure, of_all)
        for measure in dict.fromkeys((*rules.regressions, *chosen))
        if measure in rules.regressions or _is_share(measure)
    }
    if not compared:
        raise InputError("no measure between 0 and 1 is named; one number limits only such")
    return compared


def _climb(query: Moved) -> float:
    """Return how far the first relevant hit has come up, as a change of the reciprocal rank."""
    before, after = (1 / rank if rank else 0.0 for rank in (query.rank_before, query.rank_after))
    return after - before


def _is_share(measure: Measure) -> bool:
    """Return whether one limit can hold for *measure* and others like it."""
    metric = measure.definition
    plain = metric.average == "arithmetic" and metric.higher_is_better
    return plain and measure.bounds == (0.0, 1.0)


def _latencies_ms(run: object) -> tuple[list[float], bool]:
    """Return the latencies of answered queries, and whether other work has disturbed them."""
    if not isinstance(run, Run):
        return [], False
    pairs = zip(run.latencies_ns, run.outcomes, strict=True)
    times = [ns / NS_PER_MS for ns, end in pairs if ns >= 0 and end == Outcome.ANSWERED]
    return times, bool(run.metadata.get(DISTURBED))
