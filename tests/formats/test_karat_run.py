import json
from math import isnan
from pathlib import Path

import pytest

from karat.errors import FormatError
from karat.formats import detect, read_run, write
from karat.model import Answer, Hit, Outcome, Run

HEADER = '{"format": "karat-run", "version": 1, "name": "bm25"}\n'
RUN = Run.of(
    [
        Answer(
            "q1",
            (Hit("a.py", 0.5, 1, 9, "f", 40), Hit("b.py", 0.25)),
            latency_ns=1200,
            extra={"mode": "dense"},
        ),
        Answer("q2", outcome=Outcome.TIMEOUT),
    ],
    name="bm25",
    metadata={"engine": {"k1": 1.2}},
)


def test_lines_and_object_hold_the_same(tmp_path: Path) -> None:
    lines, whole = tmp_path / "r.jsonl", tmp_path / "r.json"
    for path in (lines, whole):
        write(RUN, path, format="karat-run")
        assert detect(path).name == "karat-run"
        assert read_run(path) == RUN
    assert len(lines.read_text().splitlines()) == 3
    assert json.loads(whole.read_text())["answers"][1] == {
        "query_id": "q2",
        "outcome": "timeout",
        "hits": [],
    }


def test_a_missing_score_stays_missing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(Run.of([Answer("q", (Hit("a.py"),))]), path)
    assert '"score"' not in path.read_text()
    assert isnan(read_run(path).scores[0])


def test_a_range_that_makes_no_sense_is_kept_for_judging(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    run = Run.of([Answer("q", (Hit("a.py", 2.0, 9, 4), Hit("b.py", 1.0, 0, 3)))])
    write(run, path)
    assert read_run(path).answer(0).hits == run.answer(0).hits
    path.write_text(HEADER + '{"query_id": "q", "hits": [{"path": "a", "end_line": 2147483648}]}')
    with pytest.raises(FormatError, match="out of range"):
        read_run(path)


def test_every_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(
        HEADER
        + '{"query_id": "q1", "hits": [{"path": "", "score": "x"}]}\n\n'
        + '{"query_id": "q1", "outcome": "lost"}\n'
        + '{"query_id": "q2", "latency_ns": -5, "hits": [{"path": "a", "line": 3}]}\n'
    )
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (2, "hits[0].path: the text is empty"),
        (2, "hits[0].score: expected a number, found text"),
        (4, "outcome: 'lost' is not valid; expected answered, error, timeout"),
        (4, "query 'q1' is answered twice"),
        (5, "hits[0].line: unknown key; did you mean 'end_line'?"),
        (5, "latency_ns: -5 is out of range; expected 0 or more"),
    ]


def test_a_broken_line_and_a_wrong_version(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(HEADER + '{"query_id": NaN}\n{"query_id": "a", "query_id": "b"}\n{\n')
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert [problem.line for problem in caught.value.problems] == [2, 3, 4]
    path.write_text('{"format": "karat-run", "version": 9,\n"answers": [\n{"hits": []}]}')
    with pytest.raises(FormatError) as caught:
        read_run(path)
    assert [(problem.line, problem.message) for problem in caught.value.problems] == [
        (1, "expected format 'karat-run', version 1"),
        (3, "answers[0]: 'query_id' is missing"),
    ]
