"""karat evaluate: choose engines, run them on a gold set, and score or compare the runs.

Queries without a difficulty get one: by the share of their words that their targets have.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat.app.corpora import locate_pages
from karat.corpus import Corpus
from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.window import create_tokenizer
from karat.corpus.files.selection import kind_of
from karat.engines.lexical.tokens import TokenRules
from karat.engines.registry import ENGINES
from karat.errors import EngineError, InputError
from karat.experiments import open_executor
from karat.experiments.executors import Executor
from karat.experiments.plan import (
    MOST_CONFIGURATIONS,
    Agent,
    ExperimentPlan,
    ExperimentRequest,
    agent_names,
    check_installed,
    configurations_of,
    is_deterministic,
    parse_engine,
    plan_experiment,
    request_depth,
)
from karat.experiments.run import ExperimentResult, run_experiment
from karat.experiments.snapshots import given_part, known_homes, local_repositories
from karat.experiments.store import ExperimentKind, RunStatus, StoredRun, open_store
from karat.experiments.target_check import Where
from karat.experiments.workers import Configuration, RunEvent, RunSettings
from karat.model import Dataset, Run, Target
from karat.model.change import RunChange
from karat.model.coverage import CorpusCoverage
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.model.sampling import draw_sample
from karat.model.spec import Spec
from karat.model.timings import RunResult
from karat.scoring.compare import compare_scored_runs
from karat.scoring.metrics import Measure, parse
from karat.scoring.score import (
    cluster_labels,
    evaluate_run,
    slice_rows,
    with_dropped,
    with_intervals,
    with_measures,
)
from karat.scoring.settings import Confidence, Scoring
from karat.scoring.whole_files import judge_whole_files
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.app.benchmark_config import ConfigFile

__all__ = [
    "DIFFICULTY",
    "Configuration",
    "EvaluationResult",
    "ExperimentKind",
    "ExperimentPlan",
    "ExperimentRequest",
    "ExperimentResult",
    "ExperimentSetup",
    "FinishedRuns",
    "Measure",
    "Result",
    "RunEvent",
    "RunSettings",
    "Where",
    "choose_engines",
    "configure_engines",
    "difficulty_of",
    "evaluate_experiment",
    "given_part",
    "kind_proposal",
    "local_repositories",
    "lost_queries",
    "open_executor",
    "plan",
    "run_plan",
    "score_finished",
    "score_runs",
    "select_finished",
    "with_difficulty",
]

DIFFICULTY = "difficulty"
# The least share of shared words of each class.
EASY, MEDIUM = 0.8, 0.5

UNKNOWN = "unknown"
WORD_RULES = TokenRules(whole=False)
DEFAULT_ENGINE = "bm25"

# One run scored, or several compared.
Result = Evaluation | ComparisonResult


def with_difficulty(gold: Dataset, where: Where) -> Dataset:
    """Return *gold* with the tag ``difficulty`` for every query; one that it has stays.

    It is that of :func:`difficulty_of`, in the snapshot that each query is searched on.
    """
    if DIFFICULTY in gold.tags:
        return gold
    difficulties = [UNKNOWN] * len(gold)
    with where.snapshots(gold, seed=0) as snapshots:
        for corpus, searches, _ in snapshots:
            for row in searches.rows:
                difficulties[row] = difficulty_of(gold.texts[row], gold.targets(row), corpus)
    return replace(gold, tags={**gold.tags, DIFFICULTY: tuple(difficulties)})


def difficulty_of(query: str, targets: Sequence[Target], corpus: Corpus) -> str:
    """Return ``easy``, ``medium`` or ``hard``: how hard a query is for a search by words.

    Counted is the share of the distinct terms of the query, split and stemmed as for BM25, that are
    in the path or the text of a relevant target, in its lines if it has any; the target with the
    highest share decides. Easy is 80 % or more, medium 50 % or more, hard less. Without a term, or
    without a relevant target in the corpus, it is ``unknown``.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"auth.py": "def login(user): check the password"})
    >>> [difficulty_of(text, [Target("auth.py")], corpus) for text in (
    ...     "user login with a password", "user login in a browser", "sign in")]
    ['easy', 'medium', 'hard']
    """
    terms = set(WORD_RULES.terms(query))
    relevant = [target for target in targets if target.grade > 0 and target.path in corpus.by_path]
    if not terms or not relevant:
        return UNKNOWN
    share = max(len(terms & _terms(target, corpus)) for target in relevant) / len(terms)
    if share >= EASY:
        return "easy"
    return "medium" if share >= MEDIUM else "hard"


def _terms(target: Target, corpus: Corpus) -> set[str]:
    text = corpus.read(target.path)
    if target.end_line:
        text = "".join(lines_of(text)[target.start_line - 1 : target.end_line])
    return {*WORD_RULES.terms(target.path), *WORD_RULES.terms(text)}


def choose_engines(names: Sequence[str], config: "ConfigFile | None" = None) -> list[Agent]:
    """Return the engines called *names*, those of *config* first, and all of them without names.

    InputError is raised if a name is not an engine, profile or file; nothing is built yet.
    """
    known = {agent.name: agent for agent in config.agents} if config else {}
    engines = []
    for name in names or tuple(known) or (DEFAULT_ENGINE,):
        if name in known:
            engines.append(known[name])
        else:
            # Not for the name of an engine: all agent names need the records of all engines.
            is_engine = ENGINES.has(name.partition("(")[0])
            engine = None if is_engine else agent_names().get(name)
            agent = parse_engine(engine or name)
            engines.append(replace(agent, name=name) if engine else agent)
    return engines


def configure_engines(
    engines: Sequence[Agent], gold: Dataset, scoring: Scoring, *, k: int | None
) -> tuple[Configuration, ...]:
    """Return a configuration for each of *engines*, with *k* hits per query and distinct names.

    Without *k*, the depth is what the measures of *scoring* need.
    """
    return configurations_of(engines, request_depth(k, scoring, gold))


@dataclass(frozen=True, slots=True)
class ExperimentSetup:
    """The gold set and the configurations to run, and the configuration file if there is one.

    *source* is the file of the gold set, which is not searched if it is in the corpus.
    """

    gold: Dataset
    configurations: tuple[Configuration, ...]
    scoring: Scoring
    config: "ConfigFile | None" = None
    source: str = ""

    def request(
        self,
        kind: ExperimentKind,
        *,
        where: Where,
        sample: int | None,
        repetitions: int | None,
        timeout_s: float | None,
        timed: int | None,
        workers: int,
        seed: int,
        wait: bool,
        timed_on: str = "",
        tokenizer: str = "",
        name: str = "",
    ) -> ExperimentRequest:
        """Return the experiment; values that are given override those of the file.

        *tokenizer* counts the tokens of hits, "" for four characters each. *where* has all that
        :meth:`complete` adds.
        """
        if tokenizer:
            create_tokenizer(tokenizer)
        config, default = self.config, RunSettings()
        settings = replace(
            default,
            repetitions=repetitions or (config and config.repetitions) or default.repetitions,
            timeout_s=timeout_s or (config and config.timeout_s) or default.timeout_s,
            tokenizer=tokenizer,
        )
        drawn = draw_sample(self.gold, sample, seed=seed)
        where = where.of_part(drawn, self.gold)
        if where.corpus is None:
            # Here the file is known, so that the error can name it.
            known_homes(drawn, where.repositories, source=self.source)
        return ExperimentRequest(
            gold=locate_pages(drawn, where),
            configurations=self.configurations,
            where=where,
            kind=kind,
            name=name,
            scoring=self.scoring,
            settings=settings,
            timed=timed,
            workers=workers,
            seed=seed,
            wait=wait,
            timed_on=timed_on,
            sample_of=len(self.gold) if len(drawn) < len(self.gold) else 0,
        )

    def complete(self, where: Where) -> Where:
        """Return *where* with what it leaves to the file: the repository and the files."""
        where = where.with_clones(self.gold)
        if config := self.config:
            where = where._replace(
                kind=where.kind or config.kind,
                include=where.include or config.include,
                exclude=where.exclude or config.exclude,
            )
        if inside := self._source_in(where.corpus):
            where = where._replace(exclude=tuple(dict.fromkeys((*where.exclude, f"/{inside}"))))
        folders = self.config.settings.get("repositories") if self.config else None
        if where.corpus or where.repositories or not isinstance(folders, list) or len(folders) > 1:
            return where
        return where._replace(repositories={"": str(folders[0])})

    def _source_in(self, corpus: str | None) -> str:
        """Return the path of the gold set within *corpus*, "" if it is not a file in there."""
        if corpus is None or not Path(self.source).is_file():
            return ""
        folder, file = Path(corpus).resolve(), Path(self.source).resolve()
        return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else ""


def plan(request: ExperimentRequest, *, allowed: int | None = None) -> ExperimentPlan:
    """Return the searches that *request* needs.

    More configurations than *allowed* raise LimitExceeded, an extra that is not installed
    MissingExtra: before anything runs, not after the work of an hour.
    """
    check_installed(request.configurations)
    return plan_experiment(request, allowed=MOST_CONFIGURATIONS if allowed is None else allowed)


def run_plan(
    request: ExperimentRequest,
    planned: ExperimentPlan,
    *,
    store: str,
    executor: Executor,
    again: bool | None,
    further: Sequence[Measure] = (),
    listen: Callable[[RunEvent], None],
    on_searched: Callable[[CorpusCoverage], None],
) -> ExperimentResult:
    """Run the queries of *request* that the store at the URL *store* lacks.

    With *again* None, stored results are reused if all engines are deterministic. Each run is
    scored once, by the measures of the request and the *further* ones that a report needs.
    """
    if request.timed_on:
        if not planned.timed:
            raise InputError("--timed-on needs timed queries; remove --timed none")
        # Before anything runs, not after the work of an hour.
        executor.check_timed_on(request.timed_on)
    if again is None:
        again = not all(is_deterministic(one.spec) for one in request.configurations)
    with open_store(store, new=True) as opened:
        return run_experiment(
            request,
            opened,
            listen=listen,
            on_searched=on_searched,
            plan=planned,
            further=further,
            executor=executor,
            again=again,
        )


class FinishedRuns(NamedTuple):
    """The runs that can be judged, by the *ids* that the store gave them, and the failed ones."""

    runs: tuple[RunResult, ...]
    ids: tuple[str, ...]
    failed: tuple[StoredRun, ...]

    def reasons(self) -> Iterator[tuple[str, str]]:
        """Yield the names of failed runs with their error, one pair for each error."""
        from karat.system.words import first_few, join_names

        alike: dict[str, list[str]] = {}
        for run in self.failed:
            alike.setdefault(run.error, []).append(run.label)
        for reason, names in alike.items():
            yield join_names(first_few(names)), reason


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The result of :func:`evaluate_experiment`.

    In *overall* a target that is not in the searched snapshot counts as missed; *resolved* is
    without such targets, None if there is none or no other. *remarks* are those of the experiment.
    *changes* are those since earlier runs of the same engines, see :mod:`karat.app.changes`.
    """

    searched: CorpusCoverage
    runs: tuple[RunResult, ...]
    overall: Result
    resolved: Result | None
    remarks: tuple[str, ...]
    changes: tuple[RunChange, ...] = ()


def lost_queries(result: EvaluationResult, recommended: str = "") -> Evaluation | None:
    """Return the scores of a run that has lost queries: of an own engine if there is one.

    Of several it is the *recommended* one, else the one with the best mean. None where every query
    has the best score.
    """
    overall = result.overall
    evaluations = [overall] if isinstance(overall, Evaluation) else overall.evaluations
    lossy = [
        (is_deterministic(_spec_of(run)), evaluation)
        for run, evaluation in zip(result.runs, evaluations, strict=True)
        if not evaluation.broken and _has_losses(evaluation)
    ]
    chosen = [each for built_in, each in lossy if not built_in] or [each for _, each in lossy]
    return max(
        chosen,
        key=lambda each: (each.name == recommended, each.summaries[0].mean),
        default=None,
    )


def _has_losses(evaluation: Evaluation) -> bool:
    """Return whether a query has less than the best score on the first measure."""
    name, column = next(iter(evaluation.table.columns.items()))
    return parse(name).bounds == (0.0, 1.0) and any(score < 1.0 for score in column)


def _spec_of(measured: RunResult) -> Spec:
    """Return the engine of a run as it was recorded."""
    engine = measured.run.metadata.get("engine")
    recorded = engine if isinstance(engine, Mapping) else {}
    options = recorded.get("options")
    params = dict(options) if isinstance(options, Mapping) else {}
    return Spec("engine", str(recorded.get("name")), params)


def select_finished(done: ExperimentResult) -> FinishedRuns:
    """Return the runs of *done* that have not failed; EngineError where every one has failed."""
    stored = done.experiment.runs
    failed = tuple(run for run in stored if run.status is RunStatus.FAILED)
    if len(failed) == len(stored):
        raise EngineError("\n".join(dict.fromkeys(run.error for run in failed)))
    usable = tuple(run.id for run in stored if run.status is not RunStatus.FAILED)
    return FinishedRuns(tuple(map(done.results.read, usable)), usable, failed)


def evaluate_experiment(
    gold: Dataset,
    done: ExperimentResult,
    *,
    runs: FinishedRuns | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] = (),
) -> EvaluationResult:
    """Return the scores of the finished runs of *done* on *gold*.

    *runs* is what :func:`select_finished` has returned. Where *gold* and *scoring* are those of the
    request, the scores are those that the experiment has computed.
    """
    confidence = confidence or Confidence()
    runs = runs or select_finished(done)
    scoring, scored = score_finished(gold, done, runs, scoring or Scoring())
    if confidence.human_sample:
        from karat.app.human_sample import sampled_gold

        whole = {measured.name: measured.run for measured in runs.runs}
        gold = sampled_gold(gold, whole, confidence.human_sample, scoring)
        scored = score_runs(gold, runs.runs, scoring)
    overall = _result(gold, scored, scoring, confidence, by=tuple(by))
    proposal = kind_proposal(gold, done.searched, runs.runs, scored, scoring)
    rest = None
    if done.resolved is not None:
        scored = score_runs(done.resolved, runs.runs, scoring)
        rest = _result(done.resolved, scored, scoring, confidence)
    return EvaluationResult(done.searched, runs.runs, overall, rest, (*done.remarks, *proposal))


def score_finished(
    gold: Dataset, done: ExperimentResult, runs: FinishedRuns, scoring: Scoring
) -> tuple[Scoring, list[Evaluation]]:
    """Return the scores of *runs* on *gold* without intervals, and how they were judged.

    Where *gold* and *scoring* are those of the request, they are those that *done* has computed.
    """
    whole = {measured.name: measured.run for measured in runs.runs}
    scoring = judge_whole_files(gold, whole, scoring)
    known = done.results.evaluations(runs.ids, gold, scoring)
    return scoring, score_runs(gold, runs.runs, scoring, known=known)


def kind_proposal(
    gold: Dataset,
    searched: CorpusCoverage,
    runs: Sequence[RunResult],
    scored: Sequence[Evaluation],
    scoring: Scoring,
) -> tuple[str, ...]:
    """Return a sentence on the kind that all targets have, if searching only it changes the score.

    The figure is that of the best run of *runs*, which are *scored*, without its hits of other
    kinds. A search of that kind alone may differ a little, as words are more or less frequent in
    it; nothing is run for a proposal.
    """
    kind = searched.suggested_kind
    lead = scoring.parsed(gold)[0]
    means = [evaluation[str(lead)] for evaluation in scored]
    known = [index for index, mean in enumerate(means) if not isnan(mean)]
    if not kind or not known:
        return ()
    sign = 1 if lead.definition.higher_is_better else -1
    best = max(known, key=lambda index: sign * means[index])
    answers = (
        answer._replace(hits=tuple(hit for hit in answer.hits if kind_of(hit.path) == kind))
        for answer in runs[best].run.answers()
    )
    name = runs[best].name
    of_kind = Run.of(answers, name=name, metadata=runs[best].run.metadata)
    (narrowed,) = score_runs(gold, [replace(runs[best], run=of_kind)], scoring, measures=[lead])
    before, after = (f"{value:.3f}" for value in (means[best], narrowed[str(lead)]))
    if before == after:
        return ()
    word = "documentation" if kind == "docs" else kind
    others = counted(searched.other_kind, "file")
    return (
        f"all targets are {word}: --kind {kind} would leave out {others} of other kinds; without "
        f"their hits, {lead.label} of {name} is about {after} instead of {before}",
    )


def score_runs(
    gold: Dataset,
    runs: Sequence[RunResult],
    scoring: Scoring,
    *,
    measures: Sequence[Measure] | None = None,
    known: Sequence[Evaluation | None] = (),
) -> list[Evaluation]:
    """Return the scores of *runs* on *gold* by *measures*, or by those of *scoring*.

    A run is scored only where *known* has no scores of it by all of these measures. Intervals are
    left to the caller.
    """
    reported = scoring.parsed(gold)
    measures = reported if measures is None else measures
    names = set(map(str, measures))
    evaluations = []
    for run, scored in zip_longest(runs, known[: len(runs)]):
        evaluation = scored
        if evaluation is None or not names <= evaluation.table.columns.keys():
            evaluation = evaluate_run(
                gold,
                run.run,
                scoring=scoring.with_measures(measures),
                confidence=None,
                slices={},
                name=run.name,
            )
        evaluation = replace(evaluation, notes=replace(evaluation.notes, unit=scoring.unit))
        evaluations.append(with_dropped(with_measures(evaluation, measures), run, reported))
    return evaluations


def _result(
    gold: Dataset,
    scored: Sequence[Evaluation],
    scoring: Scoring,
    confidence: Confidence,
    *,
    by: Sequence[str] = (),
) -> Result:
    if len(scored) > 1:
        return compare_scored_runs(
            gold, scored, measures=scoring.parsed(gold), confidence=confidence, by=by
        )
    return with_intervals(
        scored[0],
        scoring.parsed(gold),
        confidence,
        slices=slice_rows(gold, by),
        clusters=cluster_labels(gold, confidence.cluster),
    )
