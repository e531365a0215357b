"""Where a model computes: options behind its name, what torch has, and batches that fit."""

from collections.abc import Callable

import pytest

from karat.errors import EngineError, InputError
from karat.extensions.models.device import (
    FULL,
    TEXTS_ON_CPU,
    TEXTS_ON_GPU,
    Batches,
    ModelChoice,
    Placement,
    choice_of,
    hub_model_device,
    place,
)
from karat.extensions.models.onnx import CPU, gpu_provider

GPU = Placement("cuda", "bfloat16")


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Callable[[tuple[int, int]], None]:
    """Return a function that lets torch see two CUDA devices of a generation."""
    torch = pytest.importorskip("torch")

    def see(generation: tuple[int, int]) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: generation)
        monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)

    return see


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


def test_options_stand_behind_the_model() -> None:
    assert choice_of("a/b", spec="st") == ModelChoice("a/b", "auto", "auto")
    chosen = choice_of("./m?precision=float32&device=mps", spec="st")
    assert chosen == ModelChoice("./m", "mps", "float32")


@pytest.mark.parametrize(
    ("argument", "problem"),
    [
        ("m?device=gpu", "device 'gpu'; expected auto, cpu, cuda, mps or cuda:1"),
        ("m?device=cpu:1", "device 'cpu:1'"),
        ("m?device=cuda:x", "device 'cuda:x'"),
        ("m?precision=int8", "precision 'int8'; expected auto, float32, bfloat16, float16"),
        ("m?batch=4", "batch: expected the options device and precision"),
        ("m?cuda", "cuda: expected the options device and precision"),
    ],
)
def test_a_wrong_option_is_named(argument: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem.replace("?", r"\?")):
        choice_of(argument, spec="st")


@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_processor_computes_in_full_precision() -> None:
    assert place(ModelChoice("m")) == Placement("cpu", FULL)
    assert place(ModelChoice("m", precision="bfloat16")) == Placement("cpu", "bfloat16")
    assert hub_model_device() == "cpu in float32"
    for device in ("cuda", "mps"):
        with pytest.raises(InputError, match=f"device={device}: torch .* sees no such device"):
            place(ModelChoice("m", device))


def test_a_gpu_computes_in_the_half_precision_that_it_has(
    gpu: Callable[[tuple[int, int]], None],
) -> None:
    gpu((9, 0))
    assert place(ModelChoice("m")) == GPU
    assert place(ModelChoice("m", "cuda:1", FULL)) == Placement("cuda:1", FULL)
    assert place(ModelChoice("m", "cpu")) == Placement("cpu", FULL)
    with pytest.raises(InputError, match="device=cuda:2"):
        place(ModelChoice("m", "cuda:2"))
    gpu((7, 5))
    assert place(ModelChoice("m")) == Placement("cuda", "float16")


def test_batches_shrink_until_they_fit(gpu: Callable[[tuple[int, int]], None]) -> None:
    gpu((9, 0))
    batches = Batches(GPU)
    tried: list[int] = []

    def compute(size: int) -> str:
        tried.append(size)
        if size > 100:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return "rows"

    assert batches.run(compute) == "rows"
    assert tried == [512, 256, 128, 64]
    # The next call begins with what fitted.
    assert batches.run(compute) == "rows"
    assert tried[4:] == [64]
    assert (batches.texts_at_once, Batches(GPU).size) == (8 * 64, TEXTS_ON_GPU)
    assert (Batches(Placement("cpu", FULL)).size, TEXTS_ON_CPU) == (32, 32)


def test_a_text_that_never_fits_is_an_error(gpu: Callable[[tuple[int, int]], None]) -> None:
    gpu((9, 0))

    def never(_: int) -> None:
        raise RuntimeError("CUDA out of memory")

    def broken(_: int) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(EngineError, match="does not fit into the memory of cuda"):
        Batches(GPU).run(never)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        Batches(GPU).run(broken)


@pytest.mark.usefixtures("no_gpu")
def test_the_list_of_engines_says_where_models_compute() -> None:
    pytest.importorskip("onnxruntime")
    from click.testing import CliRunner

    from karat.cli.commands.engines import command

    last = CliRunner().invoke(command, []).output.splitlines()[-1]
    assert last == (
        "models here: hub models on cpu in float32; onnx folders on the processor; "
        "packaged models on the processor"
    )


def test_a_graph_runs_where_its_runtime_can(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = pytest.importorskip("onnxruntime")
    assert gpu_provider("cpu") == CPU
    with pytest.raises(InputError, match="device=cuda: the installed ONNX Runtime has"):
        gpu_provider("cuda")
    both = ["CUDAExecutionProvider", CPU]
    monkeypatch.setattr(runtime, "get_available_providers", lambda: both)
    assert (gpu_provider("auto"), gpu_provider("cpu")) == ("CUDAExecutionProvider", CPU)
