"""What the client takes from an answer is what the service promises to put there."""

import json
from dataclasses import fields, is_dataclass
from importlib.resources import files
from types import NoneType
from typing import Any, get_args, get_type_hints

import pytest

from karat import client

PROMISED: dict[str, Any] = json.loads(
    files("karat.extensions.service.api").joinpath("openapi.json").read_text(encoding="utf-8")
)["components"]["schemas"]
# The id of an event stands in the stream, beside the answer.
KINDS = [name for name in client.__all__ if is_dataclass(getattr(client, name)) and name != "Event"]


@pytest.mark.parametrize("name", KINDS)
def test_every_field_is_promised(name: str) -> None:
    kind, schema = getattr(client, name), PROMISED[name]
    assert {field.name for field in fields(kind)} <= set(schema["required"])


@pytest.mark.parametrize("name", KINDS)
def test_what_may_be_missing_is_said_on_both_sides(name: str) -> None:
    kind, schema = getattr(client, name), PROMISED[name]
    hints = get_type_hints(kind)
    expected = {field.name: NoneType in get_args(hints[field.name]) for field in fields(kind)}
    promised = {
        field: {"type": "null"} in schema["properties"][field].get("anyOf", ())
        for field in expected
    }
    assert promised == expected
