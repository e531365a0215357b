"""Every format is documented, and every example of the documentation can be read."""

from pathlib import Path

from karat.formats import FORMATS, ReadLimits
from tests.docs.pages import page
from tests.formats.examples import HEADING, check_examples

PAGE = page("formats")


def test_every_format_has_a_section() -> None:
    headings = HEADING.findall(PAGE.read_text(encoding="utf-8"))
    assert sorted(headings) == sorted(FORMATS.core())


def test_every_example_is_what_it_says(tmp_path: Path) -> None:
    assert check_examples(PAGE, tmp_path) == set(FORMATS.core()) - {"irds"}


def test_every_limit_is_named() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in ReadLimits._fields:
        assert f"`{name}`" in text
