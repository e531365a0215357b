"""The first judgments of a ranking as a string, for the eye."""

from karat.model import JudgedQuery

__all__ = ["relstring"]


def relstring(judged: JudgedQuery, length: int = 10) -> str:
    """Return one character per hit: its grade, ``>`` above 9, ``.`` pooled only, ``-`` unknown.

    >>> relstring(JudgedQuery([1, 3, 4], [2, -1, 10], ideal=[10, 2, -1], retrieved=5))
    '2-.>-'
    """
    shown = ["-"] * max(0, min(length, judged.retrieved))
    for rank, grade in zip(judged.ranks, judged.grades, strict=True):
        if rank > len(shown):
            break
        shown[rank - 1] = ">" if grade > 9 else "." if grade < 0 else str(int(grade))
    return "".join(shown)
