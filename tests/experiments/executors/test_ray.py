"""The Ray executor satisfies the contract, on a cluster of this machine."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError
from karat.experiments import open_executor
from karat.experiments.executors import Executor
from karat.experiments.executors.ray import RayExecutor
from karat.system.processes import descendants
from karat.testing import ExecutorSuite

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Leave the processes of the cluster alone."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start Ray with one CPU on this machine."""
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


def test_addresses_are_checked() -> None:
    assert open_executor("ray:auto") == open_executor("ray://auto") == RayExecutor("auto")
    assert open_executor("ray://head:10001") == RayExecutor("ray://head:10001")
    assert "docs/security.md" in open_executor("ray://head:10001").warning
    assert open_executor("ray:auto").warning == ""
    with pytest.raises(InputError, match="expected ray:auto"):
        open_executor("ray://")
