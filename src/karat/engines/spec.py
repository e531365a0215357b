"""From what a user writes to an engine: a name, ``module:Class``, a mapping or a file."""

from collections.abc import Mapping
from pathlib import Path

from karat.engines.base import Engine
from karat.engines.profiles import PROFILES
from karat.engines.registry import ENGINES
from karat.errors import InputError, UnknownName
from karat.model.call import parse_call
from karat.model.spec import Spec

__all__ = ["build", "parse_spec", "read_specs"]

FILES = (".yaml", ".yml", ".json")
LARGEST_FILE = 1_000_000


def parse_spec(text: str | Mapping[str, object]) -> Spec:
    """Return what *text* asks for; the parameters are checked when it is built.

    A mapping has ``engine`` and the options beside it. A text is a name, ``module:Class``, a name
    with options as ``name(k1=1.2, b=0.75)``, a mapping in JSON, or a YAML or JSON file with one
    engine. A profile's name serves as one, unless an engine has it too.

    >>> parse_spec("HTTP(url=http://localhost/?q={query})").params
    {'url': 'http://localhost/?q={query}'}
    >>> parse_spec({"engine": "htpp", "url": "http://localhost"})
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no engine named 'htpp'; did you mean 'http'?
    """
    if isinstance(text, Mapping):
        return _of_mapping(text)
    text = text.strip()
    if text.startswith("{"):
        from karat.formats.jsontext import parse

        value = parse(text, "engine")
        return _of_mapping(value if isinstance(value, Mapping) else {})
    if text.lower().endswith(FILES):
        found = read_specs(text)
        if len(found) != 1:
            names = ", ".join(found) or "none"
            raise InputError(f"{text}: {len(found)} engines, expected one; it has {names}")
        return next(iter(found.values()))
    return _named(*parse_call(text))


def read_specs(path: str | Path) -> dict[str, Spec]:
    """Return the engines of a YAML or JSON file by their labels, in its order.

    The file is one engine (a mapping with ``engine``), or a mapping of labels to engines, which
    may stand below ``engines``.
    """
    place = Path(path)
    if not place.is_file():
        raise InputError(f"{place}: no such file")
    if place.suffix.lower() == ".json":
        from karat.formats.jsontext import load_json

        value, _ = load_json(place, limit=LARGEST_FILE)
    else:
        from karat.formats.yamltext import load_yaml

        value, _ = load_yaml(place, limit=LARGEST_FILE)
    if isinstance(value, Mapping) and isinstance(value.get("engines"), Mapping):
        value = value["engines"]
    if not isinstance(value, Mapping):
        raise InputError(f"{place}: expected a mapping with the key engine")
    if "engine" in value:
        spec = _of_mapping(value, source=f"{place}: ")
        return {str(value.get("name") or place.stem): spec}
    return {str(label): _entry(label, entry, place) for label, entry in value.items()}


def build(spec: Spec | str | Mapping[str, object]) -> Engine:
    """Return the engine that *spec* describes; nothing is started before ``index``.

    >>> build({"engine": "command", "command": ["rg"], "ouput": "rg"})
    Traceback (most recent call last):
    ...
    karat.errors.InputError: command: no option 'ouput'; did you mean 'output'?
    """
    from karat.engines.signature import checked, validated

    if not isinstance(spec, Spec):
        spec = parse_spec(spec)
    factory = ENGINES.get(spec.name)
    options = getattr(factory, "Options", None)
    if options is not None:
        return factory(validated(options, spec.params, what=spec.name))
    if spec.name in ENGINES.built_in():
        return factory(**checked(factory, spec.params, what=spec.name))
    from karat.engines.adapters.python_class import built

    return built(factory, spec.params, spec.name)


def _entry(label: object, entry: object, place: Path) -> Spec:
    if isinstance(entry, str):
        try:
            return parse_spec(entry)
        except UnknownName as error:
            expected = "expected an engine's name or a mapping"
            raise UnknownName(f"{place}: {label}: {expected}: {error}") from None
    if not isinstance(entry, Mapping):
        raise InputError(f"{place}: {label}: expected an engine's name or a mapping")
    return _of_mapping({"name": str(label), **entry}, source=f"{place}: {label}: ")


def _of_mapping(value: Mapping[str, object], *, source: str = "") -> Spec:
    name = value.get("engine")
    if not isinstance(name, str):
        raise InputError(f"{source}no engine is named; expected a mapping with the key engine")
    return _named(name, {key: entry for key, entry in value.items() if key != "engine"})


def _named(name: str, params: Mapping[str, object]) -> Spec:
    profile = PROFILES.get(name.lower())
    if profile and name.lower() not in ENGINES.built_in():
        return _of_mapping({**profile, **params})
    if ":" not in name:
        name = ENGINES.canonical(name)
    return Spec("engine", name, dict(params))
