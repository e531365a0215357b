"""karat compare on files of scores."""

import json
from pathlib import Path

from tests.command_line import Karat


def test_a_verdict_in_one_command(karat: Karat, scores: str) -> None:
    done = karat("compare", scores)
    assert done.returncode == 0
    assert done.stderr == (
        "scores.csv: system = model, query = question, 2 measures: passed (0/1), cost (lower is "
        "better); 2 systems, 20 queries\n"
    )
    # 8 queries improve, none gets worse: the sign test gives 2 / 2**8.
    assert "+0.400" in done.stdout
    assert "new is better than old: passed +0.400" in done.stdout
    assert "p = 0.008" in done.stdout
    assert "invalid hits" not in done.stdout


def test_json_and_slices(karat: Karat, scores: str) -> None:
    done = karat("compare", scores, "--json", "--by", "level", "-m", "passed")
    document = json.loads(done.stdout)
    (entry,) = document["comparison"]["differences"]
    assert (entry["difference"], entry["wins"], entry["losses"]) == (0.4, 8, 0)
    assert entry["p"] == 2 / 2**8
    assert [each["title"] for each in document["sections"]] == ["Ranks", "Zeros and ones"]
    assert set(document["slices"]["level"]) == {"easy", "hard"}
    assert document["runs"][0]["queries"][0] == {
        "query_id": "q0",
        "status": "scored",
        "scores": {"passed": 1.0},
    }


def test_reports(karat: Karat, scores: str, folder: Path) -> None:
    for name in ("r.html", "r.md", "r.tex", "r.json", "r.csv"):
        done = karat("compare", scores, "-o", name)
        assert done.returncode == 0, done.stderr
        assert f"wrote {name}" in done.stderr
        assert "new is better" in done.stdout
    assert json.loads((folder / "r.json").read_text())["verdict"]
    assert "\\toprule" in (folder / "r.tex").read_text()


def test_one_system_has_its_scores(karat: Karat, scores: str, folder: Path) -> None:
    text = (folder / scores).read_text().splitlines()
    (folder / "one.csv").write_text("\n".join([text[0], *text[2::2]]))
    done = karat("compare", "one.csv")
    assert done.returncode == 0, done.stderr
    assert "0.800" in done.stdout.replace("0.8000", "0.800")
    assert "invalid" not in done.stdout
    done = karat("compare", "one.csv", "-o", "r.md")
    assert done.returncode == 0, done.stderr
    assert "| new | 16 | 20 | 0.800 |" in (folder / "r.md").read_text()


def test_report_is_the_same_command_as_for_runs(karat: Karat, scores: str, folder: Path) -> None:
    done = karat("report", scores, "-o", "r.md", "--title", "Two models", "--by", "level")
    assert done.returncode == 0, done.stderr
    text = (folder / "r.md").read_text()
    assert text.startswith("# Two models\n")
    assert "passed by level" in text
    assert "McNemar" in text
    done = karat("report", scores, "-o", "{engine}.json", "--schema", "agents")
    assert done.returncode == 2
    assert "--schema and --losses need runs" in done.stderr


def test_columns_are_named_and_wrong_names_explained(karat: Karat, scores: str) -> None:
    done = karat("compare", scores, "--column", "query=level", "--column", "score=cost")
    assert "query = level, 1 measure: cost" in done.stderr
    done = karat("compare", scores, "--column", "query=x")
    assert done.returncode == 2
    assert "no column 'x' for the query; the file has 'question', 'model'" in done.stderr
    done = karat("compare", scores, "--lower", "speed")
    assert "no measure is called 'speed'; expected some of passed and cost" in done.stderr


def test_gold_sets_without_runs_have_their_old_error(karat: Karat) -> None:
    assert "no run to compare" in karat("compare", "gold.qrels").stderr
    assert "no run to compare" in karat("compare", "code.csv").stderr
    assert "only one run" in karat("compare", "gold.qrels", "new.run").stderr
