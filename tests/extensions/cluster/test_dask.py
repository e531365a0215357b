"""The Dask executor satisfies the contract, on a cluster of this machine."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from karat.errors import InputError, ProcessError
from karat.experiments import open_executor
from karat.experiments.workers import Source
from karat.extensions.cluster.assets import asset_parts, assets_of, build_asset, has_asset
from karat.extensions.cluster.dask import DaskExecutor
from karat.extensions.cluster.executor import SlotExecutor
from tests.extensions.cluster.killed_driver import kill_driver
from tests.extensions.cluster.suite import SlotExecutorSuite

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Leave the processes of the cluster alone."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Return a cluster of two workers; a killed one is replaced."""
    programs = Path(__file__).parents[2] / "experiments" / "workers" / "programs"
    with pytest.MonkeyPatch.context() as patch:
        # Processes of multiprocessing take the path of this one, the driver that of its variables.
        patch.syspath_prepend(str(programs))
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            # Without a port, two clusters of one machine would want the same.
            dashboard_address="127.0.0.1:0",
            local_directory=str(tmp_path_factory.mktemp("dask")),
            silence_logs=50,
        ) as cluster:
            yield cluster


def slots_of(url: str) -> DaskExecutor:
    executor = open_executor(url)
    assert isinstance(executor, DaskExecutor)
    return executor


class TestDaskExecutor(SlotExecutorSuite):
    @pytest.fixture
    def executor(self, cluster: Any) -> SlotExecutor:
        self.cluster = cluster
        url = cluster.scheduler_address.replace("tcp://", "dask://")
        executor = slots_of(url)
        assert executor.warning == ""
        return executor

    def kill_one(self) -> None:
        """Kill a worker with its session."""
        with distributed.Client(self.cluster, set_as_default=False) as client:
            pids = client.run(os.getpid)
        os.kill(min(pids.values()), signal.SIGKILL)

    def test_a_killed_driver_leaves_no_process(
        self, executor: SlotExecutor, tmp_path: Path
    ) -> None:
        """Its sessions end without heartbeats."""
        assert isinstance(executor, DaskExecutor)
        arguments = f"{executor.address!r}, lease_s=2.5"
        kill_driver("dask", "DaskExecutor", arguments, tmp_path / "note")


def test_addresses_are_checked() -> None:
    assert open_executor("dask://head") == DaskExecutor("tcp://head:8786")
    assert open_executor("dask+tls://head:1") == DaskExecutor("tls://head:1")
    for url in ("dask:", "dask://", "dask://head:x", "dask://head/more"):
        with pytest.raises(InputError, match="expected a host and a port"):
            open_executor(url)


def test_plain_connections_to_other_machines_are_warned_about() -> None:
    assert "see Security in the docs" in open_executor("dask://head").warning
    assert open_executor("dask+tls://head").warning == ""
    assert open_executor("dask://[::1]:8786").warning == ""


def test_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.cluster.dask.CONNECT_S", 0.2)
    with pytest.raises(ProcessError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        slots_of("dask://127.0.0.1:9").connect().__enter__()


def test_tls_needs_certificates(tmp_path: Path) -> None:
    """Without them Dask fails only after a long time, with a traceback."""
    tls = slots_of("dask+tls://127.0.0.1:9")
    with pytest.raises(InputError, match=r"name none.*TLS__CA_FILE"):
        tls.connect().__enter__()
    missing = str(tmp_path / "missing.pem")
    names = ("ca-file", "client.cert", "client.key")
    with (
        dask.config.set({f"distributed.comm.tls.{name}": missing for name in names}),
        pytest.raises(InputError, match=r"no certificates \(.*No such file"),
    ):
        tls.connect().__enter__()


def test_files_reach_a_worker_once(cluster: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("text\n")
    (asset,) = assets_of([Source.folder(str(folder))]).values()
    file = tmp_path / "asset.tar"
    build_asset(asset, file)
    executor = slots_of(cluster.scheduler_address.replace("tcp://", "dask://"))
    assert executor.travels
    with executor.connect() as pool:
        slot = pool.slots()[0].id
        pool.provide(slot, asset.id, asset_parts(asset.id, file))
        file.unlink()
        # The worker has it, so that the file is not read again.
        pool.provide(slot, asset.id, asset_parts(asset.id, file))
    with distributed.Client(cluster, set_as_default=False) as client:
        held = client.run(has_asset, asset.id)
    assert any(held.values())


def test_a_worker_has_as_many_gpu_slots_as_it_declares() -> None:
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=3,
        processes=False,
        resources={"GPU": 2},
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=":0",
        silence_logs=50,
    ) as cluster:
        address = cluster.scheduler_address
        with DaskExecutor(address).connect() as pool:
            assert [slot.gpu for slot in pool.slots()] == [True, True, False]
