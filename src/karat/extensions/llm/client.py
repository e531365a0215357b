"""A chat model by its name: any provider of litellm, or any OpenAI-compatible address."""

import os
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from karat.errors import EngineError, InputError, MissingExtra
from karat.extensions.llm.http import has_user_info, redacted, retry_after_s

# The key that is sent to an address, where one is needed. The keys of known providers are never
# sent to a custom address.
KEY_VARIABLE = "KARAT_MODEL_KEY"
# HTTP statuses for requests that were not processed: too many requests, or too busy.
UNPROCESSED = (429, 503, 529)
# The class names that litellm puts before a message, and the number before one of the system.
_CLASSES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception)(?::| -) )+")
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
_ADDRESS = re.compile(r"(?P<address>https?://[^#\s]+)#(?P<model>\S+)")


class Prompt(NamedTuple):
    """The input of a model, and the largest number of tokens of its answer."""

    instruction: str
    text: str
    max_tokens: int = 512


class Completion(NamedTuple):
    """The answer of a model, and the tokens that its provider counted."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Price(NamedTuple):
    """US dollars per million tokens."""

    prompt: float
    completion: float

    def cost(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the cost of these tokens in US dollars.

        >>> Price(0.15, 0.6).cost(1_000_000, 500_000)
        0.45
        """
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / 1e6


class ModelBusy(EngineError):
    """The provider cannot answer now, and asks for a pause of *wait_s*.

    *may_cost* says that the request may have been processed, and charged.
    """

    def __init__(
        self, message: str, wait_s: float | None = None, *, may_cost: bool = False
    ) -> None:
        super().__init__(message)
        self.wait_s = wait_s
        self.may_cost = may_cost


class LostAnswer(EngineError):
    """No answer came in time, or none that can be read; the provider may charge for it."""


class ModelRefusal(EngineError):
    """The provider refuses every request: a wrong key, or no such model."""


class ChatModel(Protocol):
    """Answers prompts; *price* is None where it is unknown. Safe for several threads."""

    name: str
    price: Price | None

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to *prompt*, or raise EngineError or one of its classes above."""
        ...


def open_model(spec: str, *, price: Price | None = None, timeout_s: float = 60.0) -> ChatModel:
    """Return the model that *spec* names.

    ``openai/gpt-4o-mini`` or ``ollama/llama3``: a name of litellm, which reads the key of the
    provider from the environment. ``http://localhost:8000/v1#qwen``: a model at an
    OpenAI-compatible address; a key for it is read from ``KARAT_MODEL_KEY``. *price* replaces the
    one that litellm knows.
    """
    # Without this, litellm downloads a list of prices at import.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        import litellm
    except ImportError as error:
        raise MissingExtra("litellm", extra="llm", purpose="a language model") from error

    # litellm prints advice to standard output with every error.
    litellm.suppress_debug_info = True
    reject_user_info(spec)
    at = _ADDRESS.fullmatch(spec)
    if "://" in spec and not at:
        raise InputError(
            f"{spec!r} is not a model; expected ADDRESS#MODEL, such as http://localhost:8000/v1#qwen"
        )
    options: dict[str, object] = {"model": spec}
    if not at:
        _check_provider(litellm, spec)
    else:
        options = {
            "model": f"openai/{at['model']}",
            "api_base": at["address"],
            "api_key": os.environ.get(KEY_VARIABLE) or "none",
        }
    known = price or (None if at else _known_price(litellm, spec))
    return _LitellmModel(spec, known, {**options, "timeout": timeout_s})


def reject_user_info(spec: str) -> None:
    """Raise InputError if the address in *spec* has a user name or a password; it is not shown."""
    if has_user_info(spec):
        raise InputError(
            "the address of a model has a user name or a password, which would be shown in names "
            f"and errors; expected ADDRESS#MODEL without them, and the key in {KEY_VARIABLE}"
        )


def model_name(spec: str) -> str:
    """Return the name of the model in *spec*, without the address of its server.

    >>> model_name("http://localhost:8000/v1#qwen"), model_name("openai/gpt-4o-mini")
    ('qwen', 'openai/gpt-4o-mini')
    """
    return spec.rpartition("#")[2] if "://" in spec else spec


def _check_provider(litellm: Any, model: str) -> None:
    """Raise InputError if litellm does not know the provider of *model*."""
    try:
        litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        raise InputError(
            f"{model!r} is not a model that litellm knows; expected PROVIDER/MODEL, such as "
            "openai/gpt-4o-mini, or ADDRESS#MODEL, such as http://localhost:8000/v1#qwen"
        ) from None


def parse_price(text: str) -> Price:
    """Return the price that ``PROMPT,COMPLETION`` states, in US dollars per million tokens.

    >>> parse_price("0.15,0.6")
    Price(prompt=0.15, completion=0.6)
    >>> parse_price("cheap")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: 'cheap' is not a price; expected two numbers, US dollars per million...
    """
    try:
        prompt, completion = map(float, text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < 1e6 and 0 <= completion < 1e6):
        raise InputError(
            f"{text!r} is not a price; expected two numbers, US dollars per million tokens of "
            "prompts and of answers, such as 0.15,0.6"
        )
    return Price(prompt, completion)


def _known_price(litellm: Any, model: str) -> Price | None:
    """Return the price in litellm's list."""
    try:
        each = litellm.cost_per_token(
            model=model, prompt_tokens=1_000_000, completion_tokens=1_000_000
        )
    except Exception:  # noqa: BLE001 - it raises plain ones too; without a price it still answers
        return None
    return Price(*map(float, each))


class _LitellmModel:
    """A model that litellm calls. It never retries: the caller counts each request."""

    def __init__(self, name: str, price: Price | None, options: Mapping[str, object]) -> None:
        self.name = name
        self.price = price
        self._options = options

    @cached_property
    def _missing_keys(self) -> Sequence[str]:
        """Return the variables of which one must have the key of the provider, if none has it."""
        import litellm

        if "api_key" in self._options:
            return ()
        missing = litellm.validate_environment(str(self._options["model"]))["missing_keys"]
        # Addresses and accounts can be configured in other places.
        return missing if all(name.endswith("_API_KEY") for name in missing) else ()

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer."""
        import litellm
        import openai

        if self._missing_keys:
            names = " or ".join(self._missing_keys)
            raise ModelRefusal(f"{self.name}: the environment variable {names} is not set")
        messages = [
            {"role": "system", "content": prompt.instruction},
            {"role": "user", "content": prompt.text},
        ]
        try:
            answer = litellm.completion(
                messages=messages,
                temperature=0,
                max_tokens=prompt.max_tokens,
                max_retries=0,
                num_retries=0,
                # Models without a temperature are used without it.
                drop_params=True,
                **self._options,
            )
        except openai.OpenAIError as error:  # all litellm errors derive from it
            raise self._classified(error) from error
        content = answer.choices[0].message.content if answer.choices else None
        usage = getattr(answer, "usage", None)
        return Completion(
            content if isinstance(content, str) else "",
            _count(usage, "prompt_tokens"),
            _count(usage, "completion_tokens"),
        )

    def _classified(self, error: Exception) -> EngineError:
        import openai

        said = f"{self.name}: {redacted(_reason(error), _keys())}"
        if _is_unsent(error):
            return ModelBusy(said)
        # litellm reports an answer that it cannot parse as an error of the server.
        if isinstance(error, openai.APITimeoutError) or "Received response" in str(error):
            return LostAnswer(said)
        refused = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
        if isinstance(error, refused):
            return ModelRefusal(said)
        status = getattr(error, "status_code", None)
        if isinstance(status, int) and status in UNPROCESSED:
            return ModelBusy(said, _wait_s(error))
        # litellm gives a lost connection the status 500.
        if isinstance(error, openai.APIConnectionError) or (
            isinstance(status, int) and status >= 500
        ):
            return ModelBusy(said, _wait_s(error), may_cost=True)
        return EngineError(said)


def _keys() -> list[str]:
    """Return the keys in the environment: litellm does not report which of them it has sent."""
    endings = ("KEY", "TOKEN", "SECRET", "PASSWORD")
    return [value for name, value in os.environ.items() if name.upper().endswith(endings)]


def _reason(error: Exception) -> str:
    """Return the class and the first line of *error*, or why there is no connection."""
    import openai

    chain: list[BaseException] = [error]
    while under := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(under)
    lost = any(isinstance(each, openai.APIConnectionError) for each in chain)
    if lost and not any(isinstance(each, openai.APITimeoutError) for each in chain):
        return f"no answer ({_ERRNO.sub('', str(chain[-1]))})"
    said = _CLASSES.sub("", str(error).partition("\n")[0])
    return f"{type(error).__name__}: {said}"


def _is_unsent(error: BaseException) -> bool:
    """Return whether no connection could be made, so that no request was sent."""
    import httpx

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout)):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _wait_s(error: Exception) -> float | None:
    headers = getattr(error, "litellm_response_headers", None) or {}
    return retry_after_s(headers.get("retry-after"), datetime.now(UTC))


def _count(usage: object, key: str) -> int:
    value = getattr(usage, key, 0)
    return value if isinstance(value, int) and value > 0 else 0
