"""Queries are told ahead where nothing is timed, and whatever comes of that, the answers stay."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path

import pytest

from karat.experiments.measure import measure_quality
from karat.experiments.workers import (
    QUALITY,
    RunSettings,
    SnapshotQueries,
    measure_latency,
    supervised_worker,
)
from karat.experiments.workers.process import (
    EngineFailure,
    EngineProcess,
    SearchRequest,
    WorkerReply,
)
from karat.model import Dataset, Outcome
from karat.model.timings import RunResult
from tests.experiments.workers.conftest import Kept, gold, toy

Visits = Callable[[Dataset], tuple[SnapshotQueries, ...]]

QUERIES = tuple(f"login {number}" for number in range(24))


def expected(note: Path) -> list[int]:
    """Return of how many queries an engine was told, each time."""
    lines = [line.split()[1:] for line in note.read_text().splitlines()]
    return [len(words) - 1 for words in lines if words[0] == "expect"]


def outcomes(measured: RunResult) -> dict[str, Outcome]:
    return {answer.query_id: answer.outcome for answer in measured.run.answers()}


def test_times_are_those_of_a_query_alone(snapshots: Visits, tmp_path: Path) -> None:
    dataset = gold("a", "b")
    note = tmp_path / "note"
    settings = RunSettings(warm_up=1, repetitions=1)
    measure_latency([toy("Eager", note=str(note))], dataset, snapshots(dataset), settings=settings)
    assert expected(note) == []
    measure_quality([(toy("Eager", note=str(note)),)], dataset, snapshots(dataset))
    # The first one tells how long a query takes.
    assert expected(note) == [1]


def test_where_one_query_takes_long_nobody_waits_for_many(
    snapshots: Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised_worker, "PREFETCH_SHARE", 0.0)
    dataset, note = gold(*QUERIES), tmp_path / "note"
    [measured] = measure_quality([(toy("Eager", note=str(note)),)], dataset, snapshots(dataset))
    assert expected(note) == []
    assert set(outcomes(measured).values()) == {Outcome.ANSWERED}


def test_fewer_are_told_ahead_where_that_took_long(
    snapshots: Visits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whatever is told takes half of what one query may take.
    monkeypatch.setattr(supervised_worker, "monotonic", count(0.0, QUALITY.timeout_s / 2).__next__)
    monkeypatch.setattr(supervised_worker, "MAX_PREFETCH", 5)
    dataset, note = gold(*map(str, range(24))), tmp_path / "note"
    [measured] = measure_quality([(toy("Eager", note=str(note)),)], dataset, snapshots(dataset))
    # As many as allowed, and then as many as take a quarter, until not even one does.
    assert expected(note) == [5, 2, 1]
    assert set(outcomes(measured).values()) == {Outcome.ANSWERED}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return what comes to hold every question to a process, and what was sent ahead with it."""
    found: list[tuple[str, str]] = []
    search = EngineProcess.search

    def noted(
        process: EngineProcess, request: SearchRequest, then: SearchRequest | None = None
    ) -> list[WorkerReply | EngineFailure] | EngineFailure:
        found.append((request.query, then.query if then else ""))
        return search(process, request, then)

    monkeypatch.setattr(EngineProcess, "search", noted)
    return found


def test_nothing_is_sent_ahead_where_several_processes_take_turns(
    sent: list[tuple[str, str]], snapshots: Visits
) -> None:
    dataset = gold("leave", *QUERIES)
    bad, good = measure_quality([(toy("Bad"), toy("Good"))], dataset, snapshots(dataset))
    parted = [query for query, _ in sent].index("leave")
    assert any(then for _, then in sent[:parted])
    assert not any(then for _, then in sent[parted + 1 :])
    assert outcomes(bad)["leave"] is Outcome.ERROR
    assert set(outcomes(good).values()) == {Outcome.ANSWERED}


@pytest.mark.parametrize("repetitions", [1, 2])
def test_the_next_question_is_sent_ahead_only_where_nothing_is_timed(
    repetitions: int, sent: list[tuple[str, str]], snapshots: Visits
) -> None:
    dataset = gold(*(f"q{number}" for number in range(12)))
    settings = replace(QUALITY, repetitions=repetitions)
    measure_latency([toy("Good")], dataset, snapshots(dataset), settings=settings)
    assert {then for _, then in sent} == {""}
    sent.clear()
    measure_quality([(toy("Good"),)], dataset, snapshots(dataset), settings=settings)
    announced = [then for _, then in sent if then]
    # All but the first query, and the one after it.
    assert len(announced) == (10 if repetitions == 1 else 0)
    assert all(then in {"", after} for (_, then), (after, _) in pairwise(sent))


@pytest.mark.parametrize("how", ["fail", "leave", "hang"])
def test_what_goes_wrong_ahead_harms_no_query(
    how: str, snapshots: Visits, tmp_path: Path, kept: Kept
) -> None:
    dataset = gold("a", f"ahead {how}", "b", "fail", "c", "d", "e", "f")
    note = tmp_path / "note"
    # The one that hangs is given up soon, the others not before a slow machine has started.
    settings = replace(QUALITY, timeout_s=5.0 if how == "hang" else 30.0)
    [measured] = measure_quality(
        [(toy("Eager", note=str(note)),)], dataset, snapshots(dataset), settings=settings
    )
    found = outcomes(measured)
    assert any("expect" in line and how in line for line in note.read_text().splitlines())
    assert len(found) == len(dataset)
    assert [query for query, what in found.items() if what != Outcome.ANSWERED] == ["fail"]
    assert measured.notes["status"] == "completed"
