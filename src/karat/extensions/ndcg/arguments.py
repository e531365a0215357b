"""Check keys and numbers that a caller passes."""

from operator import index
from uuid import UUID

from karat.errors import InputError
from karat.system.words import is_encodable


def as_key(value: object, where: str) -> str:
    """Return *value* as the text that names an item; *where* leads the error message.

    Text stays as it is; a whole number or a UUID becomes its text, so that 7 and "7" are one key.
    Text that UTF-8 or a database cannot store is rejected, as is any other type.

    >>> as_key(7, "item 1")
    '7'
    >>> as_key("", "item 1")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: item 1: key '' is empty; expected text, a whole number or a UUID
    """
    if isinstance(value, str):
        if not value:
            raise InputError(f"{where}: key '' is empty; expected text, a whole number or a UUID")
        if "\0" in value or not is_encodable(value):
            raise InputError(
                f"{where}: key {value!r} contains NUL or half a surrogate pair, which cannot be "
                "stored"
            )
        return value
    if isinstance(value, (int, UUID)) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        f"{where}: key {value!r} cannot name an item; expected text, a whole number or a UUID"
    )


def as_count(value: object, name: str = "k") -> int:
    """Return *value* as a whole number from 1 up, or raise InputError that names it.

    >>> as_count(0)
    Traceback (most recent call last):
    ...
    karat.errors.InputError: k is 0; expected a whole number from 1 up
    """
    try:
        number = index(value) if not isinstance(value, bool) else 0  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{name} is {value!r}; expected a whole number from 1 up")
    return number
