"""A mapping that cannot change and can be pickled."""

import copy
import pickle
from collections.abc import Mapping
from math import nan
from types import MappingProxyType

import pytest

from karat.model import Answer, Query
from karat.model.frozen import EMPTY, FrozenMapping


def test_it_reads_like_the_dictionary_that_it_copied() -> None:
    source = {"a": 1, "b": 2}
    frozen = FrozenMapping(source)
    source["c"] = 3
    assert isinstance(frozen, Mapping)
    assert {**frozen} == dict(frozen) == {"a": 1, "b": 2}
    assert (list(frozen), len(frozen), "a" in frozen, "c" in frozen) == (["a", "b"], 2, True, False)
    assert (frozen["b"], frozen.get("c")) == (2, None)
    assert list(frozen.keys()) == ["a", "b"]
    assert list(frozen.values()) == [1, 2]
    assert list(frozen.items()) == [("a", 1), ("b", 2)]
    assert repr(frozen) == "FrozenMapping({'a': 1, 'b': 2})"


def test_it_equals_every_mapping_of_the_same_content() -> None:
    frozen = FrozenMapping({"a": nan, "b": 2})
    for other in ({"b": 2, "a": nan}, MappingProxyType({"a": nan, "b": 2})):
        assert frozen == other
        assert other == frozen
    assert frozen == FrozenMapping({"a": float("nan"), "b": 2})
    assert frozen != {"a": nan}
    assert frozen != FrozenMapping({"a": nan, "b": 3})
    assert frozen != [("a", nan), ("b", 2)]


def test_it_is_hashable_where_its_values_are() -> None:
    one, other = FrozenMapping({"a": nan, "b": 2}), FrozenMapping({"b": 2, "a": float("nan")})
    assert hash(one) == hash(other)
    assert len({Query("q", "x"), Query("q", "x")}) == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(FrozenMapping({"a": []}))


def test_nothing_in_it_can_be_set_or_deleted() -> None:
    frozen = FrozenMapping({"a": 1})
    with pytest.raises(AttributeError, match="does not change"):
        frozen._items = {}
    with pytest.raises(AttributeError, match="does not change"):
        del frozen._items
    with pytest.raises(TypeError, match="item assignment"):
        frozen["a"] = 2  # type: ignore[index]
    assert frozen == {"a": 1}


def test_the_empty_default_stays_one_object() -> None:
    answer = Answer("q")
    assert answer.extra is EMPTY
    assert copy.deepcopy(answer).extra is EMPTY
    assert pickle.loads(pickle.dumps(answer)).extra is EMPTY  # noqa: S301 - our own bytes


def test_a_deep_copy_does_not_share_values() -> None:
    frozen = FrozenMapping({"a": [1]})
    copied = copy.deepcopy(frozen)
    copied["a"].append(2)
    assert frozen == {"a": [1]}
