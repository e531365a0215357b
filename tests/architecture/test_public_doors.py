"""Docs and examples import Karat through its public packages only.

Readers copy what they see. A module below these packages may move or be renamed at any time.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from doctest import DocTestParser
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs import pages

ROOT = Path(__file__).resolve().parents[2]
DOORS = {
    *("karat", "karat.client", "karat.engines", "karat.extension", "karat.ndcg", "karat.testing"),
}
PAGES = [ROOT / "CONTRIBUTING.md", *pages.PAGES]
SCRIPTS = sorted((ROOT / "examples").rglob("*.py"))
BLOCK = re.compile(r"^```python[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_of(page: Path) -> str:
    """Return the Python of *page*: fenced blocks without prompts, and all doctests."""
    text = page.read_text(encoding="utf-8")
    plain = [textwrap.dedent(block) for block in BLOCK.findall(text) if ">>>" not in block]
    return "\n".join([*plain, *(each.source for each in DocTestParser().get_examples(text))])


def imported(code: str) -> Iterator[str]:
    """Yield the modules of Karat that *code* imports, and each name that its door does not list."""
    for node in ast.walk(ast.parse(code)):
        names = [alias.name for alias in getattr(node, "names", []) if isinstance(alias, ast.alias)]
        if isinstance(node, ast.Import):
            yield from (name for name in names if name.split(".")[0] == "karat")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "karat":
            module = str(node.module)
            yield module
            if module in DOORS:
                listed = import_module(module).__all__
                yield from (f"{module}.{name}" for name in names if name not in listed)


def test_the_search_finds_imports() -> None:
    code = (
        "import karat.app.score\ndef f():\n    from karat.stats import verdict\nimport karatbench"
    )
    assert list(imported(code)) == ["karat.app.score", "karat.stats"]
    assert list(imported("from karat import Hit, corpus")) == ["karat", "karat.corpus"]


@pytest.mark.parametrize("door", sorted(DOORS))
def test_every_public_name_can_be_loaded(door: str) -> None:
    module = import_module(door)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_the_docs_import_karat() -> None:
    assert {name for page in PAGES for name in imported(code_of(page))} == DOORS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_imports_public_packages_only(page: Path) -> None:
    assert set(imported(code_of(page))) - DOORS == set()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_an_example_imports_public_packages_only(script: Path) -> None:
    assert set(imported(script.read_text(encoding="utf-8"))) - DOORS == set()
