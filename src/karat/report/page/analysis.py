"""Documents computed from scored runs: comparison, score matrix, slices, curves, two sides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from karat.errors import InputError
from karat.model import ScoreTable
from karat.model.comparison import Comparison, Difference
from karat.report.findings.recommend import headline, headline_with_broken
from karat.report.page.queries import Document, Subject
from karat.report.table import known
from karat.scoring.compare import verdict_with_broken
from karat.scoring.metrics import Measure, average
from karat.scoring.stats import bootstrap_intervals, compare, verdict

# A tag with more values than this names queries rather than kinds of queries.
MOST_VALUES = 50


def comparison(subject: Subject, baseline: str | None, metric: str | None) -> Document:
    """Return all runs against *baseline*, by default that of the findings, on one metric."""
    (document,) = comparisons(subject, baseline, [metric])
    return document


def comparisons(
    subject: Subject, baseline: str | None, metrics: Sequence[str | None]
) -> Iterator[Document]:
    """Yield :func:`comparison` on each of *metrics*; together they take little longer than one.

    The tests are those of the findings, so that a pair has one p value on all pages. Of many runs,
    pairs that were not tested there are a family of their own.
    """
    measures = [subject.measure(metric) for metric in metrics]
    names = subject.findings.names
    first = subject.index_of(baseline) if baseline else names.index(subject.findings.baseline)
    order = [first, *(index for index in range(len(subject.runs)) if index != first)]
    ordered = [subject.findings.contest.evaluations[index] for index in order]
    tested = {
        measure: subject.findings.contest.comparison.against(names[first], measure.label)
        for measure in measures
    }
    rest = [measure for measure, compared in tested.items() if compared is None]
    if rest:
        together = _compared([each.reportable().table for each in ordered], rest, subject)
        tested |= {measure: together.against(names[first], measure.label) for measure in rest}
    for measure in measures:
        compared = cast("Comparison", tested[measure])
        named = _labelled(compared, subject)
        yield {
            "baseline": subject.runs[first].id,
            "metric": measure.label,
            "runs": [
                _compared_run(compared, subject.runs[index].id, name, measure)
                for index, name in zip(order, compared.systems, strict=True)
            ],
            "headline": headline_with_broken(named, ordered),
            "verdict": verdict_with_broken(named, ordered),
        }


def matrix(subject: Subject, metric: str | None) -> Document:
    """Return the score of every query in every run."""
    measure = subject.measure(metric).label
    gold = subject.findings.gold
    columns = [subject.table(index).columns[measure] for index in range(len(subject.runs))]
    return {
        "metric": measure,
        "queries": list(gold.query_ids),
        "texts": list(gold.texts),
        "tags": {tag: list(values) for tag, values in gold.tags.items()},
        "runs": [run.id for run in subject.runs],
        "values": [[known(column[row]) for column in columns] for row in range(len(gold))],
    }


def sliced_tags(subject: Subject) -> list[str]:
    """Return the tags to break results down by: those of several values that repeat."""
    findings = subject.findings
    return [
        tag
        for tag, values in findings.groups.items()
        if tag in findings.contest.slices
        or 1 < len(values) <= min(MOST_VALUES, len(findings.gold) - 1)
    ]


def slices(subject: Subject, metric: str | None, by: str | None) -> Document:
    """Return the means of each run over the queries with each value of the tag *by*.

    Without *by* it is the first tag that separates kinds of queries, if there is any.
    """
    (document,) = slices_by(subject, [metric], by)
    return document


def slices_by(
    subject: Subject, metrics: Sequence[str | None], by: str | None
) -> Iterator[Document]:
    """Yield :func:`slices` on each of *metrics*; together they take little longer than one."""
    measures = [subject.measure(metric) for metric in metrics]
    findings = subject.findings
    tags = sliced_tags(subject)
    by = by or next(iter(tags), None)
    if by is not None and by not in findings.groups:
        available = ", ".join(findings.groups)
        raise InputError(f"no query is tagged with {by!r}; available: {available}")
    values = findings.groups[by] if by else {}
    # Those with the most queries say the most.
    ordered = sorted(values.items(), key=lambda item: (-len(item[1]), item[0]))
    # For each value, a document per measure.
    per_value = [_slices(subject, measures, value, rows) for value, rows in ordered]
    for column, measure in enumerate(measures):
        yield {
            "metric": measure.label,
            "by": by or "",
            "tags": tags,
            "slices": [documents[column] for documents in per_value],
        }


def curves(subject: Subject) -> Document:
    """Return the metrics with a cut-off at growing cut-offs."""
    return {
        "curves": [
            {
                "run_id": run.id,
                "name": run.name,
                "measure": curve.metric,
                "k": list(curve.ks),
                "values": [known(mean) for mean in curve.means[index]],
            }
            for curve in subject.findings.curves
            for index, run in enumerate(subject.runs)
        ]
    }


def two_sides(
    left: Subject, left_run: str, right: Subject, right_run: str, metric: str | None
) -> Document:
    """Return one run against another, perhaps of another benchmark, on the queries of both."""
    measure = left.measure(metric)
    right.measure(measure.label)
    indexes = (left.index_of(left_run), right.index_of(right_run))
    common = _common(left, right)
    if not common:
        raise InputError("the two runs have no query in common")
    compared = _tested_pair(left, indexes, measure) if left.id == right.id else None
    if compared is None:
        sides = zip((left, right), indexes, ("left", "right"), strict=True)
        tables = [_only(side.table(index), common, name=name) for side, index, name in sides]
        compared = _compared(tables, [measure], left)
    one, other = compared.systems
    compared_run = _compared_run(compared, right_run, other, measure)
    why = _why_not(left, right, indexes)
    names = left.runs[indexes[0]].name, right.runs[indexes[1]].name
    named = _renamed(compared, names if names[0] != names[1] else (left.name, right.name))
    named = _labelled(named, left)
    return {
        "metric": measure.label,
        "label": named.metrics[0],
        "left": _side(left, indexes[0], compared.mean(one, measure.label).mean),
        "right": _side(right, indexes[1], compared.mean(other, measure.label).mean),
        "comparable": not why,
        "why": "; ".join(why) or None,
        "queries": len(common),
        "comparison": {**compared_run, "name": right.runs[indexes[1]].name},
        "headline": headline(named),
        "verdict": verdict(named),
    }


def _labelled(compared: Comparison, subject: Subject) -> Comparison:
    """Return *compared* with the metrics named as they were typed, for texts."""
    return replace(compared, labels=subject.findings.contest.comparison.labels).labelled()


def _renamed(compared: Comparison, names: tuple[str, str]) -> Comparison:
    """Return a comparison of two runs with the names that readers know."""
    if names[0] == names[1]:
        return compared
    name = dict(zip(compared.systems, names, strict=True))
    return replace(
        compared,
        systems=names,
        baseline=names[0],
        means=tuple(replace(mean, system=name[mean.system]) for mean in compared.means),
        differences=tuple(
            replace(entry, baseline=name[entry.baseline], system=name[entry.system])
            for entry in compared.differences
        ),
    )


def _slices(
    subject: Subject, measures: Sequence[Measure], value: str, rows: Sequence[int]
) -> list[Document]:
    """Return the means over the queries at *rows*, a document for each measure."""
    settings = subject.findings.contest.comparison
    gold = subject.findings.gold
    ids = [run.id for run in subject.runs]
    pairs = [(measure, index) for measure in measures for index in range(len(ids))]
    columns = [
        [subject.table(index).columns[measure.label][row] for row in rows]
        for measure, index in pairs
    ]
    # All runs and measures at once, by the same draws.
    intervals = bootstrap_intervals(
        np.array(columns).T,
        bounds=[measure.bounds for measure, _ in pairs],
        level=settings.level,
        draws=settings.draws,
        seed=settings.seed,
        clusters=_clusters(subject, [gold.query_ids[row] for row in rows]),
    )
    documents: list[Document] = []
    for start in range(0, len(pairs), len(ids)):
        average_of = pairs[start][0].definition.average
        own = slice(start, start + len(ids))
        documents.append(
            {
                "value": value,
                "queries": len(rows),
                "means": {
                    run: known(average(column, average_of))
                    for run, column in zip(ids, columns[own], strict=True)
                },
                "intervals": {
                    run: [interval.low, interval.high]
                    for run, interval in zip(ids, intervals[own], strict=True)
                    if interval.low is not None
                    and interval.high is not None
                    and average_of == "arithmetic"
                },
            }
        )
    return documents


def _compared(
    tables: Sequence[ScoreTable], measures: Sequence[Measure], subject: Subject
) -> Comparison:
    settings = subject.findings.contest.comparison
    names = [measure.label for measure in measures]
    columns = [[table.columns[name] for name in names] for table in tables]
    return compare(
        np.moveaxis(np.array(columns), 1, 2),
        systems=[table.name for table in tables],
        metrics=names,
        baseline=tables[0].name,
        pairs="baseline",
        bounds=[measure.bounds for measure in measures],
        level=settings.level,
        draws=settings.draws,
        seed=settings.seed,
        clusters=_clusters(subject, tables[0].query_ids),
        lower_is_better=[each.label for each in measures if not each.definition.higher_is_better],
    )


def _tested_pair(subject: Subject, indexes: tuple[int, int], measure: Measure) -> Comparison | None:
    """Return the test of two runs among those of the findings, None if it is not among them."""
    one, other = (subject.findings.names[index] for index in indexes)
    compared = subject.findings.contest.comparison.against(one, measure.label)
    if compared is None or one == other:
        return None
    return replace(
        compared,
        systems=(one, other),
        means=tuple(mean for mean in compared.means if mean.system in (one, other)),
        differences=tuple(entry for entry in compared.differences if entry.system == other),
    )


def _clusters(subject: Subject, query_ids: Sequence[str]) -> list[str] | None:
    """Return the cluster label of each query, None where each query stands for itself."""
    findings = subject.findings
    if findings.clusters is None:
        return None
    label_of = dict(zip(findings.gold.query_ids, findings.clusters, strict=True))
    return [label_of[query_id] for query_id in query_ids]


def _compared_run(compared: Comparison, run: str, name: str, measure: Measure) -> Document:
    baseline = name == compared.baseline
    entry = None if baseline else compared.difference(compared.baseline, name, measure.label)
    return {
        "run_id": run,
        "name": name,
        "mean": compared.mean(name, measure.label).mean,
        "difference": entry and entry.difference,
        "low": entry and entry.interval.low,
        "high": entry and entry.interval.high,
        "p": entry and entry.p,
        "p_corrected": entry and entry.p_corrected,
        "effect": entry and entry.effect,
        "improved": entry.wins if entry else 0,
        "regressed": entry.losses if entry else 0,
        "tied": entry.ties if entry else 0,
        "verdict": _word(compared, entry) if entry else "baseline",
    }


def _word(compared: Comparison, entry: Difference) -> str:
    if not entry.is_significant:
        return "no difference shown"
    return "better" if compared.winner(entry) == entry.system else "worse"


def _common(left: Subject, right: Subject) -> list[str]:
    asked = dict(zip(right.findings.gold.query_ids, right.findings.gold.texts, strict=True))
    gold = left.findings.gold
    return [
        query_id
        for query_id, text in zip(gold.query_ids, gold.texts, strict=True)
        if asked.get(query_id) == text
    ]


def _only(table: ScoreTable, query_ids: Sequence[str], *, name: str) -> ScoreTable:
    row_of = {query_id: row for row, query_id in enumerate(table.query_ids)}
    rows = [row_of[query_id] for query_id in query_ids]
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


def _side(subject: Subject, index: int, mean: float | None) -> Document:
    run = subject.runs[index]
    return {
        "benchmark_id": subject.id,
        "benchmark_name": subject.name,
        "run_id": run.id,
        "run_name": run.name,
        "mean": mean,
    }


def _why_not(left: Subject, right: Subject, indexes: tuple[int, int]) -> list[str]:
    """Return what the two sides do not have in common, though a comparison takes it for granted."""
    pairs: Mapping[str, tuple[object, object]] = {
        "the datasets differ": (left.dataset, right.dataset),
        "the judgments differ": (
            left.findings.origin.gold_digest,
            right.findings.origin.gold_digest,
        ),
        "the documents differ": (
            left.runs[indexes[0]].snapshot,
            right.runs[indexes[1]].snapshot,
        ),
    }
    return [sentence for sentence, (one, other) in pairs.items() if one != other]
