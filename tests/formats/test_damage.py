"""A damaged file gives an answer or a clear error, never a traceback."""

import pytest
from hypothesis import given

from karat.formats import FORMATS
from tests.docs.pages import page
from tests.formats.examples import CUTS, check_damage, files_of

EXAMPLES = files_of(page("formats"))


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@given(cuts=CUTS)
def test_no_damage_breaks_a_reader(
    name: str,
    cuts: list[tuple[float, int, bytes]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    check_damage(EXAMPLES[name], cuts, name, tmp_path_factory.mktemp("damage") / "file")


def test_every_format_of_one_file_is_damaged() -> None:
    assert set(EXAMPLES) == set(FORMATS.core()) - {"beir", "folder", "irds"}
