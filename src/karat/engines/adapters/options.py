"""The options that all adapters share, validated by pydantic."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from karat.engines.adapters.template import SENSITIVE

__all__ = [
    "AdapterOptions",
    "AnswerOptions",
    "absolute_jsonpath",
    "json_template",
    "literal_secrets",
]

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
Bytes = Annotated[int, Field(ge=1, le=2**31)]


class AdapterOptions(BaseModel):
    """Every option has a name; one that is not known is refused."""

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
            raise ValueError("lines and start_line/end_line say the same; give one")
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

    What is written into a configuration is shown, stored and hashed; a secret must not be there.
    """
    for key, value in values.items():
        if isinstance(value, Mapping):
            literal_secrets(value, what)
        elif isinstance(value, str) and SENSITIVE.search(key) and "{env:" not in value:
            raise ValueError(f"{what} {key!r} holds a secret; write {{env:NAME}} in its place")
