"""Files with the scores of other evaluations, which are compared, reported and gated like runs.

The core knows no such file: an extension adds a :class:`ScoreSource`, and every command asks here
whether one takes its files.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import nan
from typing import TYPE_CHECKING, NamedTuple

from karat.errors import InputError
from karat.installation import __version__
from karat.model import Answer, Dataset, Outcome, QueryStatus, Run
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.model.frozen import EMPTY
from karat.model.judged import Trace
from karat.model.timings import RunResult
from karat.registry import Registry
from karat.report.section import ReportSection
from karat.report.table import Table
from karat.scoring.compare import compare_scored_runs
from karat.scoring.metrics import Measure
from karat.scoring.score import cluster_labels, slice_rows, with_intervals
from karat.scoring.settings import Confidence

if TYPE_CHECKING:
    from karat.report.findings import Findings


class ScoreInputs(NamedTuple):
    """What a user says about score files.

    *columns* maps a role, such as ``query`` or ``system``, to its column; *lower* names measures of
    which less is better; *measures* are those to compare, all without any; *reader* names the
    reader, "" to detect it.
    """

    columns: Mapping[str, str] = EMPTY
    lower: tuple[str, ...] = ()
    measures: tuple[str, ...] = ()
    reader: str = ""


class ScoreView(NamedTuple):
    """What is said about a comparison of scores beside the common tables.

    *notes* are sentences below the comparison, *tables* are shown with it, and *sections* are those
    of a report. With a *verdict*, the tables are shown in place of the common one, which many
    systems make unreadable, and it is the verdict.
    """

    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    sections: tuple[ReportSection, ...] = ()
    verdict: str = ""


class ScoredFiles(NamedTuple):
    """Systems that were scored elsewhere.

    *gold* has their queries with texts and tags, and no target. *preview* is a line that says how
    the file was understood, *remarks* are warnings, and *view* explains a comparison. *measures*
    are all of the file, unless some were *chosen*.
    """

    gold: Dataset
    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]
    preview: str
    remarks: tuple[str, ...]
    view: Callable[[ComparisonResult, Confidence], ScoreView]
    chosen: bool = False

    def measure(self, name: str) -> Measure:
        """Return the measure called *name*, or raise InputError."""
        for each in self.measures:
            if str(each).lower() == name.strip().lower():
                return each
        known = ", ".join(map(str, self.measures))
        raise InputError(
            f"{self.gold.name}: no measure is called {name!r}; expected one of {known}"
        )

    def one(self, system: str = "") -> Evaluation:
        """Return the evaluation of *system*; without a name there must be one only."""
        names = [each.name for each in self.evaluations]
        known = ", ".join(map(repr, names[:10]))
        if not system and len(names) > 1:
            raise InputError(
                f"{self.gold.name} has {len(names)} systems: {known}; name one of them behind it"
            )
        if system and system not in names:
            raise InputError(f"{self.gold.name} has no system {system!r}; expected one of {known}")
        return self.evaluations[names.index(system) if system else 0]


class ScoreSource(NamedTuple):
    """Reads score files.

    *takes* says whether all of some files are such, or those of the reader that was named; *read*
    reads them.
    """

    takes: Callable[[Sequence[str], str], bool]
    read: Callable[[Sequence[str], ScoreInputs], ScoredFiles]


SCORE_SOURCES: Registry[ScoreSource] = Registry("score_source", {})


def read_score_files(names: Sequence[str], inputs: ScoreInputs) -> ScoredFiles | None:
    """Return the scores in the files *names*, None if they are anything else, such as runs."""
    for name in SCORE_SOURCES:
        source = SCORE_SOURCES.get(name)
        if source.takes(names, inputs.reader):
            return source.read(names, inputs)
    return None


def score_system(
    scored: ScoredFiles, system: str = "", *, confidence: Confidence, by: Iterable[str] = ()
) -> Evaluation:
    """Return the scores of *system*, "" for the only one, with intervals."""
    return with_intervals(
        scored.one(system),
        scored.measures,
        confidence,
        slices=slice_rows(scored.gold, by),
        clusters=cluster_labels(scored.gold, confidence.cluster),
    )


def view_scores(scored: ScoredFiles, confidence: Confidence) -> ScoreView:
    """Return what is said about the scores of a file, also of one with a single system."""
    return _compared(scored, confidence, ()).view


class ComparedScores(NamedTuple):
    """Systems of a score file compared, and what is said about that beside the common tables."""

    contest: ComparisonResult
    view: ScoreView


def compare_scores(
    scored: ScoredFiles, *, confidence: Confidence | None = None, by: Iterable[str] = ()
) -> ComparedScores:
    """Return the systems of a score file compared, the first being the baseline."""
    if len(scored.evaluations) < 2:
        raise InputError(
            f"{scored.gold.name}: only one system, {scored.evaluations[0].name!r}; expected two or "
            "more to compare"
        )
    return _compared(scored, confidence or Confidence(), by)


def _compared(scored: ScoredFiles, confidence: Confidence, by: Iterable[str]) -> ComparedScores:
    contest = compare_scored_runs(
        scored.gold,
        scored.evaluations,
        measures=scored.measures,
        confidence=confidence,
        by=by,
    )
    view = scored.view(contest, confidence)
    tests = (*contest.further_tests, *view.notes)
    verdict = view.verdict or contest.verdict
    return ComparedScores(replace(contest, further_tests=tests, verdict=verdict), view)


def score_findings(
    scored: ScoredFiles,
    *,
    confidence: Confidence,
    by: Iterable[str] | None = None,
    title: str = "",
) -> "Findings":
    """Return what a report shows of scores: that of runs, without hits and targets.

    *by* names the tags to break results down by; None takes all with a few values.
    """
    # With all of a report, which a comparison in the terminal does not need: 50 ms.
    from karat.app.report import breakdown_tags, origin
    from karat.report.findings import Findings

    gold = scored.gold
    tags = breakdown_tags(gold) if by is None else list(by)
    tags = [tag for tag in tags if tag in gold.tags]
    contest, view = _compared(scored, confidence, tags)
    runs = [_run_of(each) for each in scored.evaluations]
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    nothing = Trace((), (), (), 0)
    clusters = cluster_labels(gold, confidence.cluster)
    return Findings(
        gold=gold,
        runs=tuple(RunResult(run, None, "", run.name) for run in runs),
        contest=contest,
        traces=((nothing,) * len(gold),) * len(runs),
        curves=(),
        f1=((nan,) * len(gold),) * len(runs),
        latency=None,
        origin=origin(gold, [""] * len(runs), made_at=made_at, version=__version__),
        settings={"confidence": confidence},
        remarks=scored.remarks,
        clusters=None if clusters is None else tuple(clusters),
        groups=slice_rows(gold, gold.tags),
        rankings=tuple(run.name for run in runs),
        run_remarks=((),) * len(runs),
        title=title,
        measures={str(measure): measure for measure in scored.measures},
        sections=view.sections,
    )


def _run_of(evaluation: Evaluation) -> Run:
    """Return the run that a report expects: an answer without hits for each scored query."""
    table = evaluation.table
    ends = {QueryStatus.ERROR: Outcome.ERROR, QueryStatus.TIMEOUT: Outcome.TIMEOUT}
    answers = (
        Answer(query_id, outcome=ends.get(status, Outcome.ANSWERED))
        for query_id, status in zip(table.query_ids, table.statuses, strict=True)
        if status is not QueryStatus.MISSING
    )
    return Run.of(answers, name=evaluation.name)
