"""A score set as the scored systems that Karat compares, reports and gates."""

from array import array
from collections.abc import Sequence
from math import nan
from pathlib import Path

from karat.app.score_files import ScoredFiles, ScoreInputs, ScoreSource
from karat.errors import InputError, KaratError
from karat.extensions.scores.readers import (
    SCORE_READERS,
    ReadScores,
    ScoreOptions,
    read_scores,
    reader_of,
)
from karat.extensions.scores.record import ScoreMeasure, ScoreSet, ScoreStatus
from karat.extensions.scores.trials import pass_measures
from karat.formats import detect
from karat.model import Dataset, Query, QueryStatus, ScoreTable
from karat.model.evaluation import Evaluation, Notes
from karat.model.run import AS_RETURNED
from karat.scoring.metrics import Measure
from karat.scoring.metrics.definition import Metric
from karat.scoring.score import with_intervals

STATUSES = {
    ScoreStatus.SCORED: QueryStatus.SCORED,
    ScoreStatus.ERROR: QueryStatus.ERROR,
    ScoreStatus.MISSING: QueryStatus.MISSING,
}


def takes(names: Sequence[str], reader: str) -> bool:
    """Return whether all files *names* are scores: of a known tool, or tables without documents."""
    if reader:
        return reader in set(SCORE_READERS)
    return bool(names) and all(map(_is_scores, names))


def _is_scores(name: str) -> bool:
    try:
        if not Path(name).exists():
            return False
        reader = reader_of(name)
        if reader is None or not reader.fallback:
            return reader is not None
        return detect(name).fallback and not _has_documents(name)
    except KaratError:
        # No gold set and no run, or nothing that can be read: its reader says why.
        return Path(name).suffix.lower() in (".csv", ".tsv", ".jsonl", ".json", ".parquet")


def _has_documents(name: str) -> bool:
    """Return whether a table has a column of documents: it is a gold set or a run."""
    from karat.formats.records import head_columns
    from karat.formats.source import head_of
    from karat.formats.table import recognise

    roles = recognise(sorted(head_columns(name, head_of(name))), {})
    return "document" in roles.columns or "document" in roles.ambiguous


def read(names: Sequence[str], inputs: ScoreInputs) -> ScoredFiles:
    """Return the systems in the files *names*."""
    lower = tuple(part.strip() for text in inputs.lower for part in text.split(",") if part.strip())
    options = ScoreOptions(inputs.columns, lower)
    known = read_scores(names, options, reader=inputs.reader or None)
    return scored_files(known, inputs.measures)


def scored_files(known: ReadScores, measures: Sequence[str] = ()) -> ScoredFiles:
    """Return the systems of a score set, on *measures* or all; ``pass^3`` needs trials."""
    # A comparison of runs asks whether its files are scores, and needs no view of scores.
    from karat.extensions.scores.view import viewer

    scores = with_chosen(known.scores, measures)
    gold = queries_of(scores)
    return ScoredFiles(
        gold,
        tuple(evaluation_of(scores, system, gold) for system in scores.systems),
        tuple(map(measure_of, scores.measures)),
        known.preview,
        known.remarks,
        viewer(scores, gold),
        chosen=bool(measures),
    )


def with_chosen(scores: ScoreSet, names: Sequence[str]) -> ScoreSet:
    """Return *scores* with the measures *names* alone, in their order; all without any."""
    chosen = [part.strip() for text in names for part in text.split(",") if part.strip()]
    return pass_measures(scores, chosen) if chosen else scores


def queries_of(scores: ScoreSet) -> Dataset:
    """Return the queries as a dataset without targets; dependent ones share a tag."""
    metadata = {"cluster": scores.cluster} if scores.cluster else None
    return Dataset.of(
        (
            Query(query_id, text, tags={tag: of[row] for tag, of in scores.tags.items() if of[row]})
            for row, (query_id, text) in enumerate(zip(scores.query_ids, scores.texts, strict=True))
        ),
        name=scores.name,
        metadata=metadata,
    )


def measure_of(measure: ScoreMeasure) -> Measure:
    """Return a measure with a definition of its own; it cannot be computed from hits."""
    return Measure(
        measure.name,
        own=Metric(
            measure.name,
            _not_computed,
            "A score of the file.",
            "",
            cut="none",
            low=measure.low,
            high=measure.high,
            higher_is_better=not measure.lower_is_better,
        ),
    )


def _not_computed(*_: object, **__: object) -> float:
    raise InputError("a measure of a score file cannot be computed from hits")


def evaluation_of(scores: ScoreSet, system: str, gold: Dataset) -> Evaluation:
    """Return the scores of one system: the mean of the trials of each query; failures count 0."""
    columns = {
        measure.name: array(
            "d", scores.column(system, measure.name, failed=scores.failure_score(measure))
        )
        for measure in scores.measures
    }
    statuses = tuple(STATUSES[status] for status in scores.query_statuses(system))
    table = ScoreTable(system, gold.query_ids, statuses, columns)
    notes = Notes(
        queries=len(gold),
        statuses={status: statuses.count(status) for status in QueryStatus},
        invalid={},
        unknown_queries=(),
        ties=AS_RETURNED,
        tied=0,
        judged_share=nan,
        has_hits=False,
    )
    evaluation = Evaluation(system, table, (), notes, {})
    return with_intervals(evaluation, list(map(measure_of, scores.measures)), None, slices={})


SOURCE = ScoreSource(takes, read)
