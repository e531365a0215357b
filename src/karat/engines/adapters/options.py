"""The options that all adapters share, validated by pydantic."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Annotated, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from karat.errors import InputError

__all__ = [
    "SENSITIVE",
    "AdapterOptions",
    "AnswerOptions",
    "Secrets",
    "absolute_jsonpath",
    "check_template",
    "excerpt",
    "fill",
    "fill_value",
    "json_template",
    "literal_secrets",
    "names_of",
    "words",
]

# ``{{query}}`` is the text ``{query}``; other braces stand for themselves.
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(env:\w+|[a-z]\w*)\}")
SENSITIVE = re.compile(
    r"auth|token|secret|passw|cookie|credential|api[-_]?key|(^|[-_])key$", re.IGNORECASE
)
SHORTEST_SECRET = 4
# A shorter part of a secret is of no use to anybody.
SHORTEST_PART = 4


def names_of(text: str) -> list[str]:
    """Return the names in braces.

    >>> names_of("--max={k} {{query}} {env:TOKEN}")
    ['k', 'env:TOKEN']
    """
    return [match[2] for match in PLACEHOLDER.finditer(text) if match[2]]


def check_template(value: object, known: tuple[str, ...], *, env: bool = False) -> None:
    """Raise ValueError where a text within *value* has a name in braces that is not *known*."""
    if isinstance(value, Mapping):
        for entry in value.values():
            check_template(entry, known, env=env)
    elif isinstance(value, list | tuple):
        for entry in value:
            check_template(entry, known, env=env)
    elif isinstance(value, str):
        for name in names_of(value):
            if name in known or (env and name.startswith("env:")):
                continue
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"expected {_listed(known, env=env)}"
            raise ValueError(f"{{{name}}} is unknown; {hint} ({{{{{name}}}}} is the plain text)")


def _listed(known: tuple[str, ...], *, env: bool) -> str:
    names = [f"{{{name}}}" for name in known] + (["{env:NAME}"] if env else [])
    return ", ".join(names)


def fill(text: str, values: Mapping[str, str] | Callable[[str], str]) -> str:
    """Return *text* with every name in braces replaced, once: values are never read again.

    >>> fill("{query} in {root}", {"query": "{root}", "root": "/src"})
    '{root} in /src'
    """
    get = values if callable(values) else values.__getitem__
    return PLACEHOLDER.sub(lambda m: get(m[2]) if m[2] else f"{{{m[1]}}}", text)


def fill_value(value: object, values: Callable[[str], str], *, k: int) -> object:
    """Return *value* with all its texts filled; a text that is just ``{k}`` becomes the number."""
    if isinstance(value, Mapping):
        return {key: fill_value(entry, values, k=k) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [fill_value(entry, values, k=k) for entry in value]
    if value == "{k}":
        return k
    return fill(value, values) if isinstance(value, str) else value


def words(query: str) -> list[str]:
    """Return the distinct words of *query* in lower case, those of one letter left out.

    >>> words("Where is a login? LOGIN!")
    ['where', 'is', 'login']
    """
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", query))
    return [word for word in words if len(word) > 1] or list(words)


class Secrets:
    """Values from the environment, which :meth:`scrub` takes out of any text that is shown.

    >>> secrets = Secrets({"TOKEN": "s3cret"})
    >>> secrets.get("TOKEN"), secrets.scrub("401: s3cret is wrong")
    ('s3cret', '401: {env:TOKEN} is wrong')
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._used: dict[str, str] = {}

    def get(self, name: str) -> str:
        """Return the variable *name*, or raise InputError."""
        value = self._environ.get(name)
        if not value:
            raise InputError(f"the environment variable {name} is not set")
        self._used[value] = name
        return value

    def expand(self, text: str) -> str:
        """Return *text* with each ``{env:NAME}`` replaced by its value."""
        return fill(text, lambda name: self.get(name.removeprefix("env:")))

    def hide(self, value: str, name: str) -> None:
        """Also scrub *value*, which was made from secrets, as ``{env:name}``."""
        self._used[value] = name

    def scrub(self, text: str) -> str:
        """Return *text* without the values that were used, or parts of them where it was cut."""
        for value, name in sorted(self._used.items(), key=lambda item: -len(item[0])):
            if len(value) >= SHORTEST_SECRET:
                for form in {value, quote(value, safe=""), value.encode("unicode_escape").decode()}:
                    text = _without_parts(text.replace(form, f"{{env:{name}}}"), form, name)
        return text


def _without_parts(text: str, secret: str, name: str) -> str:
    """Return *text* without a part of *secret* at a cut, which is its start or three dots.

    >>> _without_parts("key-4711 was rejected: secret-key...", "secret-key-4711", "KEY")
    '{env:KEY} was rejected: {env:KEY}...'
    """
    mark = f"{{env:{name}}}"
    for size in range(len(secret) - 1, SHORTEST_PART - 1, -1):
        text = text.replace(f"{secret[:size]}...", f"{mark}...")
        text = text.replace(f"...{secret[-size:]}", f"...{mark}")
        if text.startswith(secret[-size:]):
            text = f"{mark}{text[size:]}"
    return text


SHOWN = 160


def excerpt(text: str) -> str:
    """Return the beginning of *text* in quotes, as far as an error should show it."""
    return repr(text[:SHOWN] + ("..." if len(text) > SHOWN else ""))


Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=1, le=2**31)]


class AdapterOptions(BaseModel):
    """The base class of options; unknown names are rejected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class AnswerOptions(AdapterOptions):
    """How to find the hits in an answer; each path is a JSONPath within the answer or the hit.

    Without *hits* the answer is a list, or an object with a list ``hits``, ``results`` or
    ``matches``. *lines* is a range in one value (``"10-20"``, ``[10, 20]``). A *distance* is a
    score for which less is better. *first_line* is 0 where a search counts lines from 0.
    ``order: score`` sorts by score; else the order of the answer counts. *cost* and *total_tokens*
    are what the query has cost, in the answer; *tokens* is the size of a hit.
    """

    hits: str | None = None
    path: str | None = None
    start_line: str | None = None
    end_line: str | None = None
    lines: str | None = None
    score: str | None = None
    distance: str | None = None
    symbol: str | None = None
    tokens: str | None = None
    cost: str | None = None
    total_tokens: str | None = None
    first_line: Literal[0, 1] = 1
    order: Literal["given", "score"] = "given"
    strip_prefix: str = ""
    timeout_s: Seconds = 30.0
    max_bytes: Bytes = 10_000_000

    @field_validator("first_line", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        return int(value) if isinstance(value, str) and value in ("0", "1") else value

    @field_validator(*("hits", "path", "start_line", "end_line", "lines"))
    @classmethod
    def _first_paths(cls, value: str | None) -> str | None:
        return _json_path(value)

    @field_validator(*("score", "distance", "symbol", "tokens", "cost", "total_tokens"))
    @classmethod
    def _further_paths(cls, value: str | None) -> str | None:
        return _json_path(value)

    @model_validator(mode="after")
    def _one_of_each(self) -> "AnswerOptions":
        if self.lines and (self.start_line or self.end_line):
            raise ValueError("lines and start_line/end_line exclude each other; give one")
        if self.score and self.distance:
            raise ValueError("score and distance exclude each other; give one")
        return self


JSON_PATHS = frozenset(
    (
        *("hits", "path", "start_line", "end_line", "lines", "score", "distance", "symbol"),
        *("tokens", "cost", "total_tokens"),
    )
)


def absolute_jsonpath(path: str) -> str:
    """Return *path* from the root, which a user may leave out: ``_source.path``.

    >>> [absolute_jsonpath(path) for path in ("_source.path", "[0].path", "$.hits[*]")]
    ['$._source.path', '$[0].path', '$.hits[*]']
    """
    return path if path.startswith("$") else f"${path}" if path[:1] in "[." else f"$.{path}"


def _json_path(value: str | None) -> str | None:
    if value is None:
        return None
    from jsonpath import JSONPathError, compile  # noqa: A004 - jsonpath's own name

    try:
        compile(absolute_jsonpath(value))
    except JSONPathError as error:
        raise ValueError(f"{value!r} is not a JSONPath: {str(error).splitlines()[0]}") from None
    return value


def json_template(value: object) -> object:
    """Return *value*, or the JSON that it holds as a text; YAML here has texts only."""
    if not isinstance(value, str):
        return value
    import json

    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError(f"expected a mapping, or a text that holds JSON: {error}") from None


def literal_secrets(values: Mapping[str, object], what: str) -> None:
    """Raise ValueError where a *values* entry looks like a secret and is not ``{env:NAME}``.

    A configuration is shown, stored and hashed, so it must not contain a secret.
    """
    for key, value in values.items():
        if isinstance(value, Mapping):
            literal_secrets(value, what)
        elif isinstance(value, str) and SENSITIVE.search(key) and "{env:" not in value:
            raise ValueError(f"{what} {key!r} contains a secret; write {{env:NAME}} instead")
