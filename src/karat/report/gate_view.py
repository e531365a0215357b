"""Tables of a gate: its checks, and the queries that moved."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import compress
from xml.etree import ElementTree as ET

from karat.model.comparison import decimals
from karat.model.gate import ChangedQuery, Check, Decision, Gate, SelfCheck
from karat.report.display import headline_and_details, printable
from karat.report.findings.latency import DISTURBED
from karat.report.score_view import level_title, queries, text_cell
from karat.report.table import (
    DIGITS,
    Cell,
    Column,
    Table,
    mark_of,
    markdown_table,
    marked,
    milliseconds,
    number,
    plain,
    range_cell,
)

DETECTABLE = "detectable: the smallest true difference that this gold set detects with 80% power"


def headline(gate: Gate) -> str:
    """Return the outcome in one line."""
    counts = [
        f"{count} {decision.value}"
        for decision in (Decision.FAILED, Decision.INCONCLUSIVE, Decision.PASSED)
        if (count := sum(check.decision is decision for check in gate.checks))
    ]
    other = "its baseline" if gate.baseline == f"{gate.name} (baseline)" else gate.baseline
    against = f" against {other}" if other else ""
    undecided = gate.closed and gate.decision is Decision.INCONCLUSIVE
    strict = " (fails because of --strict)" if undecided else ""
    mark = mark_of(gate.mark, *(check.subject for check in gate.checks))
    return f"Gate {gate.decision.value}{strict}: {gate.name}{against}, {', '.join(counts)}{mark}."


def rule_text(check: Check) -> str:
    """Return the rule in words."""
    if check.rule == "minimum":
        return f"{check.subject} must be at least {check.limit:g}"
    if check.rule == "latency":
        return f"{check.subject} latency must be at most {check.limit:g} ms"
    if check.rule == "lost-hits":
        return f"at most {queries(int(check.limit))} may lose all hits"
    tolerated = " (tolerance)" if check.is_default else ""
    return f"{check.subject} may lose at most {check.limit:g}{tolerated}"


def checks_table(gate: Gate) -> Table:
    """Return one row per check, the notes of the run and, last, the outcome."""
    rows = tuple(
        (
            Cell(rule_text(check)),
            Cell(check.decision.value),
            Cell(_reason(gate, check)),
            _detectable(check.detectable),
        )
        for check in gate.checks
    )
    columns = (
        Column("rule"),
        Column("outcome"),
        Column("reason"),
        Column("detectable", numeric=True, spare=1),
    )
    notes = (*gate.notes, gate.rule) if gate.rule else gate.notes
    if any(check.detectable for check in gate.checks):
        notes += (DETECTABLE,)
    if gate.verdict:
        notes += (gate.verdict,)
    title = f"{gate.name}, {queries(gate.queries)}"
    return Table(title, columns, rows, notes, conclusion=headline(gate), warnings=gate.warnings)


def gate_overview(gate: Gate, *, more: str = "") -> Table:
    """Return the outcome, one row per check with its numbers, and why checks did not pass.

    *more* comes last: where to read what is not here.
    """
    verdict, _ = headline_and_details(gate.verdict)
    columns = (
        Column("rule"),
        Column("outcome"),
        Column("before", numeric=True, spare=3),
        Column("now", numeric=True, spare=2),
        Column("change", numeric=True),
        Column(level_title(_level(gate)), numeric=True, spare=1),
    )
    rows = [_check_cells(gate, check) for check in gate.checks]
    filled = [any(cell.text for cell in column) for column in zip(*rows, strict=True)]
    undecided = [check for check in gate.checks if check.decision is not Decision.PASSED]
    notes = [
        _reason(gate, check) for check in undecided if check.rule in ("regression", "lost-hits")
    ]
    notes += [
        f"{check.subject} latency: {check.why}"
        for check in gate.checks
        if check.rule == "latency" and (check in undecided or DISTURBED in check.why)
    ]
    if gate.rule and any(check.rule == "regression" for check in undecided):
        notes.append(gate.rule)
    if undecided and gate.worst:
        notes.append(_lost_most(gate))
    decisive = [note for note in gate.decisive if note not in gate.known]
    return Table(
        f"{gate.name}, {queries(gate.queries)}",
        tuple(compress(columns, filled)),
        tuple(tuple(compress(row, filled)) for row in rows),
        (*notes, *decisive, *filter(None, [more])),
        conclusion=" ".join(filter(None, [headline(gate), verdict])),
        warnings=gate.warnings,
    )


def _check_cells(gate: Gate, check: Check) -> tuple[Cell, ...]:
    """Return the rule, the outcome and the numbers of a check."""
    before, now = check.before, check.value if check.after is None else check.after
    change = None if before is None or check.after is None else check.after - before
    digits = decimals(change) if change else DIGITS
    if check.rule == "lost-hits":
        current = Cell(f"{check.value:.0f}", check.value)
    elif check.rule == "latency":
        current = Cell(f"{milliseconds(check.value).text} ms", check.value)
    else:
        current = number(now, digits=digits)
    mark = "" if check.rule in ("latency", "lost-hits") else mark_of(gate.mark, check.subject)
    changed = number(change, signed=True, digits=digits)
    signed = check.rule == "regression"
    return (
        Cell(rule_text(check)),
        Cell(check.decision.value),
        Cell("") if before is None else number(before, digits=digits),
        current._replace(text=f"{current.text}{mark}"),
        Cell("") if change is None else changed._replace(text=f"{changed.text}{mark}"),
        range_cell(check.interval, signed=signed, digits=digits) if check.interval else Cell(""),
    )


def _level(gate: Gate) -> float:
    return next((check.interval.level for check in gate.checks if check.interval), 0.95)


def _lost_most(gate: Gate) -> str:
    """Return the queries that lost most on the first measure, with the ranks of the first hit."""
    if not _has_ranks(gate.worst):
        scores = ", ".join(
            f"{each.query_id} ({number(each.before, digits=DIGITS).text} to "
            f"{number(each.after, digits=DIGITS).text})"
            for each in gate.worst
        )
        return f"lost most on {gate.lead}: {scores}"
    listed = ", ".join(
        f"{each.query_id} ({_rank(each.rank_before).text} to {_rank(each.rank_after).text})"
        for each in gate.worst
    )
    return f"lost most on {gate.lead}, with the rank of the first relevant hit: {listed}"


def self_check_table(check: SelfCheck) -> Table:
    """Return one row per rule: how often it passed, failed or was inconclusive."""
    rows = tuple(
        (Cell(rule), *(Cell(f"{counts.get(each.value, 0)}") for each in Decision))
        for rule, counts in check.decisions.items()
    )
    columns = (Column("rule"), *(Column(each.value, numeric=True) for each in Decision))
    title = f"Self-check: {check.pairs} gates between {len(check.runs)} runs"
    return Table(title, columns, rows, (), conclusion=check.verdict)


def _detectable(value: float | None) -> Cell:
    """Return the detectable difference; a tiny one is not printed as 0.

    >>> _detectable(0.0351).text, _detectable(0.0002).text, _detectable(0.0).text
    ('0.035', '<0.001', '0.000')
    """
    cell = number(value, digits=DIGITS)
    return cell._replace(text="<0.001") if value and not float(cell.text) else cell


def _reason(gate: Gate, check: Check) -> str:
    """Return why the check has its outcome, with the mark of doubtful scores."""
    mark = "" if check.rule in ("latency", "lost-hits") else mark_of(gate.mark, check.subject)
    return f"{check.why}{mark}"


def moved_table(gate: Gate) -> Table | None:
    """Return the queries that lost and gained most with their ranks, None where none moved."""
    if not gate.worst and not gate.best:
        return None
    moved = (*gate.worst, *reversed(gate.best))
    ranked = _has_ranks(moved)
    table = Table(
        f"{gate.lead}: queries with the largest changes",
        (
            Column("query"),
            Column("before", numeric=True),
            Column("after", numeric=True),
            Column("change", numeric=True),
            *((Column("rank before", numeric=True),) if ranked else ()),
            *((Column("rank after", numeric=True),) if ranked else ()),
            Column("text", spare=1),
        ),
        tuple(_moved_row(query, ranked=ranked) for query in moved),
        notes=("rank: rank of the first relevant hit, - if there is none",) if ranked else (),
    )
    return marked(table, mark_of(gate.mark, gate.lead))


def _has_ranks(moved: Iterable[ChangedQuery]) -> bool:
    """Return whether any query has a rank before or now; scores of a file have no hits."""
    return any(query.rank_before or query.rank_after for query in moved)


def _moved_row(query: ChangedQuery, *, ranked: bool) -> tuple[Cell, ...]:
    ranks = (_rank(query.rank_before), _rank(query.rank_after)) if ranked else ()
    return (
        Cell(query.query_id, query.query_id),
        number(query.before, digits=DIGITS),
        number(query.after, digits=DIGITS),
        number(query.after - query.before, signed=True, digits=DIGITS),
        *ranks,
        text_cell(query.text),
    )


def _rank(rank: float | None) -> Cell:
    """Return a rank; the expected one of tied hits need not be whole.

    >>> _rank(3).text, _rank(2.25).text, _rank(None).text
    ('3', '2.25', '-')
    """
    return Cell("-") if rank is None else Cell(f"{rank:.3g}", float(rank))


# GitHub shows ten annotations of a kind per step; the last one says how many are left out.
MOST_ANNOTATIONS = 9
SIGNS = {Decision.PASSED: "✅", Decision.INCONCLUSIVE: "❔", Decision.FAILED: "❌"}


def annotations(gate: Gate) -> list[str]:
    """Return one workflow command per check that did not pass, or one notice that all did.

    What fails the gate is an error, what is inconclusive and does not a warning.
    """
    listed = [check for check in gate.checks if check.decision is not Decision.PASSED]
    listed.sort(key=lambda check: not gate.fails(check.decision))
    lines = [
        _command(_kind(gate, check), rule_text(check), _reason(gate, check)) for check in listed
    ]
    left_out = len(lines) - MOST_ANNOTATIONS
    if left_out > 1:
        kind = _kind(gate, listed[MOST_ANNOTATIONS])
        rest = f"and {left_out} more checks that did not pass"
        lines[MOST_ANNOTATIONS:] = [_command(kind, "karat gate", rest)]
    lines = lines or [_command("notice", "karat gate", headline(gate))]
    return [*lines, *(_command("warning", "karat gate", text) for text in gate.warnings)]


def summary(gate: Gate) -> str:
    """Return the gate as Markdown: outcome and verdict, checks, and the queries that moved most.

    Notes on the run that the baseline has too are left out.
    """
    gate = replace(gate, notes=tuple(note for note in gate.notes if note not in gate.known))
    verdict, rest = headline_and_details(gate.verdict)
    gate = replace(gate, verdict=rest)
    tables = [replace(checks_table(gate), conclusion=""), moved_table(gate)]
    parts = [f"## {SIGNS[gate.decision]} {plain(headline(gate))}\n"]
    parts += [f"{plain(verdict)}\n"] if verdict else []
    return "\n".join([*parts, *(markdown_table(table) for table in tables if table)])


def _kind(gate: Gate, check: Check) -> str:
    return "error" if gate.fails(check.decision) else "warning"


def _command(kind: str, title: str, message: str) -> str:
    r"""Return a workflow command.

    >>> _command("error", "hit@5: 70%", "a\nb")
    '::error title=hit@5%3A 70%25::a%0Ab'
    """
    name = _escaped(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


SUITE = "karat gate"


def _moved_lines(gate: Gate, check: Check) -> Iterator[str]:
    """Yield the queries that changed most, for the text of a failed regression."""
    table = moved_table(gate)
    if table is None or check.rule != "regression":
        return
    yield f"{table.title}:"
    for row in table.rows:
        query, before, after, change, rank_before, rank_after, text = (
            printable(cell.text) for cell in row
        )
        yield f"{query}: {before} to {after} ({change}), rank {rank_before} to {rank_after}: {text}"
    yield from table.notes


def junit_xml(gate: Gate) -> str:
    """Return one test case per check: failed ones as failures, inconclusive ones as skipped.

    In a strict gate inconclusive ones are failures too, so that the file agrees with the exit code.
    """
    failures = sum(gate.fails(check.decision) for check in gate.checks)
    passed = sum(check.decision is Decision.PASSED for check in gate.checks)
    tests = len(gate.checks)
    skipped = tests - failures - passed
    counts = {"tests": tests, "failures": failures, "errors": 0, "skipped": skipped}
    attributes = {name: str(count) for name, count in counts.items()}
    root = ET.Element("testsuites", {"name": SUITE, **attributes})
    suite = ET.SubElement(root, "testsuite", {"name": printable(gate.name), **attributes})
    for check in gate.checks:
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": f"{SUITE}.{check.rule}", "name": rule_text(check), "time": "0"},
        )
        why = printable(_reason(gate, check))
        if gate.fails(check.decision):
            kind = check.decision.value
            body = "\n".join([why, *_moved_lines(gate, check)])
            ET.SubElement(case, "failure", {"message": why, "type": kind}).text = body
        elif check.decision is not Decision.PASSED:
            ET.SubElement(case, "skipped", {"message": f"inconclusive: {why}"})
    lines = [headline(gate), *gate.warnings, gate.verdict, gate.rule, *gate.notes]
    ET.SubElement(suite, "system-out").text = "\n".join(map(printable, filter(None, lines)))
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return f"{text.decode()}\n"
