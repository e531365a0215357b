"""Prediction-powered scores: people judged a sample of the queries, a language model all of them.

The scores of a run by both kinds of labels are in one table; means, intervals and tests are then
those of :mod:`karat.scoring.stats.prediction_powered`.
"""

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from karat.model import Dataset, ScoreTable
from karat.model.evaluation import LabelledScores, Summary
from karat.scoring.metrics import Measure
from karat.scoring.settings import Confidence
from karat.system.words import join_names

if TYPE_CHECKING:
    from karat.model.comparison import Comparison, Difference, Interval, LabelCounts
    from karat.scoring.stats import PoweredMean
    from karat.scoring.stats.arrays import FloatArray


# Key of a gold set's metadata: the ids of the queries that were drawn for people to judge.
RECORDED = "human_sample"
# Key of a dataset's metadata: the human sample that its scores use.
IN_USE = "human_sample_in_use"
# Draws where intervals are turned off: the estimate does not depend on them.
FEWEST_DRAWS = 99


def recorded_sample(data: Dataset) -> tuple[str, ...]:
    """Return the queries of *data* that were drawn for people to judge, in order.

    Ids of queries that were removed from the gold set are left out.
    """
    ids = data.metadata.get(RECORDED)
    known = set(data.query_ids)
    return tuple(each for each in ids if each in known) if isinstance(ids, list | tuple) else ()


def with_recorded_sample(data: Dataset, query_ids: Sequence[str]) -> Dataset:
    """Return *data* with *query_ids* in its metadata as the queries drawn for people to judge."""
    return replace(data, metadata={**data.metadata, RECORDED: list(query_ids)})


def with_human_sample(data: Dataset, query_ids: Collection[str], remark: str = "") -> Dataset:
    """Return *data* with the queries that people judged; its scores become prediction-powered.

    *remark* is a warning that is shown with them.
    """
    used = {"queries": tuple(query_ids), "remark": remark}
    return replace(data, metadata={**data.metadata, IN_USE: used})


def human_sample_of(truth: object) -> frozenset[str]:
    """Return the ids that `with_human_sample` has set, none for other judgments."""
    return frozenset(_in_use(truth).get("queries", ()))


def human_sample_remark(truth: object) -> str:
    """Return the remark that `with_human_sample` has set."""
    return str(_in_use(truth).get("remark", ""))


def _in_use(truth: object) -> "Mapping[str, Any]":
    used = truth.metadata.get(IN_USE) if isinstance(truth, Dataset) else None
    return used if isinstance(used, Mapping) else {}


def merge_labels(
    people: ScoreTable, model: ScoreTable, sample: Collection[str], remark: str = ""
) -> ScoreTable:
    """Return one table of two that score the same run by different labels.

    Where both tables are equal on every query, the measure does not depend on labels, such as
    lines returned: then its scores are known for all queries.
    """
    inside = [query_id in sample for query_id in people.query_ids]
    by_people, by_model, merged = {}, {}, {}
    for name, own in people.columns.items():
        other = model.columns[name]
        known = inside
        if all(a == b or isnan(b) for a, b in zip(own, other, strict=True)):
            known = [True] * len(inside)
        by_people[name] = array("d", [a if yes else nan for a, yes in zip(own, known, strict=True)])
        by_model[name] = other
        pairs = zip(by_people[name], other, strict=True)
        merged[name] = array("d", [b if isnan(a) else a for a, b in pairs])
    return replace(model, columns=merged, labelled=LabelledScores(by_people, by_model, remark))


def powered_summaries(
    summaries: Sequence[Summary],
    table: ScoreTable,
    measures: Sequence[Measure],
    rows: Sequence[int],
    confidence: Confidence | None,
    *,
    clusters: Sequence[str] | None,
) -> tuple[Summary, ...]:
    """Return *summaries*, over the queries at *rows*, with prediction-powered means and intervals.

    A sum or geometric mean of scores by both kinds of labels estimates nothing: it is NaN, unless
    the measure does not depend on labels.
    """
    plain = [each for each in measures if each.definition.average == "arithmetic"]
    cubes = _cubes([table], plain, rows)
    bounds = [measure.bounds for measure in plain]
    estimates = _powered(cubes[0][0], cubes[1][0], bounds, confidence, clusters)
    powered = dict(zip(map(str, plain), estimates, strict=True))
    return tuple(
        _powered_summary(each, powered[each.measure], confidence)
        if each.measure in powered
        else _without_mean(each, table, rows)
        for each in summaries
    )


def _without_mean(summary: Summary, table: ScoreTable, rows: Sequence[int]) -> Summary:
    """Return *summary* of a sum or geometric mean, without a mean if labels are mixed."""
    merged = table.columns[summary.measure]
    people = table.labelled.people[summary.measure] if table.labelled else merged
    if all(isnan(merged[row]) or not isnan(people[row]) for row in rows):
        return summary
    return replace(summary, mean=nan, answered=nan)


def _powered_summary(
    summary: Summary, estimate: "PoweredMean", confidence: Confidence | None
) -> Summary:
    mean = nan if estimate.mean is None else estimate.mean
    # Queries without an answer score 0 by any labels, so that both means change by one factor.
    share = summary.answered / summary.mean if summary.mean else 1.0
    return replace(
        summary,
        mean=mean,
        answered=mean * share,
        interval=estimate.interval if confidence and confidence.draws else None,
        labels=_counts(estimate),
    )


def powered_comparison(
    comparison: "Comparison",
    tables: Sequence[ScoreTable],
    measures: Sequence[Measure],
    rows: Sequence[int],
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
) -> "Comparison":
    """Return *comparison* of *tables* with prediction-powered means, differences and p values.

    Wins, ties and losses stay those of the merged scores. P values are corrected by Holm's method
    where the comparison uses resamples (maxT, Tukey), which have no counterpart here.
    """
    import numpy as np

    from karat.scoring.stats.arrays import paired_differences
    from karat.scoring.stats.paired import difference_bounds

    people, model = _cubes(tables, measures, rows)
    systems = {name: index for index, name in enumerate(comparison.systems)}
    metrics = {str(measure): index for index, measure in enumerate(measures)}
    means = [(systems[each.system], metrics[each.metric]) for each in comparison.means]
    pairs = [
        (systems[each.system], systems[each.baseline], metrics[each.metric])
        for each in comparison.differences
    ]
    columns = []
    for cube in (people, model):
        scores = [cube[system, :, metric] for system, metric in means]
        scores += [paired_differences(cube[a, :, m], cube[b, :, m]) for a, b, m in pairs]
        columns.append(np.stack(scores, axis=1))
    bounds = [measures[metric].bounds for _, metric in means]
    bounds += [difference_bounds(measures[metric].bounds) or (nan, nan) for *_, metric in pairs]
    estimates = _powered(columns[0], columns[1], bounds, confidence, clusters)
    own, between = estimates[: len(means)], estimates[len(means) :]
    new_means = tuple(
        replace(entry, mean=each.mean, interval=each.interval, labels=_counts(each))
        for entry, each in zip(comparison.means, own, strict=True)
    )
    by_name = {(each.system, each.metric): each.mean for each in new_means}
    entries = [
        _powered_difference(entry, each, by_name, comparison)
        for entry, each in zip(comparison.differences, between, strict=True)
    ]
    method = comparison.correction if comparison.correction in ("bh", "none") else "holm"
    return replace(
        comparison, means=new_means, differences=_corrected(entries, method), correction=method
    )


def _powered_difference(
    entry: "Difference",
    estimate: "PoweredMean",
    means: dict[tuple[str, str], float | None],
    comparison: "Comparison",
) -> "Difference":
    from karat.scoring.stats.moments import relative_improvement
    from karat.scoring.stats.power import reach

    theirs = means[entry.baseline, entry.metric]
    ours = None if theirs is None or estimate.mean is None else theirs + estimate.mean
    sizes = [entry.effect, entry.effect_residual]
    if entry.difference and estimate.mean is not None:
        share = estimate.mean / entry.difference
        sizes = [None if size is None else size * share for size in sizes]
    # Without any difference by either kind of labels, the systems need no interval.
    same = entry.interval.method == "identical" and estimate.interval.method == "constant"
    interval = entry.interval if same else estimate.interval
    detectable = None
    if estimate.se > 0:
        detectable = estimate.se * reach(
            max(estimate.human - 1, 1), level=comparison.level, power=comparison.power
        )
    return replace(
        entry,
        baseline_mean=theirs,
        system_mean=ours,
        difference=estimate.mean,
        relative=relative_improvement(ours, theirs),
        interval=interval,
        p=estimate.p,
        p_method=interval.method,
        p_corrected=estimate.p,
        p_student=estimate.p,
        effect=sizes[0],
        effect_residual=sizes[1],
        detectable=detectable,
        labels=_counts(estimate),
        changed=None,
        caution="",
    )


def _corrected(entries: "Sequence[Difference]", method: str) -> "tuple[Difference, ...]":
    """Return *entries* with p values corrected by *method* over the pairs of each metric."""
    from karat.scoring.stats import benjamini_hochberg, holm

    if method == "none":
        return tuple(entries)
    correct = benjamini_hochberg if method == "bh" else holm
    result = list(entries)
    for metric in dict.fromkeys(entry.metric for entry in entries):
        indexes = [
            index
            for index, entry in enumerate(entries)
            if entry.metric == metric and entry.p is not None
        ]
        ps = correct([entries[index].p or 0.0 for index in indexes])
        for index, p in zip(indexes, ps, strict=True):
            result[index] = replace(entries[index], p_corrected=p)
    return tuple(result)


def _cubes(
    tables: Sequence[ScoreTable], measures: Sequence[Measure], rows: Sequence[int]
) -> "tuple[FloatArray, FloatArray]":
    """Return ``[system, query, measure]`` by people and by the model; a broken run has NaN."""
    import numpy as np

    shape = (len(tables), len(rows), len(measures))
    people, model = np.full(shape, nan), np.full(shape, nan)
    for system, table in enumerate(tables):
        for column, name in enumerate(map(str, measures)):
            if table.labelled is not None:
                people[system, :, column] = [table.labelled.people[name][row] for row in rows]
                model[system, :, column] = [table.labelled.model[name][row] for row in rows]
    return people, model


def _powered(
    people: "FloatArray",
    model: "FloatArray",
    bounds: Sequence[tuple[float, float]],
    confidence: Confidence | None,
    clusters: Sequence[str] | None,
) -> "tuple[PoweredMean, ...]":
    from karat.scoring.stats import prediction_powered

    chosen = confidence or Confidence()
    return prediction_powered(
        people,
        model,
        bounds=list(bounds),
        level=chosen.level,
        draws=chosen.draws or FEWEST_DRAWS,
        seed=chosen.seed,
        clusters=clusters,
    )


def _counts(estimate: "PoweredMean") -> "LabelCounts":
    from karat.model.comparison import LabelCounts

    return LabelCounts(estimate.human, estimate.model, estimate.weight, estimate.effective)


def summary_note(summaries: Sequence[Summary], table: ScoreTable, labels: "dict[str, str]") -> str:
    """Return what to know about prediction-powered *summaries* of *table*, "" for plain ones.

    *labels* name measures as typed.
    """
    if table.labelled is None:
        return ""
    absent = [
        labels.get(each.measure, each.measure)
        for each in summaries
        if each.labels is None and isnan(each.mean)
    ]
    notes = [_powered_note(summaries, labels), table.labelled.remark]
    if absent:
        verb = "is a sum or geometric mean" if len(absent) == 1 else "are sums or geometric means"
        notes.append(
            f"{join_names(absent)} {verb}: not estimated from a human sample and model labels"
        )
    text = "; ".join(filter(None, notes))
    return f"prediction-powered: {text}" if text else ""


def _powered_note(summaries: Sequence[Summary], labels: "dict[str, str]") -> str:
    known = [
        (each, each.labels)
        for each in summaries
        if each.labels is not None and not isnan(each.mean)
    ]
    if not known:
        return ""
    lead, counts = known[0]
    text = f"{labels.get(lead.measure, lead.measure)} {lead.mean:.3f}{_ends(lead.interval)} from "
    text += f"{_sources(counts)}; as precise as {counts.effective:.0f} human-judged queries"
    others = [
        f"{labels.get(each.measure, each.measure)} {counts.effective:.0f}"
        for each, counts in known[1:]
    ]
    if others:
        text += f" ({', '.join(others)})"
    return text + _caveat(counts)


def comparison_note(comparison: "Comparison", tables: Sequence[ScoreTable]) -> str:
    """Return a sentence about the prediction-powered numbers of the first measure, "" without."""
    remarks = {table.labelled.remark for table in tables if table.labelled} - {""}
    comparison = comparison.labelled()
    lead = comparison.metrics[0]
    means = [
        (each, each.labels)
        for each in comparison.means
        if each.metric == lead and each.labels is not None and each.mean is not None
    ]
    if not means:
        return ""
    _, counts = means[0]
    differences = [
        each.labels
        for each in comparison.differences
        if each.metric == lead and each.labels and not isnan(each.labels.effective)
    ]
    needed = [f"{each.system} {labels.effective:.0f}" for each, labels in means]
    if len(comparison.systems) == 2:
        needed += [f"their difference {labels.effective:.0f}" for labels in differences]
    # Report useless labels only if no number uses them.
    caveats = {_caveat(labels) for labels in (*(labels for _, labels in means), *differences)}
    return (
        f"Intervals and p values are prediction-powered, from {_sources(counts)}; people alone "
        f"would need this many judged queries for the same precision of {lead}: "
        f"{', '.join(needed)}"
        f"{caveats.pop() if len(caveats) == 1 else ''}"
        f"{''.join(f'; {remark}' for remark in sorted(remarks))}."
    )


def _sources(counts: "LabelCounts") -> str:
    return f"{counts.human} human-judged and {counts.model} model-judged queries"


def _ends(interval: "Interval | None") -> str:
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f" [{interval.low:.3f}, {interval.high:.3f}]"


def _caveat(counts: "LabelCounts") -> str:
    """Return what the reader must know if the model's labels are of no use."""
    if counts.weight == 0.0 and counts.model:
        return "; the model's labels do not help here, and are not used"
    return ""
