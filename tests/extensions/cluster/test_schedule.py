"""Which slot gets which unit, and what becomes of the rest of a lost one."""

import pickle
from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from karat.experiments.workers import QUALITY, Configuration, SnapshotQueries, Source
from karat.extensions.cluster.schedule import MOST_LOSSES, GroupWork, Schedule
from karat.extensions.cluster.unit import Unit
from karat.model.spec import Spec


def configuration(name: str) -> Configuration:
    return Configuration(name, Spec("engine", "bm25"))


def work(*sizes: int, runs: Sequence[str] = ("a",), start: int = 0) -> GroupWork:
    """Return a group with a snapshot of each size, its rows counted from *start*."""
    rows = iter(range(start, start + sum(sizes)))
    snapshots = tuple(
        SnapshotQueries(Source.git("/r", f"v{place}"), tuple(next(rows) for _ in range(size)))
        for place, size in enumerate(sizes)
    )
    return GroupWork(
        tuple(map(configuration, runs)), QUALITY, snapshots, (frozenset(),) * len(runs)
    )


def schedule(*groups: GroupWork, slots: int = 1) -> Schedule:
    made = Schedule(groups, {row: (f"q{row}", f"text {row}") for row in range(200)})
    for number in range(slots):
        made.add_slot(f"s{number}")
    return made


def rows(unit: Unit) -> list[int]:
    return [row for snapshot in unit.snapshots for row in snapshot.rows]


def answer(plan: Schedule, unit: Unit, wanted: Sequence[int], now: float) -> None:
    for row in wanted:
        for place in range(len(unit.configurations)):
            assert plan.answered(unit.id, place, f"q{row}", now) == int(unit.group)


def finish(plan: Schedule, unit: Unit, now: float) -> None:
    answer(plan, unit, rows(unit), now)
    assert plan.ended(unit.id, [], now) is None


def test_one_slot_runs_all_in_order_and_units_grow_with_the_known_time() -> None:
    plan = schedule(work(150))
    [(slot, first)] = plan.assign(0.0)
    assert (slot, rows(first)) == ("s0", list(range(64)))
    answer(plan, first, [0], 5.0)
    answer(plan, first, list(range(1, 64)), 68.0)
    plan.ended(first.id, [], 68.0)
    # A second for each query: thirty of them are a unit.
    [(_, second)] = plan.assign(68.0)
    assert rows(second) == list(range(64, 94))
    assert not plan.assign(68.0)


def test_a_unit_ends_with_a_snapshot_and_knows_the_next_ones() -> None:
    plan = schedule(work(40, 20, 30))
    [(_, unit)] = plan.assign(0.0)
    assert rows(unit) == list(range(60))
    assert [source.revision for source in unit.ahead] == ["v2"]
    assert unit.queries[3] == ("q3", "text 3")


def test_a_unit_is_plain_data_of_a_few_kilobytes() -> None:
    plan = schedule(work(*[1] * 64))
    [(_, unit)] = plan.assign(0.0)
    assert pickle.loads(pickle.dumps(unit)) == unit  # noqa: S301
    assert len(pickle.dumps(unit)) < 10_000


def test_each_group_has_a_slot_before_one_is_divided() -> None:
    plan = schedule(work(8), work(8, start=8), slots=3)
    taken = dict(plan.assign(0.0))
    assert [taken[slot].group for slot in ("s0", "s1", "s2")] == ["0", "1", "0"]
    assert rows(taken["s2"])[0] == 4


def test_another_snapshot_is_taken_over_rather_than_half_of_one() -> None:
    plan = schedule(work(10, 2), slots=2)
    taken = dict(plan.assign(0.0))
    assert rows(taken["s1"]) == [10]
    assert rows(taken["s0"]) == [0, 1, 2]


def test_a_session_of_its_own_group_is_continued() -> None:
    plan = schedule(work(2), work(40, start=2), work(30, start=42), slots=2)
    taken = dict(plan.assign(0.0))
    finish(plan, taken["s0"], 1.0)
    again = dict(plan.assign(1.0))
    # The rest of its own stretch, then what nobody has begun.
    while again["s0"].group == "0":
        finish(plan, again["s0"], 1.0)
        again = dict(plan.assign(1.0))
    assert again["s0"].group == "2"


def test_no_session_is_started_for_less_than_it_costs() -> None:
    plan = schedule(work(4), work(40, start=4), slots=2)
    taken = dict(plan.assign(0.0))
    # The other group was ready after 500 s, and then takes a second for each query.
    answer(plan, taken["s1"], rows(taken["s1"])[:1], 500.0)
    answer(plan, taken["s1"], rows(taken["s1"])[1:], 509.0)
    plan.ended(taken["s1"].id, [], 509.0)
    [(_, unit)] = plan.assign(509.0)
    assert unit.group == "1"
    while taken["s0"].group == "0":
        finish(plan, taken.pop("s0"), 510.0)
        taken = {"s0": unit, **dict(plan.assign(510.0))}
    assert taken == {"s0": unit}


def test_the_rest_of_a_lost_unit_runs_elsewhere() -> None:
    plan = schedule(work(6, runs=("a", "b")), slots=1)
    [(_, unit)] = plan.assign(0.0)
    answer(plan, unit, [0, 1], 1.0)
    assert plan.answered(unit.id, 0, "q2", 1.0) == 0
    assert plan.drop_slot("s0") == unit.id
    assert plan.lose(unit.id, "killed") is None
    assert plan.lost == {0: 1}
    # Late results of the lost unit do not count.
    assert plan.answered(unit.id, 1, "q2", 2.0) is None
    assert plan.assign(2.0) == []
    plan.add_slot("s9")
    [(_, first)] = plan.assign(2.0)
    # The query that was running is tried alone; results that it has are not asked for by others.
    assert rows(first) == [2]
    finish(plan, first, 3.0)
    [(_, others)] = plan.assign(3.0)
    assert rows(others) == [3, 4, 5]
    finish(plan, others, 4.0)
    assert plan.done


def test_a_query_that_ends_three_slots_is_given_up_alone() -> None:
    plan = schedule(work(5), slots=1)
    seen: list[int] = []
    given_up = None
    for number in range(20):
        plan.add_slot(f"n{number}")
        for slot, unit in plan.assign(0.0):
            fine = [row for row in rows(unit) if row < 2]
            harmful = [row for row in rows(unit) if row == 2]
            answer(plan, unit, fine if harmful else rows(unit), 0.0)
            seen += fine if harmful else rows(unit)
            if harmful:
                plan.drop_slot(slot)
                given_up = plan.lose(unit.id, "out of memory") or given_up
            else:
                plan.ended(unit.id, [], 0.0)
    assert plan.done
    assert plan.lost == {0: MOST_LOSSES}
    assert given_up is not None
    assert (given_up.missing, given_up.reason) == ({2: (0,)}, "out of memory")
    assert sorted(seen) == [0, 1, 3, 4]


def test_a_group_without_any_result_is_given_up_as_a_whole() -> None:
    plan = schedule(work(200), slots=0)
    given_up = None
    for number in range(20):
        plan.add_slot(f"n{number}")
        for slot, unit in plan.assign(0.0):
            plan.drop_slot(slot)
            given_up = given_up or plan.lose(unit.id, "no memory for the index")
    assert given_up is not None
    assert sum(plan.lost.values()) < 10
    assert plan.is_complete(0) or len(given_up.missing) > 100


def test_a_slot_that_cannot_begin_is_no_loss() -> None:
    plan = schedule(work(3), slots=1)
    for _ in range(MOST_LOSSES + 1):
        [(slot, unit)] = plan.assign(0.0)
        plan.drop_slot(slot)
        assert plan.lose(unit.id, "no repository", counted=False) is None
        plan.add_slot(slot)
    assert not plan.lost
    assert rows(plan.assign(0.0)[0][1]) == [0, 1, 2]


def test_a_unit_without_all_results_is_a_loss() -> None:
    plan = schedule(work(3))
    [(_, unit)] = plan.assign(0.0)
    answer(plan, unit, [0], 1.0)
    assert plan.ended(unit.id, [], 2.0) is None
    assert plan.lost == {0: 1}


def test_what_ends_early_after_a_stop_is_neither_counted_nor_given_up() -> None:
    plan = schedule(work(1))
    for number in range(MOST_LOSSES):
        [(_, unit)] = plan.assign(0.0)
        if number < MOST_LOSSES - 1:
            assert plan.lose(unit.id, "killed") is None
    plan.stop()
    assert plan.ended(unit.id, [], 1.0) is None
    assert plan.lost == {0: MOST_LOSSES - 1}
    assert not plan.is_complete(0)


def test_an_engine_that_failed_is_asked_no_more() -> None:
    plan = schedule(work(80, runs=("a", "b")), slots=1)
    [(_, unit)] = plan.assign(0.0)
    for row in rows(unit):
        plan.answered(unit.id, 1, f"q{row}", 0.0)
    assert plan.ended(unit.id, [0], 1.0) is None
    [(_, rest)] = plan.assign(1.0)
    assert rest.skip == (frozenset(rows(rest)), frozenset())
    assert plan.ended(rest.id, [0, 1], 2.0) is None
    assert plan.done


@given(
    st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=5), min_size=1, max_size=3),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_every_query_ends_exactly_once(sizes: list[list[int]], slots: int, chance: Random) -> None:
    starts = [sum(map(sum, sizes[:place])) for place in range(len(sizes))]
    groups = [work(*some, start=start) for some, start in zip(sizes, starts, strict=True)]
    plan = schedule(*groups, slots=slots)
    done: list[int] = []
    running: list[tuple[str, Unit]] = []
    losses = 0
    for now in range(2_000):
        running += plan.assign(float(now))
        if plan.done:
            break
        slot, unit = running.pop(chance.randrange(len(running)))
        if chance.random() < 0.2 and losses < MOST_LOSSES - 1:
            losses += 1
            kept = rows(unit)[: chance.randrange(len(rows(unit)) + 1)]
            answer(plan, unit, kept, now)
            done += kept
            plan.drop_slot(slot)
            plan.lose(unit.id, "killed")
            plan.add_slot(f"new{now}")
        else:
            done += rows(unit)
            finish(plan, unit, now)
    assert plan.done
    assert sorted(done) == list(range(sum(map(sum, sizes))))
