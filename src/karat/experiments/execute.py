"""Run the searches of a plan, and store each query result for every configuration it serves."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from karat.engines.registry import has_absolute_scores
from karat.errors import InputError
from karat.experiments.executors.base import Executor
from karat.experiments.measure import measure_groups
from karat.experiments.plan import (
    ExperimentPlan,
    ExperimentRequest,
    SearchGroups,
    SharedSearch,
    choose_timed,
    is_deterministic,
    shares_nothing,
)
from karat.experiments.run_records import LEAST_REPEATED
from karat.experiments.store import (
    Buffer,
    Experiment,
    LeaseHolder,
    Recorder,
    RunStatus,
    Store,
    StoredRun,
    watch_holders,
)
from karat.experiments.workers import (
    Callbacks,
    Configuration,
    RunEvent,
    RunSettings,
    SnapshotQueries,
    announce,
    cut,
    measure_latency,
)
from karat.model import Answer, Outcome
from karat.model.timings import LatencySample, RunResult, Timings

# Events after which an engine has indexed a corpus.
INDEXES = ("indexed", "restarted")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentContext:
    """What the searches of an experiment share: its *request* and *plan*, and the callbacks.

    *snapshots* are searched; *digests* are their hashes as they were when the experiment was
    planned. *runs* are the ids in the store by the name of a configuration. *before_timing* is
    called when all hits are stored and latency is measured next.
    """

    request: ExperimentRequest
    plan: ExperimentPlan
    snapshots: tuple[SnapshotQueries, ...]
    digests: Collection[str]
    runs: Mapping[str, str]
    listen: Callable[[RunEvent], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False
    before_timing: Callable[[], None] = lambda: None

    @property
    def settings(self) -> RunSettings:
        """Return how queries are run; their order is by the seed of the request."""
        return replace(self.request.settings, seed=self.request.seed)


class EndedRun(NamedTuple):
    """A configuration that needs no further query, with the timings and notes of its passes.

    *stopped* says that queries were left out because the experiment was cancelled or interrupted.
    With *untimed*, all hits of the configuration are stored, but its latency is not measured yet:
    it is yielded again after that.
    """

    configuration: Configuration
    timings: Timings | None
    notes: Mapping[str, object]
    stopped: bool
    untimed: bool = False


def execute(
    searches: SearchGroups, context: ExperimentContext, recorder: Recorder, executor: Executor
) -> Iterator[EndedRun]:
    """Run the queries that *recorder* lacks, and yield each configuration when it is complete.

    The quality pass collects the hits of all groups, on the slots of *executor*. The timing pass
    then measures latency, on this machine or on the slot that the context names: all engines take
    turns, each at its own depth, because a search that serves several configurations does not tell
    how long one of them takes. An engine that shares nothing runs a timed query only in the timing
    pass, unless the context wants all scores first. InputError is raised if an engine has indexed
    another corpus than planned, before any of its results is stored.
    """
    results: dict[str, RunResult] = {}
    given_up: set[str] = set()
    stopped = False
    # Announced until the timing pass, so that no timed run begins in between.
    with announce(context.request.kind.value):
        for group, stopped in _collect_hits(searches, context, recorder, executor, results):
            for one in (one for shared in group for one in shared.configurations):
                ended = EndedRun(one, None, _notes(results, one), stopped)
                if not context.plan.timed:
                    yield ended
                elif context.request.scores_first and not stopped:
                    if _is_answered(one, context, recorder):
                        yield ended._replace(untimed=True)
                    elif "error" in ended.notes:
                        given_up.add(one.name)
                        yield ended
        if context.plan.timed and not stopped:
            context.before_timing()
    if context.plan.timed:
        times = {} if stopped else _measure_latency(searches, context, recorder, executor, results)
        stopped = stopped or _is_stopped(times.values())
        for one in (one for one in searches.configurations if one.name not in given_up):
            notes = _join_notes(_notes(results, one), _notes(times, one))
            timings = times[one.name].timings if one.name in times else None
            yield EndedRun(one, timings, notes, stopped)


def repeat_queries(
    searches: SearchGroups,
    context: ExperimentContext,
    executor: Executor,
    queries: Mapping[str, Collection[str]],
) -> dict[str, dict[str, Answer]]:
    """Run the *queries* of each configuration; return its answers by query, and store nothing.

    KeyboardInterrupt is raised if the experiment is stopped meanwhile. If an engine cannot run, its
    queries end in an error.
    """
    shared = {one.search.name: one for group in searches.groups for one in group}
    queries_of = {
        name: frozenset(query for one in search.configurations for query in queries[one.name])
        for name, search in shared.items()
    }
    ended: dict[str, dict[str, Answer]] = {one.name: {} for one in searches.configurations}

    def keep(run: str, answer: Answer, _: LatencySample | None) -> None:
        for one, stored in _answers_of(shared[run], answer, context.plan.units.parts):
            ended[one.name][answer.query_id] = stored._replace(hits=tuple(stored.hits))

    everything = frozenset(context.request.gold.query_ids)
    for _, returned in measure_groups(
        [tuple(one.search for one in group) for group in searches.groups],
        context.request.gold,
        context.snapshots,
        executor=executor,
        settings=replace(context.settings, warm_up=0, repetitions=1),
        callbacks=Callbacks(
            on_result=keep,
            skip={name: everything - some for name, some in queries_of.items()},
            cancelled=context.cancelled,
            command=context.request.kind.value,
        ),
    ):
        if _is_stopped(returned):
            raise KeyboardInterrupt
        for result in returned:
            failed = Answer("", outcome=Outcome.ERROR, extra={"error": result.notes.get("error")})
            for one in shared[result.name].configurations:
                for query_id in queries[one.name]:
                    ended[one.name].setdefault(query_id, failed._replace(query_id=query_id))
    return ended


def _collect_hits(
    searches: SearchGroups,
    context: ExperimentContext,
    recorder: Recorder,
    executor: Executor,
    results: dict[str, RunResult],
) -> Iterator[tuple[Sequence[SharedSearch], bool]]:
    """Store hits; yield each group that is complete, and whether the experiment has stopped.

    The runs of the group are added to *results* before.
    """
    skip: dict[str, frozenset[str]] = {}
    todo: list[Sequence[SharedSearch]] = []
    for group in searches.groups:
        later: frozenset[str] = frozenset()
        if shares_nothing(group) and not context.request.scores_first:
            later = context.plan.timed
        known = {
            shared.search.name: later.union(
                frozenset.intersection(
                    *(recorder.answered(context.runs[one.name]) for one in shared.configurations)
                )
            )
            for shared in group
        }
        if all(len(queries) == len(context.request.gold) for queries in known.values()):
            yield group, context.cancelled()
        else:
            skip |= known
            todo.append(group)
    stopped = False
    with Buffer(recorder) as buffer:
        writer = _ResultWriter(context, recorder, buffer, [one for group in todo for one in group])
        for index, returned in measure_groups(
            [tuple(shared.search for shared in group) for group in todo],
            context.request.gold,
            context.snapshots,
            executor=executor,
            settings=replace(
                context.settings, warm_up=0, repetitions=1, repeated=_repeated(searches, context)
            ),
            callbacks=writer.callbacks(skip),
        ):
            buffer.flush()
            results |= {
                one.name: result
                for shared, result in zip(todo[index], returned, strict=True)
                for one in shared.configurations
            }
            stopped = stopped or _is_stopped(returned)
            yield todo[index], stopped


def _repeated(searches: SearchGroups, context: ExperimentContext) -> frozenset[int]:
    """Return the rows to run twice: none if the timing pass repeats enough, or no hit differs."""
    enough = len(context.plan.timed) >= LEAST_REPEATED and context.settings.repetitions > 1
    if enough or all(is_deterministic(one.spec) for one in searches.configurations):
        return frozenset()
    chosen = choose_timed(context.request.gold, LEAST_REPEATED, seed=context.settings.seed)
    return frozenset(
        row for row, query_id in enumerate(context.request.gold.query_ids) if query_id in chosen
    )


def _measure_latency(
    searches: SearchGroups,
    context: ExperimentContext,
    recorder: Recorder,
    executor: Executor,
    results: Mapping[str, RunResult],
) -> dict[str, RunResult]:
    """Return the timings of each configuration by its name, without those that were given up."""
    untimed = frozenset(context.request.gold.query_ids) - context.plan.timed
    configurations = [
        one
        for one in searches.configurations
        if "error" not in _notes(results, one) or _is_answered(one, context, recorder)
    ]
    skip = {}
    for one in configurations:
        known = recorder.answered(context.runs[one.name], timed=True)
        # At least one query runs: only a process that has indexed knows what indexing costs.
        last = {min(context.plan.timed)} if context.plan.timed <= known else frozenset()
        skip[one.name] = (untimed | known) - last
    files = context.plan.units.files
    alone = [SharedSearch(replace(one, files=files), (one,)) for one in configurations]
    with Buffer(recorder) as buffer:
        measure = (
            partial(executor.measure_latency, context.request.timed_on)
            if context.request.timed_on
            else measure_latency
        )
        returned = measure(
            [shared.search for shared in alone],
            context.request.gold,
            context.snapshots,
            settings=context.settings,
            callbacks=_ResultWriter(context, recorder, buffer, alone).callbacks(skip),
        )
    return {one.name: result for one, result in zip(configurations, returned, strict=True)}


def _is_answered(one: Configuration, context: ExperimentContext, recorder: Recorder) -> bool:
    """Return whether all queries of a configuration have ended, successfully or not."""
    return recorder.answered(context.runs[one.name]) >= frozenset(context.request.gold.query_ids)


def _is_stopped(results: Iterable[RunResult]) -> bool:
    return any(result.notes.get("status") == "cancelled" for result in results)


class _ResultWriter:
    """Stores the results of each search for all configurations that it serves."""

    def __init__(
        self,
        context: ExperimentContext,
        recorder: Recorder,
        buffer: Buffer,
        searches: Sequence[SharedSearch],
    ) -> None:
        self._context = context
        self._recorder = recorder
        self._buffer = buffer
        self._searches = {shared.search.name: shared for shared in searches}
        self._begun: set[str] = set()

    def callbacks(self, skip: Mapping[str, Collection[str]]) -> Callbacks:
        """Return the callbacks for one pass that skips the queries in *skip*."""
        context = self._context
        return Callbacks(
            listen=self._on_event,
            on_result=self._on_result,
            skip=skip,
            cancelled=context.cancelled,
            command=context.request.kind.value,
            wait=context.request.wait,
        )

    def _on_result(self, run: str, answer: Answer, sample: LatencySample | None) -> None:
        """Store *answer* once for each configuration."""
        context = self._context
        shared = self._searches[run]
        for one, stored in _answers_of(shared, answer, context.plan.units.parts):
            self._buffer.add(context.runs[one.name], stored, sample)

    def _on_event(self, event: RunEvent) -> None:
        """Pass an event of a search on for each configuration that it serves."""
        context = self._context
        if event.kind in INDEXES and event.detail["corpus"] not in context.digests:
            raise InputError("the documents changed during the run; run it again")
        for one in self._searches[event.run].configurations:
            if event.kind == "indexed" and one.name not in self._begun:
                self._begun.add(one.name)
                self._recorder.begin(context.runs[one.name])
            context.listen(event._replace(run=one.name))


def _answers_of(
    shared: SharedSearch, answer: Answer, parts: Set[str]
) -> Iterator[tuple[Configuration, Answer]]:
    """Yield what each configuration of a search gets of its *answer*."""
    search, configurations = shared
    # Decode the hits once for several configurations; a single one may need no decoding.
    hits = answer.hits if len(configurations) == 1 else tuple(answer.hits)
    files = search.files and answer.query_id not in parts
    searched = (search.k, search.threshold, search.files)
    for one in configurations:
        stored = answer
        if (one.k, one.threshold, files) != searched:
            beginning = cut(
                hits,
                k=one.k,
                files=files,
                threshold=one.threshold,
                by_score=has_absolute_scores(one.spec),
            )
            stored = answer._replace(hits=beginning)
        yield one, stored


def _notes(results: Mapping[str, RunResult], one: Configuration) -> Mapping[str, object]:
    return results[one.name].notes if one.name in results else {}


def _join_notes(hits: Mapping[str, object], times: Mapping[str, object]) -> dict[str, object]:
    """Return the notes of both passes.

    The work of indexing is that of the first pass: the second one finds its results in caches.
    """
    both = {**hits, **times}
    if "work" in hits and "work" in times:
        both |= {"work": hits["work"], "timed_work": times["work"]}
    return both


def claim_runs(
    experiment: Experiment, store: Store, *, listen: Callable[[RunEvent], None] = lambda _: None
) -> frozenset[str]:
    """Claim the runs that are not complete, and return their ids.

    InputError is raised if another process works on one of them; *listen* receives ``checking``
    while that is not known. Runs that were begun are claimed first, so that nothing was claimed if
    one of them fails. A run without any answered query starts from the beginning: the cause of its
    failures, such as a service that was down, may be gone.
    """

    def report(holder: LeaseHolder) -> None:
        detail = {"holder": holder.label, "command": experiment.kind.value}
        listen(RunEvent("checking", holder.runs[0], detail=detail))

    if alive := watch_holders(store, experiment.id, on_wait=report):
        raise _is_held(experiment, alive[0])
    outcomes = store.outcomes(experiment.id)
    claimed: set[str] = set()
    for run in sorted(experiment.runs, key=lambda run: not run.status.running):
        if store.claim(run.id):
            claimed.add(run.id)
            if Outcome.ANSWERED not in outcomes.get(run.id, (Outcome.ANSWERED,)):
                store.clear(run.id)
        elif not _is_completed(run, store):
            for mine in claimed:
                store.finish(mine, RunStatus.CANCELLED)
            if holders := store.holders(experiment.id):
                raise _is_held(experiment, holders[0])
            # Its holder has ended since the claim.
            return claim_runs(experiment, store, listen=listen)
    return frozenset(claimed)


def run_is_held(experiment: Experiment, store: Store) -> InputError:
    """Return the error of a run that another process has claimed meanwhile."""
    holders = store.holders(experiment.id)
    if holders:
        return _is_held(experiment, holders[0])
    return InputError(f"another process has run experiment {experiment.id}; repeat the command")


def _is_held(experiment: Experiment, holder: LeaseHolder) -> InputError:
    return InputError(
        f"experiment {experiment.id} is being run by another process ({holder.label}), which has "
        f"claimed {holder.runs[0]}; wait for it or stop it, then repeat the command to continue"
    )


@contextmanager
def finish_on_error(runs: Set[str], store: Store) -> Iterator[set[str]]:
    """Yield *runs* as a set of unfinished runs, from which the caller removes each finished one.

    Ctrl-C ends here: the rest is cancelled. After any other exception the rest has failed, and the
    exception is raised again.
    """
    left = set(runs)
    try:
        yield left
    except KeyboardInterrupt:
        for run in left:
            store.finish(run, RunStatus.CANCELLED)
    except Exception as error:
        for run in left:
            store.finish(run, RunStatus.FAILED, error=str(error))
        raise


def _is_completed(run: StoredRun, store: Store) -> bool:
    experiment, _, position = run.id.partition(".")
    return store.show(experiment).runs[int(position) - 1].status is RunStatus.COMPLETED
