"""Tables of agreement: models and people, grade by grade, and the effect on runs."""

from collections.abc import Iterator

from karat.extensions.judges.agreement import AgreementReport
from karat.model.comparison import Interval
from karat.report.score_view import level_title
from karat.report.table import Cell, Column, Table, number, p_cell, range_cell
from karat.scoring.labels import scaled_grade
from karat.system.words import counted, join_names

DIGITS = 3
SIGNIFICANT = 0.05
# The order of two runs is right or wrong: a rank correlation says nothing more.
FEWEST_ORDERED = 3


def agreement_tables(report: AgreementReport) -> list[Table]:
    """Return the judges with the verdict, then both sides' grades, and the runs by both."""
    return [_judges(report), _confusion(report), _runs(report)]


def _judges(report: AgreementReport) -> Table:
    level = level_title(report.used.agreement.interval.level)
    rows = tuple(
        (
            Cell(judge.name, judge.name),
            Cell(f"{judge.agreement.pairs:,}", judge.agreement.pairs),
            number(judge.agreement.kappa, digits=DIGITS),
            range_cell(judge.agreement.interval),
            number(judge.agreement.plain, digits=DIGITS),
            number(judge.agreement.alpha, digits=DIGITS),
            _percent(judge.agreement.share),
            _percent(judge.binary.share),
            Cell(_span(judge.binary.interval).strip() or "-"),
        )
        for judge in report.judges
    )
    columns = (
        Column("judge"),
        *(Column(title, numeric=True) for title in ("hits", "kappa", level)),
        Column("unweighted", numeric=True, spare=2),
        Column("alpha", numeric=True, spare=3),
        Column("same grade", numeric=True),
        Column("both relevant or not", numeric=True, spare=1),
        Column(level, numeric=True, spare=4),
    )
    both = "people" if report.by_people else "of the gold set"
    title = f"{report.gold}: labels of models and {both} on {counted(report.pairs, 'hit')}"
    return Table(
        f"{title} of {counted(report.queries, 'query')}",
        columns,
        rows,
        (*_notes(report), *_needed(report)),
        conclusion=verdict(report),
    )


def _notes(report: AgreementReport) -> Iterator[str]:
    known = any(judge.agreement.kappa is not None for judge in report.judges)
    kappa = "kappa: quadratic weights; 1 is perfect, 0 is chance. " if known else ""
    yield f"{kappa}Intervals resample whole queries."
    grades = [f"{grade} as {scaled_grade(grade, report.top):g}" for grade in range(4)]
    if any(scaled_grade(grade, report.top) != grade for grade in range(4)):
        yield (
            f"the highest grade of the gold set is {report.top:g}, so grades of models are scaled: "
            f"{join_names(grades)}"
        )


def _given(report: AgreementReport) -> list[float]:
    """Return the grades of people on the hits that both judged."""
    table = report.used.table
    return [grade for grade, row in zip(table.grades, table.counts, strict=True) if any(row)]


def _reference(report: AgreementReport) -> str:
    """Return the origin of the labels with which models are compared."""
    return "people" if report.by_people else "the gold set"


def _confusion(report: AgreementReport) -> Table:
    table = report.used.table
    names = [f"{grade:g}" for grade in table.grades]
    short = _reference(report).removeprefix("the ")
    rows = []
    for grade, counts, shares, intervals in zip(
        names, table.counts, table.shares, table.intervals, strict=True
    ):
        cells = [
            Cell("-") if share is None else Cell(f"{count} ({share:.0%}){_span(interval)}", count)
            for count, share, interval in zip(counts, shares, intervals, strict=True)
        ]
        rows.append((Cell(f"{short}: {grade}"), *cells, Cell(str(sum(counts)), sum(counts))))
    return Table(
        f"Grades of {_reference(report)} (rows) and of {_subject(report)} (columns), with shares "
        "of the row",
        (
            Column(""),
            *(Column(f"model: {name}", numeric=True) for name in names),
            Column("hits", numeric=True),
        ),
        tuple(rows),
    )


def _runs(report: AgreementReport) -> Table:
    level = level_title(report.used.agreement.interval.level)
    short = _reference(report).removeprefix("the ")
    rows = tuple(
        (
            Cell(run.run, run.run),
            number(run.people, digits=DIGITS),
            number(run.model, digits=DIGITS),
            number(run.bias.bias, signed=True, digits=DIGITS),
            range_cell(run.bias.interval, signed=True),
            p_cell(run.bias.p),
        )
        for run in report.runs
    )
    notes = [
        f"on {counted(report.order.queries, 'query')} with a relevant hit by {_reference(report)} "
        "and a relevant hit by models; only hits judged by both count",
        "bias: how much higher models score this run, compared with their average over all runs; "
        "p: sign flips, corrected by Holm. Random errors alone raise weak runs and lower strong "
        "ones.",
        *_order(report),
    ]
    return Table(
        f"{report.measure} by {_reference(report)} and by {_subject(report)}",
        (
            Column("run"),
            *(Column(title, numeric=True) for title in (short, "models", "bias", level, "p")),
        ),
        rows,
        tuple(notes),
    )


def _order(report: AgreementReport) -> Iterator[str]:
    order = report.order
    if order.systems < FEWEST_ORDERED:
        return
    if order.tau is None:
        yield "order of runs: unknown, as all means are the same"
        return
    top = "" if order.tau_ap is None else f"; tau_AP, which weighs the top more, {order.tau_ap:.2f}"
    yield (
        f"order of {counted(order.systems, 'run')}: Kendall's tau-b {order.tau:.2f}"
        f"{_ends(order.interval)}{top}"
    )


def _needed(report: AgreementReport) -> Iterator[str]:
    needed = report.needed
    parts = []
    if needed.hits is not None:
        parts.append(
            f"for kappa ± {needed.kappa_half_width:g}: about {needed.hits:,} more hits judged by "
            "both"
        )
    if needed.queries is not None:
        parts.append(
            f"for {report.measure} ± {needed.score_half_width:g}: about {needed.queries:,} more "
            "queries judged by people"
        )
    if parts:
        yield f"estimate from the current variance: {'; '.join(parts)}"


def verdict(report: AgreementReport) -> str:
    """Return whether the labels can be used, and which runs the models favour."""
    used = report.used.agreement
    if used.kappa is None:
        missing = "not relevant" if any(_given(report)) else "relevant"
        first = (
            f"Agreement of {_subject(report)} with {_reference(report)} is unknown: people judged "
            f"no hit as {missing}, so kappa cannot be computed. Grade some hits with karat judge "
            "--next"
        )
    else:
        first = (
            f"Agreement of {_subject(report)} with {_reference(report)}: weighted kappa "
            f"{used.kappa:.2f}"
            f"{_ends(used.interval)}"
        )
        marked = "numbers that use these labels are marked"
        if used.kappa < report.minimum:
            first += f", below {report.minimum:g}: {marked}"
        elif used.interval.low is None:
            first += f", too few queries for an interval: {marked}"
        else:
            first += f", not below {report.minimum:g}"
    favoured = [
        f"{run.run} ({number(run.bias.bias, signed=True, digits=DIGITS).text})"
        for run in report.runs
        if run.bias.bias and run.bias.p is not None and run.bias.p <= SIGNIFICANT
    ]
    second = (
        f"Models score some runs differently from people: {join_names(favoured)}"
        if favoured
        else "No run is significantly favoured"
    )
    return f"{first}. {second}." if len(report.runs) > 1 else f"{first}."


def agreement_plain(report: AgreementReport) -> dict[str, object]:
    """Return the agreement as plain values, for JSON."""
    return {
        "gold": report.gold,
        "pairs": report.pairs,
        "queries": report.queries,
        "minimum": report.minimum,
        "judges": [
            {
                "name": judge.name,
                "judges": judge.judges,
                "is_binary": judge.is_binary,
                "agreement": judge.agreement._asdict(),
                "binary": judge.binary._asdict(),
                "confusion": judge.table._asdict(),
            }
            for judge in report.judges
        ],
        "measure": report.measure,
        "order": report.order._asdict(),
        "runs": [
            {"run": run.run, "people": run.people, "model": run.model, **run.bias._asdict()}
            for run in report.runs
        ],
        "needed": report.needed,
        "verdict": verdict(report),
    }


def _subject(report: AgreementReport) -> str:
    """Return the name of the judge within a sentence."""
    name = report.used.name
    return name if len(report.used.judges) == 1 else f"the {name}"


def _percent(share: float) -> Cell:
    return Cell(f"{share:.0%}", share)


def _span(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f" [{interval.low:.0%}, {interval.high:.0%}]"


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f" [{interval.low:.2f}, {interval.high:.2f}]"
