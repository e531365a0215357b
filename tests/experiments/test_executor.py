"""The local executor keeps the law, by one process and by several."""

import pytest

from karat.experiments import LocalExecutor
from karat.testing import ExecutorSuite


class TestLocalExecutor(ExecutorSuite):
    @pytest.fixture(params=[1, 2])
    def executor(self, request: pytest.FixtureRequest) -> LocalExecutor:
        return LocalExecutor(request.param)
