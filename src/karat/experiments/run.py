"""Configurations are compared on a gold set; what is done is kept, and never done twice."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from inspect import signature
from typing import NamedTuple

from karat.engines.registry import ENGINES
from karat.engines.spec import parse_spec
from karat.errors import InputError
from karat.experiments import Entry, Executor, LocalExecutor, SharedPlan, share
from karat.experiments.execute import EndedRun, Task, claimed, ending, execute, timed_queries
from karat.experiments.plan import MOST, check_count, shares_nothing
from karat.experiments.presence import NOTE, Survey, Where, digest_of, missing_paths, surveyed
from karat.experiments.remarks import remarks
from karat.experiments.store import Experiment, ExperimentPlan, Kind, PlannedRun, RunStatus, Store
from karat.experiments.workers import RunEvent, RunSettings, counted, silence
from karat.installation import __version__
from karat.model import Dataset
from karat.model.searched import Searched
from karat.model.spec import Spec
from karat.model.timings import Measured
from karat.scoring.matching.modes import MATCHERS
from karat.scoring.matching.units import files_judged
from karat.scoring.score import score
from karat.scoring.settings import Scoring

__all__ = [
    "ExperimentRequest",
    "ExperimentRun",
    "JudgedUnits",
    "PlannedExperiment",
    "judged_units",
    "planned",
    "run_experiment",
    "with_unit",
]


class JudgedUnits(NamedTuple):
    """What the queries of a gold set judge.

    *files* says whether any of them judges whole files, *parts* holds the ids of those that judge
    parts of files in such a set, and *most* is the unit that suits most queries: ``file``, or
    ``lines`` of one.
    """

    files: bool
    parts: frozenset[str]
    most: str


def judged_units(gold: Dataset, match: str) -> JudgedUnits:
    """Return the units of *gold*; queries without a target do not count.

    An engine has one unit for all queries. Where some have targets with lines and others whole
    files, it is ``lines`` only if more than half of the judged queries have a target with lines:
    one such query does not turn a set of files into a set of lines. An even split is ``file``;
    design/0004-order-of-code.md has the figures.

    >>> from karat.model import Query, Target
    >>> files = [Query(str(number), "login", (Target("auth.py"),)) for number in range(2)]
    >>> lines = Query("lines", "login", (Target("auth.py", start_line=3, end_line=9),))
    >>> judged_units(Dataset.of([*files, lines]), "lines")
    JudgedUnits(files=True, parts=frozenset({'lines'}), most='file')
    >>> judged_units(Dataset.of([lines]), "lines").most
    'lines'
    """
    by_file = {
        query_id: is_file
        for row, (query_id, is_file) in enumerate(
            zip(gold.query_ids, files_judged(gold, match), strict=True)
        )
        if gold.targets(row)
    }
    if not by_file:
        collapse = MATCHERS.get(match)().collapse
        return JudgedUnits(collapse, frozenset(), "file" if collapse else "lines")
    files = sum(by_file.values())
    parts = frozenset(query_id for query_id, is_file in by_file.items() if not is_file)
    most = "file" if 2 * files >= len(by_file) else "lines"
    return JudgedUnits(files > 0, parts if files else frozenset(), most)


def with_unit(spec: Spec, unit: str) -> Spec:
    """Return *spec* with the *unit* that is judged, where the engine takes one and has none.

    >>> with_unit(parse_spec("bm25(k1=1.2)"), "file").params
    {'k1': '1.2', 'unit': 'file'}
    >>> with_unit(parse_spec("rerank(over=bm25(unit=lines))"), "file").params
    {'over': {'engine': 'bm25', 'unit': 'lines'}}
    """
    if spec.name not in ENGINES.built_in():
        return spec
    takes = signature(ENGINES.get(spec.name)).parameters
    params = dict(spec.params)
    if "unit" in takes:
        params.setdefault("unit", unit)
    over = params.get("over", takes["over"].default) if "over" in takes else None
    if isinstance(over, str | Mapping):
        inner = with_unit(parse_spec(over), unit)
        params["over"] = {"engine": inner.name, **inner.params}
    return Spec(spec.kind, spec.name, params)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRequest:
    """Everything that decides an experiment, and with how many *workers* it is run.

    *timed* is how many queries are timed: None is all of them; with 0 no time is measured. The
    same request finds what it has done before, whatever *scoring* asks and *workers* there are.
    Without *wait*, latency is measured also while other karat runs disturb it.
    With *scores_first*, every run has its scores before any latency is measured; an engine that
    shares nothing is then asked once more for each query that is timed.
    """

    gold: Dataset
    entries: tuple[Entry, ...]
    where: Where
    kind: Kind
    name: str = ""
    scoring: Scoring = field(default_factory=Scoring)
    settings: RunSettings = field(default_factory=RunSettings)
    timed: int | None = None
    workers: int = 1
    seed: int = 0
    wait: bool = True
    scores_first: bool = False

    @property
    def match(self) -> str:
        """Return how hits are matched with targets."""
        return self.scoring.match or self.gold.match

    @property
    def units(self) -> JudgedUnits:
        """Return what the queries judge: whole files, or parts of them."""
        return judged_units(self.gold, self.match)


class PlannedExperiment(NamedTuple):
    """What a request comes to before anything runs.

    *plan* says what is shared, *timed* how many of the *queries* are timed for each run.
    """

    runs: int
    plan: SharedPlan
    queries: int
    timed: int
    warnings: tuple[str, ...]

    @property
    def untimed(self) -> dict[str, int]:
        """Return how many queries of each run are searched before latency is measured."""
        rest = self.queries - self.timed
        return {
            entry.name: rest if shares_nothing(group) else self.queries
            for group in self.plan.groups
            for retrieval in group
            for entry in retrieval.entries
        }


class ExperimentRun(NamedTuple):
    """An experiment as far as it came, its runs in the order of the entries.

    *resolved* is the gold set without targets that are in no tree searched; None where all are
    there, or none. *remarks* are sentences on runs that are the same or empty; *interrupted* says
    that something was left unasked.
    """

    experiment: Experiment
    measured: tuple[Measured, ...]
    searched: Searched
    resolved: Dataset | None
    remarks: tuple[str, ...]
    interrupted: bool


def planned(request: ExperimentRequest, *, allowed: int = MOST) -> PlannedExperiment:
    """Return what *request* would run; nothing is read or started.

    More than *allowed* configurations raise LimitExceeded.
    """
    units = request.units
    entries = _entries_with_unit(request, units)
    warning = check_count(entries, allowed=allowed)
    return PlannedExperiment(
        len(entries),
        share(entries, files=units.files),
        len(request.gold),
        len(timed_queries(request.gold, request.timed, seed=request.seed)),
        (warning,) if warning else (),
    )


def run_experiment(
    request: ExperimentRequest,
    store: Store,
    *,
    listen: Callable[[RunEvent], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    surveyed_as: Callable[[Searched], None] = lambda _: None,
    kept_as: Callable[[Experiment], None] = lambda _: None,
    before_timing: Callable[[], None] = lambda: None,
    executor: Executor | None = None,
    again: bool = False,
) -> ExperimentRun:
    """Run what *store* does not hold yet of *request*, and return all of it.

    Each answer is kept as it comes. Whatever ends this, the same request continues with the next
    query; Ctrl-C and *cancelled* end it in order, and leave what there is. An engine that fails
    costs its own run. InputError is raised where another process works on the same request, and
    where what is searched has changed; no answer on what it has become is kept.
    *surveyed_as* hears what will be searched before anything is asked, *kept_as* where it is kept.
    *before_timing* is called when all hits are stored and latency is measured next.
    With *again*, a request that was answered to its end becomes a further experiment: not every
    search answers as it did.
    """
    if not any(text.strip() for text in request.gold.texts):
        raise InputError(f"{request.gold.name}: no query has a text to search for")
    units = request.units
    entries = _entries_with_unit(request, units)
    found = surveyed(
        request.gold,
        request.where,
        match=request.match,
        root=request.scoring.root,
        seed=request.seed,
    )
    surveyed_as(found.searched)
    experiment = store.show(store.experiment(_plan(request, entries, found)))
    attempt = 1
    while again and experiment.status == RunStatus.COMPLETED:
        attempt += 1
        experiment = store.show(store.experiment(_plan(request, entries, found, attempt)))
    kept_as(experiment)
    runs = {entry.name: run.id for entry, run in zip(entries, experiment.runs, strict=True)}
    mine = claimed(experiment, store)
    todo = [entry for entry in entries if runs[entry.name] in mine]
    task = Task(
        dataset=request.gold,
        visits=found.visits,
        snapshots=found.snapshots,
        settings=replace(request.settings, seed=request.seed),
        runs=runs,
        timed=timed_queries(request.gold, request.timed, seed=request.seed),
        files=units.files,
        parts=units.parts,
        listen=listen,
        cancelled=cancelled,
        command=request.kind.value,
        wait=request.wait,
        scores_first=request.scores_first,
        before_timing=before_timing,
    )
    if todo:
        scored: set[str] = set()
        plan = share(todo, files=units.files)
        with ending(mine, store) as left:
            for ended in execute(plan, task, store, executor or LocalExecutor(request.workers)):
                run = runs[ended.entry.name]
                if run not in scored:
                    _score(run, store, request=request)
                if ended.untimed:
                    scored.add(run)
                else:
                    _finish(ended, run, store, request=request, found=found)
                    left.discard(run)
    shown = store.show(experiment.id)
    measured = tuple(store.measured(run) for run in runs.values())
    return ExperimentRun(
        shown,
        measured,
        found.searched,
        found.resolved if 0 < found.searched.unresolved < found.searched.targets else None,
        remarks(measured),
        any(run.status is RunStatus.CANCELLED for run in shown.runs),
    )


def _entries_with_unit(request: ExperimentRequest, units: JudgedUnits) -> list[Entry]:
    return [replace(entry, spec=with_unit(entry.spec, units.most)) for entry in request.entries]


def _plan(
    request: ExperimentRequest, entries: Sequence[Entry], found: Survey, attempt: int = 1
) -> ExperimentPlan:
    searched = found.searched
    settings = asdict(request.settings)
    # The order of the queries is by the seed of the request.
    settings.pop("seed")
    shared = {
        "gold": request.gold.name,
        "place": searched.place,
        "snapshot": searched.snapshot,
        "candidates": searched.candidates,
        "match": request.match,
        "seed": request.seed,
    }
    runs = [
        PlannedRun(
            entry.name,
            entry.spec,
            digest_of(found),
            {
                **shared,
                "engine": {"name": entry.spec.name, "options": dict(entry.spec.params)},
                "k": entry.k,
                "threshold": entry.threshold,
                "options": dict(entry.options),
            },
        )
        for entry in entries
    ]
    config = {
        **shared,
        "root": request.scoring.root,
        "where": request.where.to_json(),
        "settings": settings,
        "timed": request.timed,
    }
    if attempt > 1:
        config["attempt"] = attempt
    name = request.name or request.gold.name
    return ExperimentPlan(
        name, request.kind, request.gold, tuple(runs), config, request.seed, __version__
    )


def _score(run: str, store: Store, *, request: ExperimentRequest) -> None:
    """Score all stored answers of a run, those of earlier attempts included, and store that."""
    found = store.measured(run).run
    if len(found.query_ids):
        complete = len(found.query_ids) == len(request.gold) and not silence(list(found.answers()))
        summaries = score(request.gold, found, scoring=request.scoring).summaries
        store.keep_scores(run, summaries, complete=complete)


def _finish(
    ended: EndedRun, run: str, store: Store, *, request: ExperimentRequest, found: Survey
) -> None:
    """Store the status of a run, by all its stored answers, those of earlier attempts included."""
    measured = store.measured(run)
    answers = list(measured.run.answers())
    error = str(ended.notes.get("error", ""))
    status = RunStatus.COMPLETED
    if len(answers) < len(request.gold) and error:
        status = RunStatus.FAILED
    elif len(answers) < len(request.gold) or ended.stopped:
        status, error = RunStatus.CANCELLED, ""
    elif error := silence(answers):
        status = RunStatus.FAILED
    # Who continues a run, or takes its times, has seen some of the trees only.
    searched = {
        "corpora": list(dict.fromkeys(found.snapshots)),
        NOTE: missing_paths(request.gold, found.resolved),
    }
    notes = {**ended.notes, **searched, **counted(answers), "status": status.value}
    timings = ended.timings
    before = measured.timings
    if timings and before and before.samples and not before.alone:
        # Some of the latencies are those of an earlier attempt.
        timings = replace(timings, alone=False)
    store.finish(run, status, error=error, timings=timings, notes=notes)
