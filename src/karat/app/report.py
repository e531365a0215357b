"""Gather the content of a report on one run or several."""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isnan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.app.evaluate import (
    ExperimentRequest,
    ExperimentResult,
    FinishedRuns,
    score_runs,
)
from karat.app.human_sample import sampled_gold
from karat.app.score import (
    RunSource,
    TruthSource,
    distinct_names,
    load_judgments,
    read_gold,
    run_name,
    whole_run,
)
from karat.errors import InputError, UnknownName
from karat.experiments.plan import engine_options, judged_units
from karat.experiments.run_records import (
    RunRecord,
    empty_run_remarks,
    ranking_digest,
    record_of,
    remarks,
    unsearched_remarks,
)
from karat.experiments.store import Experiment, StoredRun, open_store
from karat.experiments.stored_runs import engine_and_earlier, select_runs
from karat.experiments.target_check import resolved_for
from karat.formats import is_source, read_run
from karat.formats.gold import gold_digest
from karat.formats.karat_run import run_digest
from karat.installation import __version__
from karat.model import Dataset, Outcome, Query, Target
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.model.frozen import EMPTY
from karat.model.timings import RunResult
from karat.report.findings import Curve, Findings, Origin, ResolvedMeans
from karat.report.findings.contenders import Advice, Contenders
from karat.report.findings.latency import comparable_ms, latencies_ms
from karat.report.findings.recommend import advise
from karat.scoring.compare import compare_evaluations, compare_scored, testable_measures
from karat.scoring.labels import LabelRule, use_labels
from karat.scoring.matching import MATCHERS, trace
from karat.scoring.matching.modes import relevant_targets
from karat.scoring.metrics import Measure, parse
from karat.scoring.score import cluster_labels, slice_rows, with_dropped, with_measures
from karat.scoring.settings import Confidence, Scoring, compared_by
from karat.scoring.whole_files import judge_whole_files
from karat.system.words import counted, first_few, first_line, join_names, number_duplicates

if TYPE_CHECKING:
    from karat.model.comparison import Comparison


# The number of hits per query that a report shows.
HITS_KEPT = 10
# A tag of more values than this is an identifier rather than a kind.
MOST_VALUES = 12
MOST_CURVES = 4
CUTS = (1, 2, 3, 5, 10, 20, 50, 100)


def report(
    gold: Dataset,
    runs: Sequence[RunResult],
    *,
    origin: Origin,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] | None = None,
    evaluations: Sequence[Evaluation | None] = (),
    hits_kept: int = HITS_KEPT,
) -> Findings:
    """Return what a report shows of *runs* on *gold*.

    *evaluations* are the scores of the runs by :func:`report_measures`, as far as they are known:
    such a run is not scored again. *by* names the tags to break results down by; None takes all
    that tell kinds of queries apart. The baseline is the first run with a score on the first
    measure. Slices are compared with the baseline and on the first measure only. *hits_kept* is the
    number of hits per query and run that the report lists.
    """
    if not runs:
        raise InputError("no run to report on; expected one or more")
    scoring = scoring or Scoring()
    confidence = confidence or Confidence()
    scoring = judge_whole_files(gold, {measured.name: measured.run for measured in runs}, scoring)
    measures = scoring.parsed(gold)
    curves = _curve_measures(measures)
    set_f1 = parse("set-f1", level=scoring.level)
    scored = score_runs(
        gold, runs, scoring, measures=report_measures(gold, scoring), known=evaluations
    )
    reportable = [with_measures(evaluation, measures).reportable() for evaluation in scored]
    clusters = cluster_labels(gold, confidence.cluster)
    contest = compare_scored(reportable, measures, confidence, clusters=clusters)
    lead = testable_measures(measures)[:1]
    against_first = replace(confidence, pairs="baseline", correction=None)
    traces = tuple(
        trace(
            gold,
            measured.run,
            keep=hits_kept,
            match=scoring.match,
            ties=scoring.ties,
            judged_only=scoring.judged_only,
            depth=scoring.depth,
            min_overlap=scoring.min_overlap,
            root=scoring.root,
            strip_prefix=scoring.strip_prefix,
            cut_at=scoring.cut_at,
        )
        for measured in runs
    )
    depth = max((entry.retrieved for row in traces for entry in row), default=0)
    telling = breakdown_tags(gold)
    tags = telling if by is None else list(by)
    groups = slice_rows(gold, dict.fromkeys((*tags, *telling, *gold.tags)))
    return Findings(
        gold=gold,
        runs=tuple(runs),
        contest=replace(
            contest,
            slices={
                tag: {
                    value: compare_evaluations(
                        reportable,
                        lead,
                        rows,
                        against_first,
                        clusters=clusters,
                        baseline=contest.comparison.baseline,
                    )
                    for value, rows in values.items()
                }
                for tag, values in slice_rows(gold, tags).items()
            },
        ),
        traces=traces,
        curves=tuple(_curve(row, scored, depth) for row in curves),
        f1=tuple(tuple(evaluation.table.columns[str(set_f1)]) for evaluation in scored),
        latency=_latency(gold, runs, confidence, clusters),
        origin=origin,
        settings={"scoring": scoring, "confidence": confidence},
        level=scoring.level,
        remarks=(*remarks(runs), *unsearched_remarks(runs)),
        resolved=_resolved(gold, runs, scoring, against_first),
        clusters=None if clusters is None else tuple(clusters),
        groups=groups,
        rankings=tuple(ranking_digest(measured.run) for measured in runs),
        run_remarks=tuple(tuple(empty_run_remarks([measured])) for measured in runs),
    )


def report_measures(gold: Dataset, scoring: Scoring) -> tuple[Measure, ...]:
    """Return the measures that a report computes: those of *scoring*, set-F1 and the curves."""
    measures = scoring.parsed(gold)
    curves = [each for row in _curve_measures(measures) for each in row]
    return tuple(dict.fromkeys((*measures, parse("set-f1", level=scoring.level), *curves)))


def with_timings(findings: Findings, runs: Sequence[RunResult]) -> Findings:
    """Return *findings* with the timings and notes of *runs*, which have the same hits as before.

    The statistics of the scores remain.
    """
    confidence = findings.settings.get("confidence")
    confidence = confidence if isinstance(confidence, Confidence) else Confidence()
    scoring = findings.settings.get("scoring")
    scoring = scoring if isinstance(scoring, Scoring) else Scoring()
    measures = scoring.parsed(findings.gold)
    evaluations = tuple(
        evaluation if "invalid" in before.notes else with_dropped(evaluation, now, measures)
        for evaluation, before, now in zip(
            findings.contest.evaluations, findings.runs, runs, strict=True
        )
    )
    against_first = replace(confidence, pairs="baseline", correction=None)
    return replace(
        findings,
        runs=tuple(runs),
        contest=replace(findings.contest, evaluations=evaluations),
        latency=_latency(findings.gold, runs, confidence, findings.clusters),
        remarks=(*remarks(runs), *unsearched_remarks(runs)),
        resolved=_resolved(findings.gold, runs, scoring, against_first),
        run_remarks=tuple(tuple(empty_run_remarks([measured])) for measured in runs),
    )


def origin(
    gold: Dataset,
    digests: Sequence[str],
    *,
    made_at: str,
    version: str,
    records: Sequence[RunRecord] = (),
) -> Origin:
    """Return the origin of a report: versions, digests, and records to repeat the runs."""
    return Origin(
        made_at=made_at,
        version=version,
        python=platform.python_version(),
        platform=platform.platform(terse=True),
        gold_digest=gold_digest(gold),
        run_digests=tuple(digests),
        records=tuple(record.to_json() for record in records),
    )


def breakdown_tags(gold: Dataset) -> list[str]:
    """Return the tags to break results down by: those with a few values, some of them repeated.

    The tag that groups queries into clusters is left out.
    """
    tags = []
    for tag, values in slice_rows(gold, dict.fromkeys((*gold.tags, "file-type"))).items():
        if tag != gold.metadata.get("cluster") and 1 < len(values) <= min(
            MOST_VALUES, len(gold) - 1
        ):
            tags.append(tag)
    return tags


def _resolved(
    gold: Dataset, runs: Sequence[RunResult], scoring: Scoring, confidence: Confidence
) -> ResolvedMeans | None:
    """Return the means without targets that are in no searched snapshot; None if there is none."""
    left = resolved_for(gold, runs)
    if left is None:
        return None
    measures = testable_measures(scoring.parsed(gold))
    comparison = compare_evaluations(
        score_runs(left, runs, scoring, measures=measures),
        measures,
        range(len(left)),
        confidence,
        clusters=cluster_labels(left, confidence.cluster),
    )
    before, after = (_relevant(each, scoring.match) for each in (gold, left))
    return ResolvedMeans(comparison, sum(before) - sum(after), sum(map(bool, after)))


def _relevant(gold: Dataset, match: str | None) -> list[int]:
    """Return how many relevant targets each query has."""
    matcher = MATCHERS.get(match or gold.match)()
    return [sum(relevant_targets(query.targets, matcher)) for query in gold.queries()]


def _curve_measures(measures: Sequence[Measure]) -> list[list[Measure]]:
    """Return the first few measures with a cut-off, each at all cut-offs."""
    shapes = dict.fromkeys(
        replace(measure, k=None)
        for measure in measures
        if measure.k and measure.bounds == (0.0, 1.0) and measure.definition.higher_is_better
    )
    return [[replace(shape, k=cut) for cut in CUTS] for shape in list(shapes)[:MOST_CURVES]]


def _curve(row: Sequence[Measure], scored: Sequence[Evaluation], depth: int) -> Curve:
    """Return the means of one metric at all cut-offs up to the depth of the runs."""
    reached = [measure for measure in row if (measure.k or 0) <= max(depth, 1)]
    means = tuple(tuple(evaluation[str(measure)] for measure in reached) for evaluation in scored)
    return Curve(str(replace(row[0], k=None)), tuple(each.k or 0 for each in reached), means)


def _latency(
    gold: Dataset,
    runs: Sequence[RunResult],
    confidence: Confidence,
    clusters: Sequence[str] | None,
) -> "Comparison | None":
    import numpy as np

    from karat.scoring.stats import compare as compare_scores

    timed = [run for run in runs if not all(map(isnan, latencies_ms(run, gold.query_ids)))]
    if not timed:
        return None
    return compare_scores(
        np.array(comparable_ms(timed, gold.query_ids))[:, :, None],
        systems=[run.name for run in timed],
        metrics=["latency"],
        pairs=confidence.pairs,
        bounds=(0.0, np.inf),
        level=confidence.level,
        draws=confidence.draws,
        seed=confidence.seed,
        clusters=clusters,
        lower_is_better=["latency"],
    )


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """A gold set and runs on it with distinct names, each with its digest.

    *records* are the settings to repeat all runs; they are empty if a run came from a file.
    *remarks* name runs that were excluded because they have no results, and incomplete runs.
    *evaluations* are the scores of the runs that are scored already.
    """

    gold: Dataset
    runs: tuple[RunResult, ...]
    digests: tuple[str, ...]
    records: tuple[RunRecord, ...] = ()
    remarks: tuple[str, ...] = ()
    evaluations: tuple[Evaluation | None, ...] = ()


def experiment_inputs(
    done: ExperimentResult, ended: FinishedRuns, request: ExperimentRequest
) -> ReportInputs:
    """Return the finished runs of an experiment, with their records and scores."""
    stored = {run.label: run for run in done.experiment.runs}
    runs = {measured.name: measured.run for measured in ended.runs}
    scoring = judge_whole_files(request.gold, runs, request.scoring)
    return ReportInputs(
        request.gold,
        ended.runs,
        tuple(run_digest(measured.run) for measured in ended.runs),
        tuple(
            record_of(done.experiment, stored[measured.name], measured, request.gold)
            for measured in ended.runs
        ),
        tuple(
            f"failed and not included: {names}: {first_line(why)}" for names, why in ended.reasons()
        ),
        tuple(done.results.evaluations(ended.ids, request.gold, scoring)),
    )


def make_findings(
    inputs: ReportInputs,
    scoring: Scoring,
    confidence: Confidence,
    *,
    by: Iterable[str] | None = None,
    title: str = "",
) -> Findings:
    """Return what a report shows of *inputs*, made now, their remarks before those on the runs."""
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    gold, evaluations = inputs.gold, inputs.evaluations
    if compared_by(gold):
        raise InputError(
            f"{gold.name} is a run, and a report needs a gold set; karat compare shows how much "
            "runs agree, and --json, --csv and --markdown write it"
        )
    if confidence.human_sample:
        runs = {measured.name: measured.run for measured in inputs.runs}
        gold = sampled_gold(gold, runs, confidence.human_sample, scoring)
        # Stored scores are those by the labels of people alone.
        evaluations = ()
    findings = report(
        gold,
        inputs.runs,
        origin=origin(
            inputs.gold,
            inputs.digests,
            made_at=made_at,
            version=__version__,
            records=inputs.records,
        ),
        scoring=scoring,
        confidence=confidence,
        by=by,
        evaluations=evaluations,
    )
    matches = {record.match for record in inputs.records}
    units = {match: judged_units(inputs.gold, match).most for match in matches}
    return replace(
        findings,
        remarks=(*inputs.remarks, *findings.remarks),
        title=title,
        engines=tuple(
            engine_options(
                record.name,
                record.engine,
                unit=units[record.match],
                k=record.k,
                threshold=record.threshold,
            )
            for record in inputs.records
        ),
    )


def run_advice(
    gold: Dataset, contest: ComparisonResult, runs: Sequence[RunResult], confidence: Confidence
) -> tuple[Advice, ...]:
    """Return which of *runs* to take, by their scores on *gold* in *contest*."""
    scored = contest.evaluations[0].table.query_ids
    # A human sample has other queries.
    clusters = cluster_labels(gold, confidence.cluster) if scored == gold.query_ids else None
    return advise(Contenders(contest, tuple(runs), clusters))


def write_report(
    truth: TruthSource,
    runs: Sequence[RunSource],
    path: str,
    *,
    scoring: Scoring,
    confidence: Confidence,
    by: Iterable[str] | None = None,
    names: Sequence[str] | None = None,
    title: str = "",
    labels: LabelRule = LabelRule(),  # noqa: B008 - immutable
) -> None:
    """Write the report on *runs*, each from a path or from memory, in the format of *path*.

    An unknown format raises InputError before anything is read.
    """
    from karat.report.draw import drawer
    from karat.system.files import write_text

    draw = drawer(path)
    gold = _as_dataset(truth, labels)
    measured = [
        RunResult(whole_run(source, gold, name=name), timings=None, engine="", name=name)
        for source, name in zip(runs, names or distinct_names(runs), strict=True)
    ]
    inputs = ReportInputs(gold, tuple(measured), tuple(run_digest(each.run) for each in measured))
    write_text(path, draw(make_findings(inputs, scoring, confidence, by=by, title=title)))


def _as_dataset(source: TruthSource, labels: LabelRule) -> Dataset:
    if isinstance(source, str | PathLike):
        return read_gold(source, labels=labels)
    judgments = load_judgments(source, labels=labels)
    if isinstance(judgments, Dataset):
        return judgments
    queries = (
        Query(query, "", tuple(Target(document, grade) for document, grade in grades.items()))
        for query, grades in judgments.items()
    )
    return Dataset.of(queries, name="gold", match="document")


class _Source(NamedTuple):
    measured: RunResult
    digest: str
    record: RunRecord | None = None


class _StoredRuns(NamedTuple):
    """The stored runs by name, and their gold sets by digest."""

    runs: Mapping[str, Sequence[_Source]]
    golds: Mapping[str, Dataset]
    remarks: tuple[str, ...]


def gather(
    names: Sequence[str],
    *,
    store: str,
    reading: Mapping[str, Any] = EMPTY,
    run_format: str | None = None,
) -> ReportInputs:
    """Return the inputs of *names*: a gold set and run files, or stored runs, or both.

    A name that is a file is that file; if the first name is a file, it is the gold set. Otherwise
    the gold set is that of the experiments, which must share one. Other names are those of
    :func:`karat.experiments.stored_runs.select_runs` in the *store*; the id of an experiment stands
    for all of its runs. A stored run without any answered query is left out, and a remark reports
    it. *reading* has keywords of :func:`karat.app.score.read_gold`.
    """
    files = {name for name in names if is_source(name)}
    given = None
    if names[0] in files:
        given, names = read_gold(names[0], **reading), names[1:]
    elif files:
        raise InputError(f"{min(files)} is a file; expected the gold set first, and runs after it")
    stored = _read_stored([name for name in names if name not in files], store, given)
    gold = given
    if gold is None:
        gold = use_labels(_common(stored.golds), reading.get("labels") or LabelRule())
    sources = [
        source
        for name in names
        for source in ([_of_file(name, run_format)] if name in files else stored.runs[name])
    ]
    if not sources:
        why = f": {'; '.join(stored.remarks)}" if stored.remarks else ""
        raise InputError(f"no run to report on; expected run files or ids of runs{why}")
    apart = number_duplicates([source.measured.name for source in sources])
    return ReportInputs(
        gold,
        tuple(replace(each.measured, name=name) for each, name in zip(sources, apart, strict=True)),
        tuple(source.digest for source in sources),
        _records(sources, apart),
        stored.remarks,
    )


def _records(sources: Sequence[_Source], names: Sequence[str]) -> tuple[RunRecord, ...]:
    records = [
        replace(source.record, name=name)
        for source, name in zip(sources, names, strict=True)
        if source.record
    ]
    return tuple(records) if len(records) == len(sources) else ()


def _of_file(path: str, run_format: str | None) -> _Source:
    run = read_run(path, format=run_format)
    measured = RunResult(run, timings=None, engine="", name=run_name(path, 1))
    return _Source(measured, sha256(Path(path).read_bytes()).hexdigest())


def _read_stored(names: Sequence[str], url: str, gold: Dataset | None) -> _StoredRuns:
    """Return the stored runs called *names*; engines are those that ran on *gold*, if given."""
    if not names:
        return _StoredRuns({}, {}, ())
    runs: dict[str, list[_Source]] = {}
    golds: dict[str, Dataset] = {}
    remarks: list[str] = []
    try:
        opened = open_store(url)
    except InputError as error:
        raise UnknownName(f"{_no_file(names[0])}, and {error}") from None
    try:
        with opened as store:
            for name in names:
                experiment, chosen = select_runs(store, name, gold=gold)
                own = golds[experiment.dataset] = store.dataset(experiment.dataset)
                outcomes = store.outcomes(experiment.id)
                answered = {
                    run.id: outcomes.get(run.id, {}).get(Outcome.ANSWERED, 0) for run in chosen
                }
                measured = [(run, store.measured(run.id)) for run in chosen if answered[run.id]]
                # The run of an engine that is named with @ is called what was typed.
                called = name if engine_and_earlier(name)[1] else ""
                runs[name] = [_of_run(experiment, *each, own, called) for each in measured]
                remarks += _remarks(experiment, chosen, answered)
    except UnknownName as error:
        raise UnknownName(f"{_no_file(name)}, and {error}") from None
    return _StoredRuns(runs, golds, tuple(remarks))


def _no_file(name: str) -> str:
    """Return that there is no file *name*; one that is written like a file does not exist.

    >>> _no_file("new.jsonl"), _no_file("latest.1")
    ("the file 'new.jsonl' does not exist", "'latest.1' is not a file")
    """
    suffix = Path(name).suffix[1:]
    looks = "/" in name or (suffix and not suffix.isdecimal())
    return f"the file {name!r} does not exist" if looks else f"{name!r} is not a file"


def _of_run(
    experiment: Experiment, run: StoredRun, measured: RunResult, gold: Dataset, called: str
) -> _Source:
    measured = replace(measured, name=called or measured.name)
    record = record_of(experiment, run, measured, gold)
    return _Source(measured, run_digest(measured.run), record)


def _remarks(
    experiment: Experiment, runs: Sequence[StoredRun], answered: Mapping[str, int]
) -> Iterator[str]:
    """Yield a sentence on runs that have not ended, and on runs without any answered query.

    *answered* has the number of answered queries by the id of the run.
    """
    alike: dict[str, list[str]] = {}
    for run in runs:
        if run.answers < experiment.queries or not answered[run.id]:
            left_out = "" if answered[run.id] else ", left out"
            why = f": {first_line(run.error)}" if run.error else ""
            total = counted(experiment.queries, "answer")
            count = run.answers if answered[run.id] else 0
            said = f"{run.status}{left_out}, with {count:,} of {total}{why}"
            alike.setdefault(said, []).append(f"{run.label} ({run.id})")
    for said, names in alike.items():
        yield f"{join_names(first_few(names))}: {said}"


def _common(golds: Mapping[str, Dataset]) -> Dataset:
    if len(golds) > 1:
        raise InputError(
            f"the experiments have {len(golds)} gold sets; expected one for all, or the gold set "
            "to judge them on as the first argument"
        )
    return next(iter(golds.values()))
