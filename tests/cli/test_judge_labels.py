"""Every command that scores leaves labels of models out, or uses them as --judge-labels says."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import karat as package
from karat.errors import InputError
from karat.formats import write
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.judgments import JudgmentRecord, with_model_labels

Karat = Callable[..., CompletedProcess[str]]

WORDS = ("login", "cart", "mail", "queue", "theme", "route")
# People judged two documents of each query; the model agrees on every fourth of them.
DOUBT = "these numbers use labels by m1; agreement with people: kappa"
UNUSED = "18 labels by m1 are not used; --judge-labels include uses them"
NOON = "2026-01-01T12:00:00Z"


@pytest.fixture(autouse=True)
def files(folder: Path) -> Path:
    (folder / "docs").mkdir()
    queries, first, second = [], [], []
    for number, word in enumerate(WORDS):
        paths = [f"{word}{index}.py" for index in range(3)]
        for path in paths:
            (folder / "docs" / path).write_text(f"def {word}(): return '{word} {path}'\n")
        people = (Target(paths[0], 1), Target(paths[1], 0))
        right = number % 4 == 0
        labels = [
            JudgmentRecord(Target(path, float(grade)), "m1", NOON)
            for path, grade in zip(paths, (3, 1, 2) if right else (1, 3, 2), strict=True)
        ]
        queries.append(with_model_labels(Query(f"q{number}", word, people), labels))
        first.append(Answer(f"q{number}", tuple(Hit(path) for path in paths)))
        second.append(Answer(f"q{number}", tuple(Hit(path) for path in reversed(paths))))
    write(Dataset.of(queries, name="labelled", match="exact"), folder / "gold.json")
    write(Run.of(first, name="first"), folder / "first.jsonl")
    write(Run.of(second, name="second"), folder / "second.jsonl")
    return folder


MRR = ("-m", "mrr", "--draws", "99")
COMMANDS = {
    "score": ("score", "gold.json", "first.jsonl", *MRR),
    "compare": ("compare", "gold.json", "first.jsonl", "second.jsonl", *MRR),
    "gate": ("gate", "gold.json", "first.jsonl", "--min", "mrr=0.1", "--draws", "99"),
    "baseline": ("baseline", "update", "gold.json", "first.jsonl", "-m", "mrr"),
    "evaluate": ("evaluate", "gold.json", "--corpus", "docs", "--timed", "none", *MRR),
    "sweep": (
        *("sweep", "gold.json", "--corpus", "docs", "--matrix", "matrix.yaml"),
        *("--timed", "none", *MRR),
    ),
}
MATRIX = "search_modes: [sparse]\ntop_k_values: [3, 5]\n"


def said(done: CompletedProcess[str]) -> str:
    return " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("name", COMMANDS)
def test_labels_of_models_are_used_only_when_chosen(karat: Karat, folder: Path, name: str) -> None:
    (folder / "matrix.yaml").write_text(MATRIX)
    check_choice(karat, *COMMANDS[name])


def check_choice(karat: Karat, *command: str) -> None:
    """Fail if *command* uses labels of models without a choice, or without a warning."""
    plain = karat(*command)
    used = karat(*command, "--judge-labels", "include")
    trusted = karat(*command, "--judge-labels", "include", "--min-agreement", "-1")

    assert (plain.returncode, used.returncode, trusted.returncode) == (0, 0, 0), used.stderr
    assert UNUSED in said(plain)
    assert "†" not in said(plain)
    assert f"warning: † {DOUBT}" in said(used)
    assert "on 12 hits, below 0.6" in said(used)
    assert said(used).count("†") > 1
    assert DOUBT in said(trusted)
    assert "†" not in said(trusted)


@pytest.mark.parametrize("choice", [(), ("--judge-labels", "exclude")])
@pytest.mark.parametrize("name", ["score", "gate", "evaluate"])
def test_a_minimum_without_labels_of_models_is_a_mistake(
    karat: Karat, name: str, choice: tuple[str, ...]
) -> None:
    check_minimum(karat, *COMMANDS[name], *choice)


def check_minimum(karat: Karat, *command: str) -> None:
    """Fail if *command* takes a minimum of agreement although no labels of models are used."""
    done = karat(*command, "--min-agreement", "0.2")
    assert done.returncode == 2
    assert "--min-agreement needs --judge-labels include or only" in said(done)


def test_the_choice_changes_the_scores(karat: Karat) -> None:
    def mean(*options: str) -> float:
        done = karat(*COMMANDS["score"], "--json", *options)
        value = json.loads(done.stdout)
        return float(value["run"]["metrics"]["mrr"]["mean"])

    assert mean() == mean("--judge-labels", "exclude") == 1.0
    # Of six queries the model calls the first hit relevant in two, and else the second one.
    assert mean("--judge-labels", "only") == pytest.approx((2 + 4 / 2) / 6)


def test_json_has_the_agreement_and_the_warning(karat: Karat) -> None:
    done = karat(*COMMANDS["compare"], "--judge-labels", "only", "--json")
    value = json.loads(done.stdout)

    (warning,) = value["warnings"]
    assert warning.startswith("† these numbers use only labels by m1")
    labels = value["runs"][0]["notes"]["labels"]
    assert (labels["choice"], labels["judges"], labels["pairs"]) == ("only", ["m1"], 12)
    assert labels["low"] < labels["kappa"] < labels["high"]
    gate = json.loads(karat(*COMMANDS["gate"], "--judge-labels", "only", "--json").stdout)
    assert gate["warnings"] == [warning]
    assert gate["labels"] == labels


@pytest.mark.parametrize("name", ["report.html", "report.md", "report.txt", "report.tex"])
def test_reports_warn(karat: Karat, folder: Path, name: str) -> None:
    report = ("report", "gold.json", "first.jsonl", "second.jsonl", *MRR, "-o", name)
    karat(*report)
    assert "agreement with people" not in (folder / name).read_text()
    done = karat(*report, "--judge-labels", "include")

    assert done.returncode == 0, done.stderr
    if name != "report.html":
        text = " ".join((folder / name).read_text().replace(r"\dag{}", "†").split())
        assert f"† {DOUBT}" in text
        assert r"1.000}$^{" in text if name == "report.tex" else "1.000†" in text


def test_a_baseline_of_other_labels_is_refused(karat: Karat) -> None:
    karat(*COMMANDS["baseline"], "-o", "people.json")
    gate = ("gate", "gold.json", "second.jsonl", "--baseline", "people.json", "--draws", "99")
    done = karat(*gate, "--judge-labels", "include")

    assert done.returncode == 2
    assert "the baseline was judged with judge_labels exclude, this run with include" in said(done)


def test_new_labels_of_models_do_not_change_a_baseline(karat: Karat, folder: Path) -> None:
    labelled = package.load("gold.json")
    assert isinstance(labelled, Dataset)
    plain = labelled.with_queries([with_model_labels(each, ()) for each in labelled.queries()])
    write(plain, folder / "plain.json")
    karat("baseline", "update", "plain.json", "first.jsonl", "-m", "mrr")
    done = karat("gate", "gold.json", "first.jsonl", "--baseline", "baseline.json")

    assert done.returncode == 0, done.stderr


def test_a_stored_experiment_keeps_its_labels_and_its_warning(karat: Karat) -> None:
    karat(*COMMANDS["evaluate"], "--judge-labels", "include")
    done = karat("report", "latest", "-o", "r.md", *MRR)
    assert done.returncode == 0, done.stderr
    assert f"† {DOUBT}" in Path("r.md").read_text()
    other = karat("report", "latest", "-o", "r.md", *MRR, "--judge-labels", "only")

    assert other.returncode == 2
    assert "needs the file of the gold set before the runs" in said(other)


def test_a_gold_set_without_labels_of_models(karat: Karat) -> None:
    for gold in ("gold.qrels", "code.csv"):
        done = karat("score", gold, "old.run", "--judge-labels", "only")
        assert done.returncode == 2
        assert "has no model labels; karat judge --model adds them" in said(done)


def test_python_chooses_labels_too() -> None:
    evaluation = package.evaluate("gold.json", "first.jsonl", ["mrr"], judge_labels="only")
    contest = package.compare(
        "gold.json", ["first.jsonl", "second.jsonl"], ["mrr"], judge_labels="only", draws=99
    )
    sure = package.evaluate(
        "gold.json", "first.jsonl", ["mrr"], judge_labels="only", min_agreement=-1
    )

    assert evaluation["mrr"] == contest["first"]["mrr"] == pytest.approx(4 / 6)
    assert evaluation.warnings == contest.warnings
    assert evaluation.mark == contest.mark == "†"
    assert "0.667†" in evaluation._repr_html_()
    assert sure.warnings == ()
    with pytest.raises(InputError, match="a dictionary of judgments has no model labels"):
        package.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, judge_labels="include")
    with pytest.raises(InputError, match="'maybe' is not a choice of labels; expected exclude"):
        package.evaluate("gold.json", "first.jsonl", judge_labels="maybe")


def test_a_report_from_python_warns(folder: Path) -> None:
    package.write_report(
        "gold.json", ["first.jsonl", "second.jsonl"], "r.md", ["mrr"], judge_labels="include"
    )
    assert f"† {DOUBT}" in (folder / "r.md").read_text()


@pytest.fixture
def sized(folder: Path) -> tuple[str, str]:
    """Return two runs whose hits have lines, in two orders; the gold set then counts lines."""
    gold = package.load("gold.json")
    assert isinstance(gold, Dataset)
    queries = [
        query._replace(
            targets=tuple(each._replace(start_line=1, end_line=3) for each in query.targets)
        )
        for query in gold.queries()
    ]
    write(replace(gold.with_queries(queries), match="lines"), folder / "gold.json")
    names = ("sized.jsonl", "turned.jsonl")
    for name, order in zip(names, ((0, 1, 2), (1, 0, 2)), strict=True):
        answers = [
            Answer(
                f"q{number}",
                tuple(Hit(f"{word}{row}.py", start_line=1, end_line=3) for row in order),
            )
            for number, word in enumerate(WORDS)
        ]
        write(Run.of(answers), folder / name)
    return names


USED = ("--judge-labels", "include", "--draws", "99")


def test_sizes_of_hits_have_no_mark(karat: Karat, folder: Path, sized: tuple[str, str]) -> None:
    both = ("-m", "mrr,lines@3", *USED)
    one = karat("score", "gold.json", sized[0], *both, "--per-query").stdout
    two = karat("compare", "gold.json", *sized, *both).stdout
    only = karat("compare", "gold.json", *sized, "-m", "lines@3", *USED, "--per-query").stdout
    assert "9.0000" in one
    assert "9.000" in two
    for text in (one, two):
        assert "†" in text
        assert "9.000†" not in text
        assert "9.0000†" not in text
    assert "9.000" in only
    assert only.count("†") == only.count("warning: †") == 1
    base = karat("baseline", "update", "gold.json", sized[0], "-m", "mrr,lines@3", *USED[:2])
    assert "lines@3: 9.0000\n" in base.stdout
    karat("report", "gold.json", *sized, *both, "-o", "r.md")
    karat("report", "gold.json", *sized, *both, "-o", "r.tex")
    for text in ((folder / name).read_text() for name in ("r.md", "r.tex")):
        assert "9.000" in text
        assert "9.000†" not in text
        assert not any("9.000" + mark in text for mark in (r"$^{\dagger}", r"}$^{\dagger}"))


def test_both_ranks_of_a_gate_have_the_mark(karat: Karat, folder: Path) -> None:
    answers = [
        Answer(f"q{number}", (Hit(f"{word}1.py"), Hit(f"{word}0.py")))
        for number, word in enumerate(WORDS)
    ]
    write(Run.of(answers), folder / "turned.jsonl")
    karat("baseline", "update", "gold.json", "first.jsonl", "-m", "mrr", *USED[:2])
    gate = karat(
        "gate", "gold.json", "turned.jsonl", "--baseline", "baseline.json", *USED, "--details"
    )
    (row, *_) = (line.split() for line in gate.stdout.splitlines() if line.startswith("q1"))

    assert all(cell.endswith("†") for cell in row[1:6]), gate.stdout
    assert " †" not in gate.stdout.replace("warning: †", "")
