"""Engines of one group answer as each does alone, whatever becomes of their process."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from karat.engines.spec import parse_spec
from karat.experiments.executors import LocalExecutor
from karat.experiments.measure import measure_quality
from karat.experiments.workers import (
    QUALITY,
    Callbacks,
    Configuration,
    RunSettings,
    SnapshotQueries,
    Source,
    cut,
    group_configurations,
    measure_latency,
)
from karat.model import Dataset, Hit, Outcome
from karat.model.timings import RunResult
from tests.experiments.workers.conftest import TEXTS, Kept, gold, toy
from tests.words import WORDS

Visits = Callable[[Dataset], tuple[SnapshotQueries, ...]]

ONCE = RunSettings(warm_up=0, repetitions=1)
SPECS = (
    "bm25",
    f"hybrid(model={WORDS})",
    f"hybrid(model={WORDS}, fusion=rrf, rrf_k=20)",
    f"rerank(over=hybrid(model={WORDS}), model=toys:Overlap)",
    "bm25(unit=file)",
)
TREES = [
    Source.of_texts({**TEXTS, "cache.py": "def get(key):\n    return login(key)\n"}),
    Source.of_texts({"auth.py": "def logout():\n    pass\n", "mail.py": TEXTS["mail.py"]}),
]


def built_in(*specs: str) -> tuple[Configuration, ...]:
    return tuple(Configuration(spec, parse_spec(spec)) for spec in specs)


def toys(*names: str, note: str = "") -> tuple[Configuration, ...]:
    some = [toy(name, **({"note": note} if note else {})) for name in names]
    return tuple(replace(one, name=f"{one.name} {place}") for place, one in enumerate(some, 1))


def outcomes(measured: RunResult) -> dict[str, Outcome]:
    return {answer.query_id: answer.outcome for answer in measured.run.answers()}


def ranking(measured: RunResult) -> dict[str, Sequence[Hit]]:
    return {answer.query_id: answer.hits for answer in measured.run.answers()}


def good(measured: RunResult) -> bool:
    return measured.notes["status"] == "completed" and set(measured.run.outcomes) == {
        Outcome.ANSWERED
    }


def test_a_group_answers_as_each_does_alone() -> None:
    dataset = gold("login", "send pass", "get key", "def", "logout")
    plan = [SnapshotQueries(TREES[0], (2, 0, 1)), SnapshotQueries(TREES[1], (4, 3))]
    group = built_in(*SPECS)
    together = measure_quality([group], dataset, plan)
    alone = measure_quality([(one,) for one in group], dataset, plan)
    assert [measured.run for measured in together] == [measured.run for measured in alone]
    assert together[0].notes["together"] == list(SPECS)
    assert "together" not in alone[0].notes
    many = measure_quality([group], dataset, plan, executor=LocalExecutor(3))
    assert [measured.run for measured in many] == [measured.run for measured in alone]


def test_each_run_hears_its_own(snapshots: Visits, kept: Kept) -> None:
    dataset = gold("login", "send")
    group = built_in("bm25", "bm25(k1=1)")
    callbacks = Callbacks(listen=kept.listen, on_result=kept.on_answer)
    measure_quality([group], dataset, snapshots(dataset), callbacks=callbacks)
    told = Counter((event.run, event.kind) for event in kept.events if event.kind != "indexing")
    assert told == {
        (one.name, kind): times
        for one in group
        for kind, times in (("started", 1), ("indexed", 1), ("answered", 2), ("finished", 1))
    }
    assert Counter(run for run, _, _ in kept.answers) == {one.name: 2 for one in group}


def test_each_run_continues_by_itself(snapshots: Visits, kept: Kept, tmp_path: Path) -> None:
    dataset = gold("a", "b", "c")
    note = str(tmp_path / "note")
    first, second = toys("Good", "Good", note=note)
    callbacks = Callbacks(
        on_result=kept.on_answer, skip={first.name: {"a", "b"}, second.name: {"c", "b"}}
    )
    measure_quality([(first, second)], dataset, snapshots(dataset), callbacks=callbacks)
    assert {(run, answer.query_id) for run, answer, _ in kept.answers} == {
        (first.name, "c"),
        (second.name, "a"),
    }
    asked = [line.split()[1] for line in Path(note).read_text().splitlines()]
    assert sorted(asked) == ["a", "c", "index", "index"]


def test_one_that_raises_fails_alone(snapshots: Visits) -> None:
    dataset = gold("a", "fail", "b")
    bad, other = measure_quality([toys("Bad", "Good")], dataset, snapshots(dataset))
    assert good(other)
    assert outcomes(bad)["fail"] is Outcome.ERROR
    assert Counter(bad.run.outcomes) == {Outcome.ANSWERED: 2, Outcome.ERROR: 1}
    assert bad.notes["restarts"] == other.notes["restarts"] == 0


@pytest.mark.parametrize(("act", "outcome"), [("leave", Outcome.ERROR), ("hang", Outcome.TIMEOUT)])
def test_one_that_ends_the_process_costs_only_itself(
    act: str, outcome: Outcome, snapshots: Visits, tmp_path: Path
) -> None:
    dataset = gold("a", act, f"{act} again", *map(str, range(6)))
    note = tmp_path / "note"
    settings = RunSettings(warm_up=0, repetitions=1, timeout_s=0.7)
    group = toys("Good", "Bad", "Good", note=str(note))
    first, bad, last = measure_quality([group], dataset, snapshots(dataset), settings=settings)
    assert good(first)
    assert good(last)
    assert Counter(bad.run.outcomes) == {Outcome.ANSWERED: 7, outcome: 2}
    assert outcomes(bad)[act] is outcome
    # The others were asked each query once, and the first bad one alone a second time at most.
    asked = Counter(line.split(maxsplit=1)[1] for line in note.read_text().splitlines())
    assert all(times <= 6 for query, times in asked.items() if query.startswith(act))
    assert all(asked[query] == 3 for query in ("a", *map(str, range(6))))


def test_who_cannot_be_built_is_left_out(snapshots: Visits) -> None:
    dataset = gold("login", "send")
    group = (*built_in("bm25", "bm25(k2=1)"), *toys("Missing"))
    right, wrong, missing = measure_quality([group], dataset, snapshots(dataset))
    assert good(right)
    assert (wrong.notes["status"], len(wrong.run)) == ("failed", 0)
    assert "no option 'k2'" in str(wrong.notes["error"])
    assert "no attribute 'Missing'" in str(missing.notes["error"])


@pytest.mark.parametrize("name", ["Unready", "Mortal"])
def test_who_cannot_index_leaves_the_others_alone(name: str, snapshots: Visits, kept: Kept) -> None:
    dataset = gold("a", "b")
    group = toys("Good", name, "Good")
    callbacks = Callbacks(listen=kept.listen)
    first, broken, last = measure_quality([group], dataset, snapshots(dataset), callbacks=callbacks)
    indexed = [event.run for event in kept.events if event.kind == "indexed"]
    assert indexed == [group[0].name, group[2].name]
    assert good(first)
    assert good(last)
    assert broken.notes["status"] == "failed"
    assert "could not index" in str(broken.notes["error"])


@pytest.mark.parametrize("act", ["crowd", "slow"])
def test_what_fails_in_company_is_asked_alone(act: str, snapshots: Visits) -> None:
    dataset = gold("a", *(f"{act} {number}" for number in range(2)), "b")
    settings = RunSettings(warm_up=0, repetitions=1, timeout_s=1)
    both = measure_quality(
        [toys("Crowded", "Crowded")], dataset, snapshots(dataset), settings=settings
    )
    assert all(map(good, both))


def test_the_others_go_on_without_one_that_was_sent_away() -> None:
    dataset = gold("spite", "a", "b")
    plan = [SnapshotQueries(tree, rows) for tree, rows in zip(TREES, [(0,), (1, 2)], strict=True)]
    settings = RunSettings(warm_up=0, repetitions=1, timeout_s=1)
    group = toys("Crowded", "Crowded", "Good")
    *sent_away, last = measure_quality([group], dataset, plan, settings=settings)
    assert good(last)
    for bad in sent_away:
        assert outcomes(bad) == {
            "spite": Outcome.ERROR,
            "a": Outcome.ANSWERED,
            "b": Outcome.ANSWERED,
        }


@pytest.mark.parametrize("moment", ["ctrl_c", "sleepy"])
def test_ctrl_c_starts_nobody_on_trial(
    moment: str, snapshots: Visits, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(moment)
    dataset = gold("interrupt")
    note = tmp_path / "note"
    group = toys("Bad", "Good", "Good", note=str(note))
    found = measure_quality([group], dataset, snapshots(dataset))
    assert [measured.notes["status"] for measured in found] == ["cancelled"] * 3
    assert len({line.split()[0] for line in note.read_text().splitlines()}) == 1


def test_a_group_that_only_dies_is_parted(snapshots: Visits, tmp_path: Path) -> None:
    dataset = gold(*(f"crowd {number}" for number in range(6)))
    note = tmp_path / "note"
    group = toys("Crowded", "Crowded", note=str(note))
    assert all(map(good, measure_quality([group], dataset, snapshots(dataset))))
    processes = {line.split()[0] for line in note.read_text().splitlines()}
    # Three together, two by two for the first two queries, and two for the rest.
    assert len(processes) == 3 + 4 + 2


def test_repetitions_in_company_do_all_their_work(snapshots: Visits, tmp_path: Path) -> None:
    dataset = gold("a", "dice")
    settings = RunSettings(warm_up=0, repetitions=2)
    fickle, other = measure_quality(
        [toys("Fickle", "Good")], dataset, snapshots(dataset), settings=settings
    )
    assert fickle.notes["unstable"] == ["dice"]
    assert other.notes["unstable"] == []


def test_some_queries_can_be_repeated(snapshots: Visits) -> None:
    dataset = gold("a", "dice", "b")
    settings = RunSettings(warm_up=0, repetitions=1, repeated=frozenset({1, 2}))
    fickle, other = measure_quality(
        [toys("Fickle", "Good")], dataset, snapshots(dataset), settings=settings
    )
    for run, unstable in ((fickle, ["dice"]), (other, [])):
        assert run.notes["unstable"] == unstable
        repeated = [one.query_id for one in run.run.answers() if "repeated" in one.extra]
        assert sorted(repeated) == ["b", "dice"]


def test_timing_shares_a_process_but_no_search(kept: Kept) -> None:
    dataset = gold("login", "send pass", "get key")
    plan = [SnapshotQueries(TREES[0], (0, 1, 2))]
    group = built_in(*SPECS)
    callbacks = Callbacks(listen=kept.listen, on_result=kept.on_answer)
    found = measure_latency([*group, toy("Good")], dataset, plan, callbacks=callbacks)
    alone = [measure_latency([one], dataset, plan, settings=ONCE)[0] for one in group]
    for together, single in zip(found, alone, strict=False):
        assert together.notes["together"] == list(SPECS)
        assert ranking(together) == ranking(single)
        assert together.timings is not None
        assert single.timings is not None
        assert together.timings.index_ns > 0
        assert together.timings.index_bytes == single.timings.index_bytes
        assert [len(sample.warm_ns) for sample in together.timings.samples] == [2, 2, 2]
        for sample in together.timings.samples:
            assert set(sample.phases) == set(single.timings.samples[0].phases)
    assert "together" not in found[-1].notes
    assert Counter(event.kind for event in kept.events)["indexed"] == len(group) + 1


def test_one_that_dies_while_it_is_timed(snapshots: Visits) -> None:
    dataset = gold("a", "leave", "b", "c")
    both = toys("Good", "Bad")
    first, bad = measure_latency(both, dataset, snapshots(dataset), settings=ONCE)
    assert good(first)
    assert Counter(bad.run.outcomes) == {Outcome.ANSWERED: 3, Outcome.ERROR: 1}


def test_a_threshold_leaves_out_what_is_below(snapshots: Visits) -> None:
    dataset = gold("a")
    plain = toy("Good")
    low, high = replace(plain, name="low", threshold=0.5), replace(plain, name="h", threshold=0.6)
    found = measure_quality(
        [(plain,), (low,), (high,)], dataset, snapshots(dataset), settings=QUALITY
    )
    paths = [[hit.path for hit in measured.run.answer(0).hits] for measured in found]
    assert paths == [["auth.py", "mail.py"], ["auth.py", "mail.py"], ["auth.py"]]
    assert found[2].run.answer(0).hits == cut(found[0].run.answer(0).hits, k=5, threshold=0.6)


def test_who_is_in_one_group() -> None:
    some = built_in("bm25", "keyword", "rerank(over=dense)", "bm25(chunker=lines)", "sparse")
    assert [[one.name for one in group] for group in group_configurations(some)] == [
        ["bm25", "rerank(over=dense)", "sparse"],
        ["keyword"],
        ["bm25(chunker=lines)"],
    ]
