"""Contextual retrieval with a stand-in for a model's server: no network, no money."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from karat.corpus import from_texts
from karat.engines.caches import Caches
from karat.engines.chunked import ChunkEngine
from karat.engines.context import check_context
from karat.engines.engine_group import build_group, shareable
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError
from karat.experiments.matrix import Matrix
from karat.extensions.models.context import (
    BUDGETS,
    ChatContextWriter,
    parse_context,
    prompt_text,
)
from karat.testing import EngineSuite
from tests.extensions.llm.stand_in import ModelServer, Reply, model_server

pytest.importorskip("litellm")
pytestmark = pytest.mark.filterwarnings("ignore")

TEXTS = {"a.md": "It opens at nine.\n", "b.md": "It opens at ten.\n", "c.md": "A zebra.\n"}


def answer(_: str, text: str) -> str:
    """Say something about the chunk that does not stand in it."""
    chunk = re.findall(r"<chunk>\n(.*)\n\n?</chunk>", text, re.DOTALL)[0]
    return "The shop has\n opening hours." if "nine" in chunk else "About something else."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server(answer) as served:
        yield served


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))
    # The next server may have the port of this one.
    BUDGETS.clear()
    return tmp_path


def built(engine: str, server: ModelServer, options: str = "", **params: object) -> Any:
    spec = f"{server.spec()}{options}"
    return build({"engine": engine, "chunker": "lines", "context": spec, **params})


class TestSuite(EngineSuite):
    chains = 2

    @pytest.fixture
    def engine(self, server: ModelServer) -> ChunkEngine:
        server.answer = lambda *_: "Nothing more."
        made = built("bm25", server)
        assert isinstance(made, ChunkEngine)
        return made


@pytest.mark.parametrize(
    ("engine", "params"),
    [("bm25", {}), ("dense", {"model": "static"}), ("hybrid", {"model": "static"}), ("sparse", {})],
)
def test_chunks_are_found_by_their_context(
    engine: str, params: dict[str, Any], server: ModelServer
) -> None:
    query = "the opening hours of the shop"
    plain: Any = build({"engine": engine, "chunker": "lines", **params})
    situated = built(engine, server, **params)
    corpus = from_texts(TEXTS)
    scores = []
    for each in (plain, situated):
        each.index(corpus)
        scores.append({hit.path: hit.score for hit in each.search(query, 3)})
    assert scores[1]["a.md"] > scores[0].get("a.md", 0.0)
    assert max(scores[1], key=lambda path: scores[1][path]) == "a.md"
    # Hits are lines of files: the context is in none.
    assert situated.search(query, 1)[0][2:4] == (1, 1)


def test_the_prompt_has_the_document_and_the_chunk(server: ModelServer) -> None:
    built("bm25", server).index(from_texts({"a.md": "one\ntwo\nthree\n"}))
    (text,) = server.texts
    assert (
        text == "<document>\none\ntwo\nthree\n\n</document>\n<chunk>\none\ntwo\nthree\n\n</chunk>"
    )
    assert server.requests[0]["max_tokens"] == 120


def test_a_long_document_is_cut_around_the_chunk() -> None:
    from karat.corpus import Chunk

    document = "x" * 50_000 + "THE CHUNK" + "y" * 50_000
    prompt = prompt_text(document, Chunk("1", "b", 1, 1, "THE CHUNK"))
    assert len(prompt) < 41_000
    assert "xxTHE CHUNKyy" in prompt


def test_the_surroundings_are_those_of_the_line_of_the_chunk() -> None:
    from karat.corpus import Chunk

    filler = "x" * 50_000
    document = f"{filler}\nFIRST\nreturn\n{filler}\nSECOND\nreturn\n{filler}\n"
    first, second = (prompt_text(document, Chunk("1", "b", n, n, "return\n")) for n in (3, 6))
    assert ("FIRST" in first, "SECOND" in first) == (True, False)
    assert ("FIRST" in second, "SECOND" in second) == (False, True)


def test_nothing_is_written_twice(server: ModelServer) -> None:
    corpus = from_texts(TEXTS)
    first = built("bm25", server, "?price=1,10")
    first.index(corpus)
    assert len(server.requests) == 3
    # 100 tokens of the prompt and 10 of the answer each, as the stand-in counts.
    expected = {"contexts": 3, "contexts_reused": 0, "context_tokens": 330}
    work = dict(first.work())
    assert work.pop("context_cost") == pytest.approx(3 * (100 * 1 + 10 * 10) / 1e6)
    assert {name: work[name] for name in expected} == expected
    # Another engine with the same chunks, and a document at another path.
    second = built("dense", server, model="static")
    second.index(from_texts({**TEXTS, "moved/a.md": TEXTS["a.md"]}))
    assert len(server.requests) == 3
    assert dict(second.work())["contexts"] == 0
    # Another model writes other sentences.
    other: Any = build({"engine": "bm25", "context": server.spec("another")})
    other.index(corpus)
    assert len(server.requests) == 6


def test_snapshots_index_only_what_changed(server: ModelServer) -> None:
    engine = built("bm25", server)
    engine.index(from_texts(TEXTS))
    engine.show(from_texts({**TEXTS, "c.md": "A giraffe.\n"}))
    assert len(server.requests) == 4
    fresh = built("bm25", server)
    fresh.index(from_texts({**TEXTS, "c.md": "A giraffe.\n"}))
    assert engine.search("giraffe hours", 3) == fresh.search("giraffe hours", 3)


def test_a_group_shares_contexts(server: ModelServer) -> None:
    context = server.spec()
    specs = [f"bm25(context={context})", f"sparse(context={context})", "bm25"]
    group = build_group([parse_spec(spec) for spec in specs])
    group.show(from_texts(TEXTS))
    assert len(server.requests) == 3
    situated, _, plain = (engine.search("shop hours", 3) for engine in group.engines)
    assert situated[0].path == "a.md"
    assert not plain
    assert shareable(parse_spec(specs[0])) == shareable(parse_spec(specs[1]))
    assert shareable(parse_spec(specs[0])) != shareable(parse_spec(specs[2]))
    group.close()


def test_the_budget_is_kept(server: ModelServer) -> None:
    texts = {f"{number}.md": f"text {number}\n" for number in range(30)}
    engine = built("bm25", server, "?price=100,100&budget=0.05&workers=1")
    with pytest.raises(EngineError, match=r"of 30 chunks have no context: the budget of \$0.05"):
        engine.index(from_texts(texts))
    spent = (server.charged_prompt + server.charged_completion) * 100 / 1e6
    assert 0 < spent <= 0.05
    assert dict(engine.work())["context_cost"] == pytest.approx(spent)
    # What was written is not paid for again.
    before = len(server.requests)
    built("bm25", server, "?price=100,100&budget=5").index(from_texts(texts))
    assert len(server.requests) == 30
    assert before < 30


def test_all_indexes_of_a_process_share_the_budget(server: ModelServer) -> None:
    options = "?price=100,100&budget=0.05&workers=1"
    costs = []
    for index in range(3):
        engine = built("bm25", server, options)
        texts = {f"{number}.md": f"text {index} {number}\n" for number in range(30)}
        with pytest.raises(EngineError, match=r"the budget of \$0.05 .* is spent"):
            engine.index(from_texts(texts))
        costs.append(dict(engine.work())["context_cost"])
    spent = (server.charged_prompt + server.charged_completion) * 100 / 1e6
    assert 0 < spent <= 0.05
    # Each index reports its own cost: the first one has used all.
    assert costs == [pytest.approx(spent), 0, 0]
    # Another budget is another one.
    built("bm25", server, "?price=100,100&budget=1").index(from_texts(TEXTS))


def test_a_missing_context_is_an_error(server: ModelServer) -> None:
    server.answer = lambda _, text: Reply(status=400) if "ten" in text else "Fine."
    with pytest.raises(EngineError, match=r"1 of 3 chunks have no context: .*run again"):
        built("bm25", server).index(from_texts(TEXTS))
    server.answer = lambda *_: "  "
    with pytest.raises(EngineError, match="the answers of the model are empty"):
        built("bm25", server, cache=False).index(from_texts(TEXTS))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no model is named"),
        ("?budget=2", "no model is named"),
        ("some/model?workers=0", "workers=0; expected a number from 1 to 64"),
        ("some/model?budget=much", "budget=much; expected US dollars"),
        ("some/model?bugdet=1", "no option 'bugdet'; known: budget, price, workers"),
        (
            "http://localhost:1/v1#m?budget=1",
            "the price is unknown, so the budget cannot be enforced",
        ),
        ("http://localhost:1/v1", "expected ADDRESS#MODEL"),
        ("openai/gpt-4o-mini", "the provider needs an API key; set OPENAI_API_KEY"),
    ],
)
def test_configuration_errors_come_first(
    text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match=message):
        check_context(text)


def test_a_known_price_has_a_default_budget() -> None:
    writer = ChatContextWriter("openai/gpt-4o-mini", caches=Caches(None))
    assert writer.spend.limit == 5.0
    assert parse_context("openai/gpt-4o-mini").budget is None


def test_context_is_an_axis() -> None:
    context = "http://localhost:1/v1#m"
    matrix = Matrix(search_modes=("sparse", "dense"), context=(None, context))
    configured = [(each.name, dict(each.spec.params)) for each in matrix.configurations()]
    assert configured == [
        ("sparse @10", {}),
        ("sparse context=m @10", {"context": context}),
        ("dense @10", {}),
        ("dense context=m @10", {"context": context}),
    ]
    with pytest.raises(InputError, match="context: context http://localhost:1/v1#m: no option"):
        Matrix(context=(f"{context}?bugdet=1",))


def test_processes_that_index_at_once_pay_once(server: ModelServer) -> None:
    # Threads stand for processes here: each engine has a writer and connections of its own.
    server.answer = lambda *_: Reply("Slow.", delay_s=0.05)
    engines = [built("bm25", server, "?workers=1") for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda engine: engine.index(from_texts(TEXTS)), engines))
    assert len(server.requests) == 3
    assert sorted(engine.work()["contexts"] for engine in engines) == [0, 0, 3]


def test_a_password_in_the_address_of_a_model_is_not_shown() -> None:
    with pytest.raises(InputError, match="the key in KARAT_MODEL_KEY") as caught:
        parse_context("http://me:passw0rd@host/v1#qwen?bugdet=2")
    assert "passw0rd" not in str(caught.value)
