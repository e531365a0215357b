"""The page on engines names every adapter and option, and its configurations can be built."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from karat.engines.adapters.command import CommandOptions
from karat.engines.adapters.http import HttpOptions
from karat.engines.adapters.mcp import McpOptions
from karat.engines.adapters.process import ProcessOptions
from karat.engines.adapters.python_class import PythonOptions
from karat.engines.base import Engine
from karat.engines.registry import ENGINES
from karat.engines.signature import model_of
from karat.engines.spec import build, parse_spec

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "engines.md").read_text(encoding="utf-8")
CONFIGURATIONS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OPTIONS: dict[str, type[BaseModel]] = {
    "command": CommandOptions,
    "process": ProcessOptions,
    "http": HttpOptions,
    "mcp": McpOptions,
    "python": PythonOptions,
    **{name: model_of(ENGINES.get(name)) for name in ("keyword", "sparse", "rerank")},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_on_the_page(name: str) -> None:
    assert f"\n## {name}\n" in PAGE
    named = [field.alias or key for key, field in OPTIONS[name].model_fields.items()]
    missing = [key for key in named if not re.search(rf"\b{key}\b", PAGE)]
    assert missing == []


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_a_configuration_on_the_page_is_valid(text: str, tmp_path: Path) -> None:
    place = tmp_path / "engine.yaml"
    place.write_text(text, encoding="utf-8")
    assert isinstance(build(parse_spec(str(place))), Engine)
