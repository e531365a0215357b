"""The page on corpora names every chunker with its defaults, every reason and every language."""

import re
from pathlib import Path

import pytest

from karat.corpus import CHUNKERS, create_chunker
from karat.corpus.chunkers.grammars import GRAMMARS
from tests.docs.pages import page

ROOT = Path(__file__).resolve().parents[2]
PAGE = page("corpus").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "src" / "karat" / "corpus").rglob("*.py"))


@pytest.mark.parametrize("name", CHUNKERS.built_in())
def test_every_chunker_is_explained(name: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |"))
    for parameter, value in create_chunker(name).spec.params.items():
        if parameter != "grammars":
            assert re.search(rf"`{parameter}` `?{value}`?", row), parameter


def test_every_language_is_named() -> None:
    listed = PAGE.partition("Languages with symbols and syntax chunks: ")[2].partition(".")[0]
    assert set(re.split(r",\s+", listed)) == GRAMMARS


def test_every_reason_is_explained() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    reasons = set(re.findall(r'skip\(.+, "([a-z0-9-]+)"\)|reason="([a-z-]+)"', source))
    words = {first or second for first, second in reasons} | {"submodule", "missing"}
    assert {"hidden", "binary", "lfs-pointer"} <= words
    assert {word for word in words if f"`{word}`" not in PAGE} == set()
