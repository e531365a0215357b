"""A configuration as a value: a kind, a name and parameters, with one canonical hash."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from karat.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Spec:
    """A configuration that can be stored, compared and built again.

    >>> Spec("engine", "bm25", {"k1": 1.5, "b": 0.75}).digest[:12]
    'cf6478afc034'
    >>> Spec("engine", "bm25", {"b": 0.75, "k1": 1.5}).digest[:12]
    'cf6478afc034'
    """

    kind: str
    name: str
    params: Mapping[str, object] = field(default_factory=dict)

    def canonical(self) -> str:
        """Return JSON with sorted keys and no blanks; NaN and infinity are rejected."""
        import json

        return json.dumps(
            {"kind": self.kind, "name": self.name, "params": dict(self.params)},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
        )

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical form; equal specs have equal digests."""
        from hashlib import sha256

        return sha256(self.canonical().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Compare the canonical forms: 1 and 1.0 differ, a list and a tuple are equal."""
        return self.canonical() == other.canonical() if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        """Hash the canonical form, so that specs can be dictionary keys."""
        return hash(self.canonical())


CALL = re.compile(r"(?P<name>[^({]+)\((?P<values>.*)\)", re.DOTALL)
NEXT_OPTION = re.compile(r",\s*(?=[A-Za-z_]\w*=)")


def parse_call(text: str) -> tuple[str, dict[str, str]]:
    """Return the name in *text* and its options as texts.

    >>> parse_call("bm25(k1=1.2, b=0.75)")
    ('bm25', {'k1': '1.2', 'b': '0.75'})
    >>> parse_call("bm25"), parse_call("bm25()")
    (('bm25', {}), ('bm25', {}))
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
    for part in _parts(text.strip()) if text.strip() else ():
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
