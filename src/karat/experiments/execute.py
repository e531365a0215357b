"""A plan is carried out: every answer is kept as it comes, for each entry that is cut from it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from karat.engines.threshold import by_score
from karat.errors import InputError
from karat.experiments.executor import Executor, Work
from karat.experiments.plan import Entry, Retrieval, SharedPlan, shares_nothing
from karat.experiments.store import Buffer, Experiment, Recorder, RunStatus, Store, StoredRun
from karat.experiments.workers import (
    Configuration,
    Hooks,
    RunEvent,
    RunSettings,
    Visit,
    announced,
    cut,
)
from karat.model import Answer, Dataset, Outcome
from karat.model.timings import Measured, Sample, Timings

__all__ = ["EndedRun", "Task", "claimed", "ending", "execute", "timed_queries"]

# Events of a process that has indexed a corpus.
INDEXES = ("indexed", "restarted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be asked, and who hears of it.

    *snapshots* are the hashes of what the *visits* were planned to find. *runs* are the ids in the
    store by the name of an entry; *timed* are the queries whose latency is measured. With *files*,
    an entry wants hits in k files, except for the queries in *parts*, which judge parts of files
    and get k hits. *command* and *wait* are those of :class:`karat.experiments.workers.Hooks`.

    With *scores_first*, the quality pass runs every query of every engine, so that all scores are
    known before any latency is measured; *before_timing* is called between the two passes.
    """

    dataset: Dataset
    visits: tuple[Visit, ...]
    snapshots: Collection[str]
    settings: RunSettings
    runs: Mapping[str, str]
    timed: frozenset[str]
    files: bool
    listen: Callable[[RunEvent], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False
    command: str = "run"
    wait: bool = True
    parts: frozenset[str] = frozenset()
    scores_first: bool = False
    before_timing: Callable[[], None] = lambda: None


class EndedRun(NamedTuple):
    """An entry of which no more will be asked: what its passes say of it.

    *stopped* says that something was left unasked because all work was cancelled or interrupted.
    With *untimed*, all hits of the entry are stored, but its latency is yet to be measured: it is
    yielded once more after that.
    """

    entry: Entry
    timings: Timings | None
    notes: Mapping[str, object]
    stopped: bool
    untimed: bool = False


def execute(
    plan: SharedPlan, task: Task, recorder: Recorder, executor: Executor
) -> Iterator[EndedRun]:
    """Ask what *recorder* lacks, and yield each entry when it has all that can be had.

    First the hits: group by group, as the plan shares them. Then the times, all engines in turn,
    each asked for itself and at its own depth: a search that serves several never tells how long
    one takes. An engine that shares nothing is not asked twice: the hits of a query come with its
    times, unless the task wants all scores first. InputError is raised where an engine has found
    another corpus than planned, before any of its answers is kept: they would be taken for answers
    on the one that was planned.
    """
    found: dict[str, Measured] = {}
    stopped = False
    given_up: set[str] = set()
    # Over all groups, so that a timed run does not begin between two of them.
    with announced(task.command):
        for group in plan.groups:
            stopped = stopped or _ask(group, task, recorder, executor, found=found)
            for entry in (entry for one in group for entry in one.entries):
                notes = _notes(found, entry)
                if not task.timed:
                    yield EndedRun(entry, None, notes, stopped)
                elif task.scores_first and not stopped:
                    if _is_answered(entry, task, recorder):
                        yield EndedRun(entry, None, notes, stopped, untimed=True)
                    elif "error" in notes:
                        given_up.add(entry.name)
                        yield EndedRun(entry, None, notes, stopped)
        if task.timed and not stopped:
            task.before_timing()
    if task.timed:
        times = {} if stopped else _times(plan, task, recorder, executor, found=found)
        stopped = stopped or _is_stopped(times.values())
        for entry in (entry for entry in plan.entries if entry.name not in given_up):
            notes = _joined(_notes(found, entry), _notes(times, entry))
            timings = times[entry.name].timings if entry.name in times else None
            yield EndedRun(entry, timings, notes, stopped)


def timed_queries(dataset: Dataset, count: int | None, *, seed: int) -> frozenset[str]:
    """Return the ids of *count* queries drawn by *seed*; None takes all."""
    ids = dataset.query_ids
    if count is None or count >= len(ids):
        return frozenset(ids)
    return frozenset(Random(f"{seed} timed").sample(ids, count))


def _ask(
    group: Sequence[Retrieval],
    task: Task,
    recorder: Recorder,
    executor: Executor,
    *,
    found: dict[str, Measured],
) -> bool:
    """Have the hits of *group* kept, add what was *found*, and return whether to stop here."""
    later = task.timed if shares_nothing(group) and not task.scores_first else frozenset()
    skip = {
        one.configuration.name: later | _answered_by_all(one.entries, task, recorder)
        for one in group
    }
    if all(len(known) == len(task.dataset) for known in skip.values()):
        return task.cancelled()
    with Buffer(recorder) as buffer:
        work = Work(
            [one.configuration for one in group],
            task.dataset,
            task.visits,
            settings=replace(task.settings, warm_up=0, repetitions=1),
            hooks=_Keeping(task, recorder, buffer, group).hooks(skip),
        )
        asked = executor.quality(work)
    found |= {
        entry.name: measured
        for one, measured in zip(group, asked, strict=True)
        for entry in one.entries
    }
    return _is_stopped(asked)


def _times(
    plan: SharedPlan,
    task: Task,
    recorder: Recorder,
    executor: Executor,
    *,
    found: Mapping[str, Measured],
) -> dict[str, Measured]:
    """Return the times of every entry by its name; those that were given up are not asked."""
    untimed = frozenset(task.dataset.query_ids) - task.timed
    entries = [
        entry
        for entry in plan.entries
        if "error" not in _notes(found, entry) or _is_answered(entry, task, recorder)
    ]
    skip = {}
    for entry in entries:
        known = recorder.answered(task.runs[entry.name], timed=True)
        # What indexing costs is known only to who has indexed, so that one is asked in any case.
        last = {min(task.timed)} if task.timed <= known else frozenset()
        skip[entry.name] = (untimed | known) - last
    each = [
        Retrieval(
            Configuration(entry.name, entry.spec, entry.k, task.files, entry.threshold), (entry,)
        )
        for entry in entries
    ]
    with Buffer(recorder) as buffer:
        work = Work(
            [one.configuration for one in each],
            task.dataset,
            task.visits,
            settings=task.settings,
            hooks=_Keeping(task, recorder, buffer, each).hooks(skip),
        )
        asked = executor.timing(work)
    return {entry.name: measured for entry, measured in zip(entries, asked, strict=True)}


def _is_answered(entry: Entry, task: Task, recorder: Recorder) -> bool:
    """Return whether all queries of *entry* have ended, well or not."""
    return recorder.answered(task.runs[entry.name]) >= frozenset(task.dataset.query_ids)


def _answered_by_all(entries: Sequence[Entry], task: Task, recorder: Recorder) -> frozenset[str]:
    return frozenset.intersection(*(recorder.answered(task.runs[entry.name]) for entry in entries))


def _is_stopped(asked: Iterable[Measured]) -> bool:
    return any(measured.notes.get("status") == "cancelled" for measured in asked)


class _Keeping:
    """Keeps the answers of each retrieval for all entries that are cut from it."""

    def __init__(
        self,
        task: Task,
        recorder: Recorder,
        buffer: Buffer,
        retrievals: Sequence[Retrieval],
    ) -> None:
        self._task = task
        self._recorder = recorder
        self._buffer = buffer
        self._retrievals = {one.configuration.name: one for one in retrievals}
        self._begun: set[str] = set()

    def hooks(self, skip: Mapping[str, Collection[str]]) -> Hooks:
        """Return how this takes part in a pass."""
        task = self._task
        return Hooks(
            listen=self.listen,
            sink=self,
            skip=skip,
            cancelled=task.cancelled,
            command=task.command,
            wait=task.wait,
        )

    def on_answer(self, run: str, answer: Answer, sample: Sample | None) -> None:
        """Keep *answer* once for each entry."""
        configuration, entries = self._retrievals[run]
        # Read once for all that are cut from them; for one that wants them all, not even that.
        hits = answer.hits if len(entries) == 1 else tuple(answer.hits)
        files = configuration.files and answer.query_id not in self._task.parts
        searched = (configuration.k, configuration.threshold, configuration.files)
        for entry in entries:
            kept = answer
            if (entry.k, entry.threshold, files) != searched:
                beginning = cut(
                    hits,
                    k=entry.k,
                    files=files,
                    threshold=entry.threshold,
                    by_score=by_score(entry.spec),
                )
                kept = answer._replace(hits=beginning)
            self._buffer.add(self._task.runs[entry.name], kept, sample)

    def listen(self, event: RunEvent) -> None:
        """Tell of each entry what happens to the configuration that it is cut from."""
        if event.kind in INDEXES and event.detail["corpus"] not in self._task.snapshots:
            raise InputError("what is searched has changed in the meantime; run it anew")
        for entry in self._retrievals[event.run].entries:
            if event.kind == "indexed" and entry.name not in self._begun:
                self._begun.add(entry.name)
                self._recorder.begin(self._task.runs[entry.name])
            self._task.listen(event._replace(run=entry.name))


def _notes(measured: Mapping[str, Measured], entry: Entry) -> Mapping[str, object]:
    return measured[entry.name].notes if entry.name in measured else {}


def _joined(hits: Mapping[str, object], times: Mapping[str, object]) -> dict[str, object]:
    """Return what both passes say; the second finds in the caches what the first has indexed."""
    both = {**hits, **times}
    if "work" in hits and "work" in times:
        both |= {"work": hits["work"], "timed_work": times["work"]}
    return both


def claimed(experiment: Experiment, store: Store) -> frozenset[str]:
    """Return the runs that are left to do, now ours; raise InputError if others are at it.

    Those that somebody has begun are tried first, so that nothing was taken when one is refused.
    One without any answer, however far it came, begins anew: what was in its way, such as a service
    that was down, may be gone.
    """
    outcomes = store.outcomes(experiment.id)
    mine: set[str] = set()
    for run in sorted(experiment.runs, key=lambda run: not run.status.running):
        if store.claim(run.id):
            mine.add(run.id)
            if Outcome.ANSWERED not in outcomes.get(run.id, (Outcome.ANSWERED,)):
                store.clear(run.id)
        elif not _is_completed(run, store):
            for taken in mine:
                store.finish(taken, RunStatus.CANCELLED)
            raise InputError(
                f"experiment {experiment.id} is being run by another process: it has {run.label}; "
                "wait for it or stop it, the same command then continues"
            )
    return frozenset(mine)


@contextmanager
def ending(runs: Set[str], store: Store) -> Iterator[set[str]]:
    """Yield *runs* as a set of those without an end, for the caller to take out what has one.

    Ctrl-C ends here: the others are cancelled. After any other exception they have failed, and it
    goes on.
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
