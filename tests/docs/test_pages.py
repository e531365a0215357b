"""Pages that are made from the registries say what the registries say."""

import tomllib
from pathlib import Path

from karat.app.metrics import describe, page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


def test_every_metric_is_explained() -> None:
    written = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert written == page(describe()), "run: karat metrics --markdown > docs/metrics.md"


def test_every_page_is_linked_from_both_entrances() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"]({page})" not in index} == set()
    read_on = readme.partition("## Read on")[2]
    assert {page for page in pages if f"](docs/{page})" not in read_on} == set()


def test_every_extra_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in readme.splitlines() if line.startswith("| `")]
    named = {word for cell in rows for word in cell.split("`")[1::2]}
    assert set(project["optional-dependencies"]) <= named
