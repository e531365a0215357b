"""A gate for GitHub: annotations on the run, and the summary of a step or a comment."""

from dataclasses import replace

from karat.model.gate import Check, Decision, Gate
from karat.report.gate_view import checks_table, headline, moved_table, rule_text
from karat.report.markdown import plain, render

__all__ = ["annotations", "summary"]

# GitHub shows ten annotations of a kind per step; the last place says how many are left out.
MOST_ANNOTATIONS = 9
SIGNS = {Decision.PASSED: "✅", Decision.INCONCLUSIVE: "❔", Decision.FAILED: "❌"}


def annotations(gate: Gate) -> list[str]:
    """Return one workflow command per check that did not pass, or one notice that all did.

    What fails the gate is an error, what is inconclusive and does not a warning.
    """
    told = [check for check in gate.checks if check.decision is not Decision.PASSED]
    told.sort(key=lambda check: not gate.fails(check.decision))
    lines = [_command(_kind(gate, check), rule_text(check), check.why) for check in told]
    left_out = len(lines) - MOST_ANNOTATIONS
    if left_out > 1:
        kind = _kind(gate, told[MOST_ANNOTATIONS])
        rest = f"and {left_out} more checks that did not pass"
        lines[MOST_ANNOTATIONS:] = [_command(kind, "karat gate", rest)]
    return lines or [_command("notice", "karat gate", headline(gate))]


def summary(gate: Gate) -> str:
    """Return the gate as Markdown: the outcome first, checks, and the queries that moved most."""
    tables = [replace(checks_table(gate), conclusion=""), moved_table(gate)]
    parts = [f"## {SIGNS[gate.decision]} {plain(headline(gate))}\n"]
    return "\n".join([*parts, *(render(table) for table in tables if table)])


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
