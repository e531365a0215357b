"""karat baseline: store the scores of a run, and align them with a later version of the set.

The file is JSON with one query a line, so that a diff shows which of them moved.
"""

import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import isclose, isnan, nan
from pathlib import Path
from typing import NamedTuple

from karat.app.human_sample import sampled_run
from karat.app.score import RunSource, own_run_name, run_name
from karat.errors import InputError
from karat.experiments.run_records import DETERMINISTIC, SAMPLE, SAMPLE_OF
from karat.formats.base import DEFAULT
from karat.formats.fields import Checker, Location, Record
from karat.formats.gold import gold_digest
from karat.formats.jsontext import dumps, finite, load_json
from karat.formats.load import detect
from karat.formats.source import head_of
from karat.installation import __version__
from karat.model import Dataset, QueryStatus, Run, ScoreTable
from karat.model.evaluation import Evaluation, LabelledScores
from karat.model.frozen import EMPTY
from karat.model.gate import Baseline, BaselineQuery
from karat.model.judgments import label_use, with_model_labels
from karat.report.score_view import note_lines
from karat.scoring.human_sample import human_sample_of
from karat.scoring.matching.judge import Scored
from karat.scoring.metrics import Measure, parse
from karat.scoring.score import cluster_labels, evaluate_run
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.whole_files import judge_whole_files
from karat.system.files import write_text

FILE_MARK = "karat-baseline"
FILE_VERSION = 1
TEXT_KEYS = ("name", "gold", "gold_digest", "made_at", "karat")
FILE_KEYS = (
    *("format", "version", *TEXT_KEYS, "settings", "means", "queries"),
    *("deterministic", "sample_of", "notes", "missing"),
)
EXPECTED_FILE = "expected a file written by `karat baseline update`"
QUERY_KEYS = ("id", "digest", "rank", "scores", "model", "hits")


def write_baseline(baseline: Baseline, path: str | os.PathLike[str]) -> None:
    """Write *baseline*, whole or not at all; a query that is not scored has null."""
    head = {
        "format": FILE_MARK,
        "version": FILE_VERSION,
        "name": baseline.name,
        "gold": baseline.gold,
        "gold_digest": baseline.gold_digest,
        "made_at": baseline.made_at,
        "karat": baseline.version,
        "settings": dict(baseline.settings),
        "means": baseline.means,
    }
    # As far as they are known, so that older files read alike.
    for key in ("deterministic", "sample_of", "notes", "missing"):
        value = getattr(baseline, key)
        if value or value is False:
            head[key] = value
    lines = [dumps(finite(_row(query)), indent=None) for query in baseline.queries]
    opened = dumps(finite(head)).removesuffix("\n}")
    rows = ",\n".join(f"    {line}" for line in lines)
    write_text(path, f'{opened},\n  "queries": [\n{rows}\n  ]\n}}\n')


def _row(query: BaselineQuery) -> dict[str, object]:
    row = query._asdict()
    if not query.model:
        del row["model"]
    if query.hits is None:
        del row["hits"]
    return row


def _reject_run(path: str | os.PathLike[str]) -> None:
    """Raise InputError where *path* is a run, which is easily taken for a baseline."""
    try:
        detected = detect(path, kind="run")
    except InputError:
        return
    if detected.detect(os.fspath(path), head_of(path)):
        raise InputError(
            f"{os.fspath(path)}: this is a run ({detected.name}), not a baseline; {EXPECTED_FILE}. "
            "To compare two runs, use `karat compare`"
        )


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Return the baseline in *path*, or raise FormatError with every problem of the file."""
    _reject_run(path)
    value, check = load_json(path, limit=DEFAULT.json_bytes)
    top = check.record(value, ())
    if top.get("format") != FILE_MARK:
        check.add((), f"not a baseline; {EXPECTED_FILE} ({FILE_MARK})")
        check.finish()
    check.known(top, FILE_KEYS, ())
    if check.whole(top, "version", (), default=0) != FILE_VERSION:
        check.add(("version",), f"unknown version; expected {FILE_VERSION}")
    name, gold, digest, made_at, version = (check.text(top, key, ()) for key in TEXT_KEYS)
    queries = tuple(
        _query(check, check.record(item, location), location)
        for location, item in check.rows(top.get("queries"), ("queries",), filled=True)
    )
    check.unique(((("queries", row), query.id) for row, query in enumerate(queries)), "id")
    baseline = Baseline(
        name=name,
        gold=gold,
        gold_digest=digest,
        made_at=made_at,
        version=version,
        settings=check.record(top.get("settings"), ("settings",)),
        means=_scores(check, top, "means", ()),
        queries=queries,
        deterministic=_flag(check, top, "deterministic"),
        sample_of=check.whole(top, "sample_of", (), default=0),
        notes=tuple(str(note) for _, note in check.listed(top, "notes", ())),
        missing=check.whole(top, "missing", (), default=0),
    )
    check.finish()
    return baseline


def _flag(check: Checker, record: Record, key: str) -> bool | None:
    value = record.get(key)
    if value is None or isinstance(value, bool):
        return value
    check.add((key,), "expected true or false")
    return None


def _query(check: Checker, record: Record, location: Location) -> BaselineQuery:
    check.known(record, QUERY_KEYS, location)
    rank = check.number(record, "rank", location, default=0.0, low=1)
    return BaselineQuery(
        check.label(record, "id", location),
        check.text(record, "digest", location),
        rank or None,
        _scores(check, record, "scores", location),
        _scores(check, record, "model", location) if "model" in record else EMPTY,
        check.whole(record, "hits", location, default=0, low=0) if "hits" in record else None,
    )


def _scores(check: Checker, record: Record, key: str, location: Location) -> Mapping[str, float]:
    at = (*location, key)
    scores = check.record(record.get(key), at)
    return {name: check.number(scores, name, at, default=nan) for name in scores}


class RankedRun(NamedTuple):
    """A scored run, and for each query the rank of its first relevant hit and the number of hits.

    A rank is None without such a hit, and the number of hits without a relevant target.
    """

    evaluation: Evaluation
    ranks: tuple[float | None, ...]
    hits: tuple[int | None, ...]


class CommonQueries(NamedTuple):
    """A baseline restricted to the queries that it shares with a dataset; *rows* are their rows.

    *note* describes the differences, and is empty if there are none.
    """

    table: ScoreTable
    ranks: tuple[float | None, ...]
    hits: tuple[int | None, ...]
    rows: tuple[int, ...]
    note: str


class BaselineUpdate(NamedTuple):
    """A baseline that was written, and the means of the one that it replaced.

    *before* is empty if there was none; *other* says that it was made for another gold set, so
    that the means cannot be compared.
    """

    baseline: Baseline
    before: Mapping[str, float]
    other: bool = False


def update_baseline(
    gold: Dataset,
    run: RunSource,
    path: str,
    *,
    scoring: Scoring | None = None,
    human_sample: str | None = None,
    run_format: str | None = None,
) -> BaselineUpdate:
    """Score *run* on *gold* and write the scores of every query to the file *path*.

    With a *human_sample* the file also has the scores by model labels. A run that was made of a
    sample gives a baseline of these queries only; queries that another run lacks count 0.
    """
    before = read_baseline(path) if Path(path).exists() else None
    gold, loaded = sampled_run(
        gold,
        run,
        human_sample,
        name=run_name(run, 1),
        scoring=scoring or Scoring(),
        format=run_format,
    )
    gold, sample_of = restrict_to_sample(gold, loaded)
    baseline = make_baseline(
        gold,
        loaded,
        name=own_run_name(run, loaded, format=run_format),
        made_at=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        version=__version__,
        scoring=scoring,
        sample_of=sample_of,
    )
    return replace_baseline(baseline, path, before)


def replace_baseline(baseline: Baseline, path: str, before: Baseline | None) -> BaselineUpdate:
    """Write *baseline* to *path*, which held *before*."""
    write_baseline(baseline, path)
    other = before is not None and before.gold_digest != baseline.gold_digest
    means = {} if before is None or other else before.means
    return BaselineUpdate(baseline, means, other)


def make_baseline(
    gold: Dataset,
    run: Run | Scored,
    *,
    name: str,
    made_at: str,
    version: str,
    scoring: Scoring | None = None,
    sample_of: int = 0,
) -> Baseline:
    """Return the scores of *run* per query, with the inputs they were computed from.

    A broken run raises InputError: any later run would pass against it.
    """
    scoring = judge_whole_files(gold, {name: run}, scoring or Scoring())
    measures = scoring.parsed(gold)
    ranked = score_with_ranks(gold, run, measures, scoring=scoring, name=name)
    baseline = baseline_of(
        gold, ranked, measures, scoring=scoring, made_at=made_at, version=version
    )
    return replace(baseline, deterministic=answers_identically(run), sample_of=sample_of)


def baseline_of(
    gold: Dataset,
    ranked: RankedRun,
    measures: Sequence[Measure],
    *,
    scoring: Scoring,
    made_at: str,
    version: str,
) -> Baseline:
    """Return the baseline of a scored run; a broken one raises InputError."""
    evaluation, ranks, hits = ranked
    if evaluation.broken:
        raise InputError(f"this run cannot be a baseline: {'; '.join(evaluation.run_warnings)}")
    columns = evaluation.table.columns
    names = list(map(str, measures))
    rows = zip(gold.query_ids, _digests(gold), ranks, hits, strict=True)
    sample, labelled = human_sample_of(gold), evaluation.table.labelled
    return Baseline(
        name=evaluation.name,
        gold=gold.name,
        gold_digest=gold_digest(gold),
        made_at=made_at,
        version=version,
        settings=_settings(gold, replace(scoring, ties=evaluation.notes.ties)),
        means={measure: evaluation[measure] for measure in names},
        queries=tuple(
            BaselineQuery(
                query_id,
                digest,
                rank,
                {each: columns[each][row] for each in names},
                {each: labelled.model[each][row] for each in names}
                if labelled and query_id in sample
                else EMPTY,
                count,
            )
            for row, (query_id, digest, rank, count) in enumerate(rows)
        ),
        notes=tuple(note_lines(evaluation)),
        missing=evaluation.table.count(QueryStatus.MISSING),
    )


def answers_identically(run: Run | Scored) -> bool | None:
    """Return whether the engine of *run* did so when it was measured, None if that is not known."""
    known = run.metadata.get(DETERMINISTIC) if isinstance(run, Run) else None
    return known if isinstance(known, bool) else None


def restrict_to_sample(gold: Dataset, run: Run | Scored) -> tuple[Dataset, int]:
    """Return the queries of *gold* that *run* was made for, and the size of *gold*.

    The size is 0, and *gold* as it is, for a run that was not made of a sample. InputError if some
    of the sample have no result.
    """
    size, whole = (
        run.metadata.get(key) if isinstance(run, Run) else None for key in (SAMPLE, SAMPLE_OF)
    )
    if not (isinstance(run, Run) and isinstance(size, int) and isinstance(whole, int)):
        return gold, 0
    ids = set(run.query_ids)
    if len(ids) < size:
        raise InputError(
            f"{run.name}: only {len(ids)} of the {size} sampled queries have a result; repeat the "
            "karat evaluate command to complete the run"
        )
    return gold.with_queries(query for query in gold.queries() if query.id in ids), whole


def score_with_ranks(
    gold: Dataset,
    run: Run | Scored,
    measures: Sequence[Measure],
    *,
    scoring: Scoring,
    name: str,
    confidence: Confidence | None = None,
) -> RankedRun:
    """Return a loaded *run*, scored by *measures*; a first rank is 1 / reciprocal rank.

    A run whose document names clearly do not match those of *gold* raises InputError.
    """
    reciprocal, returned = parse("mrr", level=scoring.level), parse("num-ret")
    evaluation = evaluate_run(
        gold,
        run,
        scoring=scoring.with_measures(dict.fromkeys((*measures, reciprocal, returned))),
        confidence=confidence,
        slices={},
        name=name,
        clusters=cluster_labels(gold, confidence.cluster) if confidence else None,
    )
    if evaluation.notes.mismatch and evaluation.notes.mismatch.sure:
        raise InputError(f"cannot check this run: {'; '.join(evaluation.run_warnings)}")
    columns = evaluation.table.columns
    return RankedRun(
        evaluation,
        tuple(_rank(score) if score > 0 else None for score in columns[str(reciprocal)]),
        tuple(None if isnan(count) else round(count) for count in columns[str(returned)]),
    )


def align_baseline(
    baseline: Baseline,
    gold: Dataset,
    measures: Sequence[Measure],
    *,
    scoring: Scoring,
    allow_changed: bool,
    part: bool = False,
) -> CommonQueries:
    """Return *baseline* on the queries of *gold*.

    If the dataset has changed, raise InputError; with *allow_changed*, use only the queries whose
    text and targets are unchanged. With a human sample that is an error, too: people judge the new
    hits of a run, so that the changed queries are those on which the runs differ. Of a *part* of
    the queries, such as a sample, those that only one side has are left out.
    """
    sampled = any(query.model for query in baseline.queries)
    if sampled != bool(human_sample_of(gold)):
        raise InputError(
            f"the baseline was made {'with' if sampled else 'without'} --human-sample; use the "
            "same for karat gate, or write a new baseline (karat baseline update)"
        )
    _check_settings(baseline, _settings(gold, scoring))
    names = list(map(str, measures))
    lacking = [name for name in names if name not in baseline.means]
    if lacking:
        known = ", ".join(baseline.means)
        raise InputError(f"the baseline has no {lacking[0]}; it has {known}")
    before = {query.id: query for query in baseline.queries}
    rows = tuple(
        row
        for row, (query_id, digest) in enumerate(zip(gold.query_ids, _digests(gold), strict=True))
        if query_id in before and before[query_id].digest == digest
    )
    note = _difference(baseline, gold, same=len(rows), part=part)
    if note and sampled:
        raise InputError(
            f"the dataset differs from that of the baseline: {note}; with --human-sample all "
            "queries are compared, so write a new baseline (karat baseline update)"
        )
    if note and not allow_changed:
        raise InputError(
            f"the dataset differs from that of the baseline: {note}; write a new baseline (karat "
            "baseline update), or compare the unchanged queries (--allow-changed-dataset)"
        )
    if not rows:
        raise InputError("the dataset has no query of the baseline, so there is nothing to compare")
    shared = {row: before[gold.query_ids[row]] for row in rows}
    columns = {
        name: array(
            "d", [shared[row].scores.get(name, nan) if row in shared else nan for row in _all(gold)]
        )
        for name in names
    }
    statuses = (QueryStatus.SCORED,) * len(gold)
    labelled = _labelled(gold, shared, columns) if sampled else None
    table = ScoreTable(baseline.name, gold.query_ids, statuses, columns, labelled)
    ranks = tuple(shared[row].rank if row in shared else None for row in _all(gold))
    hits = tuple(shared[row].hits if row in shared else None for row in _all(gold))
    return CommonQueries(table, ranks, hits, rows, note)


def _labelled(
    gold: Dataset, shared: Mapping[int, BaselineQuery], columns: "Mapping[str, array[float]]"
) -> LabelledScores:
    """Return the scores of a baseline by people, on their sample, and by the model."""
    models = [shared[row].model if row in shared else {} for row in _all(gold)]
    people, model = {}, {}
    for name, scores in columns.items():
        pairs = list(zip(scores, models, strict=True))
        people[name] = array("d", [score if known else nan for score, known in pairs])
        model[name] = array("d", [known.get(name, score) for score, known in pairs])
    return LabelledScores(people, model)


def _rank(reciprocal: float) -> float:
    """Return the rank; the expected rank of tied hits may be fractional.

    >>> _rank(1 / 49), _rank(0.75)
    (49, 1.3333333333333333)
    """
    rank = 1 / reciprocal
    whole = round(rank)
    return whole if isclose(rank, whole) else rank


def _all(gold: Dataset) -> range:
    return range(len(gold))


def _digests(gold: Dataset) -> list[str]:
    """Return a digest of each query: its text, targets, tags and matching mode."""
    # The labels of models change no score, or they are targets by now.
    return [
        gold_digest(Dataset.of([with_model_labels(query, ())], match=gold.match))[:16]
        for query in gold.queries()
    ]


def _difference(baseline: Baseline, gold: Dataset, *, same: int, part: bool) -> str:
    """Return a description of how the queries differ; their order is ignored.

    Of a *part* only changed queries count.
    """
    known = {query.id for query in baseline.queries}
    new = sum(query_id not in known for query_id in gold.query_ids)
    changed = len(gold) - new - same
    gone = len(known) - same - changed
    counts = {"changed": changed} if part else {"new": new, "changed": changed, "gone": gone}
    parts = [f"{count} {word}" for word, count in counts.items() if count]
    return f"{', '.join(parts)}, {same} the same" if parts else ""


def _settings(gold: Dataset, scoring: Scoring) -> dict[str, object]:
    """Return the settings that affect how hits are judged; the root folder does not."""
    use = label_use(gold)
    return {
        "judge_labels": use.choice if use else "exclude",
        "match": scoring.match or gold.match,
        "ties": scoring.ties,
        "level": scoring.level,
        "judged_only": scoring.judged_only,
        "depth": scoring.depth,
        "min_overlap": scoring.min_overlap,
        "trec": scoring.trec,
    }


def _check_settings(baseline: Baseline, settings: dict[str, object]) -> None:
    for key, value in settings.items():
        # Earlier baselines do not name the labels: they used those of people.
        before = baseline.settings.get(key, "exclude" if key == "judge_labels" else None)
        if before != value:
            raise InputError(
                f"the baseline was judged with {key} {before}, this run with {value}; use the same "
                "settings for both"
            )
