"""Engines that hang, die, lie and interrupt: each costs its query, and the times stay honest."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from karat.experiments.workers import (
    Callbacks,
    Configuration,
    RunSettings,
    SnapshotQueries,
    Source,
    measure_latency,
)
from karat.model import Dataset, Outcome
from karat.model.spec import Spec
from karat.model.timings import RunResult
from tests.experiments.workers.conftest import TEXTS, Kept, alive, gold, toy

Visits = Callable[[Dataset], tuple[SnapshotQueries, ...]]

ONCE = RunSettings(warm_up=0, repetitions=1)


def outcomes(measured: RunResult) -> dict[str, Outcome]:
    return {answer.query_id: answer.outcome for answer in measured.run.answers()}


def errors(measured: RunResult) -> dict[str, object]:
    found = {answer.query_id: answer.extra for answer in measured.run.answers()}
    return {query: extra["error"] for query, extra in found.items() if "error" in extra}


def test_a_run_with_its_times(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a", "b", "c")
    callbacks = Callbacks(listen=kept.listen, on_result=kept.on_answer)
    [measured] = measure_latency([toy("Good")], dataset, snapshots(dataset), callbacks=callbacks)
    timings = measured.timings
    assert timings is not None
    assert (timings.warm_up, timings.repetitions, timings.alone) == (3, 3, True)
    assert [len(sample.warm_ns) for sample in timings.samples] == [2, 2, 2]
    assert 0 < timings.index_ns < 10**9
    assert timings.peak_bytes > 1_000_000
    order = [dataset.query_ids[row] for row in snapshots(dataset)[0].rows]
    assert [sample.query_id for sample in timings.samples] == order == list(measured.run.query_ids)
    latency = measured.run.answer(0).latency_ns
    assert min(timings.samples[0].warm_ns) <= latency <= max(timings.samples[0].warm_ns)
    assert [hit.path for hit in measured.run.answer(0).hits] == sorted(TEXTS)
    assert measured.engine == toy("Good").spec.digest
    assert measured.notes["status"] == "completed"
    assert kept.kinds() == ["started", "indexed", *["answered"] * 3, "finished"]
    assert [(run, answer) for run, answer, _ in kept.answers] == [
        ("Good", answer) for answer in measured.run.answers()
    ]
    assert tuple(sample for _, _, sample in kept.answers) == timings.samples


def test_warm_up_is_asked_and_not_recorded(snapshots: Visits, tmp_path: Path) -> None:
    dataset = gold("a", "b")
    note = tmp_path / "note"
    settings = RunSettings(warm_up=1, repetitions=2)
    [measured] = measure_latency(
        [toy("Good", note=str(note))], dataset, snapshots(dataset), settings=settings
    )
    asked = [line.split()[1] for line in note.read_text().splitlines()]
    first, second = measured.run.query_ids
    assert asked == ["index", second, first, first, second, second]


@pytest.mark.parametrize("act", ["hang", "deaf"])
def test_a_search_that_never_returns_is_ended(act: str, snapshots: Visits, tmp_path: Path) -> None:
    dataset = gold("a", act, "b", "c")
    note = tmp_path / "note"
    settings = RunSettings(warm_up=0, repetitions=1, timeout_s=0.5)
    [measured] = measure_latency(
        [toy("Bad", note=str(note))], dataset, snapshots(dataset), settings=settings
    )
    assert outcomes(measured).pop(act) is Outcome.TIMEOUT
    assert list(outcomes(measured).values()).count(Outcome.ANSWERED) == 3
    assert errors(measured)[act] == (
        "Bad: took longer than 0.5 s and was stopped; raise timeout_s in the engine's file, and "
        "--timeout of evaluate and compare"
    )
    processes = dict.fromkeys(int(line.split()[0]) for line in note.read_text().splitlines())
    assert len(processes) == 2
    assert not any(map(alive, processes))
    assert measured.timings is not None
    assert act not in [sample.query_id for sample in measured.timings.samples]
    assert (measured.notes["restarts"], measured.notes["failures"]) == (1, {"timeout": 1})


def test_what_an_engine_has_started_ends_with_it(snapshots: Visits, tmp_path: Path) -> None:
    dataset = gold("children")
    note = tmp_path / "note"
    settings = RunSettings(warm_up=0, repetitions=1, timeout_s=1)
    measure_latency([toy("Bad", note=str(note))], dataset, snapshots(dataset), settings=settings)
    [child] = [int(line.split()[2]) for line in note.read_text().splitlines() if "child " in line]
    assert not alive(child)


def test_an_engine_that_dies_costs_one_query(snapshots: Visits) -> None:
    dataset = gold("a", "leave", "b", "crash", "c")
    [measured] = measure_latency([toy("Bad")], dataset, snapshots(dataset), settings=ONCE)
    assert list(outcomes(measured).values()).count(Outcome.ANSWERED) == 3
    assert errors(measured) == {
        "leave": "its process ended with exit code 7; its error output: 'out of ideas'",
        "crash": "its process was ended by SIGSEGV",
    }
    assert measured.notes["failures"] == {"agent_error": 2}
    assert measured.notes["status"] == "completed"


def test_an_engine_that_only_dies_is_given_up(snapshots: Visits) -> None:
    dataset = gold(*(f"leave {number}" for number in range(9)))
    [measured] = measure_latency([toy("Bad")], dataset, snapshots(dataset), settings=ONCE)
    assert len(measured.run) == 3
    assert measured.notes["status"] == "failed"
    assert str(measured.notes["error"]).startswith(
        "Bad: the engine died 3 times in a row without an answer; the last time its process ended"
    )


def test_what_an_engine_raises_is_told(snapshots: Visits) -> None:
    dataset = gold("a", "fail", "late")
    [measured] = measure_latency([toy("Bad")], dataset, snapshots(dataset), settings=ONCE)
    assert outcomes(measured) == {
        "a": Outcome.ANSWERED,
        "fail": Outcome.ERROR,
        "late": Outcome.TIMEOUT,
    }
    assert errors(measured)["fail"] == "good: ValueError: no such word"
    traces = measured.notes["tracebacks"]
    assert isinstance(traces, dict)
    assert "in fail" in traces["fail"]
    assert measured.notes["restarts"] == 0


@pytest.mark.parametrize(
    ("name", "error", "answers"),
    [
        ("Unready", "could not index: no room for an index", 2),
        ("Mortal", "could not index: its process ended with exit code 9", 2),
        ("Missing", "no attribute 'Missing'", 0),
    ],
)
def test_an_engine_that_cannot_start(
    name: str, error: str, answers: int, snapshots: Visits
) -> None:
    dataset = gold("a", "b")
    [measured] = measure_latency([toy(name)], dataset, snapshots(dataset), settings=ONCE)
    assert measured.notes["status"] == "failed"
    assert error in str(measured.notes["error"])
    assert len(measured.run) == answers


def test_one_that_fails_does_not_stop_the_others(snapshots: Visits) -> None:
    dataset = gold("a", "b")
    found = measure_latency(
        [toy("Unready"), toy("Good")], dataset, snapshots(dataset), settings=ONCE
    )
    assert [measured.notes["status"] for measured in found] == ["failed", "completed"]


def test_what_an_engine_prints_is_no_answer(snapshots: Visits) -> None:
    dataset = gold("chatter")
    [measured] = measure_latency([toy("Bad")], dataset, snapshots(dataset), settings=ONCE)
    assert len(measured.run.answer(0).hits) == 2


def test_rankings_that_differ_between_repetitions_are_told(snapshots: Visits) -> None:
    dataset = gold("a", "dice", "b")
    [measured] = measure_latency([toy("Fickle")], dataset, snapshots(dataset))
    assert measured.notes["unstable"] == ["dice"]


def test_invalid_hits_are_dropped_and_counted(snapshots: Visits) -> None:
    dataset = gold("a", "nonsense")
    [measured] = measure_latency([toy("Sloppy")], dataset, snapshots(dataset), settings=ONCE)
    assert measured.notes["invalid"] == {
        "end before start": 1,
        "not in the corpus": 1,
        "duplicate": 1,
    }
    answers = {answer.query_id: answer for answer in measured.run.answers()}
    assert [hit.path for hit in answers["a"].hits] == ["auth.py"]
    assert answers["nonsense"].extra["error"] == (
        "good: search returned str; expected a list of hits"
    )


def test_what_an_adapter_drops_is_counted_once_a_query(snapshots: Visits) -> None:
    dataset = gold("a", "b")
    [measured] = measure_latency([toy("Inventive")], dataset, snapshots(dataset))
    assert measured.notes["invalid"] == {"not in the corpus": 2}
    counts = [answer.extra["invalid"] for answer in measured.run.answers()]
    assert counts == [{"not in the corpus": 1}] * 2


def test_cold_is_after_a_reset_and_warm_is_not(snapshots: Visits) -> None:
    dataset = gold("a", "b")
    [measured] = measure_latency([toy("Remembering")], dataset, snapshots(dataset))
    assert measured.timings is not None
    for sample in measured.timings.samples:
        assert sample.cold_ns > 20_000_000 > max(sample.warm_ns)
        assert (sample.tokens, sample.cost, sample.first_result_ns) == (30, 0.25, 0)


def test_the_first_result_of_a_stream(snapshots: Visits) -> None:
    dataset = gold("a")
    [measured] = measure_latency([toy("Streaming")], dataset, snapshots(dataset))
    assert measured.timings is not None
    [sample] = measured.timings.samples
    assert 0 < sample.first_result_ns <= sample.cold_ns
    assert "check" not in sample.phases


def test_a_leak_is_seen(snapshots: Visits) -> None:
    dataset = gold("leak")
    found = measure_latency([toy("Good"), toy("Bad")], dataset, snapshots(dataset), settings=ONCE)
    peaks = [measured.timings.peak_bytes for measured in found if measured.timings]
    assert peaks[1] - peaks[0] > 150_000_000


def test_as_many_hits_as_it_takes_for_k_files(snapshots: Visits) -> None:
    dataset = gold("a")
    configuration = replace(toy("Chunks"), k=2, files=True)
    [measured] = measure_latency([configuration], dataset, snapshots(dataset), settings=ONCE)
    assert [hit.path for hit in measured.run.answer(0).hits] == [
        *("auth.py", "auth.py", "mail.py"),
    ]


def test_engines_take_turns(snapshots: Visits, kept: Kept) -> None:
    dataset = gold(*map(str, range(12)))
    both = [replace(toy("Good"), name=name) for name in ("one", "two")]
    callbacks = Callbacks(on_result=kept.on_answer)
    measure_latency(both, dataset, snapshots(dataset), settings=ONCE, callbacks=callbacks)
    pairs = list(zip(kept.answers[::2], kept.answers[1::2], strict=True))
    assert all(first[1].query_id == second[1].query_id for first, second in pairs)
    assert {first[0] for first, _ in pairs} == {"one", "two"}


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_the_middle_of_a_search(snapshots: Visits) -> None:
    dataset = gold("a", "b", "interrupt", "c")
    order = [dataset.query_ids[row] for row in snapshots(dataset)[0].rows]
    [measured] = measure_latency([toy("Bad")], dataset, snapshots(dataset), settings=ONCE)
    assert list(measured.run.query_ids) == order[: order.index("interrupt")]
    assert measured.notes["status"] == "cancelled"


def test_cancelled_between_queries_and_continued(snapshots: Visits, kept: Kept) -> None:
    dataset = gold(*map(str, range(6)))
    plan = snapshots(dataset)
    asked = count()
    [first] = measure_latency(
        [toy("Good")],
        dataset,
        plan,
        settings=ONCE,
        # Asked once before the first query, and once before each.
        callbacks=Callbacks(cancelled=lambda: next(asked) > 3, on_result=kept.on_answer),
    )
    assert first.notes["status"] == "cancelled"
    done = [answer.query_id for _, answer, _ in kept.answers]
    assert 0 < len(done) < 6
    callbacks = Callbacks(skip={"Good": set(done)}, on_result=kept.on_answer)
    [rest] = measure_latency([toy("Good")], dataset, plan, settings=ONCE, callbacks=callbacks)
    assert rest.notes["status"] == "completed"
    order = [dataset.query_ids[row] for row in plan[0].rows]
    assert [answer.query_id for _, answer, _ in kept.answers] == order


def test_several_trees_and_a_built_in_engine(tmp_path: Path) -> None:
    dataset = gold("login", "send", "cache")
    trees = [
        Source.of_texts({"auth.py": "def login(): ...\n"}),
        Source.of_texts({"mail.py": "def send(): ...\n", "cache.py": "def cache(): ...\n"}),
    ]
    plan = [SnapshotQueries(trees[0], (0,)), SnapshotQueries(trees[1], (2, 1))]
    spec = Spec("engine", "bm25", {"cache": False})
    [measured] = measure_latency([Configuration("bm25", spec)], dataset, plan, settings=ONCE)
    found = {answer.query_id: answer.hits[0].path for answer in measured.run.answers()}
    assert found == {"login": "auth.py", "cache": "cache.py", "send": "mail.py"}
    assert measured.notes["work"] == {"rows": 3}
    corpora = measured.notes["corpora"]
    assert isinstance(corpora, list)
    assert len(corpora) == 2
    assert measured.timings is not None
    assert measured.timings.index_bytes > 0
    assert "bm25" in measured.timings.samples[0].phases
