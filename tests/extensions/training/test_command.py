"""karat export training on a folder: files, tables, JSON and errors."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import click
import pytest

from karat.extensions.training.command import training
from karat.extensions.training.export import LAYOUTS

Karat = Callable[..., CompletedProcess[str]]

FILES = {
    "login.py": "def login(user, secret):\n    token = sign(user, secret)\n    return token\n",
    "logout.py": "def logout(user, token):\n    forget(user, token)\n    return None\n",
    "mail.py": "def send_mail(user, text):\n    box = mailbox(user)\n    box.send(text)\n",
}
EXPORT = ("export", "training", "gold.csv", "--corpus", "corpus")


@pytest.fixture(autouse=True)
def corpus(folder: Path) -> None:
    (folder / "corpus").mkdir()
    for name, text in FILES.items():
        (folder / "corpus" / name).write_text(text)
    (folder / "gold.csv").write_text(
        "query,result1\n"
        "where does a user login,login.py:1-3:2\n"
        "forget the token of a user,logout.py:1-3:1\n"
    )


def test_rows_are_written_and_counted(karat: Karat, folder: Path) -> None:
    done = karat(*EXPORT, "--negatives", "1", "--max-score-ratio", "0")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "wrote 2 rows to training\n"
    assert "train        2          2          2     2" in done.stdout
    rows = [json.loads(line) for line in (folder / "training/train.jsonl").read_text().splitlines()]
    assert [row["positive"] for row in rows] == [FILES["login.py"], FILES["logout.py"]]


def test_json_has_recipe_counts_and_files(karat: Karat, folder: Path) -> None:
    (folder / "test.csv").write_text("query,result1\nwhere does a user login,login.py:1-3:2\n")
    karat(*EXPORT, "--max-score-ratio", "0", "-o", "data")
    options = ("--max-score-ratio", "0", "-o", "data", "--test-set", "test.csv")
    (folder / "corpus" / "scan.raw").write_bytes(b"\0")
    done = karat(*EXPORT, *options, "--force", "--json")
    printed = json.loads(done.stdout)
    assert done.stderr == "skipped 1 file: 1 binary (scan.raw)\n"
    assert printed["searched"]["skipped_files"] == {"binary": ["scan.raw"]}
    assert printed["engine"]["name"] == "bm25"
    assert printed["rules"]["max_score_ratio"] == 0
    assert printed["parts"]["train"]["queries"] == 1
    assert printed["test_sets"][0]["queries"] == {
        "same query": 1,
        "same commit": 0,
        "same target text": 1,
    }
    assert "data/train.jsonl" in printed["files"]


def test_a_run_file_takes_the_place_of_an_engine(karat: Karat, folder: Path) -> None:
    hits = [{"path": "login.py", "score": 2}, {"path": "mail.py", "score": 1}]
    lines = [{"format": "karat-run", "version": 1, "name": "mine"}, {"query_id": "1", "hits": hits}]
    (folder / "mine.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = karat(*EXPORT, "--run", "mine.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["engine"] == {"name": "mine"}
    both = karat(*EXPORT, "--run", "mine.jsonl", "--engine", "bm25")
    assert both.returncode == 2
    assert "--engine and --run exclude each other" in both.stderr


def test_target_texts_that_cannot_be_compared_are_reported(karat: Karat, folder: Path) -> None:
    case = {"id": "a", "query": "read a letter aloud", "ground_truth_files": ["a.py"]}
    mined = {"test_cases": [case], "metadata": {"repository": "gone"}}
    (folder / "benchmark.json").write_text(json.dumps(mined))
    options = ("--max-score-ratio", "0", "--test-set", "benchmark.json")
    done = karat(*EXPORT, *options)
    assert done.returncode == 0, done.stderr
    assert "warning: the target texts of" in done.stderr


def test_an_earlier_export_is_not_replaced_by_accident(karat: Karat) -> None:
    assert karat(*EXPORT, "--layout", "pair").returncode == 0
    again = karat(*EXPORT)
    assert again.returncode == 2
    assert again.stderr == "error: training holds an earlier export; --force replaces it\n"


def test_every_layout_can_be_named() -> None:
    (layout,) = (param for param in training.params if param.name == "layout")
    assert isinstance(layout.type, click.Choice)
    assert list(layout.type.choices) == list(LAYOUTS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--held-out 0.3", "--held-out needs --split NAMES"),
        ("--split-by repository", "--split-by needs --split NAMES"),
        ("--allow-contamination", "--allow-contamination needs --test-set FILE"),
    ],
)
def test_an_option_without_effect_is_an_error(karat: Karat, given: str, said: str) -> None:
    done = karat(*EXPORT, *given.split())
    assert done.returncode == 2
    assert said in done.stderr
