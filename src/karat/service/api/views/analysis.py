"""What is drawn from scored runs: paired comparisons, the matrix, slices, curves, two sides."""

from collections.abc import Sequence
from dataclasses import replace

from karat.app.report import telling_tags
from karat.errors import InputError, UnknownName
from karat.model import ScoreTable
from karat.model.comparison import Comparison as Compared
from karat.model.comparison import Difference
from karat.scoring.compare import compare_tables
from karat.scoring.metrics import Measure, average, parse
from karat.scoring.score import mean_intervals
from karat.scoring.settings import Confidence
from karat.scoring.slices import slice_rows
from karat.scoring.stats import verdict
from karat.service.api.schemas.analysis import (
    Comparison,
    ComparisonRun,
    Curve,
    Curves,
    ScoreMatrix,
    Side,
    Slice,
    Slices,
    TwoSides,
)
from karat.service.api.views.runs import known
from karat.service.results import ScoredBenchmark

__all__ = ["comparison", "curves", "matrix", "slices", "two_sides"]

AGAINST_ONE = Confidence(pairs="baseline")


def comparison(scored: ScoredBenchmark, baseline: str | None, metric: str | None) -> Comparison:
    """Return all runs against one of them, the first if none is named, on one metric."""
    measure = _computed(scored, metric)
    first = scored.place(baseline) if baseline else 0
    order = [first, *(place for place in range(len(scored.runs)) if place != first)]
    found = _compared([_table(scored, place) for place in order], measure, scored)
    rows = [
        _comparison_run(found, scored.runs[place].id, name, measure)
        for place, name in zip(order, found.systems, strict=True)
    ]
    return Comparison(
        baseline=scored.runs[first].id, metric=str(measure), runs=rows, verdict=verdict(found)
    )


def matrix(scored: ScoredBenchmark, metric: str | None) -> ScoreMatrix:
    """Return the score of every query in every run."""
    measure = _computed(scored, metric)
    gold = scored.findings.gold
    columns = [_table(scored, place).columns[str(measure)] for place in range(len(scored.runs))]
    return ScoreMatrix(
        metric=str(measure),
        queries=list(gold.query_ids),
        texts=list(gold.texts),
        runs=[run.id for run in scored.runs],
        values=[[known(column[row]) for column in columns] for row in range(len(gold))],
    )


def slices(scored: ScoredBenchmark, metric: str | None, by: str | None) -> Slices:
    """Return the means of each run over the queries with each value of the tag *by*.

    Without *by* it is the first of the tags that tell kinds of queries apart, if there is any.
    """
    measure = _computed(scored, metric)
    gold = scored.findings.gold
    tags = list(dict.fromkeys([*telling_tags(gold), *gold.tags]))
    by = by or next(iter(tags), None)
    if by is None:
        return Slices(metric=str(measure), by="", tags=[], slices=[])
    shown = []
    for value, rows in slice_rows(gold, [by])[by].items():
        tables = (_table(scored, place) for place in range(len(scored.runs)))
        columns = [[table.columns[str(measure)][row] for row in rows] for table in tables]
        # All runs at once, by the same draws.
        intervals = mean_intervals(
            columns,
            [measure] * len(columns),
            Confidence(),
            clusters=_clusters(scored, [gold.query_ids[row] for row in rows]),
        )
        ids = [run.id for run in scored.runs]
        shown.append(
            Slice(
                value=value,
                queries=len(rows),
                means={
                    run: known(average(column, measure.definition.average))
                    for run, column in zip(ids, columns, strict=True)
                },
                intervals={
                    run: (interval.low, interval.high)
                    for run, interval in zip(ids, intervals, strict=True)
                    if interval and interval.low is not None and interval.high is not None
                },
            )
        )
    return Slices(metric=str(measure), by=by, tags=tags, slices=shown)


def curves(scored: ScoredBenchmark) -> Curves:
    """Return the metrics with a cut-off at growing cut-offs."""
    return Curves(
        curves=[
            Curve(
                run_id=run.id,
                name=run.label,
                measure=curve.metric,
                k=list(curve.ks),
                values=[known(mean) for mean in curve.means[place]],
            )
            for curve in scored.findings.curves
            for place, run in enumerate(scored.runs)
        ]
    )


def two_sides(
    left: ScoredBenchmark, left_run: str, right: ScoredBenchmark, right_run: str, metric: str | None
) -> TwoSides:
    """Return one run against another, perhaps of another benchmark, on the queries of both."""
    measure = _computed(left, metric)
    _computed(right, str(measure))
    places = (left.place(left_run), right.place(right_run))
    common = _common(left, right)
    if not common:
        raise InputError("the two runs have no query in common")
    tables = [
        _only(_table(side, place), common, name=name)
        for side, place, name in zip((left, right), places, ("left", "right"), strict=True)
    ]
    found = _compared(tables, measure, left)
    shown = _comparison_run(found, right_run, "right", measure)
    why = _why_not(left, right, places)
    return TwoSides(
        metric=str(measure),
        left=_side(left, places[0], found.mean("left", str(measure)).mean),
        right=_side(right, places[1], found.mean("right", str(measure)).mean),
        comparable=not why,
        why="; ".join(why) or None,
        queries=len(common),
        comparison=shown.model_copy(update={"name": right.runs[places[1]].label}),
        verdict=verdict(found),
    )


def _computed(scored: ScoredBenchmark, metric: str | None) -> Measure:
    """Return the measure, by default the primary one; InputError where it was not computed."""
    computed = scored.config.measures()
    try:
        name = str(parse(metric or computed[0]))
    except UnknownName as error:
        raise InputError(str(error)) from error
    if name not in computed:
        raise InputError(f"{name} was not computed; computed: {', '.join(computed)}")
    return parse(name)


def _table(scored: ScoredBenchmark, place: int) -> ScoreTable:
    return scored.findings.contest.evaluations[place].table


def _compared(tables: Sequence[ScoreTable], measure: Measure, scored: ScoredBenchmark) -> Compared:
    query_ids = tables[0].query_ids
    clusters = _clusters(scored, query_ids)
    return compare_tables(tables, [measure], range(len(query_ids)), AGAINST_ONE, clusters=clusters)


def _clusters(scored: ScoredBenchmark, query_ids: Sequence[str]) -> list[str] | None:
    """Return which of the queries belong together, None where each stands for itself."""
    findings = scored.findings
    if findings.clusters is None:
        return None
    label_of = dict(zip(findings.gold.query_ids, findings.clusters, strict=True))
    return [label_of[query_id] for query_id in query_ids]


def _comparison_run(found: Compared, run: str, name: str, measure: Measure) -> ComparisonRun:
    mean = found.mean(name, str(measure)).mean
    if name == found.systems[0]:
        return ComparisonRun(
            run_id=run,
            name=name,
            mean=mean,
            difference=None,
            low=None,
            high=None,
            p=None,
            p_corrected=None,
            effect=None,
            improved=0,
            regressed=0,
            tied=0,
            verdict="baseline",
        )
    entry = found.difference(found.systems[0], name, str(measure))
    return ComparisonRun(
        run_id=run,
        name=name,
        mean=mean,
        difference=entry.difference,
        low=entry.interval.low,
        high=entry.interval.high,
        p=entry.p,
        p_corrected=entry.p_corrected,
        effect=entry.effect,
        improved=entry.wins,
        regressed=entry.losses,
        tied=entry.ties,
        verdict=_word(found, entry),
    )


def _word(found: Compared, entry: Difference) -> str:
    if not found.significant(entry):
        return "no difference shown"
    return "better" if found.winner(entry) == entry.system else "worse"


def _common(left: ScoredBenchmark, right: ScoredBenchmark) -> list[str]:
    asked = dict(zip(right.findings.gold.query_ids, right.findings.gold.texts, strict=True))
    gold = left.findings.gold
    return [
        query_id
        for query_id, text in zip(gold.query_ids, gold.texts, strict=True)
        if asked.get(query_id) == text
    ]


def _only(table: ScoreTable, query_ids: Sequence[str], *, name: str) -> ScoreTable:
    places = {query_id: row for row, query_id in enumerate(table.query_ids)}
    rows = [places[query_id] for query_id in query_ids]
    return replace(
        table,
        name=name,
        query_ids=tuple(query_ids),
        statuses=tuple(table.statuses[row] for row in rows),
        columns={
            measure: type(column)("d", [column[row] for row in rows])
            for measure, column in table.columns.items()
        },
    )


def _side(scored: ScoredBenchmark, place: int, mean: float | None) -> Side:
    run = scored.runs[place]
    return Side(
        benchmark_id=scored.benchmark.id,
        benchmark_name=scored.benchmark.name,
        run_id=run.id,
        run_name=run.label,
        mean=mean,
    )


def _why_not(left: ScoredBenchmark, right: ScoredBenchmark, places: tuple[int, int]) -> list[str]:
    """Return what the two sides do not have in common, though a comparison takes it for granted."""
    pairs = {
        "the datasets differ": (left.benchmark.dataset, right.benchmark.dataset),
        "the judgments differ": (
            left.findings.origin.gold_digest,
            right.findings.origin.gold_digest,
        ),
        "the documents differ": (
            left.runs[places[0]].snapshot,
            right.runs[places[1]].snapshot,
        ),
    }
    return [sentence for sentence, (one, other) in pairs.items() if one != other]
