"""What is said about compared scores beside the common tables."""

from collections.abc import Callable, Sequence

from karat.app.score_files import ScoreView
from karat.extensions.scores.leaderboard import (
    MOST_ROWS,
    borda_comparison,
    leader_sentence,
    leaderboard_table,
)
from karat.extensions.scores.missing import gap_table, has_gaps
from karat.extensions.scores.proportions import proportion_section
from karat.extensions.scores.record import ScoreSet
from karat.extensions.scores.task_table import MOST_TASKS, macro_verdict, task_table
from karat.extensions.scores.tasks import macro_comparison, queries_by_task
from karat.extensions.scores.trials import trial_notes, trial_table
from karat.model import Dataset
from karat.model.evaluation import ComparisonResult
from karat.report.section import ReportSection
from karat.report.table import Table
from karat.scoring.score import cluster_labels
from karat.scoring.settings import Confidence
from karat.system.words import plural

# More systems are shown as a leaderboard.
MOST_COMPARED = 12


def viewer(scores: ScoreSet, gold: Dataset) -> Callable[[ComparisonResult, Confidence], ScoreView]:
    """Return the function that explains a comparison of *scores*, whose queries are *gold*."""

    def view(contest: ComparisonResult, confidence: Confidence) -> ScoreView:
        clusters = cluster_labels(gold, confidence.cluster)
        return view_of(scores, contest, confidence, clusters=clusters)

    return view


def view_of(
    scores: ScoreSet,
    contest: ComparisonResult,
    confidence: Confidence,
    *,
    clusters: Sequence[str] | None,
) -> ScoreView:
    """Return what to say about *contest*: a leaderboard of many systems, tasks, trials and gaps."""
    comparison = contest.comparison
    lead = scores.measure(comparison.metrics[0])
    tasks = queries_by_task(scores)
    macro = by_borda = None
    if tasks:
        macro = macro_comparison(
            contest, tasks, lead, noun=scores.task, clusters=clusters, pairs=confidence.pairs
        )
    if macro and confidence.draws and len(comparison.systems) > 1:
        by_borda = borda_comparison(macro.means, confidence, lower=lead.lower_is_better)
    many = len(comparison.systems) > MOST_COMPARED
    several = any(len(queries) > 1 for queries in tasks.values())
    of_tasks = task_table(macro, contest) if macro and several else None
    gaps = None
    if has_gaps(scores, lead) and not many:
        gaps = gap_table(scores, lead, confidence, clusters)
    board = short = None
    if len(comparison.systems) > 1:
        board = leaderboard_table(comparison, lead.name, by_borda=by_borda)
        short = leaderboard_table(comparison, lead.name, by_borda=by_borda, most=MOST_ROWS)
    short_tasks = task_table(macro, contest, most=MOST_TASKS) if macro and several else None
    brief = [short] if many else [short_tasks, gaps]
    verdict = leader_sentence(comparison, lead.name) if many else ""
    if macro and several and not many:
        verdict = macro_verdict(macro)
    zeros = proportion_section(scores, contest, comparison.level)
    trials = trial_table(scores, lead)
    sections = [
        _section("Ranks", board),
        _section(plural(scores.task or "task").capitalize(), of_tasks),
        _section("Failures and missing scores", gaps),
        _section("Trials", trials),
        zeros,
    ]
    return ScoreView(
        notes=tuple(trial_notes(scores, lead.name)),
        tables=tuple(table for table in brief if table),
        sections=tuple(section for section in sections if section),
        verdict=verdict,
    )


def _section(title: str, table: Table | None) -> ReportSection | None:
    return ReportSection(title, (table,)) if table else None
