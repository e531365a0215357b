"""Many prompts: nothing is lost, nothing is paid for twice, and the limit holds."""

import threading
import time
from base64 import b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from random import Random
from string import ascii_letters, ascii_lowercase
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import EngineError, InputError
from karat.extensions.llm.batch import (
    CompletionCache,
    Spend,
    complete_all,
    completer,
    estimate,
    find_json,
    most_tokens,
)
from karat.extensions.llm.client import (
    Completion,
    LostAnswer,
    ModelBusy,
    ModelRefusal,
    Price,
    Prompt,
)

PRICE = Price(1.0, 2.0)


class Model:
    """Answers by a function; counts what it was asked."""

    def __init__(
        self, answer: Callable[[str], str] = str.upper, price: Price | None = PRICE
    ) -> None:
        self.name = "m"
        self.price = price
        self.asked: list[str] = []
        self._answer = answer

    def complete(self, prompt: Prompt) -> Completion:
        self.asked.append(prompt.text)
        return Completion(self._answer(prompt.text), 1_000, 100)


def prompts(*texts: str) -> list[Prompt]:
    return [Prompt("Do.", text, 100) for text in texts]


@pytest.fixture
def cache(tmp_path: Path) -> CompletionCache:
    return CompletionCache(tmp_path / "answers.sqlite")


def test_every_prompt_is_answered_and_equal_ones_are_sent_once(cache: CompletionCache) -> None:
    model, spend = Model(), Spend()
    answers = dict(complete_all(model, prompts("a", "b", "a"), spend=spend, cache=cache))
    assert {number: answer.text for number, answer in answers.items()} == {0: "A", 1: "B", 2: "A"}  # type: ignore[union-attr]
    assert sorted(model.asked) == ["a", "b"]
    assert (spend.requests, spend.prompt_tokens, spend.completion_tokens) == (2, 2_000, 200)
    assert spend.cost == pytest.approx(2 * 1.2e-3)


def test_a_second_run_sends_nothing(cache: CompletionCache) -> None:
    model = Model()
    first = dict(complete_all(model, prompts("a", "b"), spend=Spend(), cache=cache))
    spend = Spend(limit=0.0)
    assert dict(complete_all(model, prompts("a", "b"), spend=spend, cache=cache)) == first
    assert (len(model.asked), spend.requests, spend.cached, spend.cost) == (2, 0, 2, 0.0)


@pytest.mark.parametrize("delay_s", [0.0, 0.02])
def test_two_calls_at_once_pay_for_each_prompt_once(tmp_path: Path, delay_s: float) -> None:
    def slow(text: str) -> str:
        time.sleep(0.005)
        return text

    model = Model(slow)
    texts = prompts(*map(str, range(60)))

    def call(pause_s: float) -> Spend:
        spend = Spend()
        time.sleep(pause_s)
        with CompletionCache(tmp_path / "answers.sqlite") as cache:
            assert len(list(complete_all(model, texts, spend=spend, cache=cache))) == 60
        return spend

    with ThreadPoolExecutor(2) as threads:
        spends = list(threads.map(call, (0.0, delay_s)))
    assert sorted(model.asked) == sorted(map(str, range(60)))
    assert [sum(each.requests for each in spends), sum(each.cached for each in spends)] == [60, 60]
    assert [each.name for each in tmp_path.glob("*.lock")] == []


def test_a_call_that_waits_for_another_one_can_be_stopped(cache: CompletionCache) -> None:
    stop = threading.Event()
    (prompt,) = prompts("a")
    with cache.claim("m", prompt, stop) as first:
        threading.Timer(0.05, stop.set).start()
        with cache.claim("m", prompt, stop) as second:
            assert (first, second, stop.is_set()) == (None, None, True)


def test_paid_answers_in_a_damaged_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    path.write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="cache of model answers is damaged"):
        CompletionCache(path).close()
    assert (tmp_path / "answers.sqlite.damaged").read_bytes() == b"damaged"


def test_another_prompt_model_or_length_is_another_request(cache: CompletionCache) -> None:
    model = Model()
    other = Model()
    other.name = "n"
    (prompt,) = prompts("a")
    for one, given_prompt in (
        (model, prompt),
        (model, prompt._replace(instruction="Don't.")),
        (model, prompt._replace(max_tokens=7)),
        (other, prompt),
    ):
        list(complete_all(one, [given_prompt], spend=Spend(), cache=cache))
    assert (len(model.asked), len(other.asked)) == (3, 1)


def test_a_busy_model_is_tried_again_after_the_pause_it_asks_for(cache: CompletionCache) -> None:
    errors: list[EngineError] = [ModelBusy("busy", 7.0), ModelBusy("busy"), ModelBusy("busy")]
    pauses: list[float] = []

    def answer(text: str) -> str:
        if errors:
            raise errors.pop(0)
        return text

    spend = Spend()
    answers = dict(
        complete_all(
            Model(answer), prompts("a"), spend=spend, cache=cache, workers=1, sleep=pauses.append
        )
    )
    assert isinstance(answers[0], Completion)
    assert pauses == [7.0, 2.0, 4.0]
    assert (spend.requests, spend.retries, spend.failed) == (4, 3, 0)
    assert spend.cost == pytest.approx(1.2e-3)


def test_a_failed_request_that_may_have_been_charged_counts_against_the_limit() -> None:
    errors = [ModelBusy("free"), ModelBusy("lost", may_cost=True), ModelBusy("lost", may_cost=True)]

    def answer(text: str) -> str:
        if errors:
            raise errors.pop()
        return text

    spend, most = Spend(limit=1.0), estimate(Model(), prompts("a")).cost
    assert most
    list(complete_all(Model(answer), prompts("a"), spend=spend, sleep=lambda _: None))
    assert (spend.requests, spend.retries) == (4, 3)
    assert spend.uncertain == pytest.approx(2 * most)


def test_what_failed_is_reported_and_asked_again_next_time(cache: CompletionCache) -> None:
    def broken(_text: str) -> str:
        raise EngineError("no")

    spend = Spend()
    ((_, error),) = complete_all(Model(broken), prompts("a"), spend=spend, cache=cache)
    assert str(error) == "no"
    assert (spend.requests, spend.failed) == (1, 1)
    ((_, answer),) = complete_all(Model(), prompts("a"), spend=spend, cache=cache)
    assert isinstance(answer, Completion)


def test_a_lost_answer_is_not_asked_for_again_and_counts_against_the_limit() -> None:
    def slow(_text: str) -> str:
        raise LostAnswer("slow")

    model, spend = Model(slow), Spend(limit=1.0)
    list(complete_all(model, prompts("a"), spend=spend))
    assert len(model.asked) == 1
    assert spend.cost == 0
    assert 0 < spend.uncertain < 1e-3
    tight = Spend(limit=spend.uncertain * 1.5)
    list(complete_all(model, prompts("a", "b"), spend=tight, workers=1))
    assert tight.is_stopped
    assert tight.requests == 1


def test_a_refusal_ends_everything() -> None:
    def refused(_text: str) -> str:
        raise ModelRefusal("wrong key")

    model = Model(refused)
    with pytest.raises(ModelRefusal):
        list(complete_all(model, prompts(*map(str, range(50))), spend=Spend(), workers=2))
    assert len(model.asked) < 6


def test_the_limit_is_never_exceeded(cache: CompletionCache) -> None:
    texts = [f"{number:03000}" for number in range(40)]
    model, spend = Model(), Spend(limit=0.01)
    answers = dict(complete_all(model, prompts(*texts), spend=spend, cache=cache, workers=4))
    assert spend.is_stopped
    assert 0 < len(answers) < 40
    assert spend.cost <= 0.01
    # With more money, the rest is sent and nothing is sent again.
    rest = dict(complete_all(model, prompts(*texts), spend=Spend(limit=1), cache=cache))
    assert len(rest) == 40
    assert sorted(model.asked) == sorted(texts)


def test_a_limit_needs_a_price() -> None:
    with pytest.raises(InputError, match=r"m: the price is unknown.* does not list this model"):
        list(complete_all(Model(price=None), prompts("a"), spend=Spend(limit=1)))
    assert dict(complete_all(Model(price=None), prompts("a"), spend=Spend()))


def test_answers_on_their_way_are_kept_when_the_caller_stops(cache: CompletionCache) -> None:
    go = threading.Event()
    all_sent = threading.Barrier(3)

    def answer(text: str) -> str:
        all_sent.wait(10)
        if text != "first":
            assert go.wait(10)
        return text

    model = Model(answer)
    running = complete_all(model, prompts("first", "b", "c"), spend=Spend(), cache=cache, workers=3)
    assert next(running)[0] == 0
    threading.Timer(0.05, go.set).start()
    running.close()  # type: ignore[attr-defined]
    again = Spend()
    answers = dict(complete_all(model, prompts("first", "b", "c"), spend=again, cache=cache))
    assert len(answers) == 3
    assert len(model.asked) == 3
    assert again.requests == 0


@pytest.fixture(scope="module")
def tokenizer(missing: Callable[[str], NoReturn]) -> Callable[[str], int]:
    """Return a function that counts tokens as OpenAI does, with the file that litellm contains."""
    tiktoken = pytest.importorskip("tiktoken")
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        missing("litellm")
    with pytest.MonkeyPatch.context() as patch:
        folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))


RANDOM = Random(1)
DENSE = {
    "hex": RANDOM.randbytes(1500).hex(),
    "base64": b64encode(RANDOM.randbytes(3000)).decode(),
    "symbols": "".join(RANDOM.choices("!@#$%^&*()[]{}<>?/|~`+-=;:'", k=1500)),
    "Greek": "".join(RANDOM.choices("αβγδεζηθικλμνξοπρστυφχψω ", k=1500)),
    "Chinese": "".join(chr(RANDOM.randrange(0x4E00, 0x9FFF)) for _ in range(500)),
    "emoji": "".join(chr(RANDOM.randrange(0x1F300, 0x1F600)) for _ in range(500)),
    "lower case": "".join(RANDOM.choices(ascii_lowercase, k=3000)),
    "both cases": "".join(RANDOM.choices(ascii_letters, k=3000)),
    "minified": "function(a,b){var c=a[b];if(!c){c=a[b]={}}return c.d?c.d(e,f):g(h||{})};" * 20,
    "numbers": "1 22 333 4444,5;" * 99,
    "white space": "".join(RANDOM.choices(" \t\n", k=1000)),
    "indents": "\n".join(" " * RANDOM.randrange(20) + "x" for _ in range(200)),
}


@pytest.mark.parametrize("name", DENSE)
def test_dense_text_has_no_more_tokens_than_are_reserved(
    tokenizer: Callable[[str], int], name: str
) -> None:
    assert tokenizer(DENSE[name]) <= most_tokens(DENSE[name]) <= len(DENSE[name].encode())


@pytest.mark.parametrize("name", ["batch.py", "client.py", "../../../../README.md"])
def test_the_reserve_for_code_and_prose_is_about_twice_its_tokens(
    tokenizer: Callable[[str], int], project_root: Path, name: str
) -> None:
    folder = project_root / "src" / "karat" / "extensions" / "llm"
    text = (folder / name).read_text(encoding="utf-8")
    assert tokenizer(text) <= most_tokens(text) <= 2.1 * tokenizer(text)


def test_an_estimate_is_never_below_the_cost(cache: CompletionCache) -> None:
    model = Model()
    some = prompts("word " * 900, "word " * 900, "short")
    before = estimate(model, some, cache)
    assert (before.requests, before.cached) == (2, 0)
    assert before.cost == pytest.approx(PRICE.cost(before.prompt_tokens, 200))
    assert before.likely is not None
    assert before.cost is not None
    assert before.likely < before.cost
    list(complete_all(model, some[:1], spend=Spend(), cache=cache))
    after = estimate(model, some, cache)
    assert (after.requests, after.cached) == (1, 1)
    assert estimate(Model(price=None), some).cost is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "grade: 3",
        "[1, 2]",
        '{"grade": NaN}',
        '{"grade": 3, "grade": 0}',
        '{"grade": 3',
        "{" * 20_000,
        '{"a":' + "[" * 20_000,
        "x" * 100_001 + "{}",
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        find_json(text)


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = find_json(text)
    except ValueError:
        return
    assert isinstance(value, dict)


def test_one_answer_at_a_time(cache: CompletionCache) -> None:
    answers = iter(["yes", " "])
    model = Model(lambda _: next(answers))
    complete = completer(model, spend=Spend(limit=2.1e-3), cache=cache)
    assert [complete("Do.", "a"), complete("Do.", "a")] == ["yes", "yes"]
    with pytest.raises(EngineError, match="m: the spending limit is reached"):
        complete("Do.", "b")
    complete = completer(model, spend=Spend(), cache=cache)
    with pytest.raises(EngineError, match="m: the answer is empty"):
        complete("Do.", "b")
