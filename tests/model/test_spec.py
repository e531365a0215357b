"""A spec is a value: equal ones have one digest, different ones two."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.model.spec import Spec

PARAMS = st.dictionaries(
    st.text(max_size=3),
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    max_size=4,
)


def test_the_canonical_form_is_sorted_json() -> None:
    spec = Spec("engine", "bm25", {"k1": 1.5, "b": "ü"})
    assert spec.canonical() == '{"kind":"engine","name":"bm25","params":{"b":"ü","k1":1.5}}'


@settings(max_examples=50)
@given(PARAMS)
def test_the_order_of_parameters_does_not_count(params: dict[str, object]) -> None:
    spec = Spec("engine", "bm25", params)
    turned = Spec("engine", "bm25", dict(reversed(params.items())))
    assert spec == turned
    assert spec.digest == turned.digest
    assert {spec: "kept"}[turned] == "kept"


@settings(max_examples=50)
@given(PARAMS, PARAMS)
def test_equal_specs_and_only_they_have_equal_digests(
    left: dict[str, object], right: dict[str, object]
) -> None:
    one, other = Spec("e", "n", left), Spec("e", "n", right)
    assert (one == other) == (one.digest == other.digest)


@pytest.mark.parametrize("number", [1.0, True])
def test_numbers_that_python_calls_equal_are_two_configurations(number: object) -> None:
    assert Spec("e", "n", {"k": 1}) != Spec("e", "n", {"k": number})


def test_a_spec_is_no_other_thing() -> None:
    assert Spec("e", "n") != "e"
    assert Spec("e", "n") != Spec("f", "n")


def test_a_number_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Spec("e", "n", {"k": float("nan")}).canonical()
