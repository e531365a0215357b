"""Parse the notation ``name(option=value, ...)`` of names with options."""

import re
from collections.abc import Iterator

from karat.errors import InputError

__all__ = ["parse_call"]

CALL = re.compile(r"(?P<name>[^({]+)\((?P<values>.*)\)", re.DOTALL)
NEXT_OPTION = re.compile(r",\s*(?=[A-Za-z_]\w*=)")


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """Return the name in *text* and its options as texts.

    >>> parse_call("bm25(k1=1.2, b=0.75)")
    ('bm25', {'k1': '1.2', 'b': '0.75'})
    >>> parse_call("bm25")
    ('bm25', {})
    """
    text = text.strip()
    if match := CALL.fullmatch(text):
        return match["name"].strip(), _pairs(match["values"])
    if text.count("(") != text.count(")"):
        missing = ")" if text.count("(") > text.count(")") else "("
        raise InputError(f"{text!r}: {missing!r} is missing; expected name(option=value, ...)")
    return text, {}


def _pairs(text: str) -> dict[str, str]:
    """Return ``k1=1.2, b=0.75`` as a mapping."""
    params: dict[str, str] = {}
    for part in _parts(text.strip()):
        key, equals, value = part.partition("=")
        if not equals or not key.strip().isidentifier():
            raise InputError(f"{part!r} is not an option; expected name=value")
        if key.strip() in params:
            raise InputError(f"option {key.strip()!r} is given twice")
        params[key.strip()] = value.strip()
    return params


def _parts(text: str) -> Iterator[str]:
    """Yield the options of *text*; an option ends at a comma before a name, outside of brackets.

    >>> list(_parts("over=bm25(k1=1.2, b=0.75), url=http://h/?a,b"))
    ['over=bm25(k1=1.2, b=0.75)', 'url=http://h/?a,b']
    """
    start = 0
    for comma in NEXT_OPTION.finditer(text):
        part = text[start : comma.start()]
        if part.count("(") <= part.count(")"):
            yield part
            start = comma.end()
    yield text[start:]
