"""The Ray executor satisfies the contract, on a cluster of this machine."""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError
from karat.experiments import open_executor
from karat.experiments.executors import Executor
from karat.experiments.executors.ray import RayExecutor, RaySlots, _Actor
from karat.experiments.workers.unit import AssetNeeded, SlotEvent, SlotRejected, UnitLost
from karat.system.processes import descendants
from karat.testing import ExecutorSuite
from tests.experiments.executors.killed_driver import kill_driver

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Leave the processes of the cluster alone."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start Ray with one CPU on this machine."""
    programs = Path(__file__).parents[1] / "workers" / "programs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(programs), *sys.path]))
        ray.init(
            num_cpus=1,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            _node_ip_address="127.0.0.1",
            object_store_memory=80_000_000,
        )
        yield ray
        ray.shutdown()


class TestRayExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self, cluster: Any) -> Executor:
        assert cluster.is_initialized()
        return open_executor("ray:auto")

    def kill_one(self) -> None:
        """Kill an actor with its session; another one replaces it."""
        for pid in descendants(os.getpid()):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::_Actor"):
                os.kill(pid, signal.SIGKILL)

    def test_a_killed_driver_leaves_no_process(self, executor: Executor, tmp_path: Path) -> None:
        """Its actors end with it."""
        address = ray.get_runtime_context().gcs_address
        kill_driver("ray", "RayExecutor", repr(address), tmp_path / "note")


class FakeRay:
    """Ray whose objects are the values themselves."""

    def __init__(self) -> None:
        self.killed: list[object] = []
        self.kill = self.killed.append

    def cluster_resources(self) -> dict[str, float]:
        return {}

    def remote(self, **options: object) -> Callable[[type], type]:
        return lambda one: one

    def get(self, value: object) -> object:
        return value


def followed(batches: Iterable[Sequence[SlotEvent]]) -> list[SlotEvent | None]:
    """Return what a pool receives of a unit with these events."""
    slots = RaySlots(FakeRay())
    slots._follow("1", "7", batches)
    return list(iter(lambda: slots.receive(0), None))


@pytest.mark.parametrize("last", [SlotRejected("7", "no folder"), UnitLost("7", "expired")])
def test_a_unit_has_one_last_event(last: SlotEvent) -> None:
    assert followed([[last]]) == [last]
    assert followed([]) == [UnitLost("7", "Ray: the event stream of the unit ended early")]


def test_an_error_of_a_unit_is_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = AssetNeeded("7", "a1")

    def run_on_slot(
        driver: str, slot: str, unit: object, send: Callable[[Sequence[SlotEvent]], None], **_: Any
    ) -> None:
        send([needed])
        raise InputError("no such repository")

    monkeypatch.setattr("karat.experiments.executors.host.run_on_slot", run_on_slot)
    unit: Any = None
    assert followed(_Actor().run(unit)) == [
        needed,
        UnitLost("7", "Ray: InputError: no such repository"),
    ]


def test_addresses_are_checked() -> None:
    assert open_executor("ray:auto") == open_executor("ray://auto") == RayExecutor("auto")
    assert open_executor("ray://head:10001") == RayExecutor("ray://head:10001")
    assert "docs/security.md" in open_executor("ray://head:10001").warning
    assert open_executor("ray:auto").warning == ""
    with pytest.raises(InputError, match="expected ray:auto"):
        open_executor("ray://")
