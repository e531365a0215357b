"""The lines that trec_eval prints."""

from collections.abc import Iterable
from typing import NamedTuple


class TrecRow(NamedTuple):
    """One line: a measure of one query, or of ``all``.

    A number is *whole* where it counts something; as a *zscore* it never is, and is marked.
    """

    measure: str
    query: str
    value: float | str
    whole: bool = False
    zscore: bool = False


def trec_text(rows: Iterable[TrecRow]) -> str:
    r"""Return *rows* as trec_eval prints them, byte for byte.

    >>> trec_text([TrecRow("map", "301", 0.25), TrecRow("num_q", "all", 3.0, whole=True)])
    'map                   \t301\t0.2500\nnum_q                 \tall\t3\n'
    """
    return "".join(
        f"{'Z' if row.zscore else ''}{row.measure:<22}\t{row.query}\t{_value_text(row)}\n"
        for row in rows
    )


def _value_text(row: TrecRow) -> str:
    if isinstance(row.value, str):
        return row.value
    return str(int(row.value)) if row.whole and not row.zscore else f"{row.value:6.4f}"
