"""What a comparison of scores says beside the common tables."""

from pathlib import Path

import pytest

from karat.app.score_files import (
    ScoreInputs,
    ScoreView,
    compare_scores,
    read_score_files,
    score_findings,
)
from karat.model.evaluation import ComparisonResult
from karat.report.table import Table
from karat.scoring.settings import Confidence
from tests.command_line import Karat


def view_of(folder: Path, lines: list[str], **inputs: object) -> tuple[ComparisonResult, ScoreView]:
    path = folder / "scores.csv"
    path.write_text("\n".join(lines))
    scored = read_score_files([str(path)], ScoreInputs(**inputs))  # type: ignore[arg-type]
    assert scored is not None
    return compare_scores(scored, confidence=Confidence(draws=199))


def texts(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_gaps_are_counted_in_both_ways(tmp_path: Path) -> None:
    lines = ["query,system,score,error", *(f"q{n},a,1," for n in range(8))]
    lines += [f"q{n},b,1," for n in range(4)] + ["q4,b,,timeout", "q5,b,,timeout"]
    _, view = view_of(tmp_path, lines)
    (table,) = view.tables
    assert [row[:4] for row in texts(table)] == [
        ["as 0", "a", "8", "1.000"],
        ["", "b", "8", "0.500"],
        ["left out", "a", "8", "1.000"],
        ["", "b", "4", "1.000"],
    ]
    assert table.notes == ("b 2 failures, 2 without a score",)


def test_tasks_have_a_macro_mean(tmp_path: Path) -> None:
    lines = ["task,query,system,score"]
    lines += [
        f"big,{n},{name},{int(n < hits)}" for n in range(8) for name, hits in (("a", 4), ("b", 6))
    ]
    lines += [
        f"small,{n},{name},{int(n < hits)}" for n in range(2) for name, hits in (("a", 1), ("b", 0))
    ]
    contest, view = view_of(tmp_path, lines)
    (table,) = view.tables
    assert [column.title for column in table.columns] == ["task", "a", "b"]
    rows = {row[0]: row[1:] for row in texts(table)[:3]}
    assert rows == {
        "big (8)": ["0.500", "0.750"],
        "small (2)": ["0.500", "0.000"],
        "macro mean": ["0.500", "0.375"],
    }
    (micro,) = (row[1:] for row in texts(table) if row[0] == "micro mean")
    assert micro == ["0.500", "0.600"]
    (wins,) = (row[1:] for row in texts(table) if row[0] == "better in")
    assert wins == ["", "1 of 2"]
    assert contest.verdict.startswith(
        "On score, the mean over 2 tasks: no significant difference between a and b (-0.125 "
    )
    assert contest["b"]["score"] == 0.6


def test_a_single_system_has_tasks_and_no_ranks(tmp_path: Path) -> None:
    lines = ["task,query,system,score", *(f"t{n % 2},{n},a,{n % 3 % 2}" for n in range(9))]
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    scored = read_score_files([str(tmp_path / "scores.csv")], ScoreInputs())
    assert scored is not None
    findings = score_findings(scored, confidence=Confidence(draws=199))
    assert [section.title for section in findings.sections] == ["Tasks", "Zeros and ones"]
    (table,) = findings.sections[0].tables
    assert "Holm" not in table.notes[0]
    assert len(findings.sections[1].tables) == 1


def test_many_systems_are_a_leaderboard(karat: Karat, folder: Path) -> None:
    lines = ["query," + ",".join(f"s{n}" for n in range(30))]
    lines += [
        f"q{q}," + ",".join(str((n * 10 + n * q % 7) / 400) for n in range(30)) for q in range(12)
    ]
    (folder / "wide.csv").write_text("\n".join(lines))
    done = karat("compare", "wide.csv", "--draws", "199")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    (best,) = (row for row in rows if row[:1] == ["1"])
    assert best[3] == "s29"
    assert "s29 has the highest score, 0.7" in done.stdout
    assert "10 more systems" in done.stdout
    assert "better than" not in done.stdout.split("\n\n")[2]
    assert len(done.stdout.splitlines()) < 45


def test_zeros_and_ones_have_their_own_section(tmp_path: Path) -> None:
    lines = ["query,system,ok"]
    lines += [
        f"q{n},{name},{int(n < hits)}" for n in range(10) for name, hits in (("a", 3), ("b", 9))
    ]
    _, view = view_of(tmp_path, lines)
    titles = [section.title for section in view.sections]
    assert titles == ["Ranks", "Zeros and ones"]
    rates, tests = view.sections[-1].tables
    assert texts(rates)[0][:4] == ["a", "3", "10", "0.300"]
    assert texts(tests) == [["b", "3", "6", "0", "1", "0.0312", "0.0312"]]
    clustered = [
        lines[0] + ",template",
        *(f"{line},r{row % 4}" for row, line in enumerate(lines[1:])),
    ]
    with pytest.raises(Exception, match="two values of template"):
        view_of(tmp_path, clustered)
    clustered = [
        lines[0] + ",template",
        *(f"{line},r{row // 4}" for row, line in enumerate(lines[1:])),
    ]
    contest, view = view_of(tmp_path, clustered)
    assert contest.clusters == 5
    assert [section.title for section in view.sections] == ["Ranks"]


def test_trials_have_a_table_and_a_note(tmp_path: Path) -> None:
    lines = ["query,system,trial,ok,error"]
    lines += [
        f"q{q},{name},{t},{int((q + t) % k == 0)},"
        for q in range(6)
        for name, k in (("a", 2), ("b", 3))
        for t in range(3)
    ]
    lines[1] = "q0,a,0,,timeout"
    _, view = view_of(tmp_path, lines)
    assert view.notes[0] == "failed trials: 1 of a; each counts like a failed query"
    assert view.notes[1].startswith("3 trials of a query: ")
    (trials,) = (section for section in view.sections if section.title == "Trials")
    assert [column.title for column in trials.tables[0].columns[-2:]] == ["pass^3", "pass@3"]
    # Every system succeeds in one of three successive trials, none in all.
    assert [row[-2:] for row in texts(trials.tables[0])] == [["0.000", "1.000"], ["0.000", "1.000"]]
