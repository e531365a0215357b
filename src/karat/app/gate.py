"""Check a run against rules: minimum scores, losses against a baseline, latencies."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import isfinite, isnan, sqrt
from statistics import stdev
from typing import NamedTuple, cast

from karat.app.baseline import (
    CommonQueries,
    RankedRun,
    align_baseline,
    answers_identically,
    make_baseline,
    restrict_to_sample,
    score_with_ranks,
)
from karat.app.human_sample import sampled_run
from karat.app.score import RunSource, distinct_names, own_run_name, run_name, whole_run
from karat.engines.registry import ENGINES
from karat.errors import InputError
from karat.experiments.run_records import DISTURBED
from karat.formats import is_source
from karat.formats.base import in_strict_order
from karat.formats.karat_run import run_digest
from karat.installation import __version__
from karat.model import Dataset, Outcome, QueryStatus, Run
from karat.model.comparison import Comparison, Difference, Interval
from karat.model.evaluation import Evaluation, Summary
from karat.model.gate import Baseline, ChangedQuery, Check, Decision, Gate, SelfCheck
from karat.report.score_view import decisive_lines, note_lines, queries
from karat.report.table import number, range_cell
from karat.scoring.compare import compare_tables
from karat.scoring.metrics import Measure, parse, parse_all
from karat.scoring.score import cluster_labels
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.stats import percentiles
from karat.scoring.stats.moments import least_values
from karat.scoring.stats.verdict import gate_verdict, p_value
from karat.scoring.whole_files import has_parts, judge_whole_files
from karat.system.words import counted, join_names

DIGITS = 3
# Sums of the same numbers in another order differ by less; a limit that is just met is met.
SAME = 1e-9


def minimum_check(summary: Summary, limit: float, *, min_queries: int = 1) -> Check:
    """Return whether the mean in *summary* is at least *limit*; the interval is only shown."""
    if isnan(summary.mean):
        raise InputError(f"no query has a score on {summary.measure}")
    why = f"the mean is {_with_range(summary.mean, summary.interval)}"
    decision = Decision.PASSED if summary.mean >= limit - SAME else Decision.FAILED
    if summary.n < min_queries:
        decision, why = Decision.INCONCLUSIVE, _too_few(summary.n, min_queries)
    return Check(
        "minimum",
        summary.measure,
        decision,
        summary.mean,
        limit,
        summary.n,
        why,
        interval=summary.interval,
    )


def regression_check(
    entry: Difference,
    limit: float,
    *,
    lower_is_better: bool = False,
    min_queries: int = 1,
    is_default: bool = False,
    identical: bool = False,
) -> Check:
    """Return whether the run of *entry* has lost more than *limit* against its baseline.

    It fails where the loss is also significant: the interval of the difference excludes 0, and the
    paired test agrees at the same level. A larger loss that is not, or that has no interval, is
    inconclusive.

    If *is_default*, *limit* is a :func:`tolerance`: a significant loss below it fails too. Above
    it, any loss fails if the engine answers identically: it is a fact about these queries.
    """
    if entry.difference is None:
        raise InputError(f"no query is scored in both runs on {entry.metric}")
    lost = entry.difference if lower_is_better else -entry.difference
    if entry.n < min_queries:
        decision, why = Decision.INCONCLUSIVE, _too_few(entry.n, min_queries)
    elif lost <= (0.0 if is_default and entry.is_significant else limit) + SAME:
        decision, why = Decision.PASSED, _change(entry)
    elif entry.is_significant:
        decision, why = Decision.FAILED, _change(entry, "significant")
    elif is_default and identical:
        decision, why = (
            Decision.FAILED,
            _change(
                entry, f"more than the {limit:g} tolerated for an engine that answers identically"
            ),
        )
    else:
        decision, why = Decision.INCONCLUSIVE, _change(entry, _doubt(entry))
    return Check(
        "regression",
        entry.metric,
        decision,
        lost,
        limit,
        entry.n,
        why,
        interval=entry.interval,
        detectable=entry.detectable if entry.can_be_significant else None,
        before=entry.baseline_mean,
        after=entry.system_mean,
        is_default=is_default,
    )


# The smallest tolerance, of large sets; design/0024-losses-of-fixed-sets.md has the figures.
LEAST_TOLERANCE = 0.005


def tolerance(scores: Iterable[float]) -> float:
    """Return the loss of a mean that a harmless change of the search may cause.

    It is a third of the standard error of the baseline's mean, at least 0.005: it shrinks with the
    number of *scores* and grows with their spread. NaN is not a score.

    >>> tolerance([1.0, 0.0] * 50), tolerance([1.0, 0.5] * 5_000)
    (0.0168, 0.005)
    """
    known = [score for score in scores if not isnan(score)]
    if len(known) < 2:
        return LEAST_TOLERANCE
    # Rounded to what is shown, so that the number decides that is printed.
    return round(max(LEAST_TOLERANCE, stdev(known) / sqrt(len(known)) / 3), 4)


MOST_LISTED = 5


def lost_hits_check(
    before: Mapping[str, int | None], now: Mapping[str, int | None], limit: int
) -> Check:
    """Return whether at most *limit* queries with hits *before* have none *now*.

    Both have the number of hits by query, None for a query that does not count.

    >>> lost_hits_check({"q1": 9, "q2": 0, "q3": 3}, {"q1": 9, "q2": 0, "q3": 0}, 0).why
    '1 of 2 queries with hits in the baseline has none now: q3'
    """
    had = [query for query, count in before.items() if count and now.get(query) is not None]
    lost = [query for query in had if not now[query]]
    why = f"{queries(len(had))} with hits in the baseline still have some"
    if lost:
        names = ", ".join(lost[:MOST_LISTED]) + (", ..." if len(lost) > MOST_LISTED else "")
        verb = "has" if len(lost) == 1 else "have"
        why = (
            f"{len(lost)} of {queries(len(had))} with hits in the baseline {verb} none now: {names}"
        )
    decision = Decision.PASSED if len(lost) <= limit else Decision.FAILED
    return Check("lost-hits", "hits", decision, len(lost), limit, len(had), why)


def _change(entry: Difference, remark: str = "") -> str:
    """Return both means, the difference with its interval, and the *remark*."""
    if entry.ties == entry.n:
        return "unchanged on every query"
    change, before = entry.difference or 0.0, entry.baseline_mean or 0.0
    digits = entry.digits  # so that the two means do not look equal
    amount = _with_range(change, entry.interval, signed=True, digits=digits)
    amount = f"({amount}, {remark})" if remark else f"({amount})"
    first, second = (number(mean, digits=digits).text for mean in (before, before + change))
    if abs(change) <= SAME:
        return f"{entry.metric} stayed at {first} {amount}"
    return f"{entry.metric} {'fell' if change < 0 else 'rose'} from {first} to {second} {amount}"


def _doubt(entry: Difference) -> str:
    """Return that the loss is not significant, with the p value where interval and test differ."""
    text = "not significant"
    if entry.p is None:
        return text
    p = f"p {p_value(entry.p)}"
    if not entry.can_be_significant:
        few = counted(entry.fewest_changed, entry.changed_unit)
        return f"{text}: {p}, fewer than {few} changed"
    if entry.excludes_zero in (None, entry.p <= entry.alpha):
        return text
    reason = "" if entry.excludes_zero else "the interval includes 0, although "
    return f"{text}: {reason}{p} in the paired test"


def latency_check(
    latencies_ms: Sequence[float],
    percentile: float,
    limit_ms: float,
    *,
    min_queries: int = 1,
    disturbed: bool = False,
) -> Check:
    """Return whether the *percentile* of the latencies of answered queries is at most *limit_ms*.

    A pass is inconclusive where the percentile needs more latencies than there are: the slowest may
    be missing. A failure needs no minimum number. The reason says where other work has *disturbed*
    them.

    >>> latency_check([10.0, 20.0, 30.0], 50, 15.0).why
    'measured 20.0 ms'
    """
    (value,) = percentiles(latencies_ms, [percentile])
    if value is None:
        raise InputError(
            "the run has no latencies; repeat it with --timed 20 to check --max-latency"
        )
    n, why = len(latencies_ms), f"measured {value:.1f} ms"
    if disturbed:
        why += ", disturbed by other karat runs"
    decision = Decision.PASSED if value <= limit_ms else Decision.FAILED
    if n < min_queries:
        decision, why = Decision.INCONCLUSIVE, _too_few(n, min_queries)
    elif n < (least := least_values(percentile)):
        needs = f"p{percentile:g} needs {least} latencies, the run has {n}; raise --timed"
        if decision is Decision.PASSED:
            decision, why = Decision.INCONCLUSIVE, needs
        else:
            why = f"{why}; {needs}"
    return Check("latency", f"p{percentile:g}", decision, value, limit_ms, n, why)


def _too_few(n: int, least: int) -> str:
    return f"only {queries(n)}; at least {least} are required"


def _with_range(
    value: float, interval: Interval | None, *, signed: bool = False, digits: int = DIGITS
) -> str:
    text = number(value, signed=signed, digits=digits).text
    if interval is None or interval.low is None:
        return text
    return f"{text} {range_cell(interval, signed=signed, digits=digits).text}"


PERCENTILE = re.compile(r"p(?P<at>\d{1,3}(\.\d+)?)", re.IGNORECASE)
DURATION = re.compile(r"(?P<amount>\d+(\.\d+)?)\s*(?P<unit>us|ms|s)", re.IGNORECASE)
IN_MS = {"us": 0.001, "ms": 1.0, "s": 1_000.0}


@dataclass(frozen=True, slots=True)
class GateRules:
    """The rules that a run is checked against.

    *minimums* are means by measure, *regressions* what a mean may lose against the baseline, and
    *any_regression* the same for every other measure between 0 and 1. *latencies_ms* are the most
    milliseconds by percentile. Without limits of losses, each measure has a :func:`tolerance`.
    *lost_hits* is the most queries that may lose all hits against the baseline. A check on fewer
    than *min_queries* is inconclusive, which fails only with *strict*.
    """

    minimums: Mapping[Measure, float] = field(default_factory=dict)
    regressions: Mapping[Measure, float] = field(default_factory=dict)
    any_regression: float | None = None
    latencies_ms: Mapping[float, float] = field(default_factory=dict)
    min_queries: int = 1
    strict: bool = False
    lost_hits: int = 0


def parse_rules(
    *,
    minimums: Iterable[str] = (),
    regressions: Iterable[str] = (),
    latencies: Iterable[str] = (),
    min_queries: int = 1,
    strict: bool = False,
    lost_hits: int = 0,
    level: float = 0.0,
    measure: Callable[[str], Measure] | None = None,
) -> GateRules:
    """Return the rules in texts such as ``hit@5=0.7``, ``0.02`` and ``p90=200ms``.

    *level* is the lowest relevant grade of measures that do not say it; *measure* returns the
    measure that a name means, by default one of Karat.

    >>> rules = parse_rules(minimums=["nDCG@10=0.6"], latencies=["p90=0.2s"])
    >>> {str(measure): least for measure, least in rules.minimums.items()}, rules.latencies_ms
    ({'ndcg@10': 0.6}, {90.0: 200.0})
    """
    measure = measure or partial(parse, level=level)
    least = {}
    for text in minimums:
        named, limit = _limited(text, measure)
        if not named.definition.higher_is_better:
            raise InputError(f"{text!r}: lower {named} is better, so a minimum makes no sense")
        low, high = named.bounds
        if not low <= limit <= high:
            raise InputError(
                f"{text!r}: {named} ranges from {low:g} to {high:g}, so {limit:g} is impossible"
            )
        least[named] = limit
    lost = {}
    of_all: float | None = None
    for text in regressions:
        if "=" not in text:
            # It is for the measures between 0 and 1.
            of_all = _allowed(text, text, most=1.0)
        else:
            named, limit = _limited(text, measure)
            if named.definition.average != "arithmetic":
                raise InputError(
                    f"{text!r}: {named} is not a mean over queries and has no paired test"
                )
            low, high = named.bounds
            lost[named] = _allowed(text, str(limit), most=high - low)
    times = dict(map(_latency, latencies))
    return GateRules(least, lost, of_all, times, min_queries, strict, lost_hits)


def _limited(text: str, measure: Callable[[str], Measure]) -> tuple[Measure, float]:
    """Return measure and limit; split at the last equals sign, because parameters have one too."""
    name, equals, value = text.rpartition("=")
    if not equals:
        raise InputError(f"{text!r} is not a valid rule; expected a rule such as ndcg@10=0.6")
    return measure(name), _number(text, value)


def _allowed(text: str, value: str, *, most: float) -> float:
    limit = _number(text, value)
    if not 0 <= limit <= most:
        up_to = f"to {most:g}" if isfinite(most) else "or more"
        raise InputError(f"{text!r}: the allowed loss must be 0 {up_to}")
    return limit


def _latency(text: str) -> tuple[float, float]:
    name, _, value = text.partition("=")
    percentile = PERCENTILE.fullmatch(name.strip())
    duration = DURATION.fullmatch(value.strip())
    if not percentile or not duration or float(percentile["at"]) > 100:
        raise InputError(
            f"{text!r} is not a valid latency limit; expected a limit such as p90=200ms"
        )
    return float(percentile["at"]), float(duration["amount"]) * IN_MS[duration["unit"].lower()]


def _number(text: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise InputError(
            f"{text!r}: {value!r} is not a number; expected a number such as 0.7"
        ) from None
    if not isfinite(number):
        raise InputError(f"{text!r}: {value!r} is not a finite number")
    return number


def is_engine(name: str) -> bool:
    """Return whether *name* is an engine or its YAML file, where a run is expected.

    >>> [is_engine(name) for name in ("mysearch.yaml", "bm25", "new.run")]
    [True, True, False]
    """
    if name.lower().endswith((".yaml", ".yml")):
        return True
    return name.lower() in ENGINES.built_in() and not is_source(name)


MOST_MOVED = 5
NS_PER_MS = 1_000_000


def gate(
    gold: Dataset,
    run: RunSource,
    rules: GateRules,
    *,
    baseline: Baseline | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    allow_changed: bool = False,
    run_format: str | None = None,
) -> Gate:
    """Return the outcome of each of *rules* for *run*.

    One number for what may be lost holds for the measures of *scoring*, or without any for all of
    the *baseline*; where no rule says how much may be lost, it is the :func:`tolerance`. A run that
    was made of a sample is checked on these queries. Equal scores are ordered as in the *baseline*,
    unless *scoring* says how; those of an engine keep its order, as in a file of the run.
    """
    scoring = scoring or Scoring()
    keeps_order = False
    if baseline and scoring.ties is None:
        scoring = replace(scoring, ties=baseline.ties)
        keeps_order = not baseline.orders_engines
    confidence = confidence or Confidence()
    limits = allowed_losses(rules, baseline, parse_all(scoring.measures, level=scoring.level))
    measures = list(dict.fromkeys((*rules.minimums, *limits)))
    if not measures and not rules.latencies_ms:
        raise InputError("nothing to check; give --min, --baseline or --max-latency")
    gold, loaded = sampled_run(
        gold,
        run,
        confidence.human_sample,
        name=run_name(run, 1),
        scoring=scoring.with_measures(measures) if measures else scoring,
        format=run_format,
    )
    if keeps_order and isinstance(loaded, Run):
        loaded = in_strict_order(loaded)
    gold, sample_of = restrict_to_sample(gold, loaded)
    name = own_run_name(run, loaded, format=run_format)
    times, disturbed = _latencies_ms(loaded)
    if baseline and limits and has_parts(gold, scoring):
        # Both runs are judged in one way, that of the baseline.
        scoring = replace(scoring, match=cast("str", baseline.settings.get("match")))
    scoring = judge_whole_files(gold, {name: loaded}, scoring)
    now = score_with_ranks(
        gold, loaded, measures, scoring=scoring, name=name, confidence=confidence
    )
    scored = GatedRun(
        gold, now, sample_of, answers_identically(loaded), tuple(times), disturbed=disturbed
    )
    return check_scored(
        scored,
        rules,
        limits,
        baseline=baseline,
        scoring=scoring,
        confidence=confidence,
        allow_changed=allow_changed,
    )


class GatedRun(NamedTuple):
    """A run that is scored: its queries, its ranks, and what its engine is known to do."""

    gold: Dataset
    now: RankedRun
    sample_of: int = 0
    identical: bool | None = None
    times_ms: tuple[float, ...] = ()
    disturbed: bool = False


def check_scored(
    scored: GatedRun,
    rules: GateRules,
    limits: Mapping[Measure, float | None],
    *,
    baseline: Baseline | None,
    scoring: Scoring,
    confidence: Confidence,
    allow_changed: bool,
) -> Gate:
    """Return the outcome of each of *rules*; *limits* are those of losses against the baseline."""
    gold, now, sample_of = scored.gold, scored.now, scored.sample_of
    means = {summary.measure: summary for summary in now.evaluation.summaries}
    least = rules.min_queries
    outcome = Gate(
        name=now.evaluation.name,
        queries=len(gold),
        checks=tuple(
            minimum_check(means[str(measure)], limit, min_queries=least)
            for measure, limit in rules.minimums.items()
        ),
        strict=rules.strict,
        notes=(*now.evaluation.run_warnings, *note_lines(now.evaluation)),
        decisive=(*now.evaluation.run_warnings, *decisive_lines(now.evaluation)),
        labels=now.evaluation.notes.labels,
    )
    if baseline and limits:
        part = bool(sample_of or baseline.sample_of)
        common = align_baseline(
            baseline, gold, list(limits), scoring=scoring, allow_changed=allow_changed, part=part
        )
        if part:
            whole = sample_of or baseline.sample_of
            text = f"a sample: {len(common.rows)} of {queries(whole)} are compared"
            outcome = replace(
                outcome, notes=(*outcome.notes, text), decisive=(*outcome.decisive, text)
            )
        against = _Against(gold, common, now, confidence)
        both = (baseline.deterministic, scored.identical)
        outcome = against.judged(outcome, limits, rules=rules, identical=both)
        outcome = replace(outcome, known=_known_notes(now.evaluation, baseline))
    slow = (
        latency_check(
            scored.times_ms, percentile, limit, min_queries=least, disturbed=scored.disturbed
        )
        for percentile, limit in rules.latencies_ms.items()
    )
    return replace(outcome, checks=(*outcome.checks, *slow))


def self_check(
    gold: Dataset,
    runs: Sequence[RunSource],
    rules: GateRules,
    *,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    run_format: str | None = None,
) -> SelfCheck:
    """Return how often :func:`gate` decides what with each of *runs* as the baseline of each other.

    All runs are of one engine that did not change.
    """
    if len(runs) < 2:
        raise InputError("--self-check needs two or more runs of one unchanged engine")
    scoring = scoring or Scoring()
    named = [
        replace(whole_run(run, gold, name=name, format=run_format), name=name)
        for run, name in zip(runs, distinct_names(runs), strict=True)
    ]
    baselines = []
    for run in named:
        part, sample_of = restrict_to_sample(gold, run)
        baselines.append(
            make_baseline(
                part,
                run,
                name=run.name,
                made_at="",
                version=__version__,
                scoring=scoring,
                sample_of=sample_of,
            )
        )
    gates = [
        gate(gold, run, rules, baseline=before, scoring=scoring, confidence=confidence)
        for before, (index, run) in product(baselines, enumerate(named))
        if before is not baselines[index]
    ]
    decisions: dict[str, Counter[str]] = {}
    for one in gates:
        for check in one.checks:
            key = check.rule if check.rule == "lost-hits" else f"{check.rule} {check.subject}"
            decisions.setdefault(key, Counter())[check.decision.value] += 1
    return SelfCheck(
        tuple(run.name for run in named),
        len(gates),
        sum(one.closed for one in gates),
        len(set(map(run_digest, named))) == 1,
        decisions,
    )


class _Against:
    """A run and its baseline, on the queries that both have."""

    def __init__(
        self, gold: Dataset, common: CommonQueries, now: RankedRun, confidence: Confidence
    ) -> None:
        self._gold = gold
        self._common = common
        self._now = now
        self._confidence = confidence

    def judged(
        self,
        outcome: Gate,
        limits: Mapping[Measure, float | None],
        *,
        rules: GateRules,
        identical: tuple[bool | None, bool | None],
    ) -> Gate:
        """Return *outcome* with the checks of *limits*, what moved, and the verdict in words.

        A limit of None is the tolerance. *identical* says whether the engine of the baseline and
        that of the run have answered identically.
        """
        old, new = self._common.table, self._now.evaluation.table
        if old.name == new.name:
            old = replace(old, name=f"{old.name} (baseline)")
        comparison = compare_tables(
            [old, new],
            list(limits),
            self._common.rows,
            replace(self._confidence, pairs="baseline", correction="none"),
            clusters=cluster_labels(self._gold, self._confidence.cluster),
        )
        checks = [
            regression_check(
                comparison.difference(old.name, new.name, str(measure)),
                self._tolerance(measure) if limit is None else limit,
                lower_is_better=not measure.definition.higher_is_better,
                min_queries=rules.min_queries,
                is_default=limit is None,
                identical=all(identical) and self._common.table.labelled is None,
            )
            for measure, limit in limits.items()
        ]
        if lost := self._lost_hits(rules.lost_hits):
            checks.append(lost)
        lead = next(iter(limits))
        moved = sorted(self._moved(lead), key=lambda pair: (pair[0], _climb(pair[1])))
        return replace(
            outcome,
            checks=(*outcome.checks, *checks),
            baseline=old.name,
            lead=str(lead),
            worst=tuple(query for change, query in moved[:MOST_MOVED] if change < -SAME),
            best=tuple(query for change, query in moved[: -MOST_MOVED - 1 : -1] if change > SAME),
            verdict=_verdict(comparison, checks),
            rule=_rule_used(identical) if None in limits.values() else SET_LIMIT,
            notes=(*outcome.notes, *(remarks := tuple(self._notes(checks)))),
            decisive=(*outcome.decisive, *remarks),
        )

    def _tolerance(self, measure: Measure) -> float:
        scores = self._common.table.columns[str(measure)]
        return tolerance(scores[row] for row in self._common.rows)

    def _lost_hits(self, limit: int) -> Check | None:
        """Return the check of queries that lost all hits, None if the baseline counts no hits."""
        ids, rows = self._gold.query_ids, self._common.rows
        before = {ids[row]: self._common.hits[row] for row in rows}
        if all(count is None for count in before.values()):
            return None
        return lost_hits_check(before, {ids[row]: self._now.hits[row] for row in rows}, limit)

    def _moved(self, lead: Measure) -> Iterator[tuple[float, ChangedQuery]]:
        """Yield each query that both have a score for, with how much better it became."""
        sign = 1.0 if lead.definition.higher_is_better else -1.0
        old = self._common.table.columns[str(lead)]
        new = self._now.evaluation.table.columns[str(lead)]
        for row in self._common.rows:
            change = sign * (new[row] - old[row])
            if abs(change) > SAME:  # not of NaN either
                yield (
                    change,
                    ChangedQuery(
                        self._gold.query_ids[row],
                        self._gold.texts[row],
                        old[row],
                        new[row],
                        self._common.ranks[row],
                        self._now.ranks[row],
                    ),
                )

    def _notes(self, checks: list[Check]) -> Iterator[str]:
        table = self._now.evaluation.table
        total, missing = len(table.query_ids), table.count(QueryStatus.MISSING)
        if 2 * missing >= total:
            yield (
                f"the run has {total - missing:,} of {total:,} queries (made with --sample?); the "
                "others count 0"
            )
        if self._common.note:
            yield f"the baseline was made with another version of the gold set: {self._common.note}"
        has_hits = self._now.evaluation.notes.has_hits
        if has_hits and not any(check.rule == "lost-hits" for check in checks):
            yield (
                "queries that lost all hits are not checked, because the baseline does not count "
                "hits; write a new one (karat baseline update)"
            )
        for check in checks:
            seen = None if check.is_default else check.detectable
            if (
                seen is not None
                and seen > check.limit > 0
                and check.decision is not Decision.FAILED
            ):
                yield (
                    f"{check.subject}: {check.n} queries can reliably detect losses of about "
                    f"{number(seen, digits=3).text} or more, but only {check.limit:g} is allowed"
                )


def _verdict(comparison: Comparison, checks: Sequence[Check]) -> str:
    """Return the verdict: first the losses that fail without a test, then the others."""
    old, new = comparison.systems
    fixed = {
        check.subject: check
        for check in checks
        if check.rule == "regression"
        and check.decision is Decision.FAILED
        and not comparison.difference(old, new, check.subject).is_significant
    }
    rest = tuple(each for each in comparison.differences if each.metric not in fixed)
    tested = gate_verdict(replace(comparison, differences=rest)) if rest else ""
    if not fixed:
        return tested
    lead, *others = fixed.values()
    too = f"; {join_names([check.subject for check in others])} too" if others else ""
    first = (
        f"{lead.subject} fell by {number(lead.value, digits=4).text}, more than the "
        f"{lead.limit:g} tolerated{too}: the engine answers identically on a fixed gold set, so a "
        "loss needs no test."
    )
    return f"{first} {tested}".rstrip()


FAILURES = (QueryStatus.MISSING, QueryStatus.ERROR, QueryStatus.TIMEOUT)
SET_LIMIT = "rule: a loss fails if it is larger than --max-regression and significant"


def _rule_used(identical: tuple[bool | None, bool | None]) -> str:
    """Return which losses fail, and why."""
    before, now = identical
    if before and now:
        return (
            "rule: the engines of both runs answer identically, so a loss larger than the "
            "tolerance fails; a significant loss fails too"
        )
    reasons = {
        False: "gave different hits to repeated queries",
        None: "does not say whether its engine answers identically",
    }
    side = "baseline" if now else "run"
    return (
        f"rule: only a significant loss fails, because the {side} "
        f"{reasons[before if now else now]}; with --strict any loss larger than the tolerance fails"
    )


def _known_notes(evaluation: Evaluation, baseline: Baseline) -> tuple[str, ...]:
    """Return the notes on a run that the baseline has too, but for one that counts failures."""
    status, *details = note_lines(evaluation)
    notes = evaluation.notes
    failed = notes.invalid or any(notes.statuses[status] for status in FAILURES)
    candidates = details if failed else (status, *details)
    return tuple(note for note in candidates if note in baseline.notes)


def allowed_losses(
    rules: GateRules,
    baseline: Baseline | None,
    measures: Sequence[Measure],
    measure: Callable[[str], Measure] = parse,
) -> dict[Measure, float | None]:
    """Return the largest allowed loss of each measure against the baseline; None: the tolerance.

    *measures* are those that were chosen, by default all of the baseline.
    """
    if baseline is None:
        if rules.regressions or rules.any_regression is not None:
            raise InputError("--max-regression needs --baseline FILE")
        return {}
    of_all = rules.any_regression
    if of_all is None and rules.regressions:
        return dict(rules.regressions)
    chosen = measures or [measure(name) for name in baseline.means]
    compared: dict[Measure, float | None] = {
        each: rules.regressions.get(each, of_all)
        for each in dict.fromkeys((*rules.regressions, *chosen))
        if each in rules.regressions or _is_share(each)
    }
    if not compared:
        raise InputError(
            "--max-regression LOSS needs a measure between 0 and 1; expected MEASURE=LOSS"
        )
    return compared


def _climb(query: ChangedQuery) -> float:
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
