"""What is said about stored runs, and where a store is made."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.run_records import remarks, run_with_latencies
from karat.experiments.store import Store, open_store, url_without_password
from karat.model import Answer, Run
from karat.model.timings import LatencySample, RunResult, Timings


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(str(tmp_path / "karat.db"), new=True) as opened:
        yield opened


def test_a_store_is_made_only_where_one_is_wanted(tmp_path: Path) -> None:
    place = tmp_path / ".karat" / "karat.db"
    with pytest.raises(InputError, match="no results stored yet"):
        open_store(str(place))
    open_store(str(place), new=True).close()
    (place.parent / ".gitignore").write_text("mine")
    open_store(str(place)).close()
    assert (place.parent / ".gitignore").read_text() == "mine"


def test_a_password_is_not_shown() -> None:
    assert "secret" not in url_without_password(
        "postgresql://ann:secret@host/karat?password=secret"
    )


def repeated(queries: int, *, unstable: bool = False, of: int = 20) -> RunResult:
    """Return a run of *of* queries, some of which ran twice."""
    odd = {"unstable": True} if unstable else {}
    answers = [
        Answer(f"q{row}", extra={"repeated": True, **odd} if row < queries else {})
        for row in range(of)
    ]
    return RunResult(Run.of(answers, metadata={"engine": {"name": "command"}}), None, "", "mine")


def test_a_run_says_whether_its_engine_answers_identically() -> None:
    def known(result: RunResult) -> list[object]:
        metadata = run_with_latencies(result).metadata
        return [metadata.get(key) for key in ("deterministic", "repeated")]

    assert known(repeated(10)) == [True, 10]
    assert known(repeated(10, unstable=True)) == [False, 10]
    # One query that differs is enough, and nine that do not are too few.
    assert known(repeated(1, unstable=True)) == [False, 1]
    assert known(repeated(9)) == [None, None]
    assert known(repeated(3, of=3)) == [True, 3]
    assert known(repeated(0)) == [None, None]
    own = repeated(0)
    built_in = Run.of(own.run.answers(), metadata={"engine": {"name": "bm25", "options": {}}})
    assert known(replace(own, run=built_in)) == [True, None]
    samples = tuple(LatencySample(f"q{row}", 9, (8,)) for row in range(10))
    timed = replace(own, timings=Timings(samples, 0, 0, 0, 0, 2, alone=True))
    assert known(timed) == [True, 10]


def test_times_that_came_later() -> None:
    run = Run.of([Answer("q1"), Answer("q2", latency_ns=7)], metadata={"k": 5})
    timings = Timings((LatencySample("q1", 9, (4_000_000,)),), 0, 0, 0, 0, 2, alone=True)
    timed = run_with_latencies(RunResult(run, timings, "", "bm25"))
    assert list(timed.latencies_ns) == [4_000_000, 7]
    assert (timed.name, timed.metadata) == ("bm25", {"k": 5})
    assert run_with_latencies(RunResult(run, None, "", "bm25")).latencies_ns == run.latencies_ns
    backwards = run.query_ids[::-1]
    assert tuple(
        run_with_latencies(RunResult(run, None, "", "bm25"), backwards).query_ids
    ) == tuple(backwards)
    disturbed = run_with_latencies(RunResult(run, replace(timings, alone=False), "", "bm25"))
    assert disturbed.metadata == {"k": 5, "disturbed": True}


@pytest.mark.parametrize(
    ("lost", "sentence"),
    [
        (1, "1 unit was lost with its slot; other slots ran the rest"),
        (2, "2 units were lost with their slots; other slots ran the rest"),
    ],
)
def test_remarks_on_slots(lost: int, sentence: str) -> None:
    notes = {"lost_units": lost, "differing_slots": ["kernels SSE42 instead of AVX2"]}
    run = Run.of([Answer("q1")])
    found = remarks([RunResult(run, None, "", "bm25", notes=notes)])
    assert sentence in found
    assert (
        "some slots have kernels SSE42 instead of AVX2; scores of embeddings may differ in the "
        "last digits" in found
    )
