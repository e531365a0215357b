"""Tables for LaTeX."""

from itertools import product
from typing import Any

import pytest

import karat
from karat.errors import InputError
from karat.report.latex import floating_table
from karat.report.table import Cell, Column, Table


def test_a_small_table() -> None:
    table = Table(
        "Runs_1",
        (Column("run"), Column("ndcg", numeric=True)),
        ((Cell("a&b"), Cell("0.5", 0.5, best=True)), (Cell("c"), Cell("0.4", 0.4))),
        ("100% of 3",),
        "All good.",
    )
    assert (
        floating_table(table)
        == r"""\begin{table}
  \centering
  \begin{tabular}{lr}
    \toprule
    run & ndcg \\
    \midrule
    a\&b & \textbf{0.5} \\
    c & 0.4 \\
    \bottomrule
  \end{tabular}
  \caption{Runs\_1. 100\% of 3. All good.}
\end{table}
"""
    )


def test_what_tex_would_obey_is_text() -> None:
    table = Table("", (Column("x"),), ((Cell(r"\input{/etc/passwd} ^~#$%_{}|<>"),),))
    (row,) = [line for line in floating_table(table).splitlines() if "input" in line]
    assert row.strip() == (
        r"\textbackslash{}input\{/etc/passwd\} \textasciicircum{}\textasciitilde{}\#\$\%\_\{\}"
        r"\textbar{}\textless{}\textgreater{} \\"
    )


def contest(names: tuple[str, ...] = ("old", "mid", "new_1"), **options: Any) -> Any:
    """Return runs of which each finds the document one rank earlier, from rank 3 on."""
    gold = {f"q{n}": {"a": 1} for n in range(40)}
    runs = {
        name: {query: [*"xy"[index:], "a"] for query in gold} for index, name in enumerate(names)
    }
    return karat.compare(gold, runs, options.pop("metrics", ["map", "P@1"]), **options)


def rows(table: str) -> list[list[str]]:
    lines = [line.strip() for line in table.splitlines() if line.endswith(r"\\")]
    return [[cell.strip() for cell in line.removesuffix(r"\\").split("&")] for line in lines]


def test_a_table_for_a_paper_has_bold_means_and_letters_for_every_measure() -> None:
    table = contest().to_latex(label="tab:main")
    assert rows(table) == [
        ["", "run", "map", "P@1"],
        ["a", "old", "0.333", "0.000"],
        ["b", "mid", "0.500$^{a}$", "0.000"],
        ["c", r"new\_1", r"\textbf{1.000}$^{ab}$", r"\textbf{1.000}$^{ab}$"],
    ]
    assert r"\label{tab:main}" in table
    assert table.count(r"\begin{tabular}{@{}llll@{}}") == 1
    (caption,) = [line for line in table.splitlines() if "caption" in line]
    assert r"Means over 40 queries" in caption
    assert r"$p \leq 0.05$, corrected by step-down maxT" in caption


def test_digits_percent_intervals_and_caption_are_options() -> None:
    table = contest().to_latex(digits=1, percent=True, intervals=True, caption="Runs & more")
    lines = rows(table)
    assert lines[1] == ["a", "old", "33.3", "0.0"]
    assert lines[2][:2] == ["", ""]
    assert lines[2][2].startswith(r"{\scriptsize [")
    assert r"\caption{Runs \& more}" in table
    assert "label" not in table


def test_one_run_has_neither_letters_nor_bold() -> None:
    assert rows(contest()["mid"].to_latex()) == [["run", "map", "P@1"], ["mid", "0.500", "0.000"]]


def test_the_lower_mean_is_bold_where_less_is_better() -> None:
    gold = karat.Dataset.of([karat.Query("q1", "", (karat.Target("a", 1.0, 1, 9),))], match="lines")
    runs = [
        karat.Run.of([karat.Answer("q1", (karat.Hit("a", 1.0, 1, last),))], name=name)
        for name, last in (("long", 9), ("short", 5))
    ]
    table = karat.compare(gold, runs, ["lines@10", "mrr"], correction="holm").to_latex(digits=0)
    assert [row[2] for row in rows(table)[1:]] == ["9", r"\textbf{5}"]


def test_a_mean_that_is_missing_is_a_dash() -> None:
    gold = {"q1": {"a": 1}}
    runs = {"one": {"q1": ["a"]}, "two": {"q1": ["b"]}}
    table = karat.compare(gold, runs, ["mrr", "lines@10"]).to_latex()
    assert [row[3] for row in rows(table)[1:]] == ["--", "--"]


@pytest.mark.parametrize(
    ("option", "value"),
    [*product(["digits"], [-1, 7]), *product(["label"], ["tab}x", "a b", "a%"])],
)
def test_options_that_make_no_table_are_errors(option: str, value: object) -> None:
    with pytest.raises(InputError, match="expected"):
        contest().to_latex(**{option: value})


def test_an_unknown_option_names_those_that_exist() -> None:
    evaluation = karat.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["mrr"])
    known = "digits, percent, label, caption, intervals"
    with pytest.raises(InputError, match=f"to_latex has no option 'decimals'; known: {known}"):
        evaluation.to_latex(decimals=2)
    assert all(
        f"*{option}*" in (type(evaluation).to_latex.__doc__ or "") for option in known.split(", ")
    )
