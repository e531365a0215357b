"""The query of a transcript: by a table, an id, a name, or the text of the query."""

from pathlib import Path

import pytest

from karat.errors import InputError
from karat.extensions.trace.join import join, read_table
from karat.extensions.trace.record import Transcript
from karat.model import Dataset, Query

GOLD = Dataset.of(
    [
        Query("django__django-11", "forms lose their order when copied"),
        Query("django__django-110", "a migration fails on sqlite"),
        Query("3", "why is the cache stale", extra={"instance_id": "acme-3"}),
    ]
)


def row(*ids: str, text: str = "", table: dict[str, str] | None = None) -> int | None:
    transcript = Transcript(Path("runs/x.json"), ids, (), text)
    joined = join([transcript], GOLD, table)
    return joined.pairs[0][1] if joined.pairs else None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("django__django-11", 0),
        ("django__django-110", 1),
        ("django__django-110__Xy7", 1),
        ("run-2.django__django-11", 0),
        ("django__django-111", None),
        ("acme-3", 2),
        ("3", 2),
        # Too short to count inside of a name.
        ("trial-3", None),
    ],
)
def test_an_id_is_equal_or_a_part_of_a_name(name: str, expected: int | None) -> None:
    assert row("0e1f", name) == expected


def test_the_text_of_a_query_is_in_the_prompt() -> None:
    prompt = "Please solve:\n  Forms lose their\n order when copied. Thanks"
    assert row("0e1f", text=prompt) == 0
    assert row("0e1f", text="something else") is None


def test_a_table_counts_first(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("transcript,query\nx.json,3\n")
    table = read_table(tmp_path / "map.csv")
    assert row("django__django-11", table=table) == 2
    (tmp_path / "map.json").write_text('{"0e1f": "django__django-11"}')
    assert row("0e1f", table=read_table(tmp_path / "map.json")) == 0
    with pytest.raises(InputError, match="the map names query 'q9' for 'x'"):
        row("x", table={"x": "q9"})
