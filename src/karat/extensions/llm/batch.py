"""Many prompts for one model: at once, cached by content, within a spending limit."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from math import ceil
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple, Self

from karat.errors import EngineError, InputError
from karat.extensions.llm.client import (
    ChatModel,
    Completion,
    LostAnswer,
    ModelBusy,
    ModelRefusal,
    Price,
    Prompt,
)
from karat.system.files import cache_folder
from karat.system.locks import try_lock
from karat.system.sqlite import KeyValueFile

WORKERS = 8
ATTEMPTS = 5
CLAIM_WAIT_S = 0.02
FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
# The messages around a prompt, in tokens.
OVERHEAD_TOKENS = 12
# Prose and code have more bytes in a token.
BYTES_PER_TOKEN = 3
_PIECES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LONG_PIECES = re.compile(r"[a-z]{13,}|[A-Z]{6,}")
_CASE_CHANGES = re.compile(r"[a-z][A-Z]")
# A single space before a letter or a symbol belongs to the next token.
_SPACES = re.compile(r"[\t\r\n]|  +| (?=\d|\s|$)")
# Longer answers are not searched for JSON.
MAX_JSON = 100_000


class CompletionCache:
    """The answers of models by model and prompt, in the file *path*.

    An answer is stored before anybody sees it, so that no prompt is paid for twice, whatever ends
    the process. Several processes may use the file at once. A damaged file is renamed and not
    deleted: its answers were paid for.
    """

    def __init__(self, path: str | Path) -> None:
        """Open or create the file."""
        self._path = Path(path)
        self._file = KeyValueFile(
            path, name="cache of model answers", version=1, keeps_damaged=True, required=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def get(self, model: str, prompts: Iterable[Prompt]) -> dict[Prompt, Completion]:
        """Return the known answers of *model*."""
        keys = {_key(model, prompt): prompt for prompt in prompts}
        return {
            keys[key]: Completion(*json.loads(value))
            for key, value in self._file.get(list(keys)).items()
        }

    def put(self, model: str, prompt: Prompt, completion: Completion) -> None:
        """Store one answer."""
        self._file.put({_key(model, prompt): json.dumps(completion).encode()})

    @contextmanager
    def claim(self, model: str, prompt: Prompt, stop: Event) -> Iterator[Completion | None]:
        """Yield the known answer, or None while no other thread or process sends this prompt.

        If another one sends it now, this waits for its answer, or until *stop* is set.
        """
        name = f"{self._path.name}.{_key(model, prompt).hex()}.lock"
        while not stop.is_set():
            with try_lock(self._path.with_name(name)) as is_mine:
                if is_mine:
                    yield self.get(model, [prompt]).get(prompt)
                    return
            stop.wait(CLAIM_WAIT_S)
        yield None


def answer_cache(folder: Path | None = None) -> CompletionCache:
    """Open the cache of model answers in *folder*, by default in the cache of this user."""
    return CompletionCache((folder or cache_folder()) / "model-answers.sqlite")


def _key(model: str, prompt: Prompt) -> bytes:
    return sha256(json.dumps([model, *prompt]).encode()).digest()


class CostEstimate(NamedTuple):
    """The most that a number of prompts can cost, and the *likely* cost if answers are long.

    Both are None if the price is unknown. The numbers of tokens are the largest ones.
    """

    requests: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    likely: float | None = None


def estimate(
    model: ChatModel, prompts: Sequence[Prompt], cache: CompletionCache | None = None
) -> CostEstimate:
    """Return the most that *prompts* can cost; cached and repeated ones cost nothing."""
    distinct = set(prompts)
    new = distinct - set(cache.get(model.name, distinct) if cache else ())
    most = sum(map(_most_prompt_tokens, new))
    longest = sum(prompt.max_tokens for prompt in new)
    cost = likely = None
    if model.price:
        cost = model.price.cost(most, longest)
        likely = min(cost, model.price.cost(sum(map(_likely_prompt_tokens, new)), longest))
    return CostEstimate(len(new), len(distinct) - len(new), most, longest, cost, likely)


def _likely_prompt_tokens(prompt: Prompt) -> int:
    size = len(prompt.instruction.encode()) + len(prompt.text.encode())
    return size // BYTES_PER_TOKEN + OVERHEAD_TOKENS


def _most_prompt_tokens(prompt: Prompt) -> int:
    return _most_instruction_tokens(prompt.instruction) + most_tokens(prompt.text) + OVERHEAD_TOKENS


def most_tokens(text: str) -> int:
    """Return about the largest number of tokens that a tokenizer of bytes makes of *text*.

    Each digit, symbol and byte of other characters counts as one token, a word by its length; long
    words and changes of case, as in base64, count more. Prose and code have about half as many
    tokens. Only words of random letters have more, up to a third.

    >>> most_tokens("return the session"), most_tokens("0xdeadbeef42"), most_tokens("λόγος")
    (8, 7, 10)
    """
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    pieces = _PIECES.findall(text)
    letters = sum(map(len, pieces))
    spaces = sum(map(text.count, " \t\r\n"))
    most = (
        len(pieces)
        + 0.35 * (letters - len(pieces))
        + 0.5 * len(_CASE_CHANGES.findall(text))
        + 0.3 * sum(map(len, _LONG_PIECES.findall(text)))
        + len(_SPACES.findall(text))
        + (size - letters - spaces)
    )
    return min(size, ceil(most))


# The same few instructions are sent with many texts.
@lru_cache(maxsize=32)
def _most_instruction_tokens(text: str) -> int:
    return most_tokens(text)


@dataclass(slots=True)
class Spend:
    """An account of requests and costs, with a *limit* in US dollars.

    *uncertain* is the largest cost of requests that a provider may charge although no answer came;
    it counts against the limit. *is_stopped* says that the limit kept prompts from being sent.
    *shared* is a further limit, which several have in common.
    """

    limit: float | None = None
    requests: int = 0
    cached: int = 0
    retries: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    uncertain: float = 0.0
    is_stopped: bool = False
    shared: "Spend | None" = None
    _reserved: float = 0.0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def check(self, model: ChatModel) -> None:
        """Raise InputError if the limit needs a price, and that of *model* is unknown."""
        if self.limit is not None and model.price is None:
            name = (
                "" if "#" in model.name else "litellm does not list this model: check its name, or "
            )
            raise InputError(
                f"{model.name}: the price is unknown, so a spending limit cannot be enforced; "
                f"{name}"
                "give the price in US dollars per million tokens with --price PROMPT,ANSWER "
                "(0,0 if free)"
            )

    def reserve(self, amount: float) -> bool:
        """Set *amount* aside for a request; False if the limit does not allow it."""
        with self._lock:
            total = self.cost + self.uncertain + self._reserved + amount
            is_over = self.limit is not None and total > self.limit
            if is_over or (self.shared is not None and not self.shared.reserve(amount)):
                self.is_stopped = True
                return False
            self._reserved += amount
            return True

    def settle(
        self, reserved: float, price: Price | None, answer: Completion | EngineError
    ) -> None:
        """Replace a reservation by what the request cost."""
        if self.shared is not None:
            self.shared.settle(reserved, price, answer)
        with self._lock:
            self._reserved -= reserved
            self.requests += 1
            if isinstance(answer, Completion):
                self.prompt_tokens += answer.prompt_tokens
                self.completion_tokens += answer.completion_tokens
                if price:
                    self.cost += price.cost(answer.prompt_tokens, answer.completion_tokens)
            elif isinstance(answer, LostAnswer) or (
                isinstance(answer, ModelBusy) and answer.may_cost
            ):
                self.uncertain += reserved

    def count(self, *, cached: int = 0, retries: int = 0, failed: int = 0) -> None:
        """Add to the counts."""
        with self._lock:
            self.cached += cached
            self.retries += retries
            self.failed += failed


def complete_all(
    model: ChatModel,
    prompts: Sequence[Prompt],
    *,
    spend: Spend,
    cache: CompletionCache | None = None,
    workers: int = WORKERS,
    attempts: int = ATTEMPTS,
    sleep: Callable[[float], object] | None = None,
) -> Iterator[tuple[int, Completion | EngineError]]:
    """Yield the index of each prompt with its answer, or with the error, as they arrive.

    Equal prompts are sent once. A busy provider is tried again up to *attempts* times, after the
    pause that it asks for; a request whose answer was lost is not: it may have been charged. If
    the limit of *spend* is reached, the prompts that were not sent are not yielded. A provider that
    refuses everything raises ModelRefusal. When the caller stops early, answers on their way are
    awaited and cached: they have been paid for.
    """
    spend.check(model)
    places: dict[Prompt, list[int]] = {}
    for number, prompt in enumerate(prompts):
        places.setdefault(prompt, []).append(number)
    known = cache.get(model.name, places) if cache else {}
    for prompt, answer in known.items():
        spend.count(cached=1)
        for number in places[prompt]:
            yield number, answer
    stop = Event()
    request = _Request(model, spend, cache, attempts=attempts, stop=stop, sleep=sleep or stop.wait)
    waiting = iter([prompt for prompt in places if prompt not in known])
    with ThreadPoolExecutor(workers, thread_name_prefix="karat-llm") as pool:
        running: dict[Future[Completion | EngineError | None], Prompt] = {}
        try:
            _fill(pool, request, waiting, running, workers)
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                ended = [(running.pop(future), future.result()) for future in done]
                _fill(pool, request, waiting, running, workers)
                for prompt, result in ended:
                    if result is not None:
                        for number in places[prompt]:
                            yield number, result
        finally:
            stop.set()


def completer(
    model: ChatModel, *, spend: Spend, cache: CompletionCache | None = None
) -> Callable[[str, str], str]:
    """Return a function from an instruction and a text to the answer; it raises EngineError."""

    def complete(instruction: str, text: str) -> str:
        prompt = Prompt(instruction, text)
        for _, answer in complete_all(model, [prompt], spend=spend, cache=cache, workers=1):
            if isinstance(answer, EngineError):
                raise answer
            if answer.text.strip():
                return answer.text
            raise EngineError(f"{model.name}: the answer is empty")
        raise EngineError(f"{model.name}: the spending limit is reached")

    return complete


def _fill(
    pool: ThreadPoolExecutor,
    request: "_Request",
    waiting: Iterator[Prompt],
    running: dict[Future[Completion | EngineError | None], Prompt],
    workers: int,
) -> None:
    """Send prompts until *workers* of them are running."""
    while len(running) < workers and not request.spend.is_stopped:
        prompt = next(waiting, None)
        if prompt is None:
            return
        running[pool.submit(request, prompt)] = prompt


class _Request:
    """Sends one prompt; stores the answer before it returns it. None: the limit is reached."""

    def __init__(
        self,
        model: ChatModel,
        spend: Spend,
        cache: CompletionCache | None,
        *,
        attempts: int,
        stop: Event,
        sleep: Callable[[float], object],
    ) -> None:
        self.spend = spend
        self._model = model
        self._cache = cache
        self._attempts = attempts
        self._stop = stop
        self._sleep = sleep

    def __call__(self, prompt: Prompt) -> Completion | EngineError | None:
        if not self._cache:
            return self._send(prompt)
        # Another process may have been answered since the cache was read.
        with self._cache.claim(self._model.name, prompt, self._stop) as known:
            if known:
                self.spend.count(cached=1)
            return known or self._send(prompt)

    def _send(self, prompt: Prompt) -> Completion | EngineError | None:
        price = self._model.price
        most = price.cost(_most_prompt_tokens(prompt), prompt.max_tokens) if price else 0.0
        pause_s = FIRST_WAIT_S
        for attempt in range(1, self._attempts + 1):
            if self._stop.is_set() or not self.spend.reserve(most):
                return None
            try:
                answer: Completion | EngineError = self._model.complete(prompt)
            except EngineError as error:
                answer = error
            self.spend.settle(most, price, answer)
            if isinstance(answer, Completion):
                if self._cache:
                    self._cache.put(self._model.name, prompt, answer)
                return answer
            if isinstance(answer, ModelRefusal):
                raise answer
            if not isinstance(answer, ModelBusy) or attempt == self._attempts:
                break
            self.spend.count(retries=1)
            self._sleep(min(answer.wait_s or pause_s, LONGEST_WAIT_S))
            pause_s *= 2
        self.spend.count(failed=1)
        return answer


def find_json(text: str) -> dict[str, Any]:
    r"""Return the first JSON object in an answer; ValueError if there is none.

    Models put JSON between other words or in a block of Markdown.

    >>> find_json('Sure: ```json\n{"grade": 2}\n```')
    {'grade': 2}
    """
    start = text.find("{")
    if start < 0 or len(text) > MAX_JSON:
        raise ValueError("no JSON object")
    decoder = json.JSONDecoder(parse_constant=_refuse, object_pairs_hook=_distinct)
    try:
        value, _ = decoder.raw_decode(text[start:])
    except RecursionError as error:
        raise ValueError("JSON that is nested too deep") from error
    if not isinstance(value, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - callers handle one exception
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not a number")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a key appears more than once")
    return record
