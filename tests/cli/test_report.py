"""karat report on the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Karat = Callable[..., CompletedProcess[str]]


def test_a_page_is_written(
    karat: Karat, folder: Path, embedded: Callable[[str], dict[str, Any]]
) -> None:
    done = karat("report", "gold.qrels", "old.run", "new.run", "-o", "out.html", "--draws", "99")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "wrote out.html\n"
    page = (folder / "out.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    (details,) = (each for key, each in embedded(page).items() if key.endswith("/details"))
    assert "has results for 1 query that is not in the gold set" in str(details["not_comparable"])


@pytest.mark.parametrize(
    ("name", "heading"), [("out.html", "<title>Mine</title>"), ("out.md", "# Mine")]
)
def test_a_report_has_the_title_that_was_given(
    karat: Karat, folder: Path, name: str, heading: str
) -> None:
    asked = ("report", "gold.qrels", "new.run", "--draws", "99", "-o", name)
    assert karat(*asked).returncode == 0
    assert heading not in (folder / name).read_text(encoding="utf-8")
    assert karat(*asked, "--title", "Mine").returncode == 0
    assert heading in (folder / name).read_text(encoding="utf-8")


def test_lines_errors_and_tags(karat: Karat, folder: Path) -> None:
    done = karat("report", "code.csv", "code.jsonl", "-o", "out.json", "--draws", "99")
    assert done.returncode == 0, done.stderr
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert list(data["slices"]) == ["level", "file-type"]
    assert data["targets"]["code"]["unanswered"] == 2


def test_tags_can_be_chosen(karat: Karat, folder: Path) -> None:
    karat("report", "code.csv", "code.jsonl", "-o", "out.json", "--by", "level", "--draws", "99")
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert list(data["slices"]) == ["level"]


def test_charts_are_written(karat: Karat, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    done = karat("report", "gold.qrels", "new.run", "--charts", "figures", "--draws", "99")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (folder / "figures").iterdir()) == [
        *("measures.png", "measures.svg", "query_scores.png", "query_scores.svg"),
    ]


def test_one_chart_is_a_file(karat: Karat, folder: Path) -> None:
    command = ("report", "gold.qrels", "old.run", "new.run", "--draws", "99")
    assert karat(*command, "-o", "query_differences.svg").returncode == 0
    text = (folder / "query_differences.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg ")
    assert "new against old, per query" in text


def test_a_table_for_a_paper(karat: Karat, folder: Path) -> None:
    asked = ("report", "gold.qrels", "old.run", "new.run", "-m", "map,P@5", "--draws", "99")
    style = ("--digits", "1", "--percent", "--label", "tab:x", "--caption", "Runs", "--intervals")
    done = karat(*asked, "-o", "out.tex", *style)
    assert done.returncode == 0, done.stderr
    table = (folder / "out.tex").read_text(encoding="utf-8")
    assert r"& run & map & P@5 \\" in table
    assert r"\caption{Runs}" in table
    assert r"\label{tab:x}" in table
    assert r"{\scriptsize [" in table
    compared = karat("compare", *asked[1:], "-o", "compared.tex")
    assert compared.returncode == 0, compared.stderr
    assert "0." in (folder / "compared.tex").read_text(encoding="utf-8")


def test_measures_are_shown_as_typed(karat: Karat, folder: Path) -> None:
    asked = ("gold.qrels", "old.run", "new.run", "-m", "MAP,P@5", "--draws", "99")
    output = karat("compare", *asked).stdout
    assert "MAP" in output
    assert "P@5" in output
    assert "precision@5" not in output
    scored = karat("score", *asked[:2], "-m", "MAP,P@5", "--per-query").stdout
    assert "precision@5" not in scored
    karat("report", *asked, "-o", "out.md")
    assert "precision@5" not in (folder / "out.md").read_text(encoding="utf-8")
    data = json.loads(karat("compare", *asked, "--json").stdout)
    assert data["runs"][0]["metrics"]["precision@5"]["label"] == "P@5"
    assert data["comparison"]["labels"] == {"ap": "MAP", "precision@5": "P@5"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "out.md", "--digits", "2"), "need -o FILE.tex"),
        (("-o", "out.pdf"), "out.pdf: unknown report format"),
        (("-o", "out.png"), "out.png: one chart is an .svg file; --charts FOLDER writes PNG"),
        ((), "Nothing to write"),
        (("-o", "out.html", "--by", "colour"), "no query is tagged with 'colour'"),
        (("-o", "missing/out.html"), "cannot be written"),
    ],
)
def test_bad_usage(karat: Karat, arguments: tuple[str, ...], message: str) -> None:
    done = karat("report", "gold.qrels", "new.run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_what_was_kept_knows_its_gold_set(karat: Karat, experiment_id: str, folder: Path) -> None:
    done = karat("report", "latest", "-o", "out.json", "-m", "mrr", "--draws", "99")
    assert done.returncode == 0, done.stderr
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [run["name"] for run in data["runs"]] == ["keyword", "bm25 (k1=1.2)"]
    assert [run["metrics"]["mrr"]["mean"] for run in data["runs"]] == [0.25, 1.0]
    assert [len(digest) for digest in data["origin"]["run_digests"]] == [64, 64]
    assert data["latency"]["means"][0]["mean"] == 3.0


def test_a_run_without_any_answered_query_is_not_compared(
    karat: Karat, unanswered: str, folder: Path
) -> None:
    asked = ("-o", "out.json", "-m", "mrr", "--draws", "99")
    done = karat("report", unanswered, *asked)
    reason = (
        f"bm25 (k1=1.2) ({unanswered}.2): failed, left out, with 0 of 2 answers: "
        "no query was answered; the first error: no file"
    )
    assert (done.returncode, done.stderr) == (0, f"warning: {reason}\nwrote out.json\n")
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [run["name"] for run in data["runs"]] == ["keyword"]
    assert reason in data["remarks"]
    alone = karat("report", f"{unanswered}.2", *asked)
    assert (alone.returncode, reason in alone.stderr) == (2, True)


def test_kept_runs_beside_files(karat: Karat, experiment_id: str, folder: Path) -> None:
    (folder / "gold.json").write_text(
        json.dumps({"test_cases": [{"id": "q1", "query": "a", "ground_truth_files": ["1.py"]}]})
    )
    (folder / "file.run").write_text("q1 Q0 1.py 1 1 t\n", encoding="utf-8")
    done = karat(
        "report", "gold.json", f"{experiment_id}.1", "file.run", "-o", "out.json", "-m", "mrr"
    )
    assert done.returncode == 0, done.stderr
    data = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert {run["name"]: run["metrics"]["mrr"]["mean"] for run in data["runs"]} == {
        "keyword": 0.5,
        "file": 1.0,
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("other",), "'other' is not a file, and no experiment 'other' in .karat/karat.db"),
        (("latest", "old.run"), "old.run is a file; expected the gold set first"),
        (("gold.qrels",), "no run to report on"),
        (("latest", "--store", "other.db"), "other.db: no results stored yet"),
        (
            ("gold.qrels", "mistyped.run", "--store", "other.db"),
            "the file 'mistyped.run' does not exist, and other.db: no results stored yet",
        ),
    ],
)
def test_what_cannot_be_reported_on(
    karat: Karat, experiment_id: str, arguments: tuple[str, ...], message: str
) -> None:
    done = karat("report", *arguments, "-o", "out.html")
    assert done.returncode == 2
    assert message in done.stderr


def test_the_shape_of_agents(karat: Karat, experiment_id: str, folder: Path) -> None:
    done = karat("report", "latest", "-o", "{engine}.csv", "--schema", "agents", "--draws", "99")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "wrote keyword.csv\nwrote bm25_k1=1.2.csv\n"
    assert (
        (folder / "keyword.csv").read_text(encoding="utf-8").startswith("test_case_id,agent_name")
    )


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("out.html", "--schema agents writes .json or .csv files"),
        ("out.json", "several runs need several files"),
    ],
)
def test_shapes_that_do_not_fit(
    karat: Karat, experiment_id: str, output: str, message: str
) -> None:
    done = karat("report", "latest", "-o", output, "--schema", "agents")
    assert done.returncode == 2
    assert message in done.stderr


def test_losses_are_told_where_the_engine_can_be_asked(
    karat: Karat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(folder / "cache"))
    project = folder / "project"
    project.mkdir()
    (project / "login.py").write_text("def login(user):\n    return user\n")
    case = {"id": "a", "query": "where is login", "ground_truth_files": ["login.py", "gone.py"]}
    (folder / "small.json").write_text(json.dumps({"test_cases": [case], "metadata": {}}))
    asked = ("evaluate", "small.json", "--corpus", "project", "-e", "bm25", "--timed", "0")
    assert karat(*asked).returncode == 0
    done = karat("report", "latest", "-o", "lost.json", "--losses")
    assert done.returncode == 0, done.stderr
    lost = json.loads((folder / "lost.json").read_text())
    assert lost["lost"] == [{"run": "bm25", "query_id": "a", "target": 1, "by": "not_in_corpus"}]
    assert lost["targets"]["bm25"]["not_in_corpus"] == 1


def test_losses_need_to_know_where(karat: Karat) -> None:
    done = karat("report", "code.csv", "code.jsonl", "-o", "r.md", "--losses", "-m", "hit@1")
    assert done.returncode == 2
    assert "needs runs that Karat made" in done.stderr
