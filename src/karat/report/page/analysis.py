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
    (found,) = comparisons(subject, baseline, [metric])
    return found


def comparisons(
    subject: Subject, baseline: str | None, metrics: Sequence[str | None]
) -> Iterator[Document]:
    """Yield :func:`comparison` on each of *metrics*; together they take little longer than one.

    The tests are those of the findings, so that a pair has one p value on all pages. Of many runs,
    pairs that were not tested there are a family of their own.
    """
    measures = [subject.measure(metric) for metric in metrics]
    names = subject.findings.names
    first = subject.place(baseline) if baseline else names.index(subject.findings.baseline)
    order = [first, *(place for place in range(len(subject.runs)) if place != first)]
    ordered = [subject.findings.contest.evaluations[place] for place in order]
    tested = {
        measure: subject.findings.contest.comparison.against(names[first], measure.label)
        for measure in measures
    }
    rest = [measure for measure, found in tested.items() if found is None]
    if rest:
        together = _compared([each.reportable().table for each in ordered], rest, subject)
        tested |= {measure: together.against(names[first], measure.label) for measure in rest}
    for measure in measures:
        found = cast("Comparison", tested[measure])
        named = _labelled(found, subject)
        yield {
            "baseline": subject.runs[first].id,
            "metric": measure.label,
            "runs": [
                _compared_run(found, subject.runs[place].id, name, measure)
                for place, name in zip(order, found.systems, strict=True)
            ],
            "headline": headline_with_broken(named, ordered),
            "verdict": verdict_with_broken(named, ordered),
        }


def matrix(subject: Subject, metric: str | None) -> Document:
    """Return the score of every query in every run."""
    measure = subject.measure(metric).label
    gold = subject.findings.gold
    columns = [subject.table(place).columns[measure] for place in range(len(subject.runs))]
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
    (found,) = slices_by(subject, [metric], by)
    return found


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
    shown = [_slices(subject, measures, value, rows) for value, rows in ordered]
    for place, measure in enumerate(measures):
        yield {
            "metric": measure.label,
            "by": by or "",
            "tags": tags,
            "slices": [each[place] for each in shown],
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
                "values": [known(mean) for mean in curve.means[place]],
            }
            for curve in subject.findings.curves
            for place, run in enumerate(subject.runs)
        ]
    }


def two_sides(
    left: Subject, left_run: str, right: Subject, right_run: str, metric: str | None
) -> Document:
    """Return one run against another, perhaps of another benchmark, on the queries of both."""
    measure = left.measure(metric)
    right.measure(measure.label)
    places = (left.place(left_run), right.place(right_run))
    common = _common(left, right)
    if not common:
        raise InputError("the two runs have no query in common")
    found = _tested_pair(left, places, measure) if left.id == right.id else None
    if found is None:
        sides = zip((left, right), places, ("left", "right"), strict=True)
        tables = [_only(side.table(place), common, name=name) for side, place, name in sides]
        found = _compared(tables, [measure], left)
    one, other = found.systems
    shown = _compared_run(found, right_run, other, measure)
    why = _why_not(left, right, places)
    names = left.runs[places[0]].name, right.runs[places[1]].name
    named = _renamed(found, names if names[0] != names[1] else (left.name, right.name))
    named = _labelled(named, left)
    return {
        "metric": measure.label,
        "label": named.metrics[0],
        "left": _side(left, places[0], found.mean(one, measure.label).mean),
        "right": _side(right, places[1], found.mean(other, measure.label).mean),
        "comparable": not why,
        "why": "; ".join(why) or None,
        "queries": len(common),
        "comparison": {**shown, "name": right.runs[places[1]].name},
        "headline": headline(named),
        "verdict": verdict(named),
    }


def _labelled(found: Comparison, subject: Subject) -> Comparison:
    """Return *found* with the metrics named as they were typed, for texts."""
    return replace(found, labels=subject.findings.contest.comparison.labels).labelled()


def _renamed(found: Comparison, names: tuple[str, str]) -> Comparison:
    """Return a comparison of two runs with the names that readers know."""
    if names[0] == names[1]:
        return found
    name = dict(zip(found.systems, names, strict=True))
    return replace(
        found,
        systems=names,
        baseline=names[0],
        means=tuple(replace(mean, system=name[mean.system]) for mean in found.means),
        differences=tuple(
            replace(entry, baseline=name[entry.baseline], system=name[entry.system])
            for entry in found.differences
        ),
    )


def _slices(
    subject: Subject, measures: Sequence[Measure], value: str, rows: Sequence[int]
) -> list[Document]:
    """Return the means over the queries at *rows*, a document for each measure."""
    settings = subject.findings.contest.comparison
    gold = subject.findings.gold
    ids = [run.id for run in subject.runs]
    pairs = [(measure, place) for measure in measures for place in range(len(ids))]
    columns = [
        [subject.table(place).columns[measure.label][row] for row in rows]
        for measure, place in pairs
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
    shown: list[Document] = []
    for start in range(0, len(pairs), len(ids)):
        average_of = pairs[start][0].definition.average
        own = slice(start, start + len(ids))
        shown.append(
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
    return shown


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


def _tested_pair(subject: Subject, places: tuple[int, int], measure: Measure) -> Comparison | None:
    """Return the test of two runs among those of the findings, None if it is not among them."""
    one, other = (subject.findings.names[place] for place in places)
    found = subject.findings.contest.comparison.against(one, measure.label)
    if found is None or one == other:
        return None
    return replace(
        found,
        systems=(one, other),
        means=tuple(mean for mean in found.means if mean.system in (one, other)),
        differences=tuple(entry for entry in found.differences if entry.system == other),
    )


def _clusters(subject: Subject, query_ids: Sequence[str]) -> list[str] | None:
    """Return the cluster label of each query, None where each query stands for itself."""
    findings = subject.findings
    if findings.clusters is None:
        return None
    label_of = dict(zip(findings.gold.query_ids, findings.clusters, strict=True))
    return [label_of[query_id] for query_id in query_ids]


def _compared_run(found: Comparison, run: str, name: str, measure: Measure) -> Document:
    baseline = name == found.baseline
    entry = None if baseline else found.difference(found.baseline, name, measure.label)
    return {
        "run_id": run,
        "name": name,
        "mean": found.mean(name, measure.label).mean,
        "difference": entry and entry.difference,
        "low": entry and entry.interval.low,
        "high": entry and entry.interval.high,
        "p": entry and entry.p,
        "p_corrected": entry and entry.p_corrected,
        "effect": entry and entry.effect,
        "improved": entry.wins if entry else 0,
        "regressed": entry.losses if entry else 0,
        "tied": entry.ties if entry else 0,
        "verdict": _word(found, entry) if entry else "baseline",
    }


def _word(found: Comparison, entry: Difference) -> str:
    if not entry.is_significant:
        return "no difference shown"
    return "better" if found.winner(entry) == entry.system else "worse"


def _common(left: Subject, right: Subject) -> list[str]:
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


def _side(subject: Subject, place: int, mean: float | None) -> Document:
    run = subject.runs[place]
    return {
        "benchmark_id": subject.id,
        "benchmark_name": subject.name,
        "run_id": run.id,
        "run_name": run.name,
        "mean": mean,
    }


def _why_not(left: Subject, right: Subject, places: tuple[int, int]) -> list[str]:
    """Return what the two sides do not have in common, though a comparison takes it for granted."""
    pairs: Mapping[str, tuple[object, object]] = {
        "the datasets differ": (left.dataset, right.dataset),
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
