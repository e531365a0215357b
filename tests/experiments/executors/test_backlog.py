"""Threads divide queries: neighbouring snapshots stay together, and idle threads take halves."""

from collections.abc import Sequence

from karat.experiments.executors.local import Backlog, Share
from karat.experiments.workers import SnapshotQueries, Source


def snapshots(*rows: Sequence[int]) -> list[SnapshotQueries]:
    return [
        SnapshotQueries(Source.of_texts({f"{place}.py": "x"}), tuple(some))
        for place, some in enumerate(rows)
    ]


def taken(backlog: Backlog, group: int | None = None) -> Share:
    share = backlog.take(group)
    assert share is not None
    return share


def left(share: Share) -> list[tuple[int, ...]]:
    return [one.rows for one in share.snapshots()]


def test_a_thread_prefers_a_share_of_its_session() -> None:
    backlog = Backlog([snapshots([0]), snapshots([1]), []])
    assert taken(backlog, 1).group == 1
    assert taken(backlog, 1).group == 0
    assert backlog.take(0) is None


def test_the_second_half_goes_to_an_idle_thread() -> None:
    backlog = Backlog([snapshots(range(10))])
    first = taken(backlog)
    queries = backlog.queries(first)
    assert [next(queries)[1], next(queries)[1]] == [0, 1]
    assert left(taken(backlog)) == [(6, 7, 8, 9)]
    assert [row for _, row in queries] == [2, 3, 4, 5]


def test_whole_snapshots_are_taken_if_there_are_several() -> None:
    backlog = Backlog([snapshots([0], [1, 2, 3], [4], [5])])
    first = taken(backlog)
    assert left(taken(backlog)) == [(4,), (5,)]
    assert left(first) == [(0,), (1, 2, 3)]
    assert left(taken(backlog)) == [(1, 2, 3)]


def test_the_longest_share_by_time_is_cut() -> None:
    backlog = Backlog([snapshots(range(4)), snapshots(range(4, 10))])
    shares = [taken(backlog), taken(backlog)]
    backlog.states[0].each_s, backlog.states[1].each_s = 3.0, 1.0
    assert left(taken(backlog)) == [(2, 3)]
    assert [left(share) for share in shares] == [[(0, 1)], [(4, 5, 6, 7, 8, 9)]]


def test_a_session_that_takes_longer_than_the_half_is_not_started() -> None:
    backlog = Backlog([snapshots(range(10))])
    first = taken(backlog)
    state = backlog.states[0]
    state.each_s, state.ready_s = 1.0, 6.0
    assert backlog.take(1) is None
    # One that has the session needs no start.
    assert left(taken(backlog, 0)) == [(5, 6, 7, 8, 9)]
    assert left(first) == [(0, 1, 2, 3, 4)]


def test_a_group_ends_with_its_last_share() -> None:
    backlog = Backlog([snapshots(range(4))])
    taken(backlog)
    taken(backlog)
    assert [backlog.end(0), backlog.end(0)] == [False, True]
