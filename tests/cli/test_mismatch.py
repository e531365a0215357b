"""A run whose document names differ from the gold set: a warning first, and no winner."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

Karat = Callable[..., CompletedProcess[str]]

WARNING = (
    "no hit of other is a target: the run has 'x/src/0.py', the gold set 'src/0.py'; add --root x"
)


@pytest.fixture
def files(folder: Path) -> Path:
    """Make a gold set of 12 files, a run that finds them all, and one with a folder too many."""
    cases = [
        {"id": str(n), "query": f"question {n}", "ground_truth_files": [f"src/{n}.py"]}
        for n in range(12)
    ]
    (folder / "gold.json").write_text(json.dumps({"test_cases": cases, "metadata": {}}))
    for name, lead in (("good", ""), ("second", ""), ("other", "x/")):
        hits = "{n} Q0 {lead}lib/a.py 1 {score} t\n{n} Q0 {lead}src/{n}.py 2 2 t\n"
        score = 3 if name == "second" else 1
        text = "".join(hits.format(n=n, lead=lead, score=score) for n in range(12))
        (folder / f"{name}.run").write_text(text)
    return folder


def first_lines(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("files")
def test_score_warns_first(karat: Karat) -> None:
    done = karat("score", "gold.json", "other.run", "-m", "mrr")
    assert done.returncode == 3
    verdict = "No verdict on other: names do not match those of the gold set."
    assert first_lines(done.stdout).startswith(f"{verdict} warning: {WARNING} run mrr")
    markdown = karat("score", "gold.json", "other.run", "-m", "mrr", "--markdown", "--per-query")
    warning = "> **Warning:** no hit of other is a target"
    assert markdown.stdout.startswith(f"**{verdict}**\n\n{warning}")
    table = karat("score", "gold.json", "other.run", "-m", "mrr", "--csv")
    assert table.stderr == f"warning: {WARNING}\n"
    plain = json.loads(karat("score", "gold.json", "other.run", "-m", "mrr", "--json").stdout)
    assert plain["warnings"] == [WARNING]
    assert plain["run"]["notes"]["mismatch"]["options"] == "--root x"


@pytest.mark.usefixtures("files")
def test_score_shows_no_zero_that_measures_nothing(karat: Karat) -> None:
    command = ("score", "gold.json", "other.run", "-m", "mrr")
    assert "\nother    -\n" in karat(*command).stdout
    table = karat(*command, "--csv").stdout.splitlines()
    assert dict(zip(table[0].split(","), table[1].split(","), strict=True)) == {
        **dict.fromkeys(("tag", "value", "mean", "low", "high", "answered_mean"), ""),
        "run": "other",
        "measure": "mrr",
        "n": "0",
    }
    queries = karat(*command, "--per-query", "--csv").stdout.splitlines()
    assert queries[1] == "other,0,scored,"
    scored = json.loads(karat(*command, "--json").stdout)["run"]
    assert scored["metrics"]["mrr"]["mean"] is None
    assert scored["queries"][0]["scores"] == {"mrr": None}
    both = json.loads(
        karat("compare", "gold.json", "good.run", "other.run", "-m", "mrr", "--json").stdout
    )
    assert [each["metrics"]["mrr"]["mean"] for each in both["runs"]] == [1.0, None]


def test_a_gate_is_decided_by_the_scores_where_one_name_is_similar(
    karat: Karat, files: Path
) -> None:
    lines = [f"{n} Q0 lib/{n}.py 1 1 t\n" for n in range(9)]
    (files / "poor.run").write_text("".join([*lines, "9 Q0 examples/src/9.py 1 1 t\n"]))
    done = karat("gate", "gold.json", "poor.run", "--min", "hit@5=0.1")
    assert done.returncode == 1, done.stderr


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "options", [("--root", "x"), ("--strip-prefix", "y/", "--strip-prefix", "x/")]
)
def test_the_option_named_repairs_it(karat: Karat, options: tuple[str, ...]) -> None:
    done = karat("score", "gold.json", "other.run", "-m", "mrr", "--json", *options)
    document = json.loads(done.stdout)
    assert (document["warnings"], document["run"]["metrics"]["mrr"]["mean"]) == ([], 1.0)


def test_chunks_are_cut_to_documents(karat: Karat, files: Path) -> None:
    text = "".join(f"{n} Q0 src/{n}.py#{c} 1 {3 - c} t\n" for n in range(12) for c in range(3))
    (files / "chunks.run").write_text(text)
    assert "add --cut-at '#'" in first_lines(karat("score", "gold.json", "chunks.run").stdout)
    done = karat("score", "gold.json", "chunks.run", "-m", "precision@3", "--cut-at", "#", "--json")
    scored = json.loads(done.stdout)["run"]
    assert scored["metrics"]["precision@3"]["mean"] == pytest.approx(1 / 3)
    assert scored["notes"]["invalid"] == {}


@pytest.mark.usefixtures("files")
def test_compare_names_no_winner(karat: Karat) -> None:
    done = karat("compare", "gold.json", "good.run", "other.run", "-m", "mrr", "--draws", "199")
    assert done.returncode == 3
    text = first_lines(done.stdout)
    verdict = "No verdict on other: names do not match those of the gold set."
    assert text.startswith(f"{verdict} warning: {WARNING}")
    for word in ("is better", "p <", "better than b"):
        assert word not in text
    plain = json.loads(
        karat("compare", "gold.json", "good.run", "other.run", "-m", "mrr", "--json").stdout
    )
    assert plain["warnings"] == [WARNING]
    assert [each["p"] for each in plain["comparison"]["differences"]] == [None]
    table = karat("compare", "gold.json", "good.run", "other.run", "-m", "mrr", "--csv")
    assert WARNING in table.stderr


@pytest.mark.usefixtures("files")
def test_the_other_runs_are_compared_all_the_same(karat: Karat) -> None:
    done = karat("compare", "gold.json", "second.run", "good.run", "other.run", "-m", "mrr")
    text = first_lines(done.stdout)
    assert "good has the highest mrr, 1.000, and is better than second (+0.500" in text
    assert "No verdict on other: names do not match those of the gold set." in text
    assert "no score on mrr" not in text
    assert "better than other" not in text


@pytest.mark.usefixtures("files")
def test_a_gate_has_broken_input(karat: Karat) -> None:
    done = karat("gate", "gold.json", "other.run", "--min", "hit@5=0.1")
    assert done.returncode == 2
    assert f"cannot check this run: {WARNING}" in done.stderr
    assert karat("baseline", "update", "gold.json", "other.run").returncode == 2


@pytest.mark.parametrize("name", ["r.html", "r.md", "r.txt", "r.json"])
def test_a_report_shows_it(
    karat: Karat, files: Path, name: str, embedded: Callable[[str], dict[str, Any]]
) -> None:
    done = karat("report", "gold.json", "good.run", "other.run", "-o", name, "-m", "mrr")
    assert done.returncode == 0, done.stderr
    text = (files / name).read_text()
    if name == "r.html":
        text = json.dumps(embedded(text))
    assert "no hit of other is a target" in text
    assert "better than other" not in text


def test_a_part_of_the_names_is_a_warning_with_an_option_that_works(
    karat: Karat, files: Path
) -> None:
    lines = [f"{n} Q0 {'repo/' if n % 3 == 0 else ''}src/{n}.py 1 1 t\n" for n in range(12)]
    (files / "third.run").write_text("".join(lines))
    warning = (
        "in 4 of 12 queries, third has a target under another name: the run has 'repo/src/0.py', "
        "the gold set 'src/0.py'; add --strip-prefix repo/"
    )
    done = karat("compare", "gold.json", "good.run", "third.run", "-m", "mrr", "--draws", "99")
    assert done.returncode == 0
    verdict, told, _ = done.stdout.split("\n\n", 2)
    assert verdict.startswith("No significant difference between good and third on mrr")
    assert first_lines(told) == f"warning: {warning}"
    plain = json.loads(karat("score", "gold.json", "third.run", "-m", "mrr", "--json").stdout)
    assert plain["warnings"] == [warning]
    assert plain["run"]["status"] == "scored"
    assert plain["run"]["metrics"]["mrr"]["mean"] == pytest.approx(8 / 12)
    command = ("score", "gold.json", "third.run", "-m", "mrr", "--strip-prefix", "repo/", "--json")
    mended = json.loads(karat(*command).stdout)
    assert (mended["warnings"], mended["run"]["metrics"]["mrr"]["mean"]) == ([], 1.0)
