"""Pages that are made from the registries say what the registries say."""

import re
import tomllib
from pathlib import Path

import pytest

from karat.app.metrics import describe, page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "GLOSSARY.md")),
    *DOCS.glob("*.md"),
]
FILE = re.compile(r"`((?:src/karat|tests|examples|benchmarks)/[\w./-]+)`")
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([\w-]+))?\)")


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_links_of_a_page_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in FILE.findall(text) if not (ROOT / name).exists()] == []
    for target, anchor in LINK.findall(text):
        place = page.parent / target if target else page
        assert place.exists(), target
        if anchor:
            assert anchor in anchors(place), f"{target}#{anchor}"


def test_pictures_are_used_and_small() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pictures = sorted((DOCS / "images").iterdir())
    assert pictures
    for picture in pictures:
        assert f"](docs/images/{picture.name})" in readme
        assert picture.stat().st_size < 300_000, f"{picture.name} is too large"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of *page*, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
