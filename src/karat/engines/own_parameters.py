"""Parameters of engines from elsewhere, over which a matrix has axes."""

import inspect
from collections.abc import Mapping

from karat.engines.placeholders import PARAMETERS, template_names
from karat.engines.registry import ENGINES, EngineFactory
from karat.engines.spec import check_options, validate_options
from karat.model.spec import Spec

PYTHON = "python"
KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def parameter_names(spec: Spec) -> frozenset[str]:
    """Return the names of the values that change the engine *spec*; none for Karat's own engines.

    They are the names in braces of an adapter, or the keywords of a Python class. A class that
    takes any keyword has those that its options have already.

    >>> spec = Spec("engine", "command", {"command": ["find", "--size={size}", "{query}"]})
    >>> sorted(parameter_names(spec))
    ['size']
    """
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        return parameter_names(_inner(over))
    if ENGINES.is_own(spec.name):
        return frozenset()
    if ENGINES.is_adapter(spec.name) and spec.name != PYTHON:
        return frozenset((*_given(spec), *template_names(spec.params)))
    return frozenset((*_given(spec), *_keyword_names(_target(spec))))


def takes_parameter(spec: Spec, name: str) -> bool:
    """Return whether *name* changes the engine *spec*."""
    return name in parameter_names(spec)


def parameter_value(spec: Spec, name: str) -> object:
    """Return the value that *spec* has for the parameter *name*, None without one."""
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        return parameter_value(_inner(over), name)
    return _given(spec).get(name)


def with_parameter(spec: Spec, name: str, value: object) -> Spec:
    """Return *spec* with another *value* of a parameter that it takes.

    >>> spec = Spec("engine", "python", {"class": "search:Mine", "options": {"size": 256}})
    >>> with_parameter(spec, "size", 512).params["options"]
    {'size': 512}
    """
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        inner = with_parameter(_inner(over), name, value)
        changed: dict[str, object] = {"over": {"engine": inner.name, **inner.params}}
    elif key := _key(spec):
        changed = {key: {**_given(spec), name: value}}
    else:
        changed = {name: value}
    return Spec(spec.kind, spec.name, {**spec.params, **changed})


def check_parameters(spec: Spec) -> None:
    """Raise InputError if an option of *spec* is invalid; no class of the user is called."""
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        check_parameters(_inner(over))
        return
    if ENGINES.is_adapter(spec.name):
        options = ENGINES.get(spec.name).Options  # type: ignore[attr-defined]
        validate_options(options, spec.params, what=spec.name)
    keywords(spec)


def keywords(spec: Spec) -> Mapping[str, object]:
    """Return the keywords that the class of *spec* gets, with their types; none for an adapter."""
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        return keywords(_inner(over))
    if ENGINES.is_own(spec.name) or (ENGINES.is_adapter(spec.name) and spec.name != PYTHON):
        return {}
    return check_options(_target(spec), _given(spec), what=spec.name)


def _inner(over: Mapping[str, object]) -> Spec:
    params = {key: value for key, value in over.items() if key != "engine"}
    return Spec("engine", str(over.get("engine", "")), params)


def _key(spec: Spec) -> str:
    """Return the option that holds the parameters, "" where they are the options."""
    if spec.name == PYTHON:
        return "options"
    return PARAMETERS if ENGINES.is_adapter(spec.name) else ""


def _given(spec: Spec) -> Mapping[str, object]:
    given = spec.params.get(key, {}) if (key := _key(spec)) else spec.params
    return given if isinstance(given, Mapping) else {}


def _target(spec: Spec) -> EngineFactory:
    """Return the class or function that makes the engine."""
    return ENGINES.get(str(spec.params.get("class", "")) if spec.name == PYTHON else spec.name)


def _keyword_names(factory: EngineFactory) -> list[str]:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each.name for each in parameters if each.kind in KEYWORDS]
