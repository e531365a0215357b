"""A driver and slots in threads satisfy the contract of executors with slots."""

import os
import signal

import pytest

from karat.extensions.cluster.threads import ThreadExecutor
from tests.experiments.workers.conftest import children
from tests.extensions.cluster.suite import SlotExecutorSuite


class TestThreadExecutor(SlotExecutorSuite):
    @pytest.fixture
    def executor(self) -> ThreadExecutor:
        return ThreadExecutor(2)

    @pytest.fixture(autouse=True)
    def _children_before(self) -> None:
        self.before = children()

    def kill_one(self) -> None:
        """Kill an engine process, which is replaced."""
        started = [process for process in children() if process not in self.before]
        os.kill(started[0], signal.SIGKILL)
