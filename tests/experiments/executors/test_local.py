"""The local executor satisfies the contract."""

import os
import signal

import pytest

from karat.experiments import Executor, open_executor
from karat.testing import ExecutorSuite
from tests.experiments.workers.conftest import children


class TestLocalExecutor(ExecutorSuite):
    @pytest.fixture(params=["local", "local:2"])
    def executor(self, request: pytest.FixtureRequest) -> Executor:
        return open_executor(request.param)

    def kill_one(self) -> None:
        """Kill an engine process, which is replaced."""
        os.kill(children()[0], signal.SIGKILL)
