"""Embed units: machines with caches of their own embed each text once, then search."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from karat.engines.base import EmbedPart
from karat.engines.spec import parse_spec
from karat.experiments.measure import measure_quality
from karat.experiments.workers import QUALITY, Callbacks, Configuration, SnapshotQueries, Source
from karat.experiments.workers.run_collector import RunEvent
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import fingerprint
from karat.extensions.cluster.pool import Slot
from karat.extensions.cluster.schedule import MOST_LOSSES, EmbedProgress, GroupWork
from karat.extensions.cluster.session import SlotHost
from karat.extensions.cluster.threads import ThreadSlots
from karat.extensions.cluster.unit import QueryEnded, RunNews, SlotEvent, Unit, UnitEnded, UnitLost
from karat.model import Dataset, Outcome, Query
from karat.model.timings import RunResult
from karat.system.packs import REMOTE
from tests.extensions.cluster.test_driver import FakePool
from tests.extensions.cluster.test_schedule import finish, rows, schedule, work


def embedding(made: GroupWork) -> GroupWork:
    return made._replace(embeds=True)


def parts(taken: Sequence[tuple[str, Unit]]) -> list[tuple[str, int]]:
    """Return the group and the part of each unit, -1 for one that searches."""
    return [(unit.group, unit.part.number if unit.part else -1) for _, unit in taken]


def test_a_group_is_searched_after_all_its_embed_units() -> None:
    plan = schedule(embedding(work(4, 4)), slots=2)
    taken = plan.assign(0.0)
    assert parts(taken) == [("0", 0), ("0", 1)]
    unit = taken[0][1]
    assert unit.part
    assert unit.part.total == 4
    assert [one.source.revision for one in unit.snapshots] == ["v0", "v1"]
    assert (rows(unit), unit.queries) == ([], {})
    assert plan.assign(0.0) == []
    seen = parts(taken)
    while taken:
        for _, unit in taken:
            finish(plan, unit, 1.0)
        taken = plan.assign(1.0)
        seen += parts(taken)
    assert seen[:4] == [("0", number) for number in range(4)]
    assert [part for _, part in seen[4:]] == [-1] * len(seen[4:])
    assert plan.done


def test_another_group_does_not_wait_for_embed_units() -> None:
    plan = schedule(embedding(work(4)), work(4, start=4), slots=3)
    for _, unit in plan.assign(0.0):
        finish(plan, unit, 1.0)
    *most, (_, last) = plan.assign(1.0)
    assert plan.embedding == EmbedProgress(3, 6)
    for _, unit in most:
        finish(plan, unit, 2.0)
    others = plan.assign(2.0)
    assert parts(others) == [("1", -1), ("1", -1)]
    finish(plan, last, 3.0)
    assert parts(plan.assign(3.0)) == [("0", -1)]
    assert plan.embedding == EmbedProgress(6, 6)


def test_the_stage_begins_with_the_second_slot() -> None:
    plan = schedule(embedding(work(64, 4, 4)), slots=1)
    # A single slot embeds nothing twice.
    [(_, first)] = plan.assign(0.0)
    assert (parts([("", first)]), rows(first)) == ([("0", -1)], list(range(64)))
    plan.add_slot("s1")
    [(slot, unit)] = plan.assign(1.0)
    assert (slot, [one.source.revision for one in unit.snapshots]) == ("s1", ["v1", "v2"])
    finish(plan, first, 2.0)
    assert parts(plan.assign(2.0)) == [("0", 1)]


def test_a_lost_embed_unit_runs_elsewhere() -> None:
    plan = schedule(embedding(work(4)), slots=2)
    (slot, unit), (_, other) = plan.assign(0.0)
    assert plan.drop_slot(slot) == unit.id
    assert plan.lose(unit.id, "killed") is None
    assert plan.lost == {0: 1}
    finish(plan, other, 1.0)
    [(_, again)] = plan.assign(1.0)
    assert again.part == unit.part


def test_a_slot_without_the_repository_does_not_count_as_a_loss() -> None:
    plan = schedule(embedding(work(4)), slots=2)
    for _ in range(MOST_LOSSES + 1):
        [(slot, unit), *_] = plan.assign(0.0)
        plan.drop_slot(slot)
        plan.lose(unit.id, "no repository", counted=False)
        plan.add_slot(slot)
    assert not plan.lost
    assert plan.embedding == EmbedProgress(0, 4)


def test_a_part_that_ends_every_slot_leaves_its_texts_to_the_searches() -> None:
    plan = schedule(embedding(work(4)), slots=2)
    searches: list[Unit] = []
    for number in range(20):
        for slot, unit in plan.assign(0.0):
            if unit.part and unit.part.number == 1:
                plan.drop_slot(slot)
                assert plan.lose(unit.id, "out of memory") is None
                plan.add_slot(f"new{number}")
            else:
                searches += [] if unit.part else [unit]
                finish(plan, unit, 1.0)
    assert plan.done
    assert plan.lost == {0: MOST_LOSSES}
    assert sorted(row for unit in searches for row in rows(unit)) == [0, 1, 2, 3]


def test_embed_units_go_to_gpus_as_long_as_there_are_any() -> None:
    plan = schedule(embedding(work(4)), slots=2)
    plan.add_slot("gpu", gpu=True)
    [(slot, unit)] = plan.assign(0.0)
    assert unit.part
    assert (slot, unit.part.total) == ("gpu", 2)
    plan.drop_slot(slot)
    plan.lose(unit.id, "killed")
    assert [slot for slot, _ in plan.assign(1.0)] == ["s0", "s1"]


class Recorded(SlotExecutor):
    """An executor on slots that answer at once; *units* are those that were sent."""

    def __init__(self, *, travels: bool) -> None:
        self.travels = travels
        self.units: list[Unit] = []

    @contextmanager
    def connect(self) -> Iterator[FakePool]:
        pool = FakePool("good1", "good2")
        answer = pool.send

        def send(slot: str, unit: Unit) -> None:
            self.units.append(unit)
            answer(slot, unit)

        pool.send = send  # type: ignore[method-assign]
        yield pool


TIER = {REMOTE: "s3://bucket/karat"}


@pytest.mark.parametrize(
    ("url", "travels", "spec", "embeds", "sent"),
    [
        ("s3://bucket/karat", True, "dense", True, TIER),
        ("s3://bucket/karat", True, "bm25", False, TIER),
        ("s3://bucket/karat", False, "dense", False, {}),
        ("", True, "dense", False, {}),
        ("ftp://me:secret@host/karat", True, "dense", False, {}),
    ],
)
def test_when_there_is_a_stage(
    url: str,
    travels: bool,
    spec: str,
    embeds: bool,
    sent: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(REMOTE, url)
    executor = Recorded(travels=travels)
    group = (Configuration("run", parse_spec(spec)),)
    (run,) = measure_quality([group], GOLD, visits(*SNAPSHOTS), executor=executor)
    assert len(run.run) == len(GOLD)
    assert any(unit.part for unit in executor.units) is embeds
    assert {frozenset(unit.environment.items()) for unit in executor.units} == {
        frozenset(sent.items())
    }


# The snapshots share most of their texts.
SNAPSHOTS = [
    {
        f"{name}.py": f"def {name}(): return {name}{version if name == 'token' else ''}\n"
        for name in names
    }
    for version, names in enumerate(
        (
            ("login", "token", "mail"),
            ("login", "token", "mail", "cache"),
            ("token", "mail", "cache"),
        )
    )
]
GOLD = Dataset.of([Query(f"q{number}", f"where is the token {number}") for number in range(12)])


def visits(*texts: Mapping[str, str]) -> list[SnapshotQueries]:
    each = len(GOLD) // len(texts)
    return [
        SnapshotQueries(Source.of_texts(some), tuple(range(place * each, (place + 1) * each)))
        for place, some in enumerate(texts)
    ]


class Machines(ThreadSlots):
    """Two slots, each with its own cache and with no other setting than that of its units."""

    def __init__(self, folder: Path) -> None:
        super().__init__([Slot(name, "machine", fingerprint()) for name in "12"])
        self._folder = folder
        self.sent: list[Unit] = []

    def send(self, slot: str, unit: Unit) -> None:
        self.sent.append(unit)
        own = {**unit.environment, "KARAT_CACHE": str(self._folder / slot)}
        super().send(slot, replace(unit, environment=own))


class Remote(SlotExecutor):
    """An executor on :class:`Machines`; they do not have the variables of the driver."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.machines = Machines(folder)

    @contextmanager
    def connect(self) -> Iterator[Machines]:
        for name in (REMOTE, "KARAT_CACHE"):
            self._patch.delenv(name, raising=False)
        try:
            yield self.machines
        finally:
            self.machines.close()


VECTORS, WORDS = "dense(model=counting:Counting, chunker=lines)", "bm25(chunker=lines)"


class Measured:
    """The run of a model that counts, on two machines."""

    def __init__(
        self,
        folder: Path,
        patch: pytest.MonkeyPatch,
        *,
        tier: bool,
        texts: Sequence[Mapping[str, str]],
        specs: Sequence[str] = (VECTORS,),
    ) -> None:
        folder.mkdir(exist_ok=True)
        patch.setenv("EMBEDDED", str(folder / "embedded"))
        if tier:
            patch.setenv(REMOTE, f"file://{folder}/tier")
        remote = Remote(folder, patch)
        self.events: list[RunEvent] = []
        group = tuple(Configuration(spec, parse_spec(spec)) for spec in specs)
        self.runs: list[RunResult] = measure_quality(
            [group],
            GOLD,
            visits(*texts),
            executor=remote,
            callbacks=Callbacks(listen=self.events.append),
        )
        self.sent = remote.machines.sent
        log = folder / "embedded"
        self.embedded = Counter(log.read_text().split() if log.exists() else ())

    def hits(self) -> list[object]:
        return [
            (answer.query_id, list(answer.hits))
            for run in self.runs
            for answer in run.run.answers()
        ]


def test_each_text_is_embedded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = (VECTORS, WORDS)
    found = Measured(tmp_path / "shared", monkeypatch, tier=True, texts=SNAPSHOTS, specs=both)
    distinct = {text for snapshot in SNAPSHOTS for text in snapshot.values()}
    assert [bool(unit.part) for unit in found.sent[:4]] == [True] * 4
    assert not any(unit.part for unit in found.sent[4:])
    assert set(found.embedded.values()) == {1}
    assert len(found.embedded) == len(distinct)
    vectors, words = (run.notes["work"] for run in found.runs)
    assert isinstance(vectors, dict)
    assert isinstance(words, dict)
    assert (vectors["embedded"], vectors["reused"] > 0) == (len(distinct), True)
    assert "embedded" not in words
    shown = [event.detail for event in found.events if event.kind == "units"]
    counts = {(one["embedded"], one["to_embed"]) for one in shown}
    # Whether the first count is shown before a unit ends is chance.
    assert (4, 4) in counts
    assert {to_embed for _, to_embed in counts} <= {0, 4}
    # Without a tier there is no embed unit, and the hits are the same.
    alone = Measured(tmp_path / "alone", monkeypatch, tier=False, texts=SNAPSHOTS, specs=both)
    assert not any(unit.part for unit in alone.sent)
    assert alone.embedded.total() > len(distinct)
    assert found.hits() == alone.hits()


def run_both(
    texts: Sequence[Mapping[str, str]], folder: Path, patch: pytest.MonkeyPatch
) -> list[SlotEvent]:
    """Run an embed unit and then a search unit of *texts* on one slot; return their events."""
    patch.setenv("EMBEDDED", str(folder / "embedded"))
    plan = visits(*texts)
    embed = Unit(
        "1",
        "0",
        (Configuration("vectors", parse_spec(VECTORS)),),
        QUALITY,
        tuple(one._replace(rows=()) for one in plan),
        {},
        (frozenset(),),
        part=EmbedPart(0, 1),
    )
    queries = {row: (query_id, "token") for row, query_id in enumerate(GOLD.query_ids)}
    search = replace(embed, id="2", snapshots=tuple(plan[:2]), queries=queries, part=None)
    host = SlotHost()
    events: list[SlotEvent] = []
    for unit in (embed, search):
        host.run(unit, events.append)
    host.close()
    return events


def test_a_model_that_fails_is_reported_by_the_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"a.py": "def break(): pass\n"}
    events = run_both([SNAPSHOTS[0], broken], tmp_path, monkeypatch)
    first, last = [event for event in events if isinstance(event, UnitEnded)]
    assert first.session != last.session
    assert [one.failed for one in (*first.usage, *last.usage)] == ["", ""]
    answers = [event.result.answer for event in events if isinstance(event, QueryEnded)]
    assert [one.outcome for one in answers] == [Outcome.ANSWERED] * 6 + [Outcome.ERROR] * 6
    assert all("the model is broken" in str(one.extra["error"]) for one in answers[6:])


def test_a_process_that_dies_loses_its_embed_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly = {"a.py": "def leave(): pass\n"}
    lost, *others = [
        event
        for event in run_both([*SNAPSHOTS[:2], deadly], tmp_path, monkeypatch)
        if not isinstance(event, RunNews)
    ]
    assert isinstance(lost, UnitLost)
    assert lost.unit == "1"
    results = [one.result.answer.outcome for one in others[:-1] if isinstance(one, QueryEnded)]
    assert results == [Outcome.ANSWERED] * 8
    assert isinstance(others[-1], UnitEnded)
    assert others[-1].usage[0].restarts == 0
