"""Every format is documented, and every example of the documentation can be read."""

import re
from pathlib import Path

import pytest

from karat.formats import FORMATS, ReadLimits, detect, read

EXAMPLE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^### (\S+)$", re.MULTILINE)


@pytest.fixture
def page(project_root: Path) -> str:
    return (project_root / "docs" / "formats.md").read_text(encoding="utf-8")


def test_every_format_has_a_section(page: str) -> None:
    assert sorted(HEADING.findall(page)) == sorted(FORMATS.built_in())


def test_every_example_is_what_it_says(page: str, tmp_path: Path) -> None:
    examples = EXAMPLE.findall(page)
    for name, text in examples:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    shown = {Path(name).parts[0] for name, _ in examples}
    assert {name.partition(".")[0] for name in shown} == set(FORMATS.built_in()) - {
        "parquet",
        "irds",
    }
    for name in shown:
        assert detect(tmp_path / name).name == name.partition(".")[0]
        assert len(read(tmp_path / name)) >= 1


def test_every_limit_is_named(page: str) -> None:
    for name in ReadLimits._fields:
        assert f"`{name}`" in page
