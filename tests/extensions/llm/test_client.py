"""A model behind an OpenAI-compatible server, here a thread of the test."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler

import pytest

from karat.errors import EngineError, InputError, MissingExtra
from karat.extensions.llm.client import (
    Completion,
    LostAnswer,
    ModelBusy,
    ModelRefusal,
    Price,
    Prompt,
    open_model,
)
from tests.extensions.llm.stand_in import ModelServer, Reply, model_server

# litellm warns of classes that pydantic builds when they are first used.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
PROMPT = Prompt("Judge.", "text", 77)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    pytest.importorskip("litellm")
    with model_server(lambda _instruction, text: f"seen: {text}") as server:
        yield server


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(MissingExtra, match=r"a language model needs .*pip install .*\[llm\]"):
        open_model("openai/x")


def test_the_answer_comes_back_with_its_tokens(server: ModelServer) -> None:
    model = open_model(server.spec("small"))
    assert model.complete(PROMPT) == Completion("seen: text", 100, 10)
    (request,) = server.requests
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("small", 0, 77)
    assert [(part["role"], part["content"]) for part in request["messages"]] == [
        ("system", "Judge."),
        ("user", "text"),
    ]


def test_keys_of_providers_stay_here(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    handler = server.RequestHandlerClass.do_POST  # type: ignore[attr-defined]

    def spying(self: object) -> None:
        seen.append(self.headers["Authorization"])  # type: ignore[attr-defined]
        handler(self)

    monkeypatch.setattr(server.RequestHandlerClass, "do_POST", spying)
    open_model(server.spec()).complete(PROMPT)
    monkeypatch.setenv("KARAT_MODEL_KEY", "ours")
    open_model(server.spec()).complete(PROMPT)
    assert seen == ["Bearer none", "Bearer ours"]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(status=400), EngineError),
        (Reply(status=401), ModelRefusal),
        (Reply(status=404), ModelRefusal),
        (Reply(status=429), ModelBusy),
        (Reply(status=500), ModelBusy),
        (Reply(status=502), ModelBusy),
        (Reply(status=503), ModelBusy),
        (Reply(status=529), ModelBusy),
        (Reply(body=b"<html>"), LostAnswer),
    ],
)
def test_errors_are_told_apart(server: ModelServer, reply: Reply, kind: type[EngineError]) -> None:
    server.answer = lambda *_: reply
    model = open_model(server.spec())
    with pytest.raises(EngineError, match=r"^http://127.0.0.1:\d+/v1#stand-in: ") as caught:
        model.complete(PROMPT)
    assert type(caught.value) is kind
    if isinstance(caught.value, ModelBusy):
        assert caught.value.may_cost == (reply.status in (500, 502))
    assert len(server.requests) == 1


def test_the_pause_that_a_server_asks_for_is_known(server: ModelServer) -> None:
    server.answer = lambda *_: Reply(status=429, headers={"Retry-After": "7"})
    with pytest.raises(ModelBusy) as caught:
        open_model(server.spec()).complete(PROMPT)
    assert caught.value.wait_s == 7
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    server.answer = lambda *_: Reply(status=503, headers={"Retry-After": then})
    with pytest.raises(ModelBusy) as caught:
        open_model(server.spec()).complete(PROMPT)
    assert caught.value.wait_s == pytest.approx(30, abs=10)


def test_a_slow_answer_times_out(server: ModelServer) -> None:
    server.answer = lambda *_: Reply(delay_s=1.0)
    with pytest.raises(LostAnswer):
        open_model(server.spec(), timeout_s=0.2).complete(PROMPT)


def test_a_server_that_is_not_there_is_busy() -> None:
    pytest.importorskip("litellm")
    with pytest.raises(ModelBusy) as caught:
        open_model("http://127.0.0.1:9/v1#m").complete(PROMPT)
    assert not caught.value.may_cost
    assert str(caught.value) == "http://127.0.0.1:9/v1#m: no answer (Connection refused)"


def test_class_names_are_not_repeated(server: ModelServer) -> None:
    server.answer = lambda *_: Reply(status=401)
    with pytest.raises(ModelRefusal) as caught:
        open_model(server.spec()).complete(PROMPT)
    said = str(caught.value)
    assert said.startswith(f"{server.spec()}: AuthenticationError: ")
    assert said.count("Authentication") == 1
    assert "OpenAI" not in said


def test_a_missing_key_is_named_without_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = pytest.importorskip("litellm")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(litellm, "completion", pytest.fail)
    with pytest.raises(ModelRefusal, match="the environment variable OPENAI_API_KEY is not set"):
        open_model("openai/gpt-4o-mini").complete(PROMPT)


def test_a_local_model_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = pytest.importorskip("litellm")
    monkeypatch.delenv("OLLAMA_API_BASE", raising=False)
    monkeypatch.setattr(litellm, "completion", lambda **_: litellm.ModelResponse(choices=[]))
    assert open_model("ollama/llama3").complete(PROMPT).text == ""


def test_an_unknown_provider_is_refused() -> None:
    pytest.importorskip("litellm")
    with pytest.raises(InputError, match="'nosuch-model' is not a model that litellm knows"):
        open_model("nosuch-model")


def test_a_connection_that_is_lost_after_the_request_may_cost(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closing(self: BaseHTTPRequestHandler) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True

    monkeypatch.setattr(server.RequestHandlerClass, "do_POST", closing)
    with pytest.raises(ModelBusy) as caught:
        open_model(server.spec()).complete(PROMPT)
    assert caught.value.may_cost


@pytest.mark.parametrize("content", ["", None])
def test_an_empty_answer_is_an_answer(server: ModelServer, content: str | None) -> None:
    server.answer = lambda *_: Reply(content)
    assert open_model(server.spec()).complete(PROMPT).text == ""


def test_prices_are_known_given_or_unknown() -> None:
    pytest.importorskip("litellm")
    known = open_model("gpt-4o-mini").price
    assert known
    assert 0 < known.prompt < known.completion
    assert open_model("http://localhost:1/v1#m").price is None
    assert open_model("http://localhost:1/v1#m", price=Price(1, 2)).price == Price(1, 2)


def test_an_address_without_a_model_is_refused() -> None:
    pytest.importorskip("litellm")
    with pytest.raises(InputError, match="expected ADDRESS#MODEL"):
        open_model("http://localhost:8000/v1")


@pytest.mark.parametrize(
    "spec",
    ["http://me:passw0rd@host/v1#qwen", "http://me:passw0rd@host", "https://me:p?ssw0rd@h#m"],
)
def test_a_password_in_an_address_is_refused_and_not_shown(spec: str) -> None:
    pytest.importorskip("litellm")
    with pytest.raises(InputError, match="the key in KARAT_MODEL_KEY") as caught:
        open_model(spec)
    assert "ssw0rd" not in str(caught.value)


def test_an_error_never_shows_the_key(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_MODEL_KEY", "sk-secret")
    body = b'{"error": {"message": "bad key sk-secret"}}'
    server.answer = lambda *_: Reply(status=401, body=body)
    with pytest.raises(ModelRefusal, match=r"bad key \[key\]") as caught:
        open_model(server.spec()).complete(PROMPT)
    assert "sk-secret" not in str(caught.value)
