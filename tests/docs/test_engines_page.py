"""The page on engines names every adapter and option, and its configurations can be built."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from karat.corpus import from_texts
from karat.engines.adapters.command import CommandOptions
from karat.engines.adapters.external import External
from karat.engines.adapters.http import HttpOptions
from karat.engines.adapters.mcp import McpOptions
from karat.engines.adapters.process import ProcessOptions
from karat.engines.adapters.python import PythonOptions
from karat.engines.base import Engine
from karat.engines.registry import ENGINES
from karat.engines.spec import build, model_of, parse_spec
from karat.extensions.models.endpoint import PROVIDERS
from karat.extensions.models.remote_embedder import EmbedderOptions
from karat.extensions.models.remote_reranker import RerankerOptions
from karat.model.timings import QueryCost, spent
from tests.docs.pages import page

ROOT = Path(__file__).resolve().parents[2]
# With the page of the extension that has the remote models.
PAGE = "\n".join(page(name).read_text(encoding="utf-8") for name in ("engines", "models"))
CONFIGURATIONS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OPTIONS: dict[str, type[BaseModel]] = {
    "command": CommandOptions,
    "process": ProcessOptions,
    "http": HttpOptions,
    "mcp": McpOptions,
    "python": PythonOptions,
    **{name: model_of(ENGINES.get(name)) for name in ("keyword", "sparse", "colbert", "rerank")},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_on_the_page(name: str) -> None:
    assert f"\n## {name}\n" in PAGE
    named = [field.alias or key for key, field in OPTIONS[name].model_fields.items()]
    missing = [key for key in named if not re.search(rf"\b{key}\b", PAGE)]
    assert missing == []


# The class of the reader's own that the section on Python names.
MY_SEARCH = """
class MySearch:
    def __init__(self, fuzzy: bool = False) -> None: ...
    def index(self, corpus) -> None: ...
    def search(self, query, k): ...
"""


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_a_configuration_on_the_page_is_valid(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_search.py").write_text(MY_SEARCH, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for variable in ("COHERE_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.setenv(variable, "not sent by building an engine")
    place = tmp_path / "engine.yaml"
    place.write_text(text, encoding="utf-8")
    assert isinstance(build(parse_spec(str(place))), Engine)


def test_every_option_and_key_of_remote_models_is_on_the_page() -> None:
    section = PAGE.partition("\n## Remote models\n")[2].partition("\n## ")[0]
    fields = {**EmbedderOptions.model_fields, **RerankerOptions.model_fields}
    # A mapping, which only Python can give.
    del fields["prefixes"]
    providers = [provider for provider in PROVIDERS.values() if provider.key_env]
    missing = [name for name in fields if f"`{name}`" not in section]
    missing += [provider.key_env for provider in providers if provider.key_env not in section]
    assert missing == []


def test_git_grep_on_the_page_answers_a_question(tmp_path: Path) -> None:
    text = next(text for text in CONFIGURATIONS if "name: git-grep" in text)
    place = tmp_path / "engine.yaml"
    place.write_text(text, encoding="utf-8")
    engine = build(parse_spec(str(place)))
    assert isinstance(engine, External)
    files = {"mail.py": "send\n", "a.py": "login\n", "auth.py": "def login():\n  password\n"}
    with engine:
        engine.index(from_texts(files))
        found = [hit.path for hit in engine.search("where is the password of a login?", 5)]
    assert found[0] == "auth.py"
    assert "mail.py" not in found


COSTS = sorted((ROOT / "examples" / "costs").glob("*.yaml"))
PRICED = str(ROOT / "examples" / "costs" / "search.py")


@pytest.fixture(scope="module")
def priced_service() -> Iterator[str]:
    """Return the address of the service that reports its costs."""
    with subprocess.Popen(
        [sys.executable, PRICED, "http"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.kill()


def test_every_way_to_a_search_has_an_example_of_costs() -> None:
    assert {path.stem for path in COSTS} == set(filter(ENGINES.is_adapter, ENGINES)) - {"python"}


@pytest.mark.parametrize("path", COSTS, ids=lambda path: path.stem)
def test_an_example_of_costs_reports_them(path: Path, priced_service: str, tmp_path: Path) -> None:
    """Run the example as it stands, but for where the program and the service are."""
    pytest.importorskip("mcp" if path.stem == "mcp" else "httpx")
    text = path.read_text(encoding="utf-8")
    for shown, here in (
        ("/opt/karat/examples/costs/search.py", PRICED),
        ("http://127.0.0.1:8000", priced_service),
        ("python3", sys.executable),
    ):
        text = text.replace(shown, here)
    place = tmp_path / "engine.yaml"
    place.write_text(text, encoding="utf-8")
    engine = build(parse_spec(str(place)))
    assert isinstance(engine, External)
    with engine:
        engine.index(from_texts({"auth.py": "log in", "mail.py": "send"}))
        assert [hit.path for hit in engine.search("where to log in", 5)] == ["auth.py"]
        # Four words.
        assert spent(engine.metadata()) == QueryCost(4, 0.04)
