"""The scores of several experiments as one score set, in which each corpus is a task."""

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from typing import NamedTuple

from karat.errors import InputError
from karat.extensions.scores.readers import ReadScores
from karat.extensions.scores.record import ScoreMeasure, ScoreRow, ScoreSet
from karat.extensions.scores.tasks import LEAST_TASKS
from karat.model import Dataset, QueryStatus
from karat.model.evaluation import Evaluation
from karat.scoring.metrics import Measure
from karat.scoring.score import FILE_TYPE, slice_rows
from karat.system.words import first_few, join_names

CORPUS = "corpus"


class ScoredCorpus(NamedTuple):
    """The engines that were scored on one corpus, by the same *measures*."""

    name: str
    gold: Dataset
    evaluations: Sequence[Evaluation]
    measures: Sequence[Measure]


def join_scores(corpora: Sequence[ScoredCorpus], *, by: Sequence[str] = ()) -> ReadScores:
    """Return all scores by the measures that all *corpora* have, ids with the name of the corpus.

    Queries have their tags, and the file type of their targets if it is in *by*. Enough corpora are
    a sample, so that their queries are dependent. A query without any score is left out.
    """
    measures = _common_measures(corpora)
    names = list(map(str, measures))
    rows = [row for corpus in corpora for row in _rows(corpus, names, by)]
    scores = ScoreSet.of(
        rows,
        name=join_names(first_few([corpus.name for corpus in corpora])),
        measures=[_described(measure) for measure in measures],
        cluster=_cluster(corpora),
        task=CORPUS,
    )
    return ReadScores(scores, scores.sizes, tuple(_remarks(corpora)))


def _common_measures(corpora: Sequence[ScoredCorpus]) -> list[Measure]:
    first, *others = corpora
    known = [set(map(str, corpus.measures)) for corpus in others]
    common = [each for each in first.measures if all(str(each) in names for names in known)]
    if not common:
        raise InputError("the gold sets have no measure in common; name one, such as -m ndcg@10")
    return common


def _described(measure: Measure) -> ScoreMeasure:
    low, high = measure.bounds
    lower = not measure.definition.higher_is_better
    return ScoreMeasure(
        str(measure), "bounded" if isfinite(high) else "free", low, high, lower_is_better=lower
    )


def _cluster(corpora: Sequence[ScoredCorpus]) -> str:
    """Return the tag of dependent queries: the corpus, or the one that every gold set names."""
    if len(corpora) >= LEAST_TASKS:
        return CORPUS
    named = {str(corpus.gold.metadata.get("cluster") or "") for corpus in corpora}
    return named.pop() if len(named) == 1 else ""


def _rows(corpus: ScoredCorpus, measures: Sequence[str], by: Sequence[str]) -> Iterator[ScoreRow]:
    gold, own = corpus.gold, str(corpus.gold.metadata.get("cluster") or "")
    derived = {
        (tag, row): value
        for tag, values in slice_rows(gold, set(by) & {FILE_TYPE}).items()
        for value, rows in values.items()
        for row in rows
    }
    tables = [each.reportable().table for each in corpus.evaluations]
    for row, query_id in enumerate(gold.query_ids):
        scores = [{name: table.columns[name][row] for name in measures} for table in tables]
        if all(isnan(score) for each in scores for score in each.values()):
            continue
        tags = {tag: values[row] for tag, values in gold.tags.items() if values[row]}
        tags |= {tag: derived[tag, row] for tag in (FILE_TYPE,) if (tag, row) in derived}
        if own in tags:
            # The same label in two corpora is not the same group.
            tags[own] = f"{corpus.name}:{tags[own]}"
        for table, each in zip(tables, scores, strict=True):
            yield ScoreRow(
                f"{corpus.name}:{query_id}",
                table.name,
                each,
                tags={**tags, CORPUS: corpus.name},
                text=gold.texts[row],
                failed=table.statuses[row] in (QueryStatus.ERROR, QueryStatus.TIMEOUT),
            )


def _remarks(corpora: Sequence[ScoredCorpus]) -> Iterator[str]:
    """Yield which engines have no scores in a corpus, and what to know of others."""
    for corpus in corpora:
        warnings = (warning for each in corpus.evaluations for warning in each.warnings)
        yield from (f"{corpus.name}: {warning}" for warning in dict.fromkeys(warnings))
