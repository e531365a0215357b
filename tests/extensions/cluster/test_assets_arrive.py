"""A slot on a machine without the corpus gets it from the driver, and returns the same hits."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Event, Thread

import pytest

from karat.engines.spec import parse_spec
from karat.experiments.workers import Configuration, RunSettings, SnapshotQueries, Source
from karat.extensions.cluster import host
from karat.extensions.cluster.assets import (
    Asset,
    AssetPart,
    AssetReference,
    add_part,
    assets_of,
)
from karat.extensions.cluster.driver import AssetSender
from karat.extensions.cluster.unit import (
    AssetNeeded,
    QueryEnded,
    SlotEvent,
    SlotRejected,
    Unit,
    UnitEnded,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "docs"
    place.mkdir()
    for number, word in enumerate(("login", "token", "cache")):
        (place / f"{number}.md").write_text(f"All about the {word}.\n")
    return place


def unit_of(source: Source, assets: dict[str, AssetReference]) -> Unit:
    return Unit(
        "1",
        "0",
        (Configuration("words", parse_spec("bm25(cache=false)"), k=3),),
        RunSettings(warm_up=0, repetitions=1),
        (SnapshotQueries(source, (0,)),),
        {0: ("q", "token")},
        (frozenset(),),
        assets=assets,
    )


class Machine:
    """Receives what a driver sends; *sent* counts the assets."""

    def __init__(self) -> None:
        self.sent = 0

    def provide(self, slot: str, asset: str, parts: Iterable[AssetPart]) -> None:
        self.sent += 1
        for part in parts:
            add_part(part)


def run(unit: Unit, sender: AssetSender) -> list[SlotEvent]:
    """Run *unit* as a remote slot does; the driver sends what it asks for."""
    events: list[SlotEvent] = []

    def receive(batch: Sequence[SlotEvent]) -> None:
        events.extend(batch)
        for event in batch:
            if isinstance(event, AssetNeeded):
                sender.send("slot", event.asset)

    thread = Thread(target=host.run_on_slot, args=("driver", "slot", unit, receive))
    thread.start()
    thread.join()
    host.close_driver("driver")
    return events


def test_a_unit_waits_for_its_corpus_and_runs(folder: Path) -> None:
    source = Source.folder(str(folder))
    assets = assets_of([source])
    ids = {place: asset.reference for place, asset in assets.items()}
    expected = run(unit_of(source, ids), AssetSender(Machine().provide, ()))
    away = folder.rename(folder.with_name("away"))
    machine = Machine()
    # The driver has the files at their place, this "machine" has not.
    sender = AssetSender(
        machine.provide, [Asset(one.id, one.kind, str(away)) for one in assets.values()]
    )
    for _ in range(2):
        found = run(unit_of(source, ids), sender)
        hits = [event.result.answer.hits for event in found if isinstance(event, QueryEnded)]
        assert [[hit.path for hit in some] for some in hits] == [["1.md"]]
        assert hits == [
            event.result.answer.hits for event in expected if isinstance(event, QueryEnded)
        ]
        assert isinstance(found[-1], UnitEnded)
    assert machine.sent == 1
    sender.close()


def test_without_an_asset_the_slot_is_rejected(folder: Path) -> None:
    source = Source.folder(str(folder))
    shutil.rmtree(folder)
    (event,) = run(unit_of(source, {}), AssetSender(Machine().provide, ()))
    assert event == SlotRejected("1", f"no folder {folder}")


def test_a_corpus_that_cannot_be_packed_costs_its_slot(folder: Path) -> None:
    asset = assets_of([Source.folder(str(folder))])[str(folder)]
    shutil.rmtree(folder)
    sender = AssetSender(Machine().provide, [asset])
    sender.send("tcp://there/1", asset.id)
    sender.close()
    ((slot, reason),) = sender.failures()
    assert slot == "tcp://there/1"
    assert reason.startswith(f"{folder} could not be sent to the slot: ")
    assert list(sender.failures()) == []


def test_a_unit_that_waits_for_an_asset_ends_with_its_driver(folder: Path) -> None:
    source = Source.folder(str(folder))
    (asset,) = assets_of([source]).values()
    shutil.rmtree(folder)
    asked = Event()

    def receive(batch: Sequence[SlotEvent]) -> None:
        if any(isinstance(event, AssetNeeded) for event in batch):
            asked.set()

    unit = unit_of(source, {str(folder): asset.reference})
    thread = Thread(target=host.run_on_slot, args=("driver", "slot", unit, receive))
    thread.start()
    asked.wait()
    host.close_driver("driver")
    thread.join(10)
    assert not thread.is_alive()


def test_results_name_revisions_as_the_driver_does(tmp_path: Path, folder: Path) -> None:
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(folder), *identity, *words], check=True)
    source = Source.git(str(folder), "HEAD")
    assets = {place: one.reference for place, one in assets_of([source]).items()}
    found = run(unit_of(source, assets), AssetSender(Machine().provide, ()))
    (ended,) = (event for event in found if isinstance(event, QueryEnded))
    assert ended.result.answer.extra["revision"] == "HEAD"


def test_a_map_that_leads_nowhere_rejects_the_slot(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KARAT_REPO_MAP", "docs=file:///nowhere/at/all")
    source = Source.git(str(folder), "0" * 40)
    (event,) = run(unit_of(source, {}), AssetSender(Machine().provide, ()))
    assert event == SlotRejected("1", f"file:///nowhere/at/all has no commit {'0' * 40}")
