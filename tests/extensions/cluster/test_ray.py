"""The Ray executor satisfies the contract, on a cluster of this machine."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

import pytest

from karat.errors import InputError, ProcessError
from karat.experiments import open_executor
from karat.extensions.cluster.executor import SlotExecutor
from karat.extensions.cluster.host import LEASE_S
from karat.extensions.cluster.ray import RayExecutor, RaySlots, _Actor
from karat.extensions.cluster.unit import AssetNeeded, SlotEvent, SlotRejected, UnitLost
from karat.system.processes import descendants
from tests.extensions.cluster.killed_driver import kill_driver
from tests.extensions.cluster.suite import SlotExecutorSuite

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Leave the processes of the cluster alone."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Start Ray with one CPU on this machine."""
    programs = Path(__file__).parents[2] / "experiments" / "workers" / "programs"
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


class TestRayExecutor(SlotExecutorSuite):
    @pytest.fixture
    def executor(self, cluster: Any) -> SlotExecutor:
        assert cluster.is_initialized()
        executor = open_executor("ray:auto")
        assert isinstance(executor, RayExecutor)
        return executor

    def kill_one(self) -> None:
        """Kill an actor with its session; another one replaces it."""
        for pid in descendants(os.getpid()):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::_Actor"):
                os.kill(pid, signal.SIGKILL)

    def test_a_killed_driver_leaves_no_process(
        self, executor: SlotExecutor, tmp_path: Path
    ) -> None:
        """Its actors end with it."""
        address = ray.get_runtime_context().gcs_address
        kill_driver("ray", "RayExecutor", repr(address), tmp_path / "note")


@pytest.fixture(scope="module")
def client_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a cluster with a server for Ray clients, and return its address."""
    folder = tmp_path_factory.mktemp("ray")
    with ExitStack() as ports:
        # Free at the same time, so that they differ.
        free = [ports.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        gcs, port = (one.getsockname()[1] for one in free)
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    command += ["--node-ip-address=127.0.0.1", f"--port={gcs}", f"--ray-client-server-port={port}"]
    command += ["--num-cpus=1", "--include-dashboard=false", "--object-store-memory=80000000"]
    environment = {
        **os.environ,
        "RAY_AUTH_MODE": "disabled",
        "KARAT_CACHE": str(folder / "cache"),
        "RAY_USAGE_STATS_ENABLED": "0",
        # A name of its own, and short: sockets are below it.
        "RAY_TMPDIR": mkdtemp(prefix="ray-"),
    }
    with _started(command, environment, folder / "log.txt") as head:
        assert head.poll() is None, (folder / "log.txt").read_text()
        yield f"ray://127.0.0.1:{port}"
    shutil.rmtree(environment["RAY_TMPDIR"], ignore_errors=True)


@contextmanager
def _started(
    command: Sequence[str], environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a head of Ray, and end it and all that it started; yield it when it is up, or ended.

    On a busy machine it gives up after half a minute, so that it is started up to three times.
    """
    for _ in range(3):
        with log.open("wb") as stream:
            head = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
        while head.poll() is None and b"Ray runtime started" not in log.read_bytes():
            with suppress(subprocess.TimeoutExpired):
                head.wait(0.2)
        if head.poll() is None:
            break
    try:
        yield head
    finally:
        started = descendants(head.pid)
        head.terminate()
        try:
            head.wait(20)
        except subprocess.TimeoutExpired:
            head.kill()
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_a_cluster_is_reached_through_a_ray_client(client_server: str, tmp_path: Path) -> None:
    """The driver is not a node: it has no cluster of its own, and the workers not its folder."""
    (tmp_path / "docs").mkdir()
    for name, text in (("login.md", "How to log in."), ("cart.md", "How to fill the cart.")):
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "gold.csv").write_text("query,document\nlog in,login.md\nfill a cart,cart.md\n")
    command = ["evaluate", "gold.csv", "--corpus", "docs", "-e", "bm25", "--timed", "none"]

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "karat", *command, *options],
            cwd=tmp_path,
            env={**os.environ, "RAY_AUTH_MODE": "disabled", "KARAT_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=False,
        )

    done = run("--executor", client_server, "--run-out", "ray.jsonl", "--store", "ray.db")
    assert done.returncode == 0, done.stderr
    assert run("--run-out", "local.jsonl", "--store", "local.db").returncode == 0
    hits = [(tmp_path / name).read_text() for name in ("ray.jsonl", "local.jsonl")]
    assert "login.md" in hits[0]
    assert hits[0] == hits[1]


class FakeCall:
    """A method of an actor; a call returns the answer itself."""

    def __init__(self, call: Callable[..., object]) -> None:
        self.remote = call


class FakeActor:
    """An actor whose calls for events return *answers* in turn, or raise them."""

    def __init__(self, answers: Iterable[object]) -> None:
        following = iter(answers)
        self.run = FakeCall(lambda unit: None)
        self.events = FakeCall(lambda unit: next(following))


class FakeRay:
    """Ray whose objects are the values themselves."""

    def __init__(self) -> None:
        self.killed: list[object] = []
        self.kill = self.killed.append

    def cluster_resources(self) -> dict[str, float]:
        return {}

    def remote(self, **options: object) -> Callable[[type], type]:
        return lambda one: one

    def get(self, value: object, timeout: float | None = None) -> object:
        if isinstance(value, BaseException):
            raise value
        return value


def followed(answers: Iterable[object]) -> list[SlotEvent | None]:
    """Return what a pool receives of a unit whose actor gives these *answers*."""
    slots = RaySlots(FakeRay(), "auto")
    slots._actors["1"] = FakeActor(answers)
    unit: Any = SimpleNamespace(id="7")
    slots._follow("1", unit)
    return list(iter(lambda: slots.receive(0), None))


@pytest.mark.parametrize("last", [SlotRejected("7", "no folder"), UnitLost("7", "expired")])
def test_a_unit_has_one_last_event(last: SlotEvent) -> None:
    assert followed([[], [last], None]) == [last]
    assert followed([None]) == [UnitLost("7", "Ray: the events of the unit ended early")]


def test_a_machine_that_does_not_answer_loses_its_unit() -> None:
    # Ray itself waits a minute for a node whose link is cut.
    lost = UnitLost("7", f"Ray: ProcessError: no answer from the machine for {LEASE_S:g} s")
    assert followed([TimeoutError()]) == [lost]


def test_a_driver_that_slept_misses_one_look_for_an_answer() -> None:
    looks = iter([TimeoutError(), None])

    class LateRay(FakeRay):
        def get(self, value: object, timeout: float | None = None) -> object:
            return super().get(next(looks), timeout)

    assert RaySlots(LateRay(), "auto")._answer("call") is None


@pytest.mark.parametrize(
    ("message", "attempts"), [("Starting Ray client server failed. See x.err", 3), ("refused", 1)]
)
def test_a_head_that_starts_no_client_process_is_tried_again(message: str, attempts: int) -> None:
    tried = []

    def init(**options: object) -> None:
        tried.append(options)
        raise ConnectionError(message)

    with pytest.raises(ConnectionError, match=message):
        RayExecutor("ray://head:1")._join(SimpleNamespace(init=init))
    assert len(tried) == attempts


def test_a_lost_cluster_is_named() -> None:
    def remote() -> None:
        raise ConnectionError("disconnected")

    slots = RaySlots(FakeRay(), "ray://head:10001")
    slots._count, slots._actor_class = 1, SimpleNamespace(remote=remote)
    with pytest.raises(ProcessError, match="the Ray cluster at ray://head:10001 is lost; repeat"):
        slots.slots()


def test_an_error_of_a_unit_is_a_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = AssetNeeded("7", "a1")

    def run_on_slot(
        driver: str, slot: str, unit: object, send: Callable[[Sequence[SlotEvent]], None], **_: Any
    ) -> None:
        send([needed])
        raise InputError("no such repository")

    monkeypatch.setattr("karat.extensions.cluster.host.run_on_slot", run_on_slot)
    actor, unit = _Actor(), SimpleNamespace(id="7")
    actor.run(unit)  # type: ignore[arg-type]

    def answers() -> Iterator[object]:
        while True:
            try:
                yield actor.events("7")
            except InputError as error:
                yield error

    assert followed(answers()) == [
        needed,
        UnitLost("7", "Ray: InputError: no such repository"),
    ]


def test_addresses_are_checked() -> None:
    assert open_executor("ray:auto") == open_executor("ray://auto") == RayExecutor("auto")
    assert open_executor("ray://head:10001") == RayExecutor("ray://head:10001")
    assert "see Security in the docs" in open_executor("ray://head:10001").warning
    assert open_executor("ray:auto").warning == ""
    with pytest.raises(InputError, match="expected ray:auto"):
        open_executor("ray://")
