"""karat judge --agreement prints what labels of models are worth."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.formats import write
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.judgments import JudgmentRecord, with_model_labels

Karat = Callable[..., CompletedProcess[str]]

JUDGE = ("judge", "set.json", "one.jsonl", "two.jsonl", "--agreement")


@pytest.fixture(autouse=True)
def files(folder: Path) -> Path:
    cases, one, two = [], [], []
    for number in range(12):
        paths = [f"{number}/{letter}.py" for letter in "abc"]
        people = (Target(paths[0], 2), Target(paths[1], 0), Target(paths[2], 1))
        grades = (3, 0, 2) if number % 3 else (0, 0, 3)
        labels = [
            JudgmentRecord(Target(path, grade), "m1", "2026-01-01T12:00:00Z")
            for path, grade in zip(paths, grades, strict=True)
        ]
        cases.append(with_model_labels(Query(f"q{number}", "who", people), labels))
        one.append(Answer(f"q{number}", tuple(Hit(path) for path in paths)))
        two.append(Answer(f"q{number}", tuple(Hit(path) for path in reversed(paths))))
    write(Dataset.of(cases, name="set", match="exact"), folder / "set.json")
    write(Run.of(one), folder / "one.jsonl")
    write(Run.of(two), folder / "two.jsonl")
    return folder


def test_the_tables(karat: Karat) -> None:
    done = karat(*JUDGE)
    text = " ".join(done.stdout.split())

    assert done.returncode == 0, done.stderr
    assert "set: labels of models and of the gold set on 36 hits of 12 queries" in text
    assert "gold set: 2 4 (33%)" in text
    assert "tau" not in text
    assert "more hits judged by both" in text
    places = [
        text.index(part)
        for part in ("Agreement of m1 with the gold set: weighted", "set: labels", "Grades", "bias")
    ]
    assert places == sorted(places)


def test_json(karat: Karat) -> None:
    value = json.loads(karat(*JUDGE, "--json").stdout)

    assert value["pairs"] == 36
    (judge,) = value["judges"]
    assert judge["confusion"]["counts"][2] == [4, 0, 8]
    assert judge["agreement"]["interval"]["low"] < judge["agreement"]["kappa"]
    assert [run["run"] for run in value["runs"]] == ["one", "two"]
    assert value["needed"]["kappa_half_width"] == 0.05


def test_a_set_without_pairs_names_the_command(karat: Karat, folder: Path) -> None:
    write(Dataset.of([Query("q0", "who", (Target("0/a.py"),))]), folder / "set.json")
    done = karat(*JUDGE)

    assert done.returncode == 2
    assert "karat judge GOLD RUN --model SPEC --judged" in " ".join(done.stderr.split())
