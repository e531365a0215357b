"""Run an experiment: plan it, run the queries that the store lacks, score and store the runs."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from karat.corpus import FileSelection
from karat.errors import InputError, UnknownName
from karat.experiments.continuation import continue_runs, edited_while_running
from karat.experiments.execute import (
    EndedRun,
    ExperimentContext,
    claim_runs,
    execute,
    finish_on_error,
    repeat_queries,
)
from karat.experiments.executors import Executor, LocalExecutor
from karat.experiments.plan import (
    ExperimentPlan,
    ExperimentRequest,
    group_searches,
    plan_experiment,
)
from karat.experiments.run_records import CONTINUED, EDITED, SAMPLE, SAMPLE_OF, remarks
from karat.experiments.store import (
    Experiment,
    ExperimentDefinition,
    RunDefinition,
    RunStatus,
    Store,
)
from karat.experiments.target_check import (
    TargetCheck,
    check_targets,
    corpus_digest,
    missing_paths,
)
from karat.experiments.workers import (
    Configuration,
    RunEvent,
    count_problems,
    no_answer_error,
)
from karat.installation import __version__
from karat.model import Answer, Dataset
from karat.model.coverage import CorpusCoverage
from karat.model.evaluation import Evaluation
from karat.model.timings import LEFT_OUT_NOTE, MISSING_NOTE, RunResult
from karat.scoring.metrics import Measure
from karat.scoring.score import TOKENIZER, evaluate_run
from karat.scoring.settings import Scoring
from karat.scoring.whole_files import judge_whole_files


class RunResults:
    """Reads each run back from *store* at most once, and scores it at most once.

    Scores hold the *further* measures too; only those of the request are stored.
    """

    def __init__(
        self, store: Store, request: ExperimentRequest, further: Sequence[Measure] = ()
    ) -> None:
        """Read nothing yet."""
        self._store = store
        self._gold = request.gold
        self._requested = request.scoring
        self._measures = request.scoring.parsed(request.gold)
        self._further = further
        self._read: dict[str, RunResult] = {}
        self._evaluations: dict[str, Evaluation] = {}

    def read(self, run: str) -> RunResult:
        """Return *run* as it was when it was first read."""
        if run not in self._read:
            self._read[run] = self._store.measured(run)
        return self._read[run]

    def refresh(self, run: str) -> RunResult:
        """Return *run* with its present timings and notes; its answers are not read again.

        Call it when no further answer will be stored.
        """
        known = self._read.get(run)
        if known is None:
            return self.read(run)
        costs = self._store.costs(run)
        self._read[run] = replace(known, timings=costs.timings, notes=costs.notes)
        return self._read[run]

    def evaluation(self, run: str) -> Evaluation | None:
        """Return the scores of *run* without intervals, None where it has no answer.

        They cover all stored answers, those of earlier attempts included.
        """
        measured = self.read(run)
        if run not in self._evaluations and len(measured.run.query_ids):
            self._evaluations[run] = evaluate_run(
                self._gold,
                measured.run,
                scoring=self._scoring(measured),
                confidence=None,
                slices={},
                name=measured.name,
            )
        return self._evaluations.get(run)

    def evaluations(
        self, runs: Sequence[str], gold: Dataset, scoring: Scoring
    ) -> list[Evaluation | None]:
        """Return the scores of *runs* on *gold*, none where they were scored on another set.

        None also stands for a run that was scored with other settings than *scoring*.
        """
        judging = _judging(scoring)
        known = gold is self._gold
        return [
            self.evaluation(run)
            if known and _judging(self._scoring(self.read(run))) == judging
            else None
            for run in runs
        ]

    def _scoring(self, measured: RunResult) -> Scoring:
        """Return how *measured* is judged by itself; in a comparison, other runs may decide."""
        chosen = judge_whole_files(self._gold, {measured.name: measured.run}, self._requested)
        return chosen.with_measures(dict.fromkeys((*self._measures, *self._further)))

    def store_scores(self, run: str) -> None:
        """Score *run* and store its scores, unless that was done."""
        if run in self._evaluations or not (evaluation := self.evaluation(run)):
            return
        answers = list(self.read(run).run.answers_without_hits())
        complete = len(answers) == len(self._gold) and not no_answer_error(answers)
        names = {str(measure) for measure in self._measures}
        summaries = [each for each in evaluation.summaries if each.measure in names]
        self._store.keep_scores(run, summaries, complete=complete)


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """An experiment as far as it has run, its runs in the order of the configurations.

    *resolved* is the gold set without targets that are in no searched snapshot; None if all or none
    of them are. *remarks* are sentences on runs with the same rankings and on empty runs.
    *interrupted* says that some queries were left out. *results* has the scores of the runs.
    """

    experiment: Experiment
    measured: tuple[RunResult, ...]
    searched: CorpusCoverage
    resolved: Dataset | None
    remarks: tuple[str, ...]
    interrupted: bool
    results: RunResults = field(compare=False, repr=False)


def run_experiment(
    request: ExperimentRequest,
    store: Store,
    *,
    listen: Callable[[RunEvent], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    on_searched: Callable[[CorpusCoverage], None] = lambda _: None,
    on_stored: Callable[[Experiment], None] = lambda _: None,
    before_timing: Callable[[RunResults], None] = lambda _: None,
    plan: ExperimentPlan | None = None,
    further: Sequence[Measure] = (),
    executor: Executor | None = None,
    again: bool = False,
) -> ExperimentResult:
    """Run the queries of *request* that *store* lacks, and return all results.

    Each query result is stored when it ends. After any interruption the same request continues with
    the next query; Ctrl-C and *cancelled* stop it in order and return the results so far. An engine
    that fails costs only its own run. InputError is raised if another process works on the same
    request, or if the corpus has changed; no result on a changed corpus is stored.

    *on_searched* is called with the searched snapshots before any query runs, *on_stored* with the
    experiment in the store. *before_timing* is called with the results when all hits are stored
    and latency is measured next. *plan* is the result of :func:`plan_experiment` for the same
    request. *further* are measures that a report needs beside those of the request, so that no run
    is scored twice. Of several complete experiments of the request, the newest one is shown. With
    *again*, a request that is complete becomes a further experiment: not
    every engine returns the same hits again; in one that is not, the completed runs of external
    engines are checked like those that continue (:mod:`karat.experiments.continuation`).
    """
    if not any(text.strip() for text in request.gold.texts):
        raise InputError(f"{request.gold.name}: no query has a text to search for")
    plan = plan or plan_experiment(request, allowed=None)
    units, configurations = plan.units, plan.searches.configurations
    results = RunResults(store, request, further)
    checked = check_targets(
        request.gold,
        request.where,
        match=request.match,
        root=request.scoring.root,
        seed=request.seed,
    )
    on_searched(checked.searched)
    experiment = _attempt(
        partial(_definition, request, configurations, checked), store, again=again
    )
    on_stored(experiment)
    runs = {one.name: run.id for one, run in zip(configurations, experiment.runs, strict=True)}
    mine = claim_runs(experiment, store, listen=listen)
    context = ExperimentContext(
        request=request,
        plan=plan,
        snapshots=checked.snapshots,
        digests=checked.digests,
        runs=runs,
        listen=listen,
        cancelled=cancelled,
        before_timing=lambda: before_timing(results),
    )
    executor = executor or LocalExecutor(request.workers)
    if plan.one_worker:
        executor = _one_worker(executor)

    def repeat(queries: Mapping[str, Collection[str]]) -> Mapping[str, Mapping[str, Answer]]:
        some = [one for one in configurations if one.name in queries]
        searches = group_searches(some, files=units.files)
        return repeat_queries(searches, context, executor, queries)

    continued: dict[str, str] = {}
    with finish_on_error(mine, store) as left:
        continued = continue_runs(
            experiment,
            configurations,
            store,
            left,
            repeat=repeat,
            completed=again,
        )
        if todo := [one for one in configurations if runs[one.name] in left]:
            whole = len(todo) == len(configurations)
            searches = plan.searches if whole else group_searches(todo, files=units.files)
            content = {run.id: run.content for run in store.show(experiment.id).runs}
            for ended in execute(searches, context, store, executor):
                name = ended.configuration.name
                run = runs[name]
                results.store_scores(run)
                if not ended.untimed:
                    notes = {CONTINUED: continued[name]} if name in continued else {}
                    edited = edited_while_running(ended.configuration.spec, content[run])
                    if edited and not ended.stopped:
                        notes[EDITED] = edited
                    ending = ended._replace(notes={**ended.notes, **notes})
                    _finish(ending, run, store, results.read(run), request=request, checked=checked)
                    left.discard(run)
    stored = store.show(experiment.id)
    measured = tuple(results.refresh(run) for run in runs.values())
    return ExperimentResult(
        stored,
        measured,
        checked.searched,
        checked.resolved if 0 < checked.searched.unresolved < checked.searched.targets else None,
        (*_unnoted(continued, measured), *remarks(measured)),
        any(run.status is RunStatus.CANCELLED for run in stored.runs),
        results,
    )


def _judging(scoring: Scoring) -> Scoring:
    """Return the settings of *scoring* that decide what a hit earns; sentences do not."""
    return replace(scoring, measures=(), level=0.0, unit="")


def _unnoted(continued: Mapping[str, str], measured: Iterable[RunResult]) -> Iterator[str]:
    """Yield the sentences on stored answers that no note of a run has."""
    for one in measured:
        if one.name in continued and CONTINUED not in one.notes:
            yield f"{one.name}: {continued[one.name]}"


def _one_worker(executor: Executor) -> Executor:
    """Return *executor* with one worker; InputError if its slots may be on other machines."""
    if executor.travels:
        raise InputError(
            "one process at a time can open a store in a folder; use a server (url=...), or the "
            "local executor"
        )
    return LocalExecutor(1)


def _attempt(
    definition: Callable[[int], ExperimentDefinition], store: Store, *, again: bool
) -> Experiment:
    """Return the newest completed attempt; the first that is not if none is, or with *again*."""
    experiment = store.show(store.experiment(definition(1)))
    attempt = 2
    while again and experiment.status == RunStatus.COMPLETED:
        experiment = store.show(store.experiment(definition(attempt)))
        attempt += 1
    if again or experiment.status != RunStatus.COMPLETED:
        return experiment
    gold = store.dataset(experiment.dataset)
    newest = experiment
    with suppress(UnknownName):
        while True:
            later = store.show(replace(definition(attempt), dataset=gold).id)
            newest = later if later.status == RunStatus.COMPLETED else newest
            attempt += 1
    return newest


def _definition(
    request: ExperimentRequest,
    configurations: Sequence[Configuration],
    checked: TargetCheck,
    attempt: int = 1,
) -> ExperimentDefinition:
    searched = checked.searched
    settings = asdict(request.settings)
    # The order of the queries is by the seed of the request; repeated queries change no hits.
    settings.pop("seed")
    settings.pop("repeated")
    tokenizer = settings.pop("tokenizer")
    shared = {
        "gold": request.gold.name,
        "place": searched.place,
        "snapshot": searched.snapshot,
        "candidates": searched.candidates,
        "match": request.match,
        "seed": request.seed,
        **FileSelection(searched.kind, searched.include, searched.exclude).to_json(),
    }
    if tokenizer:
        shared[TOKENIZER] = tokenizer
    if request.sample_of:
        shared |= {SAMPLE: len(request.gold), SAMPLE_OF: request.sample_of}
    runs = [
        RunDefinition(
            one.name,
            one.spec,
            corpus_digest(checked),
            {
                **shared,
                "engine": {"name": one.spec.name, "options": dict(one.spec.params)},
                "k": one.k,
                "threshold": one.threshold,
                "options": dict(one.options),
            },
        )
        for one in configurations
    ]
    config = {
        **shared,
        "root": request.scoring.root,
        "where": request.where._replace(kind=searched.kind).to_json(),
        "settings": settings,
        "timed": request.timed,
    }
    if request.timed_on:
        config["timed_on"] = request.timed_on
    if attempt > 1:
        config["attempt"] = attempt
    name = request.name or request.gold.name
    return ExperimentDefinition(
        name, request.kind, request.gold, tuple(runs), config, request.seed, __version__
    )


def _finish(
    ended: EndedRun,
    run: str,
    store: Store,
    measured: RunResult,
    *,
    request: ExperimentRequest,
    checked: TargetCheck,
) -> None:
    """Store the status of a run, by all its stored answers, those of earlier attempts included."""
    answers = list(measured.run.answers_without_hits())
    error = str(ended.notes.get("error", ""))
    status = RunStatus.COMPLETED
    if len(answers) < len(request.gold) and error:
        status = RunStatus.FAILED
    elif len(answers) < len(request.gold) or ended.stopped:
        status, error = RunStatus.CANCELLED, ""
    elif error := no_answer_error(answers):
        status = RunStatus.FAILED
    # A process that continues a run, or only measures latency, has indexed only some snapshots.
    searched = {
        "corpora": list(dict.fromkeys(checked.digests)),
        MISSING_NOTE: missing_paths(request.gold, checked.resolved),
    }
    if checked.searched.skipped_targets:
        searched[LEFT_OUT_NOTE] = dict(checked.searched.skipped_targets)
    if checked.searched.skipped:
        searched["skipped"] = checked.searched.skipped
    notes = {**ended.notes, **searched, **count_problems(answers), "status": status.value}
    timings = ended.timings
    before = measured.timings
    if timings and before and before.samples and not before.alone:
        # Some of the latencies are those of an earlier attempt.
        timings = replace(timings, alone=False)
    store.finish(run, status, error=error, timings=timings, notes=notes)
