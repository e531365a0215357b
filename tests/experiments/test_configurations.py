"""Engines as configurations of an experiment."""

from pathlib import Path

import pytest

from karat.engines.spec import parse_spec
from karat.errors import InputError
from karat.experiments.plan import engine_configurations, is_deterministic, request_depth
from karat.model import Dataset, Query
from karat.scoring.settings import Scoring

GOLD = Dataset.of([Query("q1", "text")])


def test_an_entry_is_called_as_it_was_typed(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("engine: bm25\nk1: 1.2\n")
    found = engine_configurations(["bm25(k1=1.2)", str(file), '{"engine": "keyword"}'], k=7)
    assert [configuration.name for configuration in found] == ["bm25(k1=1.2)", "bm25", "keyword"]
    assert {configuration.k for configuration in found} == {7}
    assert found[0].options == {"engine": "bm25", "k1": "1.2"}


@pytest.mark.parametrize(
    ("engine", "message"), [("bm52", "did you mean 'bm25'"), ("bm25(k2=1)", "no option 'k2'")]
)
def test_what_cannot_be_built_is_refused_at_once(engine: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        engine_configurations([engine])


def test_as_deep_as_a_measure_looks() -> None:
    assert request_depth(None, Scoring(("hit@5",)), GOLD) == 100
    assert request_depth(None, Scoring(("hit@200",)), GOLD) == 200
    assert request_depth(5, Scoring(("hit@5", "mrr")), GOLD) == 5
    with pytest.raises(InputError, match="hit@9 needs 9 hits per query; use -k 9"):
        request_depth(5, Scoring(("hit@9",)), GOLD)


@pytest.mark.parametrize(
    ("engine", "ours"),
    [
        ("bm25", True),
        ("rerank", True),
        ("rerank(over=hybrid)", True),
        ('{"engine": "command", "command": ["rg"]}', False),
        ('{"engine": "rerank", "over": {"engine": "http", "url": "http://h"}}', False),
        ("own_module:Search", False),
    ],
)
def test_whose_answers_may_change(engine: str, ours: bool) -> None:
    assert is_deterministic(parse_spec(engine)) is ours
