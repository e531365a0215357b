"""Packages that only the extras bring."""

import sys

import pytest

from karat.engines.spec import build
from karat.engines.stored_lexical import LEXICAL_STORES
from karat.engines.vectors.store import VECTOR_STORES
from karat.errors import MissingExtra


@pytest.mark.parametrize(
    ("kind", "module", "package"),
    [
        ("qdrant", "karat.extensions.stores.qdrant", "qdrant_client"),
        ("pgvector", "karat.extensions.stores.postgres", "psycopg"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, kind: str, module: str, package: str
) -> None:
    monkeypatch.setattr(VECTOR_STORES, "_loaded", {})
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    message = rf"the vector back end '{kind}' needs .*: pip install .*\[{kind}\]'"
    with pytest.raises(MissingExtra, match=message):
        VECTOR_STORES.get(kind)


def test_words_need_the_same_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEXICAL_STORES, "_loaded", {})
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    monkeypatch.delitem(sys.modules, "karat.extensions.stores.qdrant_words", raising=False)
    message = r"the option store of bm25 needs .*: pip install .*\[qdrant\]'"
    with pytest.raises(MissingExtra, match=message):
        build({"engine": "bm25", "store": "qdrant"})
