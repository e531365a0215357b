"""Where a model of sentence-transformers computes: its device, its precision, its batches."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from karat.errors import EngineError, InputError

if TYPE_CHECKING:
    import torch

Result = TypeVar("Result")

AUTO = "auto"
# What a device may be, beside a number behind cuda.
DEVICES = (AUTO, "cpu", "cuda", "mps")
PRECISIONS = (AUTO, "float32", "bfloat16", "float16")
FULL = "float32"
# The oldest generation of CUDA devices that computes in bfloat16.
BFLOAT16_SINCE = (8, 0)
# A processor gains nothing by larger batches; a GPU needs them to be busy.
TEXTS_ON_CPU = 32
TEXTS_ON_GPU = 512
# Texts of one call: a GPU reads the next batch while it computes, and sorts all by length.
BATCHES_AT_ONCE = 8


class ModelChoice(NamedTuple):
    """A model, and the options behind its name: ``BAAI/bge-m3?device=cuda&precision=float32``."""

    model: str
    device: str = AUTO
    precision: str = AUTO


class Placement(NamedTuple):
    """The device and the precision that a model really has."""

    device: str
    precision: str

    @property
    def text(self) -> str:
        """Return both for a reader, ``cuda:0 in bfloat16``."""
        return f"{self.device} in {self.precision}"


def choice_of(argument: str, *, spec: str) -> ModelChoice:
    """Return what *argument*, the text behind ``spec:``, chooses.

    >>> choice_of("BAAI/bge-m3?device=cuda:1", spec="st")
    ModelChoice(model='BAAI/bge-m3', device='cuda:1', precision='auto')
    """
    model, _, query = argument.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    device, precision = given.pop("device", AUTO), given.pop("precision", AUTO)
    kind, _, number = device.partition(":")
    if given or (query and "=" not in query):
        options = ", ".join(given) or query
        raise InputError(f"{spec}:{argument}: {options}: expected the options device and precision")
    if kind not in DEVICES or (number and (kind != "cuda" or not number.isdecimal())):
        raise InputError(
            f"{spec}:{argument}: device {device!r}; expected {', '.join(DEVICES)} or cuda:1"
        )
    if precision not in PRECISIONS:
        raise InputError(
            f"{spec}:{argument}: precision {precision!r}; expected {', '.join(PRECISIONS)}"
        )
    return ModelChoice(model, device, precision)


def place(choice: ModelChoice) -> Placement:
    """Return where *choice* computes here; InputError if torch has no such device.

    Without a choice: a CUDA device in half precision, else Apple's GPU, else the processor, both in
    full precision.
    """
    import torch

    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    device = choice.device
    if device == AUTO:
        device = next((name for name, there in available.items() if there), "cpu")
    elif not available.get(device.partition(":")[0], True) or _beyond(device):
        raise InputError(
            f"{choice.model}: device={device}: torch {torch.__version__} sees no such device; "
            "remove the option, or install the torch build for it"
        )
    precision = choice.precision
    if precision == AUTO:
        precision = _half(device) if device.startswith("cuda") else FULL
    return Placement(device, precision)


def hub_model_device() -> str:
    """Return where hub models compute by default, "" where torch is not installed."""
    try:
        return place(ModelChoice("")).text
    except ImportError:
        return ""


def _beyond(device: str) -> bool:
    import torch

    number = device.partition(":")[2]
    return bool(number) and int(number) >= torch.cuda.device_count()


def _half(device: str) -> str:
    import torch

    new = torch.cuda.get_device_capability(device) >= BFLOAT16_SINCE
    return "bfloat16" if new else "float16"


def put(model: Any, placement: Placement) -> None:
    """Give *model*, a torch module on its device, the precision of *placement*."""
    if placement.precision != FULL:
        import torch

        model.to(getattr(torch, placement.precision))


class Batches:
    """The number of texts that a model computes at once: fewer once memory was short."""

    def __init__(self, placement: Placement) -> None:
        """Begin with what the device of *placement* computes well."""
        self._placement = placement
        self.size = TEXTS_ON_CPU if placement.device == "cpu" else TEXTS_ON_GPU

    @property
    def texts_at_once(self) -> int:
        """Return how many texts to pass on in one call."""
        return 1 if self._placement.device == "cpu" else self.size * BATCHES_AT_ONCE

    def run(self, compute: Callable[[int], Result]) -> Result:
        """Return what *compute* returns for a batch size that fits into memory."""
        while True:
            try:
                return compute(self.size)
            except RuntimeError as error:
                if "out of memory" not in str(error).lower():
                    raise
                if self.size == 1:
                    raise EngineError(
                        f"one text does not fit into the memory of {self._placement.device}; "
                        "add ?device=cpu to the model"
                    ) from error
                self.size //= 2
            # After the handler: its exception holds the tensors that did not fit.
            _release(self._placement.device)


def _release(device: str) -> None:
    import torch

    if device.startswith("cuda"):
        torch.cuda.empty_cache()
    elif device == "mps":
        torch.mps.empty_cache()


def to_numpy(tensor: "torch.Tensor") -> Any:
    """Return *tensor* as float32 of numpy, which knows no bfloat16."""
    return tensor.float().cpu().numpy()
