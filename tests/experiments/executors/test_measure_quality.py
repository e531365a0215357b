"""Many processes give the answers of one, and leave nothing behind."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from karat.experiments.executors import LocalExecutor
from karat.experiments.measure import measure_quality
from karat.experiments.workers import (
    QUALITY,
    Callbacks,
    RunEvent,
    SnapshotQueries,
    Source,
    all_queries_on,
)
from karat.model import Dataset, Outcome
from tests.experiments.workers.conftest import Kept, gold, toy

Visits = Callable[[Dataset], tuple[SnapshotQueries, ...]]


def test_the_answers_do_not_depend_on_the_number_of_processes(
    snapshots: Visits, kept: Kept
) -> None:
    dataset = gold(*(f"{number} ok" if number % 7 else f"fail {number}" for number in range(40)))
    plan = snapshots(dataset)
    callbacks = Callbacks(listen=kept.listen, on_result=kept.on_answer)
    [one] = measure_quality([(toy("Bad"),)], dataset, plan)
    [many] = measure_quality(
        [(toy("Bad"),)], dataset, plan, executor=LocalExecutor(3), callbacks=callbacks
    )
    assert many.run == one.run
    assert list(many.run.outcomes).count(Outcome.ERROR) == 6
    assert many.timings is None
    assert many.run.latencies_ns.tolist() == [-1] * 40
    assert [event.done for event in kept.events if event.kind == "answered"] == list(range(1, 41))
    assert sorted(answer.query_id for _, answer, _ in kept.answers) == sorted(dataset.query_ids)
    assert kept.kinds().count("indexed") == 3


def test_neighbouring_trees_go_to_one_process(kept: Kept) -> None:
    dataset = gold(*map(str, range(12)))
    trees = [Source.of_texts({f"{number}.py": "x\n"}) for number in range(12)]
    plan = [SnapshotQueries(tree, (row,)) for row, tree in enumerate(trees)]
    [measured] = measure_quality(
        [(toy("Good"),)],
        dataset,
        plan,
        executor=LocalExecutor(2),
        callbacks=Callbacks(listen=kept.listen),
    )
    paths = [answer.hits[0].path for answer in measured.run.answers()]
    assert paths == [f"{number}.py" for number in range(12)]
    assert kept.kinds().count("indexed") == 12


def test_repetitions_find_what_is_not_the_same_twice(snapshots: Visits) -> None:
    dataset = gold("a", "dice")
    settings = replace(QUALITY, repetitions=2)
    [measured] = measure_quality([(toy("Fickle"),)], dataset, snapshots(dataset), settings=settings)
    assert measured.notes["unstable"] == ["dice"]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_all_processes_and_keeps_what_is_done(snapshots: Visits) -> None:
    dataset = gold("interrupt", "hang", *map(str, range(12)))
    [first] = measure_quality(
        [(toy("Bad"),)], dataset, snapshots(dataset), executor=LocalExecutor(2)
    )
    assert first.notes["status"] == "cancelled"
    assert "interrupt" not in first.run.query_ids
    assert set(first.run.outcomes) <= {Outcome.ANSWERED}


def test_ctrl_c_keeps_answers_that_were_not_looked_at(snapshots: Visits, tmp_path: Path) -> None:
    note = tmp_path / "note"

    def listen(event: RunEvent) -> None:
        # While the caller is busy with the first answer, five more queries are asked: the last one
        # ahead of the answer to the one before it, so that four answers are there.
        if event.kind == "answered" and event.done == 1:
            while note.read_text().count("\n") < 7:
                pass
            raise KeyboardInterrupt

    dataset = gold(*map(str, range(9)))
    callbacks = Callbacks(listen=listen)
    [measured] = measure_quality(
        [(toy("Good", note=str(note)),)], dataset, snapshots(dataset), callbacks=callbacks
    )
    assert len(measured.run) >= 4


def test_a_search_that_hangs_holds_up_nobody_who_cancels(snapshots: Visits, tmp_path: Path) -> None:
    note = tmp_path / "note"
    dataset = gold("hang")
    callbacks = Callbacks(cancelled=lambda: note.exists() and "hang" in note.read_text())
    [measured] = measure_quality(
        [(toy("Bad", note=str(note)),)], dataset, snapshots(dataset), callbacks=callbacks
    )
    assert measured.notes["status"] == "cancelled"
    assert len(measured.run) == 0


def test_cancelled_then_continued(snapshots: Visits, kept: Kept) -> None:
    dataset = gold(*map(str, range(30)))
    plan = snapshots(dataset)
    callbacks = Callbacks(cancelled=lambda: len(kept.answers) >= 5, on_result=kept.on_answer)
    [first] = measure_quality(
        [(toy("Good"),)], dataset, plan, executor=LocalExecutor(2), callbacks=callbacks
    )
    assert first.notes["status"] == "cancelled"
    assert 5 <= len(first.run) < 30
    done = [answer.query_id for _, answer, _ in kept.answers]
    callbacks = Callbacks(skip={"Good": done}, on_result=kept.on_answer)
    [rest] = measure_quality(
        [(toy("Good"),)], dataset, plan, executor=LocalExecutor(2), callbacks=callbacks
    )
    assert rest.notes["status"] == "completed"
    assert len(kept.answers) == 30
    assert {answer.query_id for _, answer, _ in kept.answers} == set(dataset.query_ids)


def test_an_engine_that_only_dies_is_given_up_by_all(snapshots: Visits) -> None:
    dataset = gold(*(f"leave {number}" for number in range(20)))
    [measured] = measure_quality(
        [(toy("Bad"),)], dataset, snapshots(dataset), executor=LocalExecutor(2)
    )
    assert measured.notes["status"] == "failed"
    assert "died 3 times in a row" in str(measured.notes["error"])
    assert len(measured.run) <= 6


def test_an_error_of_the_caller_is_his_own(snapshots: Visits) -> None:
    def listen(event: RunEvent) -> None:
        if event.kind == "answered":
            raise OSError("disk full")

    dataset = gold("a", "b")
    with pytest.raises(OSError, match="disk full"):
        measure_quality(
            [(toy("Good"),)], dataset, snapshots(dataset), callbacks=Callbacks(listen=listen)
        )


def test_nothing_to_ask(source: Source, kept: Kept) -> None:
    dataset = gold("a")
    plan = all_queries_on(dataset, source, seed=0)
    callbacks = Callbacks(listen=kept.listen, skip={"Good": {"a"}})
    [measured] = measure_quality([(toy("Good"),)], dataset, plan, callbacks=callbacks)
    assert (len(measured.run), measured.notes["status"]) == (0, "completed")
    assert kept.kinds() == ["started", "finished"]
