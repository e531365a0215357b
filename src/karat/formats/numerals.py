"""Numbers as text: read strictly, written as short as they read back."""

from math import isfinite

__all__ = ["amount", "shown"]


def amount(text: str) -> float | None:
    """Return *text* as a finite number of 0 or more, or None if it is none.

    >>> amount("2"), amount(" 0.5 "), amount("-1"), amount("nan"), amount("1_0"), amount("x")
    (2.0, 0.5, None, None, None, None)
    """
    try:
        value = float(text)
    except ValueError:
        return None
    # Python alone would read 1_0 as 10.
    return value if isfinite(value) and value >= 0 and "_" not in text else None


def shown(value: float) -> str:
    """Return *value* so that it reads back exactly, a whole number without a point.

    >>> shown(2.0), shown(0.1)
    ('2', '0.1')
    """
    return str(int(value)) if value.is_integer() else repr(value)
