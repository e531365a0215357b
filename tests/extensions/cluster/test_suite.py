"""A driver and slots in threads satisfy the contract of executors with slots."""

import os
import signal

import pytest

from karat.extensions.cluster.suite import SlotExecutorSuite, ThreadExecutor
from tests.experiments.workers.conftest import children


class TestThreadExecutor(SlotExecutorSuite):
    @pytest.fixture
    def executor(self) -> ThreadExecutor:
        return ThreadExecutor(2)

    def kill_one(self) -> None:
        """Kill an engine process, which is replaced."""
        os.kill(children()[0], signal.SIGKILL)
