"""Results of others read as runs, and figures written in their formats."""

import csv
import json
from math import nan
from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.formats import detect, read_run
from karat.formats.results import AgentResults, CaseResult, write_results_csv, write_results_json
from karat.model import Answer, Hit, Outcome

RESULTS = AgentResults(
    "hybrid",
    "2024-03-20T14:00:00Z",
    {"mean_f1": 0.5, "p99_latency_ms": nan},
    [
        CaseResult("c1", ["a.py", "=b|c.py"], ["a.py"], 2 / 3, 12.5, {"outcome": "answered"}),
        CaseResult("c2", [], ["z.py"], 0.0, None, {"outcome": "timeout"}),
    ],
    {"karat": {"version": "1"}},
)
ANSWERS = [
    Answer("c1", (Hit("a.py"), Hit("=b|c.py")), latency_ns=12_500_000),
    Answer("c2", outcome=Outcome.TIMEOUT),
]


def same(answers: list[Answer], expected: list[Answer]) -> bool:
    """Say whether two lists of answers are equal; repr, because NaN is not itself."""
    return repr(answers) == repr(expected)


def test_json_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results_json(RESULTS, path)
    value = json.loads(path.read_text())
    assert list(value) == [
        *("agent_name", "timestamp", "aggregate_metrics", "total_test_cases", "results", "karat")
    ]
    assert value["aggregate_metrics"] == {"mean_f1": 0.5, "p99_latency_ms": None}
    assert value["total_test_cases"] == 2
    assert value["results"][1] == {
        "test_case_id": "c2",
        "retrieved_files": [],
        "ground_truth_files": ["z.py"],
        "f1_score": 0.0,
        "latency_ms": None,
        "outcome": "timeout",
    }
    assert detect(path).name == "results"
    run = read_run(path)
    assert run.name == "hybrid"
    assert same(list(run.answers()), ANSWERS)


def test_csv_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    write_results_csv(RESULTS, path)
    with path.open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows[0][:6] == [
        *("test_case_id", "agent_name", "retrieved_files"),
        *("ground_truth_files", "f1_score", "latency_ms"),
    ]
    assert rows[1][2] == r"a.py|=b\|c.py"
    assert rows[2] == ["c2", "hybrid", "", "z.py", "0.0", "", "timeout"]
    assert detect(path).name == "results-csv"
    run = read_run(path)
    assert run.name == "hybrid"
    assert same(list(run.answers()), ANSWERS)


def test_known_fields_are_never_replaced(tmp_path: Path) -> None:
    clash = RESULTS._replace(more={"results": []})
    with pytest.raises(InputError, match="already have results"):
        write_results_json(clash, tmp_path / "x.json")
    case = RESULTS.results[0]._replace(more={"f1_score": 1})
    with pytest.raises(InputError, match="already have f1_score"):
        write_results_csv(RESULTS._replace(results=[case]), tmp_path / "x.csv")
    case = RESULTS.results[0]._replace(retrieved_files=["a\\"])
    with pytest.raises(InputError, match="cannot hold the name"):
        write_results_csv(RESULTS._replace(results=[case]), tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


def test_problems(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(
        '{"agent_name": "x", "results": [\n{"test_case_id": "a", "retrieved_files": ["", 3]},\n'
        '{"test_case_id": "a", "latency_ms": -1, "outcome": "odd"},\n{"retrieved_files": []}]}'
    )
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "results[0].retrieved_files[0]: the text is empty"),
        (2, "results[0].retrieved_files[1]: expected text, found a number"),
        (3, "results[1]: 'retrieved_files' is missing"),
        (3, "results[1].latency_ms: -1 is out of range; expected 0 or more"),
        (
            3,
            "results[1].outcome: 'odd' is not valid; expected answered, error, timeout, "
            "agent_error",
        ),
        (3, "results[1]: test_case_id 'a' appears more than once"),
        (4, "results[2]: 'test_case_id' is missing"),
    ]
    table = tmp_path / "r.csv"
    table.write_text(
        "test_case_id,agent_name,retrieved_files,latency_ms,outcome\n"
        "a,x,f,-1,\na,y,f,1,odd\n,x,f,1,\nb,x,f\n"
    )
    with pytest.raises(FormatError) as caught:
        read_run(table)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (0, "results of 2 agents; expected one per file"),
        (2, "latency_ms '-1' is not a number of 0 or more"),
        (3, "outcome 'odd' is not valid; expected answered, error, timeout, agent_error"),
        (3, "test case 'a' appears twice"),
        (4, "the test_case_id is empty"),
        (5, "3 cells; expected 5, as in the header"),
    ]


def test_a_latency_beyond_all_clocks_is_read(tmp_path: Path) -> None:
    file = tmp_path / "results.csv"
    file.write_text(
        "test_case_id,agent_name,retrieved_files,ground_truth_files,f1_score,latency_ms\n"
        "a,agent,a.py,a.py,1.0,99999999999999999999\n"
    )
    assert read_run(file, format="results-csv").latencies_ns[0] == 2**63 - 1


@pytest.mark.parametrize("word", ["agent_error", "error"])
def test_an_agent_that_broke_is_read_by_both_words(tmp_path: Path, word: str) -> None:
    path = tmp_path / "results.json"
    case = f'{{"test_case_id": "a", "retrieved_files": [], "outcome": "{word}"}}'
    path.write_text(f'{{"agent_name": "x", "results": [{case}]}}', encoding="utf-8")
    assert read_run(path).answer(0) == Answer("a", outcome=Outcome.ERROR)
