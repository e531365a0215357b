"""A case of the conformance kit: some judgments and hits, and what each convention makes of them.

Every value is written as it is worked out by hand, such as ``(1 + 2/3) / 4``.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from karat.errors import InputError

# Usual: as trec_eval -c does, or as the measure is defined. Other: a convention to be stated.
# Wrong: scores that mislead.
Standing = Literal["usual", "other", "wrong"]

# In place of a query: the mean over all queries.
ALL = "all"
# In place of a number: the program refuses the case, or has no number for it.
ERROR, NOTHING = "error", "nan"

OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS: Mapping[str, Callable[[float], float]] = {"log2": math.log2, "ln": math.log}


class Reading(NamedTuple):
    """What one convention makes of a case: its value as it is worked out, and how it stands."""

    convention: str
    working: str
    standing: Standing

    @property
    def value(self) -> float | None:
        """Return the number, NaN for no number, None for an error."""
        return None if self.working == ERROR else worked_out(self.working)


class Expectation(NamedTuple):
    """The readings of one measure for one query, or for the mean over all."""

    measure: str
    query: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """Judgments and hits that show which convention is followed.

    *hits* are (query, document, score) in the order of the file. *why* is the reason for what is
    usual.
    """

    name: str
    question: str
    why: str
    judgments: Mapping[str, Mapping[str, int]]
    hits: tuple[tuple[str, str, float], ...]
    expectations: tuple[Expectation, ...]

    def run(self) -> dict[str, list[tuple[str, float]]]:
        """Return the documents and scores of each query, in the order of the file."""
        rows: dict[str, list[tuple[str, float]]] = {}
        for query, document, score in self.hits:
            rows.setdefault(query, []).append((document, score))
        return rows


def worked_out(working: str) -> float:
    """Return the value of an arithmetic expression.

    >>> worked_out("(1 + 2/3) / 4"), worked_out("3 / log2(4)"), worked_out("nan")
    (0.41666666666666663, 1.5, nan)
    """
    if working == NOTHING:
        return math.nan
    return _value(ast.parse(working, mode="eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return FUNCTIONS[node.func.id](_value(node.args[0]))
    raise InputError(f"{ast.unparse(node)!r} is not arithmetic; expected for example 1/log2(3)")
