"""Tables for papers: LaTeX with the best mean in bold and letters for significant differences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from math import isnan

from karat.errors import InputError
from karat.model.comparison import Comparison, Interval
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.report.display import printable
from karat.report.rows import best_means, runs_of
from karat.report.score_view import queries
from karat.report.table import Cell, Table, mark_of

MOST_DIGITS = 6
CORRECTIONS = {
    "maxt": "corrected by step-down maxT",
    "tukey": "corrected by randomised Tukey HSD",
    "holm": "corrected by Holm",
    "bh": "corrected by Benjamini-Hochberg",
    "none": "not corrected",
}

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "†": r"\dag{}",
    **{character: f"\\{character}" for character in "&%$#_"},
}


def floating_table(table: Table) -> str:
    """Return *table* as a floating table with its title as caption; the best are bold.

    It needs the package booktabs, and amssymb where slices mark what is better or worse.
    """
    shape = "".join("r" if column.numeric else "l" for column in table.columns)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \begin{{tabular}}{{{shape}}}",
        r"    \toprule",
        f"    {_row([_safe(column.title) for column in table.columns])}",
        r"    \midrule",
        *(f"    {_row([_cell(cell) for cell in row])}" for row in table.rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        rf"  \caption{{{' '.join(map(_safe, _sentences(table)))}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cell(cell: Cell) -> str:
    return rf"\textbf{{{_safe(cell.text)}}}" if cell.best else _safe(cell.text)


def _sentences(table: Table) -> list[str]:
    return [
        f"{part.rstrip('.')}." for part in (table.title, *table.notes, table.conclusion) if part
    ]


def _safe(text: str) -> str:
    r"""Return *text* with the special characters of TeX escaped.

    >>> _safe("50% of a_b & <c>")
    '50\\% of a\\_b \\& \\textless{}c\\textgreater{}'
    """
    return "".join(SPECIAL.get(character, character) for character in printable(text))


@dataclass(frozen=True, slots=True)
class LatexStyle:
    r"""How a table for a paper looks.

    *digits* are those behind the point; with *percent* means are multiplied by 100. *label* is the
    key for ``\ref``; *caption* replaces the one that explains bold and letters. With *intervals*
    each mean has its confidence interval in a row below.
    """

    digits: int = 3
    percent: bool = False
    label: str = ""
    caption: str = ""
    intervals: bool = False

    def __post_init__(self) -> None:
        """Reject a number of digits that is out of range."""
        if not 0 <= self.digits <= MOST_DIGITS:
            raise InputError(f"{self.digits} digits; expected 0 to {MOST_DIGITS}")

    def number(self, value: float | None) -> str:
        """Return *value* with the digits of the table, a dash without one.

        >>> LatexStyle().number(0.41249), LatexStyle(digits=1, percent=True).number(0.41249)
        ('0.412', '41.2')
        """
        if value is None or isnan(value):
            return "--"
        return f"{value * 100.0 if self.percent else value:.{self.digits}f}"

    def span(self, interval: Interval | None) -> str:
        """Return an interval in small print, nothing without one."""
        if interval is None or interval.low is None or interval.high is None:
            return ""
        ends = f"[{self.number(interval.low)}, {self.number(interval.high)}]"
        return rf"{{\scriptsize {ends}}}"


def latex_table(
    result: Evaluation | ComparisonResult, style: LatexStyle | None = None, **options: object
) -> str:
    """Return a table with a row per run and a column per measure, for one column of a paper.

    The best mean of a column is bold. Letters behind a mean name the runs that this run is
    significantly better than on that measure. *options* are those of :class:`LatexStyle`. It needs
    the package booktabs.
    """
    known = [each.name for each in fields(LatexStyle)]
    if unknown := [name for name in options if name not in known]:
        raise InputError(f"to_latex has no option {unknown[0]!r}; known: {', '.join(known)}")
    style = style or LatexStyle(**options)  # type: ignore[arg-type]
    evaluations = runs_of(result)
    comparison = result.comparison.labelled() if isinstance(result, ComparisonResult) else None
    measures = evaluations[0].keys()
    several = len(evaluations) > 1
    caption = _safe(style.caption) or _caption(evaluations[0].notes.queries, comparison)
    use = evaluations[0].notes.labels
    if use and use.is_doubtful:
        caption += f" {_safe(use.text)}."
    lines = [
        r"\begin{table}",
        r"  \centering",
        r"  \small",
        r"  \setlength{\tabcolsep}{4pt}",
        rf"  \caption{{{caption}}}",
        *([rf"  \label{{{_key(style.label)}}}"] if style.label else ()),
        rf"  \begin{{tabular}}{{@{{}}{'l' * (1 + several + len(measures))}@{{}}}}",
        r"    \toprule",
        f"    {_row([*([''] * several), 'run', *map(_safe, measures)])}",
        r"    \midrule",
        *(f"    {row}" for row in _run_rows(evaluations, comparison, style)),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _run_rows(
    evaluations: Sequence[Evaluation], comparison: Comparison | None, style: LatexStyle
) -> Iterator[str]:
    marks = _marks(comparison)
    best = best_means(evaluations, comparison.lower_is_better if comparison else ())
    for index, evaluation in enumerate(evaluations):
        cells = []
        for summary in evaluation.summaries:
            text = style.number(summary.mean)
            if len(evaluations) > 1 and summary.mean == best.get(summary.measure):
                text = rf"\textbf{{{text}}}"
            letters = marks.get((summary.measure, evaluation.name), ("", ""))[1]
            letters += r"\dagger" if mark_of(evaluation.mark, summary.measure) else ""
            cells.append(text + (rf"$^{{{letters}}}$" if letters else ""))
        letter = [_letter(marks, evaluation, index)] if len(evaluations) > 1 else []
        yield _row([*letter, _safe(evaluation.name), *cells])
        if style.intervals:
            spans = [style.span(summary.interval) for summary in evaluation.summaries]
            yield _row([*([""] * len(letter)), "", *spans])


def _letter(
    marks: dict[tuple[str, str], tuple[str, str]], evaluation: Evaluation, index: int
) -> str:
    run_marks = (marks.get((name, evaluation.name)) for name in evaluation)
    return next((mark[0] for mark in run_marks if mark), str(index + 1))


def _marks(comparison: Comparison | None) -> dict[tuple[str, str], tuple[str, str]]:
    """Return by measure and run the letter of the run, and those of the runs that it beats."""
    if comparison is None:
        return {}
    from karat.scoring.stats import significance_letters

    return {
        (measure, mark.system): (mark.letter, mark.better_than)
        for measure in comparison.metrics
        for mark in significance_letters(comparison, measure)
    }


def _caption(count: int, comparison: Comparison | None) -> str:
    if comparison is None:
        return f"Means over {queries(count)}."
    level = f"{1.0 - comparison.level:.3g}"
    return (
        f"Means over {queries(count)}; the best are bold. Letters: significantly better than that "
        rf"run (paired randomisation test, $p \leq {level}$, {CORRECTIONS[comparison.correction]}, "
        "and the interval of the difference excludes 0)."
    )


def _key(label: str) -> str:
    r"""Return *label*; raise InputError for characters that would end the command.

    >>> _key("tab:main")
    'tab:main'
    """
    if any(character in label for character in r"\{}%#~^ "):
        raise InputError(f"{label!r} is not a label; expected a key such as tab:results")
    return label
