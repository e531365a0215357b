"""Compare runs on one dataset; the baseline is the first run with a score on the first measure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan

from karat.errors import InputError
from karat.model import QueryStatus, ScoreTable
from karat.model.comparison import Comparison
from karat.model.evaluation import ComparisonResult, Evaluation, broken_sentences
from karat.scoring.human_sample import comparison_note, powered_comparison
from karat.scoring.margin import margin_notes
from karat.scoring.matching.judge import Truth
from karat.scoring.metrics import Measure
from karat.scoring.score import cluster_labels, labels_at, measure_labels, slice_rows
from karat.scoring.settings import Confidence
from karat.scoring.stats import compare as compare_scores
from karat.scoring.stats import verdict, wilcoxon
from karat.scoring.stats.arrays import paired_differences
from karat.system.words import counted, first_few, join_names

# Measures of all returned hits, and measures with a cut-off.
SET_MEASURES = "set-"
CUT_MEASURES = {"set-f1": "f1", "set-precision": "precision", "set-recall": "recall"}
# The share of queries without a result from which the verdict names them.
MANY_MISSING = 0.1
# If lists are longer by this factor, set measures are not comparable.
SIMILAR_LENGTH = 1.1


def compare_scored_runs(
    gold: Truth,
    evaluations: Sequence[Evaluation],
    *,
    measures: Sequence[Measure],
    confidence: Confidence,
    by: Iterable[str] = (),
) -> ComparisonResult:
    """Return runs that are scored already, compared over all queries and for each value of *by*."""
    slices = slice_rows(gold, by)
    clusters = cluster_labels(gold, confidence.cluster)
    overall = compare_scored(evaluations, measures, confidence, clusters=clusters)
    tested = testable_measures(measures)
    return replace(
        overall,
        slices={
            tag: {
                value: compare_evaluations(
                    evaluations,
                    tested,
                    rows,
                    confidence,
                    clusters=clusters,
                    baseline=overall.comparison.baseline,
                )
                for value, rows in values.items()
            }
            for tag, values in slices.items()
        },
        further_tests=(
            *margin_notes(overall.comparison.labelled(), confidence.margins),
            *(
                _wilcoxon_notes(evaluations, tested, overall.comparison.baseline)
                if confidence.wilcoxon
                else ()
            ),
        ),
    )


def compare_scored(
    evaluations: Sequence[Evaluation],
    measures: Sequence[Measure],
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
) -> ComparisonResult:
    """Return the comparison of scored runs over all queries; a single run has only means."""
    everywhere = range(len(evaluations[0].table.query_ids))
    overall = compare_evaluations(
        evaluations, testable_measures(measures), everywhere, confidence, clusters=clusters
    )
    powered = comparison_note(overall, [each.table for each in evaluations])
    closer = ""
    if any(measure.definition.compares_runs for measure in measures):
        closer = "Here, better means closer to the run in place of a gold set."
    notes = (
        *_list_length_notes(evaluations, overall.metrics),
        *_missing_notes(evaluations, overall.metrics[0]),
        *filter(None, [powered, closer]),
    )
    return ComparisonResult(
        tuple(evaluations),
        overall,
        slices={},
        verdict=" ".join(
            filter(None, (verdict_with_broken(overall.labelled(), evaluations), *notes))
        ),
        clusters=len(set(clusters or ())),
        notes=notes,
    )


def _missing_notes(evaluations: Sequence[Evaluation], metric: str) -> Iterator[str]:
    """Yield which runs count 0 for a tenth of the queries or more that they lack.

    A difference from such a run, for example one of a sample, may not be one of the searches.
    """
    lacking: dict[int, list[str]] = {}
    for each in evaluations:
        scores = zip(each.table.statuses, each.table.columns[metric], strict=True)
        zeros = sum(status is QueryStatus.MISSING and score == 0 for status, score in scores)
        if not each.broken and zeros >= MANY_MISSING * len(each.table.statuses):
            lacking.setdefault(zeros, []).append(each.name)
    total = counted(len(evaluations[0].table.statuses), "query")
    for zeros, names in lacking.items():
        have = "has" if len(names) == 1 else "have"
        yield (
            f"{join_names(first_few(names))} {have} no result for {zeros:,} of {total}, and each "
            "counts 0."
        )


def _list_length_notes(evaluations: Sequence[Evaluation], metrics: Sequence[str]) -> Iterator[str]:
    """Yield a warning if set measures compare runs that returned lists of different length.

    A longer list has higher recall and lower precision, whatever its ranking.
    """
    names = [name for name in metrics if name.startswith(SET_MEASURES)]
    lengths = {each.name: each.notes.hits_per_query for each in evaluations}
    known = [length for length in lengths.values() if not isnan(length)]
    if not names or max(known, default=0.0) <= min(known, default=0.0) * SIMILAR_LENGTH:
        return
    k = max(1, round(min(known)))
    returned = [f"{name} {length:.3g}" for name, length in lengths.items() if not isnan(length)]
    cut = [f"{CUT_MEASURES[name]}@{k}" for name in names if name in CUT_MEASURES]
    yield (
        f"{join_names(names)} {'counts' if len(names) == 1 else 'count'} all returned hits, and "
        f"the runs returned different numbers per query: {join_names(first_few(returned))}; "
        + (f"compare {join_names(cut)} instead, or " if cut else "")
        + f"cut all runs with --depth {k}."
    )


def verdict_with_broken(overall: Comparison, evaluations: Sequence[Evaluation]) -> str:
    """Return the verdict on the runs that can be compared, and why there is none on the others."""
    broken = {evaluation.name for evaluation in evaluations if evaluation.broken}
    if len(evaluations) < 2 or not broken:
        return verdict(overall)
    sentences = list(broken_sentences(evaluations))
    if len(evaluations) - len(broken) > 1:
        means = tuple(mean for mean in overall.means if mean.system not in broken)
        sentences.insert(0, verdict(replace(overall, means=means)))
    return " ".join(filter(None, sentences))


def compare_evaluations(
    evaluations: Sequence[Evaluation],
    measures: Sequence[Measure],
    rows: Sequence[int],
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
    baseline: str | None = None,
) -> Comparison:
    """Return the comparison of *evaluations* over the queries at *rows*.

    Without a *baseline* it is the first run with a score on the first measure.

    A run whose document names do not match the dataset has no scores here, so it neither wins nor
    loses.
    """
    tables = [evaluation.reportable().table for evaluation in evaluations]
    return compare_tables(tables, measures, rows, confidence, clusters=clusters, baseline=baseline)


def compare_tables(
    tables: Sequence[ScoreTable],
    measures: Sequence[Measure],
    rows: Sequence[int],
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
    baseline: str | None = None,
) -> Comparison:
    """Return the comparison of *tables*, which have the same queries, over those at *rows*."""
    import numpy as np

    names = [str(measure) for measure in measures]
    cube = np.array(
        [[[table.columns[name][row] for name in names] for row in rows] for table in tables]
    ).reshape(len(tables), len(rows), len(names))
    comparison = compare_scores(
        cube,
        systems=[table.name for table in tables],
        metrics=names,
        baseline=baseline,
        pairs=confidence.pairs,
        correction=confidence.correction,
        bounds=[measure.bounds for measure in measures],
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
        clusters=labels_at(clusters, rows),
        lower_is_better=[str(each) for each in measures if not each.definition.higher_is_better],
    )
    if any(table.labelled is not None for table in tables):
        labels = labels_at(clusters, rows)
        comparison = powered_comparison(
            comparison, tables, measures, rows, confidence, clusters=labels
        )
    return replace(comparison, labels=measure_labels(measures))


def _wilcoxon_notes(
    evaluations: Sequence[Evaluation], measures: Sequence[Measure], against: str
) -> tuple[str, ...]:
    """Return one sentence per run and measure against the baseline, and the test's caveat.

    A run whose document names do not match has no test.
    """
    import numpy as np

    baseline = next(each for each in evaluations if each.name == against)
    others = [
        other
        for other in evaluations
        if other is not baseline and not (other.broken or baseline.broken)
    ]
    if not others:
        return ()
    notes = []
    warning = ""
    for name in map(str, measures):
        for other in others:
            columns = (np.asarray(run.table.columns[name]) for run in (other, baseline))
            test = wilcoxon(paired_differences(*columns))
            warning = test.warning
            notes.append(
                f"Wilcoxon, {name}, {other.name} against {baseline.name}: p = {test.p:.4f} "
                f"({test.method}, {test.n} differences)"
            )
    return (*notes, f"Wilcoxon: {warning}")


def testable_measures(measures: Sequence[Measure]) -> list[Measure]:
    """Return the measures that have a paired test; raise InputError if there is none."""
    testable = [measure for measure in measures if measure.definition.average == "arithmetic"]
    if not testable:
        raise InputError("no measure to compare; sums and geometric means have no paired test")
    return testable
