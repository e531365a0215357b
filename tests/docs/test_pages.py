"""Pages that are made from the registries say what the registries say."""

import re
import tomllib
from pathlib import Path

import click
import pytest

from karat.app.metrics import describe, page
from karat.cli.main import karat as program
from tests.docs import pages
from tests.docs.pages import ROOT

INDEX = ROOT / "docs" / "index.md"
WORDS = 800
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "GLOSSARY.md", *pages.PAGES]
FILE = re.compile(r"`((?:src/karat|tests|examples|benchmarks)/[\w./-]+)`")
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([\w-]+))?\)")


def test_every_metric_is_explained() -> None:
    written = pages.page("metrics").read_text(encoding="utf-8")
    assert written == page(describe()), "run: karat metrics --markdown > docs/metrics.md"


def test_every_command_is_in_the_page_of_commands() -> None:
    text = pages.page("commands").read_text(encoding="utf-8")
    named = set(re.findall(r"`karat ([a-z-]+)", text))
    known = program.list_commands(click.Context(program, info_name="karat"))
    assert set(known) - named == set()


def test_every_page_is_linked_from_the_index() -> None:
    start, _, rest = INDEX.read_text(encoding="utf-8").partition("## Reference")
    linked = {(INDEX.parent / target).resolve() for target, _ in LINK.findall(start + rest)}
    assert {page for page in pages.DOCS if page != INDEX} - linked == set()
    first = start.partition("## Five pages to begin with")[2].partition("##")[0]
    assert len([line for line in first.splitlines() if LINK.search(line)]) == 5


def test_the_readme_ends_after_the_first_minutes() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    *_, last = re.findall(r"^## (.*)$", readme, re.MULTILINE)
    assert last == "Your first five minutes"
    assert "](docs/index.md)" in readme
    assert len(readme.split()) <= WORDS


def test_every_extra_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = pages.page("install").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
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
    readme, *others = (page.read_text(encoding="utf-8") for page in pages.PAGES)
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    assert sum(f"](docs/images/{picture.name})" in readme for picture in pictures) == 1
    for picture in pictures:
        named = f"images/{picture.name})"
        assert named in readme or any(named in text for text in others)
        assert picture.stat().st_size < 300_000, f"{picture.name} is too large"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of *page*, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
