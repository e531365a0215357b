"""Texts that are embedded ahead of a search, in parts."""

from pathlib import Path

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.base import EmbedPart
from karat.engines.engine_group import EngineGroup, build_group, embeds_locally
from karat.engines.spec import parse_spec

SPECS = [
    "dense(model=tests.words:words, windows=all)",
    "hybrid(model=tests.words:words, windows=all)",
    "bm25",
]
LINES = "".join(f"Sentence number {number} about the login of users.\n" for number in range(40))
FIRST = {"a.py": "def login(user):\n    return user\n", "b.md": f"# Mail\n\n{LINES}"}
SECOND = {**FIRST, "c.py": "def send(mail):\n    return mail\n"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path))


def group() -> EngineGroup:
    return build_group(map(parse_spec, SPECS))


def corpora() -> list[Corpus]:
    return [from_texts(FIRST), from_texts(SECOND)]


def work(made: EngineGroup) -> list[tuple[object, object]]:
    for corpus in corpora():
        made.show(corpus)
    counts = (engine.work() for engine in made.engines)
    return [(count.get("embedded"), count.get("reused")) for count in counts]


def test_the_parts_together_are_what_a_search_needs() -> None:
    made = group()
    parts = [made.embed_ahead(corpora(), EmbedPart(number, 3)) for number in range(3)]
    # Both engines share the stage; the third has no model.
    assert all(dense == hybrid and words == 0 for dense, hybrid, words in parts)
    total = sum(dense for dense, _, _ in parts)
    assert total > max(dense for dense, _, _ in parts) > 0
    assert work(made) == [(0, total), (0, total), (None, None)]
    assert group().embed_ahead(corpora(), EmbedPart(0, 1)) == [0, 0, 0]


def test_a_search_after_one_part_embeds_the_others() -> None:
    made = group()
    first, *_ = made.embed_ahead(corpora(), EmbedPart(0, 2))
    (embedded, reused), *_ = work(made)
    assert reused == first > 0
    assert embedded
    assert group().embed_ahead(corpora(), EmbedPart(1, 2)) == [0, 0, 0]


def test_without_a_cache_nothing_is_embedded_ahead() -> None:
    made = build_group([parse_spec("dense(model=tests.words:words, cache=false)")])
    assert made.embed_ahead(corpora(), EmbedPart(0, 1)) == [0]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dense(model=tests.words:words)", True),
        ("hybrid", True),
        ("rerank(over=dense)", True),
        ("rerank", False),
        ("bm25", False),
        ("keyword", False),
        ("mine:Engine", False),
        ("dense(cache=false)", False),
        ("dense(model=mine:embedder)", True),
        ("dense(context=openai/gpt)", False),
        ("dense(store=in_memory)", False),
    ],
)
def test_which_engines_embed_locally(spec: str, expected: bool) -> None:
    assert embeds_locally(parse_spec(spec)) is expected
