"""The contract of executors, and what the driver adds to it for slots."""

import pytest

from karat.errors import ProcessError
from karat.experiments.executors import Executor
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.fingerprint import fingerprint
from karat.testing.executor import ExecutorSuite, Recording, TimedSlot


class SlotExecutorSuite(ExecutorSuite):
    def slot(self, executor: Executor) -> TimedSlot:
        assert isinstance(executor, SlotExecutor)
        with executor.connect() as pool:
            slot = pool.slots()[-1]
        return TimedSlot(slot.id, slot.machine)

    def test_a_slot_with_another_version_is_rejected(
        self, executor: SlotExecutor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Unless it is in the installation of this process."""
        with executor.connect() as pool:
            remote = [slot.id for slot in pool.slots() if slot.fingerprint]
        here = fingerprint()._replace(karat="0.0.1 (of the test)")
        monkeypatch.setattr("karat.extensions.cluster.driver.fingerprint", lambda: here)
        recording = Recording()
        if not remote:
            self.measure(executor, recording)
            self.check_all(recording)
            return
        with pytest.raises(ProcessError, match=r"expected 0\.0\.1 .of the test.") as raised:
            self.measure(executor, recording)
        assert all(slot in str(raised.value) for slot in remote)
        assert not recording.answers
