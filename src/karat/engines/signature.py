"""What a class or function takes, held against what a configuration gives it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, get_type_hints

from karat.errors import InputError

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

__all__ = ["checked", "model_of", "refused", "takes", "validated"]


def validated(model: "type[BaseModel]", params: Mapping[str, object], *, what: str) -> "BaseModel":
    """Return *params* as a record of *model*, or raise InputError with all that is wrong."""
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(params))
    except ValidationError as error:
        raise refused(error, model, what=what) from None


def checked(
    factory: Callable[..., object], params: Mapping[str, object], *, what: str
) -> dict[str, Any]:
    """Return *params* with the types that the parameters of *factory* are annotated with.

    A parameter without annotation has the type of its default where that is a number or a truth
    value; any other takes what it is given.
    A name that is no parameter is refused, with the nearest one; ``**named`` takes any.
    """
    parameters = _parameters(factory)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(params)
    if not params and not any(p.default is p.empty for p in parameters):
        # Nothing to check: an engine as it comes is ready before pydantic would be loaded.
        return {}
    record = validated(model_of(factory), params, what=what)
    return {name: getattr(record, name) for name in record.model_fields_set}


def model_of(factory: Callable[..., object]) -> "type[BaseModel]":
    """Return a model with a field for each named parameter of *factory*."""
    from pydantic import ConfigDict, create_model

    try:
        hints = get_type_hints(factory.__init__ if inspect.isclass(factory) else factory)
    except (NameError, TypeError):
        hints = {}
    fields: dict[str, Any] = {
        p.name: (hints.get(p.name, _type_of(p.default)), ... if p.default is p.empty else p.default)
        for p in _parameters(factory)
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
    }
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    model: type[BaseModel] = create_model("Parameters", __config__=config, **fields)
    return model


def _type_of(default: object) -> Any:
    """Return the type that a default stands for; a whole number does not forbid a fraction."""
    if type(default) is int:
        return int | float
    return type(default) if type(default) in (bool, float) else Any


def refused(error: "ValidationError", model: "type[BaseModel]", *, what: str) -> InputError:
    """Return one error for all problems; the values stay out of it, they may be secret."""
    known = [field.alias or name for name, field in model.model_fields.items()]
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            lines.append(f"{what}: no option {place!r}; {_hint(place, known)}")
        elif problem["type"] == "missing":
            lines.append(f"{what}: the option {place!r} is missing")
        else:
            lines.append(f"{what}: {place}: {message}" if place else f"{what}: {message}")
    return InputError("\n".join(lines))


def _hint(name: str, known: Sequence[str]) -> str:
    if near := get_close_matches(name, known, n=1):
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(sorted(known))}" if known else "it takes no options"


def takes(factory: Callable[..., object], name: str) -> bool:
    """Return whether *factory* has a parameter called *name*, or takes any."""
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in _parameters(factory))


def _parameters(factory: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return []
