"""Tables for LaTeX."""

from karat.report.draw import render
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
        render(table)
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
    (row,) = [line for line in render(table).splitlines() if "input" in line]
    assert row.strip() == (
        r"\textbackslash{}input\{/etc/passwd\} \textasciicircum{}\textasciitilde{}\#\$\%\_\{\}"
        r"\textbar{}\textless{}\textgreater{} \\"
    )
