"""The table of several tasks: rows are tasks, or systems where there are many."""

import numpy as np
import pytest

from karat.app.score_files import compare_scores
from karat.extensions.scores.readers import ReadScores
from karat.extensions.scores.record import ScoreRow, ScoreSet
from karat.extensions.scores.source import scored_files
from karat.extensions.scores.task_table import MOST_COLUMNS, macro_verdict, task_table
from karat.extensions.scores.tasks import MacroComparison, macro_comparison, queries_by_task
from karat.model.evaluation import ComparisonResult
from karat.report.table import Table
from karat.scoring.settings import Confidence


def compared(
    systems: int, tasks: int, gain: float = 0.3
) -> tuple[MacroComparison, ComparisonResult]:
    """Return systems of which each but the first is better by about *gain*, on four queries."""
    rng = np.random.default_rng(0)
    rows = [
        ScoreRow(
            f"{task}:{query}",
            f"s{system}",
            {"f1": min(1.0, base + (gain + 0.05 * rng.normal() if system else 0.0))},
            tags={"corpus": f"c{task}"},
        )
        for task in range(tasks)
        for query in range(4)
        for base in [rng.uniform(0, 0.5)]
        for system in range(systems)
    ]
    scores = ScoreSet.of(rows, task="corpus")
    contest = compare_scores(
        scored_files(ReadScores(scores, "")), confidence=Confidence(draws=199)
    ).contest
    by_task = queries_by_task(scores)
    macro = macro_comparison(contest, by_task, scores.measures[0], noun="corpus")
    return macro, contest


def titles(table: Table) -> list[str]:
    return [column.title for column in table.columns]


def test_few_systems_are_columns_and_the_last_tasks_may_be_left_out() -> None:
    macro, contest = compared(3, 8)
    table = task_table(macro, contest, most=5)
    assert titles(table) == ["corpus", "s0", "s1", "s2"]
    names = [row[0].text for row in table.rows]
    assert names[:6] == [*(f"c{n} (4)" for n in range(5)), "macro mean"]
    assert table.notes[-1] == "3 corpora not listed: --details lists them"
    assert len(task_table(macro, contest).rows) == len(table.rows) + 3
    best = [[cell.best for cell in row] for row in table.rows if row[0].text == "macro mean"]
    assert sum(best[0]) == 1


def test_many_systems_are_rows() -> None:
    macro, contest = compared(MOST_COLUMNS + 1, 2)
    table = task_table(macro, contest, most=20)
    assert titles(table)[:4] == ["system", "c0 (4)", "c1 (4)", "macro mean"]
    assert [row[0].text for row in table.rows] == [f"s{n}" for n in range(MOST_COLUMNS + 1)]
    # All tables have a row for each task.
    assert titles(task_table(macro, contest))[0] == "corpus"


@pytest.mark.parametrize("tasks", [2, 9])
def test_the_verdict_names_what_is_better_over_all_tasks(tasks: int) -> None:
    macro, _ = compared(2, tasks)
    text = macro_verdict(macro)
    assert text.startswith(f"On f1, the mean over {tasks} corpora: s1 (+0.")
    assert text.endswith(f"better in {tasks} of {tasks}) is significantly better than s0.")
    worse, _ = compared(2, tasks, gain=-0.3)
    assert macro_verdict(worse).endswith(f"better in 0 of {tasks}) is significantly worse than s0.")
    equal, _ = compared(2, tasks, gain=0.0)
    assert "no significant difference between s0 and s1" in macro_verdict(equal)


def test_the_verdict_on_many_systems_has_their_names_alone() -> None:
    macro, _ = compared(4, 6)
    assert macro_verdict(macro) == (
        "On f1, the mean over 6 corpora: s1, s2 and s3 are significantly better than s0."
    )


def test_a_system_without_scores_in_a_task_has_no_macro_mean() -> None:
    rows = [
        ScoreRow(f"{task}:{query}", system, {"f1": score}, tags={"task": f"t{task}"})
        for task in range(2)
        for query in range(3)
        for system, score in (("all", 0.2 + 0.1 * query), ("part", 0.5 + 0.1 * query))
        if (task, system) != (1, "part")
    ]
    scores = ScoreSet.of(rows, task="task")
    scored = scored_files(ReadScores(scores, ""))
    contest = compare_scores(scored, confidence=Confidence(draws=199)).contest
    macro = macro_comparison(contest, queries_by_task(scores), scores.measures[0])
    table = task_table(macro, contest)
    cells = {row[0].text: row[1:] for row in reversed(table.rows)}
    assert [cell.text for cell in cells["macro mean"]] == ["0.300", "-"]
    # The only score of a task is not the best of several.
    assert [cell.best for cell in cells["t1 (3)"]] == [False, False]
    assert "part has no macro mean: no score in t1" in table.notes
    assert macro_verdict(macro) == ""
