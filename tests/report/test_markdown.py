"""Tables as Markdown."""

from karat.report.table import Cell, Column, Table, markdown_table


def test_the_whole_table() -> None:
    table = Table(
        "a_b",
        (Column("run"), Column("mean", numeric=True)),
        ((Cell("old"), Cell("0.5")), (Cell("new"), Cell("1.0", 1.0, best=True))),
        ("first note", "second note"),
        "new beats old.",
    )
    assert markdown_table(table) == (
        "**new beats old.**\n"
        "\n"
        "### a\\_b\n"
        "\n"
        "| run | mean |\n"
        "|---|---:|\n"
        "| old | 0.5 |\n"
        "| new | **1.0**\\* |\n"
        "\n"
        "- first note\n"
        "- second note\n"
    )


def test_markup_in_a_cell_is_text() -> None:
    text = "a|b <img> `x` [y](z) *b* \\ \n# h"
    row = markdown_table(Table("", (Column("q"),), ((Cell(text),),))).splitlines()[2]
    assert row == r"| a\|b \<img\> \`x\` \[y\](z) \*b\* \\ \\n# h |"
