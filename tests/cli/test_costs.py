"""Costs that a search outside Karat reports are stored, and shown wherever a run is."""

import json
import sys
from pathlib import Path

import pytest

from karat.cli import main
from karat.formats import read
from karat.model import Run
from karat.model.timings import QueryCost, spent_in

# Of one query it reports a cost that is not valid.
PROGRAM = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    if request["op"] == "search":
        cost = -1 if "in" in request["query"] else 0.5
        answer |= {"hits": [{"path": "login.py"}], "usage": {"total_tokens": 30}, "cost": cost}
    print(json.dumps(answer), flush=True)
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    printed = capsys.readouterr()
    assert not caught.value.code, printed.err
    return printed.out


@pytest.mark.parametrize("timed", ["none", "all"])
def test_costs_of_a_process(
    timed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    cases = []
    for name in ("login", "logout", "reset"):
        (docs / f"{name}.py").write_text(f"def {name}():\n    return 1\n")
        query = "log in" if name == "login" else f"where is {name}"
        cases.append({"id": name, "query": query, "ground_truth_files": [f"{name}.py"]})
    (tmp_path / "gold.json").write_text(json.dumps({"test_cases": cases}))
    paid = {"engine": "process", "command": [sys.executable, "-c", PROGRAM], "name": "paid"}
    (tmp_path / "paid.yaml").write_text(json.dumps(paid))
    out = run(
        capsys,
        *("compare", "gold.json", "--corpus", "docs", "--agents", "keyword", "paid.yaml"),
        *("--timed", timed, "--run-out", "{engine}.jsonl", "--details"),
    )
    assert "Cost of a query" in out
    again = run(
        capsys,
        *("compare", "gold.json", "--corpus", "docs", "--agents", "keyword", "paid.yaml"),
        *("--timed", timed, "--json"),
    )
    assert json.loads(again)["spent"] == {
        "keyword": {"tokens": None, "cost": None},
        "paid": {"tokens": 30, "cost": 0.5},
    }
    rows = {
        line.split()[0]: line.split()
        for line in out.partition("Cost of a query")[2].splitlines()[4:6]
    }
    assert rows["keyword"] == ["keyword", "not", "reported", "not", "reported"]
    assert rows["paid"] == ["paid", "30", "0.500"]
    notes = (
        "paid: cost reported for 2 of 3 queries",
        "paid: 1 reported value ignored; expected finite numbers from 0 up",
    )
    assert all(note in out for note in notes)
    for runs in (["latest"], ["gold.json", "keyword.jsonl", "paid.jsonl"]):
        run(capsys, "report", *runs, "-o", "report.md")
        report = Path("report.md").read_text(encoding="utf-8")
        assert all(note in report for note in ("Cost of a query", *notes))
    stored = read("paid.jsonl")
    assert isinstance(stored, Run)
    assert [spent_in(answer.extra) for answer in sorted(stored.answers())] == [
        QueryCost(30, None, 1),
        QueryCost(30, 0.5),
        QueryCost(30, 0.5),
    ]
