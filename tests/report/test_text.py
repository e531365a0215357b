"""Tables for a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.report.display import display_width, unbroken
from karat.report.table import Cell, Column, Table
from karat.report.text import text_table

TABLE = Table(
    "two runs",
    (
        Column("run"),
        Column("mean", numeric=True),
        Column("change", numeric=True, spare=1),
        Column("better than", spare=2),
    ),
    (
        (Cell("old"), Cell("0.500"), Cell("baseline"), Cell("-")),
        (Cell("新しい"), Cell("1.000", 1.0, best=True), Cell("+0.500"), Cell("a")),
    ),
    ("a first note", "a second note"),
    "new beats old.",
)


def test_the_whole_table() -> None:
    assert text_table(TABLE) == (
        "new beats old.\n"
        "\n"
        "two runs\n"
        "\n"
        "run       mean    change  better than\n"
        "------  ------  --------  -----------\n"
        "old     0.500   baseline  -\n"
        "新しい  1.000*    +0.500  a\n"
        "\n"
        "a first note\n"
        "a second note\n"
    )


def test_colour_changes_nothing_but_the_best() -> None:
    bold = text_table(TABLE, colour=True)
    assert "\x1b[1m1.000*\x1b[0m" in bold
    assert bold.replace("\x1b[1m", "").replace("\x1b[0m", "") == text_table(TABLE)


@pytest.mark.parametrize(
    ("width", "hidden"),
    [(40, ()), (37, ()), (36, ("better than",)), (20, ("change", "better than")), (3, None)],
)
def test_spare_columns_go_where_there_is_no_room(
    width: int, hidden: tuple[str, ...] | None
) -> None:
    text = text_table(TABLE, width=width)
    lines = text.splitlines()
    heads = lines[next(index for index, line in enumerate(lines) if line.startswith("--")) - 1]
    # Nothing but the run and its mean is left, however narrow it gets.
    hidden = ("change", "better than") if hidden is None else hidden
    assert all(title not in heads for title in hidden)
    assert heads.split()[:2] == ["run", "mean"]
    said = " ".join(text.split())
    assert (f"not shown: {', '.join(hidden)}" in said) == bool(hidden)


def test_a_last_column_of_text_is_cut_before_it_goes() -> None:
    table = Table(
        "",
        (Column("query"), Column("text", spare=1)),
        ((Cell("q1"), Cell("x" * 40)), (Cell("q2"), Cell("検" * 20))),
    )
    cut = text_table(table, width=30).splitlines()
    assert cut[2] == "q1     " + "x" * 20 + "..."
    assert cut[3] == "q2     " + "検" * 10 + "..."
    assert text_table(table, width=20).splitlines()[0] == "query"


def test_titles_and_notes_cannot_carry_escapes() -> None:
    table = Table("\x1b[2J", (Column("\x1b[1m"),), ((Cell("\x07"),),), ("\x1b]0;",), "\x1b[0m")
    assert "\x1b" not in text_table(table)
    assert "\x07" not in text_table(table)


def test_groups_stand_apart() -> None:
    rows = tuple((Cell(name),) for name in ("one", "", "two"))
    lines = text_table(Table("", (Column("x"),), rows, grouped=True)).splitlines()
    assert lines[2:] == ["one", "", "", "two"]


def test_a_table_without_rows_has_its_heads() -> None:
    assert text_table(Table("", (Column("query"),), ())) == "query\n-----\n"


def test_long_notes_are_wrapped_and_long_words_kept() -> None:
    word = "w" * 120
    lines = text_table(Table("", (Column("x"),), (), ("a " * 80, word))).splitlines()
    assert lines[4].startswith("  a")
    assert max(map(len, lines[:5])) <= 100
    assert word in lines


UNMARKED = st.text(st.characters(exclude_characters="¦"))


@given(st.lists(UNMARKED, min_size=1))
def test_the_second_column_begins_at_one_place(texts: list[str]) -> None:
    rows = tuple((Cell(text), Cell("¦")) for text in texts)
    lines = text_table(Table("", (Column("query"), Column("x")), rows)).splitlines()
    assert len(lines) == len(texts) + 2
    assert len({display_width(line[: line.index("¦")]) for line in lines[2:]}) == 1


def test_the_first_sentence_of_a_conclusion_is_bold_on_a_terminal() -> None:
    table = Table("", (Column("run"),), ((Cell("a"),),), conclusion="a beats b. The rest is noise.")
    assert text_table(table).startswith("a beats b.\nThe rest is noise.\n\nrun\n")
    assert text_table(table, colour=True).startswith(
        "\x1b[1ma beats b.\x1b[0m\nThe rest is noise.\n\nrun\n"
    )


def test_one_row_that_is_too_wide_stands_upright() -> None:
    columns = (Column("run"), *(Column(f"recall@{k}", numeric=True, spare=k) for k in range(1, 9)))
    cells = (Cell("bm25"), *(Cell(f"0.{k}00", k / 10) for k in range(1, 9)))
    lines = text_table(Table("", columns, (cells,)), width=60).splitlines()
    assert lines[:3] == ["run        bm25", "--------  -----", "recall@1  0.100"]
    assert lines[-1] == "recall@8  0.800"
    assert len(text_table(Table("", columns, (cells,)), width=100).splitlines()) == 3


def test_long_names_are_cut_in_the_middle_where_nothing_else_can_go() -> None:
    names = ("hybrid dense_weight=0.3 k1=1.2 @10", "hybrid dense_weight=0.3 k1=1.6 @10")
    rows = tuple((Cell(name), Cell("0.500", 0.5)) for name in names)
    lines = text_table(Table("", (Column("run"), Column("mean", numeric=True)), rows), width=32)
    first, second = lines.splitlines()[2:]
    assert (len(first), len(second)) == (32, 32)
    assert ("k1=1.2 @10 " in first, "k1=1.6 @10 " in second) == (True, True)


def test_a_command_stays_on_one_line() -> None:
    command = "karat inspect questions.csv --run k3nqabcdef.1"
    note = f"More: --details, --per-query; lost queries: {unbroken(command)}"
    lines = text_table(Table("", (Column("x"),), (), (note,)), width=60).splitlines()
    assert lines[-1].strip() == command
