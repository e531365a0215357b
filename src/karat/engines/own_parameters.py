"""Parameters of engines from elsewhere, over which a matrix has axes."""

import inspect
from collections.abc import Mapping

from karat.engines.placeholders import PARAMETERS, template_names
from karat.engines.registry import ENGINES, EngineFactory
from karat.engines.spec import check_options, validate_options
from karat.model.spec import Spec

PYTHON = "python"
KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def takes_parameter(spec: Spec, name: str) -> bool:
    """Return whether *name* changes the engine *spec*, which is not one of Karat's own.

    A text of an adapter has it in braces, or the class of a Python engine names the keyword. A
    class that takes any keyword takes those that its options have already.

    >>> spec = Spec("engine", "command", {"command": ["find", "--size={size}", "{query}"]})
    >>> [takes_parameter(spec, name) for name in ("size", "depth", "query")]
    [True, False, False]
    """
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        return takes_parameter(_inner(over), name)
    if ENGINES.is_own(spec.name):
        return False
    if name in _given(spec):
        return True
    if ENGINES.is_adapter(spec.name) and spec.name != PYTHON:
        return name in template_names(spec.params)
    return _names_keyword(_target(spec), name)


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


def _names_keyword(factory: EngineFactory, name: str) -> bool:
    try:
        parameter = inspect.signature(factory).parameters.get(name)
    except (TypeError, ValueError):
        return False
    return parameter is not None and parameter.kind in KEYWORDS
