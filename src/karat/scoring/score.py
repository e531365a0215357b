"""Score one run against a dataset."""

import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, nan
from posixpath import splitext
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError
from karat.model import Dataset, JudgedRun, Outcome, QueryStatus, Run, ScoreTable
from karat.model.evaluation import CARRY_ADVICE, Evaluation, Failure, Mismatch, Notes, Summary
from karat.model.judgments import label_use, labelled_queries
from karat.scoring.human_sample import (
    human_sample_of,
    human_sample_remark,
    merge_labels,
    powered_summaries,
    summary_note,
)
from karat.scoring.labels import LabelChoice, choose_labels
from karat.scoring.matching import judge
from karat.scoring.matching.judge import Scored, Truth
from karat.scoring.metrics import Measure, average, evaluate
from karat.scoring.settings import Confidence, Scoring, compared_by
from karat.system.words import counted, first_line

if TYPE_CHECKING:
    from karat.model.comparison import Interval
    from karat.model.timings import RunResult


Slices = Mapping[str, Mapping[str, list[int]]]

FILE_TYPE = "file-type"
FILE_TYPE_NAMES = ("file_type", "filetype")
UNTAGGED = "(untagged)"


def slice_rows(truth: Truth, tags: Iterable[str]) -> Slices:
    """Return tag -> value -> query rows, values in order of first appearance.

    ``file-type`` is derived from the suffixes of the targets; a query with several is ``mixed``.
    """
    return {tag: _rows_by_value(truth, tag) for tag in tags}


def cluster_labels(truth: Truth, tag: str | None) -> list[str] | None:
    """Return the value of *tag* of each query, None if all queries are independent.

    Without *tag*, the metadata of a dataset may name one as ``cluster``. A query without a value is
    its own cluster.
    """
    if tag is not None:
        return _values(truth, tag)
    if not isinstance(truth, Dataset):
        return None
    named = str(truth.metadata.get("cluster"))
    values = truth.tags.get(named, ("",) * len(truth))
    pairs = zip(values, truth.query_ids, strict=True)
    labels = [value or f"query {query_id}" for value, query_id in pairs]
    return labels if len(set(labels)) < len(labels) else None


def labels_at(clusters: Sequence[str] | None, rows: Sequence[int]) -> list[str] | None:
    """Return the clusters of the queries at *rows*, None where these are drawn one by one.

    So are the queries of a slice that is a single cluster: within it they are all there is.

    >>> labels_at(["a", "a", "b"], [0, 2]), labels_at(["a", "a", "b"], [0, 1])
    (['a', 'b'], None)
    """
    if clusters is None:
        return None
    labels = [clusters[row] for row in rows]
    is_slice = len(rows) < len(clusters)
    return None if is_slice and len(set(labels)) == 1 else labels


def _rows_by_value(truth: Truth, tag: str) -> dict[str, list[int]]:
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(_values(truth, tag)):
        rows.setdefault(value, []).append(row)
    return rows


def _values(truth: Truth, tag: str) -> list[str]:
    known = list(truth.tags) if isinstance(truth, Dataset) else []
    if tag == FILE_TYPE and tag not in known:
        return [_file_type(paths) for paths in _target_paths(truth)]
    if isinstance(truth, Dataset) and tag in known:
        return [value or UNTAGGED for value in truth.tags[tag]]
    if tag in FILE_TYPE_NAMES:
        return _values(truth, FILE_TYPE)
    available = ", ".join(dict.fromkeys([*known, FILE_TYPE]))
    hint = "; karat evaluate derives it from the documents" if tag == "difficulty" else ""
    raise InputError(f"no query is tagged with {tag!r}; available: {available}{hint}")


def _target_paths(truth: Truth) -> list[list[str]]:
    if isinstance(truth, Dataset):
        rows = map(truth.targets, range(len(truth)))
        return [[target.path for target in targets if target.path] for targets in rows]
    return [list(documents) for documents in truth.values()]


def _file_type(paths: Iterable[str]) -> str:
    types = {splitext(path)[1] or "(none)" for path in paths} or {"(none)"}
    return types.pop() if len(types) == 1 else "mixed"


def mean_intervals(
    columns: Sequence[Sequence[float]],
    measures: Sequence[Measure],
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None = None,
) -> "list[Interval | None]":
    """Return an interval for the mean of each column; none for measures without a plain mean.

    Queries with the same label in *clusters* are resampled together.
    """
    import numpy as np

    from karat.scoring.stats import bootstrap_intervals

    intervals = bootstrap_intervals(
        np.array(columns).T,
        bounds=[measure.bounds for measure in measures],
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
        clusters=clusters,
    )
    return [
        interval if measure.definition.average == "arithmetic" else None
        for interval, measure in zip(intervals, measures, strict=True)
    ]


JUDGED_SHARE = Measure("judged", 10)
# Hits that are dropped because no searched file has their path; those of a hidden file are right.
HIDDEN = "not searched"
NOT_THERE = ("not in the corpus", "outside the root", HIDDEN)
# From these shares of hits or queries on, hits outside the searched files are worth a warning.
MANY_REMOVED, MANY_SHORT = 1 / 3, 0.05
# With more than this share of bad hits or queries, a run is broken.
MOST = 0.5
CHECK_ADVICE = "karat engines check SPEC --corpus DIR --query TEXT shows why"
ERROR_WIDTH = 160
# The snapshots that an engine with one index of the current files does not have.
OLD_SNAPSHOTS = ("parent", "base", "child")
# Metadata of a run: what has counted the tokens of its hits, if not four characters are one.
TOKENIZER = "tokenizer"
ANSWERED = (QueryStatus.SCORED, QueryStatus.UNJUDGED)


def evaluate_run(
    truth: Truth,
    run: Run | Scored,
    *,
    scoring: Scoring,
    confidence: Confidence | None,
    slices: Slices,
    name: str,
    clusters: Sequence[str] | None = None,
) -> Evaluation:
    """Return the scores of a loaded *run*; queries with one label in *clusters* are dependent.

    A measure with a cut-off above the k of the run has no scores. With a human sample in *truth*,
    means and intervals are prediction-powered.
    """
    measures = scoring.parsed(truth)
    sample = human_sample_of(truth)
    if sample and isinstance(truth, Dataset):
        people = _scores(truth, run, scoring, name, truth.query_ids)
        labelled = labelled_queries(truth)
        evaluation = _scores(choose_labels(truth, LabelChoice.ONLY), run, scoring, name, labelled)
        table = merge_labels(people.table, evaluation.table, sample, human_sample_remark(truth))
        evaluation = replace(evaluation, table=table, notes=replace(evaluation.notes, labels=None))
    else:
        evaluation = _scores(truth, run, scoring, name)
    return with_intervals(evaluation, measures, confidence, slices=slices, clusters=clusters)


def _scores(
    truth: Truth,
    run: Run | Scored,
    scoring: Scoring,
    name: str,
    labelled: Collection[str] | None = None,
) -> Evaluation:
    """Return the scores per query, without summaries.

    *labelled* are the queries with labels: other queries with hits have no score then, and a query
    without a relevant target has 0.
    """
    measures = scoring.parsed(truth)
    judged = judge(
        truth,
        run,
        match=scoring.match,
        ties=scoring.ties,
        judged_only=scoring.judged_only,
        depth=scoring.depth,
        min_overlap=scoring.min_overlap,
        root=scoring.root,
        strip_prefix=scoring.strip_prefix,
        cut_at=scoring.cut_at,
        name=name,
        sizes=any(measure.needs_sizes for measure in measures),
    )
    if judged.query_ids and not judged.answered:
        raise no_overlap(name, judged.query_ids, judged.unknown_queries)
    _check_subtopics(truth, measures)
    _check_compared(truth, measures)
    if compared_by(truth):
        # Two empty answers are the same.
        alike = {QueryStatus.UNJUDGED: QueryStatus.SCORED}
        judged = replace(judged, statuses=tuple(alike.get(each, each) for each in judged.statuses))
    table = evaluate(
        judged,
        dict.fromkeys((*measures, JUDGED_SHARE)),
        score_unjudged=scoring.trec or labelled is not None,
        score_empty=not scoring.trec,
    )
    notes = replace(
        _notes(judged, table.columns[str(JUDGED_SHARE)]),
        mismatch=_mismatch(judged, run),
        unit=_unit(truth, scoring),
        tokens=_token_note(run, name) if any(each.counts_tokens for each in measures) else "",
        failure=_failure(judged, run),
        labels=label_use(truth) if isinstance(truth, Dataset) else None,
    )
    if compared_by(truth):
        notes = replace(notes, judged_share=nan)  # nobody has judged anything
    columns = _known(table, measures, _asked_for(run))
    if labelled is not None:
        unknown = [
            bool(query.retrieved) and query_id not in labelled
            for query, query_id in zip(judged.queries, judged.query_ids, strict=True)
        ]
        columns = {
            label: array(
                "d", [nan if lost else score for score, lost in zip(column, unknown, strict=True)]
            )
            for label, column in columns.items()
        }
    return Evaluation(name, replace(table, columns=columns), (), notes, {})


def _check_subtopics(truth: Truth, measures: Sequence[Measure]) -> None:
    """Raise InputError if a measure of diversity is requested and no target has a subtopic."""
    labels = [each.label for each in measures if each.definition.needs_subtopics]
    if labels and not (isinstance(truth, Dataset) and truth.subtopics):
        raise InputError(
            f"{', '.join(labels)}: no target has a subtopic; expected targets with 'subtopics' in "
            "a gold set, or TREC diversity judgments (--gold-format trec-diversity)"
        )


def _check_compared(truth: Truth, measures: Sequence[Measure]) -> None:
    """Raise InputError for a measure of two runs on a gold set, or only others on a run.

    Beside a measure of two runs, others are measures of agreement too.
    """
    of_runs = [each.label for each in measures if each.definition.compares_runs]
    names = compared_by(truth)
    if of_runs and not names:
        raise InputError(
            f"{', '.join(of_runs)}: compares two runs; expected an earlier run in place of the "
            "gold set, as in karat compare OLD NEW"
        )
    if isinstance(truth, Dataset) and names and not of_runs:
        labels = ", ".join(each.label for each in measures)
        raise InputError(
            f"{labels}: expected a gold set, and {truth.name} is a run; to compare runs without a "
            f"gold set, use {', '.join(names)}"
        )


def _unit(truth: Truth, scoring: Scoring) -> str:
    """Return what the scores are about if it is not what the gold set says, else ""."""
    if isinstance(truth, Dataset) and compared_by(truth):
        return f"{truth.name} is a run, not a gold set: scores say how close a run is to it"
    return scoring.unit


def _token_note(run: Run | Scored, name: str) -> str:
    """Return how the tokens of the hits of *run* were counted, or why there are none."""
    if not isinstance(run, Run) or (run.tokens and max(run.tokens) < 0):
        return (
            f"{name}: the hits of a run file have no tokens unless it says so; karat evaluate and "
            "karat compare --agents count them in the corpus"
        )
    if tokenizer := run.metadata.get(TOKENIZER):
        return f"tokens of hits: counted by {tokenizer}"
    if run.metadata.get("snapshot"):
        return "tokens of hits: four characters each; --tokenizer counts those of a model"
    return "tokens of hits: as in the run file"


def with_intervals(
    evaluation: Evaluation,
    measures: Sequence[Measure],
    confidence: Confidence | None,
    *,
    slices: Slices,
    clusters: Sequence[str] | None = None,
) -> Evaluation:
    """Return *evaluation* with the summaries of its table, overall and for each of *slices*.

    The run is not judged again: the scores per query stay as they are. *measures* are the columns
    of the table.
    """
    table = evaluation.table
    everywhere = range(len(table.query_ids))
    labels = measure_labels(measures)
    summaries = _summaries(table, measures, everywhere, confidence, clusters=clusters)
    return replace(
        evaluation,
        labels=labels,
        summaries=summaries,
        notes=replace(
            evaluation.notes,
            clusters=len(set(clusters or ())),
            powered=summary_note(summaries, table, labels),
        ),
        slices={
            tag: {
                value: _summaries(table, measures, rows, confidence, clusters=clusters)
                for value, rows in values.items()
            }
            for tag, values in slices.items()
        },
    )


def measure_labels(measures: Iterable[Measure]) -> dict[str, str]:
    """Return the measures that were typed in another spelling than the canonical one."""
    return {str(each): each.label for each in measures if each.label != str(each)}


def with_measures(evaluation: Evaluation, measures: Sequence[Measure]) -> Evaluation:
    """Return *evaluation* with only these *measures*, in their order."""
    names = list(map(str, measures))
    table = evaluation.table
    labels = measure_labels(measures)
    summaries = tuple(each for each in evaluation.summaries if each.measure in names)
    return replace(
        evaluation,
        labels=labels,
        table=replace(table, columns={name: table.columns[name] for name in names}),
        summaries=summaries,
        notes=replace(evaluation.notes, powered=summary_note(summaries, table, labels)),
    )


def _mismatch(judged: JudgedRun, run: object) -> Mismatch | None:
    """Return the mismatch of a run; a run made by Karat has the names of its corpus.

    For such a run only the dataset can have other names, such as an extra folder: that is a
    warning.
    """
    mismatch = judged.mismatch
    if mismatch is None or not isinstance(run, Run) or not run.metadata.get("snapshot"):
        return mismatch
    if mismatch.partly or not mismatch.options or "--match" in mismatch.options:
        return None
    return replace(mismatch, sure=False)


def _failure(judged: JudgedRun, run: object) -> Failure | None:
    """Return why *run* is broken: most queries have the same error, or none has a hit.

    A run on queries that all have no answer is right to return nothing.
    """
    errors = _errors(run, judged)
    alike = max(errors.values(), key=len, default=[])
    if len(alike) > judged.answered * MOST:
        line = first_line(alike[0]).removeprefix(f"{judged.name}: ")[:ERROR_WIDTH].rstrip(".")
        return Failure(f"the same error for {len(alike):,} of {judged.answered:,} queries: {line}")
    answered = judged.answered - sum(map(len, errors.values()))
    if judged.any_hits or not answered or QueryStatus.SCORED not in judged.statuses:
        return None
    hits = "valid hits" if judged.invalid else "hits"
    reason = f"returned no {hits} for {answered:,} of {counted(answered, 'query')}"
    about = run.metadata if isinstance(run, Run) else {}
    if about.get("threshold"):
        return Failure(reason, f"its threshold is {about['threshold']}")
    return Failure(reason, CHECK_ADVICE if about.get("snapshot") else "")


def _errors(run: object, judged: JudgedRun) -> dict[str, list[str]]:
    """Return the errors and timeouts of the judged queries; they are alike but for numbers."""
    errors: dict[str, list[str]] = {}
    if not isinstance(run, Run) or all(outcome == Outcome.ANSWERED for outcome in run.outcomes):
        return errors
    judged_ids = set(judged.query_ids)
    for query_id, outcome, extra in zip(run.query_ids, run.outcomes, run.extras, strict=True):
        if outcome != Outcome.ANSWERED and query_id in judged_ids:
            error = str(extra.get("error") or Outcome(outcome).name.lower())
            errors.setdefault(re.sub(r"\d+", "0", error), []).append(error)
    return errors


def with_dropped(
    evaluation: Evaluation, measured: "RunResult", measures: Sequence[Measure]
) -> Evaluation:
    """Return *evaluation* with the hits that were dropped before judging added to the invalid hits.

    Hits of an external engine are checked against the corpus when they arrive. If most answered
    queries have no hit left, or most hits cannot be in the corpus, the run is broken. If many hits
    are not in the searched files, or many queries have too few hits for the cut-offs of *measures*
    because of that, there is a warning.
    """
    dropped = measured.notes.get("invalid")
    if not isinstance(dropped, Mapping) or not dropped:
        return evaluation
    counts = list(_hit_counts(measured.run))
    failure = (
        _all_dropped(counts, dropped, measured)
        or _mostly_removed(counts, measured)
        or evaluation.notes.failure
    )
    notes = replace(
        evaluation.notes,
        invalid=dict(Counter(evaluation.notes.invalid) + Counter(dropped)),
        failure=failure,
        removed="" if failure else _removed(counts, measured, measures),
    )
    return replace(evaluation, notes=notes)


class _HitCounts(NamedTuple):
    """The hits of an answered query: accepted, removed as not searched, and left after all cuts.

    Of the removed ones, those on *hidden* files are on files that Karat leaves out.
    """

    accepted: int
    removed: int
    hidden: int
    left: int


def _hit_counts(run: Run) -> Iterator[_HitCounts]:
    for row, outcome in enumerate(run.outcomes):
        if outcome == Outcome.ANSWERED:
            left = run.offsets[row + 1] - run.offsets[row]
            accepted, invalid = (run.extras[row].get(name) for name in ("accepted", "invalid"))
            dropped: Mapping[str, int] = invalid if isinstance(invalid, Mapping) else {}
            removed = sum(dropped.get(reason, 0) for reason in NOT_THERE)
            if not isinstance(accepted, int):
                accepted = left
            yield _HitCounts(accepted, removed, dropped.get(HIDDEN, 0), left)


def _all_dropped(
    counts: Sequence[_HitCounts], dropped: Mapping[str, int], measured: "RunResult"
) -> Failure | None:
    """Return the failure if few queries have a hit left, as the others are not in the corpus."""
    outside = sum(dropped.get(reason, 0) for reason in NOT_THERE)
    empty = sum(not each.left for each in counts)
    if outside < empty or empty * 2 <= len(counts):
        return None
    reason = (
        f"{empty:,} of {counted(len(counts), 'answered query')} have no hit in "
        f"the searched files, {counted(outside, 'hit')} dropped"
    )
    return Failure(reason, _advice(counts, measured.run))


def _mostly_removed(counts: Sequence[_HitCounts], measured: "RunResult") -> Failure | None:
    """Return the failure if most hits cannot be in the corpus; hidden files are in it."""
    unknown = sum(each.removed - each.hidden for each in counts)
    share = unknown / max(1, sum(each.removed + each.accepted for each in counts))
    if share <= MOST:
        return None
    return Failure(_outside_text(share, measured.run), _advice(counts, measured.run))


def _outside_text(share: float, run: Run) -> str:
    where = "versions that are searched" if _is_old(run) else "searched files"
    return f"{share:.0%} of its hits are not in the {where}"


def _advice(counts: Sequence[_HitCounts], run: Run) -> str:
    """Return what helps against removed hits: other paths, other files, or another version."""
    removed, hidden = (
        sum(getattr(each, name) for each in counts) for name in ("removed", "hidden")
    )
    files = _other_files(run) if hidden else ""
    if hidden * 2 > removed and files:
        return files
    if _is_old(run):
        return CARRY_ADVICE
    prefix = _strip_prefix(run)
    parts = [
        f"strip_prefix of the engine is {prefix!r}: are the other paths relative to the searched "
        "folder?"
        if prefix
        else "paths must be relative to the searched folder (strip_prefix of the engine)",
        files or "name the right corpus",
    ]
    return "; ".join(parts)


def _removed(
    counts: Sequence[_HitCounts], measured: "RunResult", measures: Sequence[Measure]
) -> str:
    """Return a warning if the removed hits are many, or leave too few hits for the measures."""
    run, name = measured.run, measured.name
    removed = sum(each.removed for each in counts)
    share = removed / max(1, removed + sum(each.accepted for each in counts))
    if share >= MANY_REMOVED:
        return f"{name}: {_outside_text(share, run)}; {_advice(counts, run)}"
    most = _asked_for(run)
    cuts = {each.k for each in measures if each.k and each.k <= most}
    for cut in sorted(cuts, reverse=True):
        short = sum(each.accepted < cut <= each.accepted + each.removed for each in counts)
        if short and short >= len(counts) * MANY_SHORT:
            further = CARRY_ADVICE if _is_old(run) else _other_files(run)
            return (
                f"{name}: after removing files that are not searched, it has fewer than {cut} hits "
                f"in {short} of {len(counts)} queries; let it return more hits"
                + (f"; {further}" if further else "")
            )
    return ""


def _strip_prefix(run: Run) -> str:
    """Return the strip_prefix of the engine of *run*, "" without one."""
    engine = run.metadata.get("engine")
    options = engine.get("options") if isinstance(engine, Mapping) else None
    return str(options.get("strip_prefix") or "") if isinstance(options, Mapping) else ""


def _is_old(run: Run) -> bool:
    """Return whether queries are searched on versions before or after their changes."""
    versions = {str(extra.get("revision") or "") for extra in run.extras}
    snapshot = run.metadata.get("snapshot")
    return snapshot in OLD_SNAPSHOTS and (len(versions) > 1 or snapshot == "base")


def _other_files(run: Run) -> str:
    """Return the options that search the files which were left out, "" if there are none."""
    options = []
    if run.metadata.get("kind", "all") != "all":
        options.append("--kind all")
    if run.metadata.get("candidates", "all") != "all":
        options.append("--candidates all")
    return f"to search all files, add {' '.join(options)}" if options else ""


def _summaries(
    table: ScoreTable,
    measures: Sequence[Measure],
    rows: Sequence[int],
    confidence: Confidence | None,
    *,
    clusters: Sequence[str] | None,
) -> tuple[Summary, ...]:
    """Return each measure over the queries at *rows*."""
    everything = len(rows) == len(table.query_ids)
    columns: list[Sequence[float]] = [
        column if everything else [column[row] for row in rows] for column in table.columns.values()
    ]
    answered = [row for row in rows if table.statuses[row] in ANSWERED]
    intervals: Sequence[Interval | None] = [None] * len(measures)
    labels = labels_at(clusters, rows)
    if confidence and confidence.draws and table.labelled is None:
        intervals = mean_intervals(columns, measures, confidence, clusters=labels)
    summaries = []
    for measure, column, interval in zip(measures, columns, intervals, strict=True):
        kind = measure.definition.average
        mean = average(column, kind)
        of_answered = mean
        if len(answered) < len(rows):
            scores = table.columns[str(measure)]
            of_answered = average([scores[row] for row in answered], kind)
        n = len(column) - sum(map(isnan, column))
        summaries.append(Summary(str(measure), mean, of_answered, n, interval))
    if table.labelled is not None:
        return powered_summaries(summaries, table, measures, rows, confidence, clusters=labels)
    return tuple(summaries)


def _asked_for(run: object) -> float:
    """Return the k (hits or files) of *run*; infinite if the run does not record it."""
    k = run.metadata.get("k") if isinstance(run, Run) else None
    return k if isinstance(k, int) else inf


def _known(table: ScoreTable, measures: Sequence[Measure], k: float) -> "dict[str, array[float]]":
    """Return the column of each measure; a measure with a cut-off above *k* has no values."""
    nothing = array("d", [nan]) * len(table.query_ids)
    return {
        str(measure): nothing if (measure.k or 0) > k else table.columns[str(measure)]
        for measure in measures
    }


def _notes(judged: JudgedRun, shares: Sequence[float]) -> Notes:
    answered = [
        share
        for query, share in zip(judged.queries, shares, strict=True)
        if query.retrieved and query.ideal and query.ideal[0] > 0
    ]
    return Notes(
        queries=len(judged.queries),
        statuses={status: judged.statuses.count(status) for status in QueryStatus},
        invalid=judged.invalid,
        unknown_queries=judged.unknown_queries,
        ties=judged.ties,
        tied=judged.tied,
        judged_share=average(answered),
        hits_per_query=average([query.retrieved for query in judged.queries if query.retrieved]),
    )


def no_overlap(name: str, judged: Sequence[str], unknown: Sequence[str]) -> InputError:
    """Return the error for a run that has none of the *judged* queries."""
    answers = ", ".join(map(repr, unknown[:3])) or "none"
    expected = ", ".join(map(repr, judged[:3]))
    return InputError(
        f"{name}: no query id of the run is in the gold set; the run has {answers}, "
        f"the gold set has {expected}"
    )
