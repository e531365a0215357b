"""Engine specifications: from a name, ``module:Class``, a mapping or a file to an engine."""

import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints
from urllib.parse import urlencode

from karat.engines.base import Engine
from karat.engines.placeholders import PARAMETERS
from karat.engines.registry import ENGINES, PROFILES
from karat.errors import InputError, UnknownName
from karat.model.spec import Spec, parse_call
from karat.registry import Registry

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

Value = TypeVar("Value")


def validate_options(
    model: "type[BaseModel]", params: Mapping[str, object], *, what: str
) -> "BaseModel":
    """Return *params* as a record of *model*, or raise InputError with all that is wrong."""
    from pydantic import ValidationError

    try:
        return model.model_validate(dict(params))
    except ValidationError as error:
        raise options_error(error, model, what=what) from None


def check_options(
    factory: Callable[..., object], params: Mapping[str, object], *, what: str
) -> dict[str, Any]:
    """Return *params* with the types that the parameters of *factory* are annotated with.

    A parameter without annotation has the type of its default where that is a number or a truth
    value; any other takes what it is given.
    An unknown name is rejected, with the nearest one; ``**named`` accepts any.
    """
    parameters = _parameters(factory)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(params)
    if not params and not any(p.default is p.empty for p in parameters):
        # Nothing to check; importing pydantic would take longer than building the engine.
        return {}
    record = validate_options(model_of(factory), params, what=what)
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
    """Return the type of a default; a whole number also allows a fraction."""
    if type(default) is int:
        return int | float
    return type(default) if type(default) in (bool, float) else Any


def options_error(error: "ValidationError", model: "type[BaseModel]", *, what: str) -> InputError:
    """Return one error for all problems; the values stay out of it, they may be secret."""
    known = [field.alias or name for name, field in model.model_fields.items()]
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        option = ".".join(str(part) for part in problem["loc"])
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden" and len(problem["loc"]) == 1:
            lines.append(f"{what}: no option {option!r}; {_hint(option, known)}")
        elif problem["type"] == "missing":
            lines.append(f"{what}: the option {option!r} is missing")
        else:
            lines.append(f"{what}: {option}: {message}" if option else f"{what}: {message}")
    return InputError("\n".join(lines))


def _hint(name: str, known: Sequence[str]) -> str:
    if near := get_close_matches(name, known, n=1):
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(sorted(known))}" if known else "it takes no options"


# Who serves models over a network, by the names that a mapping calls them.
PROVIDERS: Registry[object] = Registry("provider", {})


def model_text(model: str | Mapping[str, object]) -> str:
    """Return *model* as text; a mapping has ``provider``, ``model``, ``url`` and options."""
    if isinstance(model, str):
        return model
    options = {name: value for name, value in model.items() if value is not None}
    provider = options.pop("provider", None)
    if provider not in tuple(PROVIDERS):
        raise InputError(
            f"provider is {provider!r}; expected one of {', '.join(PROVIDERS)}, "
            "beside model, url and options"
        )
    name, url = options.pop("model", ""), options.pop("url", "")
    text = f"{provider}:{name}{'@' if name and url else ''}{url}"
    values = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in options.items()
    }
    query = urlencode(values, safe=":/,")
    return f"{text}?{query}" if query else text


def takes(factory: Callable[..., object], name: str) -> bool:
    """Return whether *factory* has a parameter called *name*, or takes any."""
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in _parameters(factory))


def _parameters(factory: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(factory).parameters.values())
    except (TypeError, ValueError):
        return []


FILES = (".yaml", ".yml", ".json")
LARGEST_FILE = 1_000_000
# Scripts that a command engine can start, with their interpreters.
INTERPRETERS = {".py": "python3", ".sh": "sh", ".js": "node"}
# A comma outside of brackets.
COMMA = re.compile(r",(?![^(]*\))")
# ``{{here}}`` is plain text, as with the placeholders that an engine fills in itself.
HERE = re.compile(r"(?<!\{)\{here\}(?!\})")
# Keys that are options of an engine, not labels of engines, with the engine that has them.
OWN_KEYS = {"command": "command", "url": "http", "class": "python", "name": ""}


def parse_spec(text: str | Mapping[str, object]) -> Spec:
    """Return the specification in *text*; its options are checked when the engine is built.

    A mapping has ``engine`` and the options beside it. A text is a name, ``module:Class``, a name
    with options as ``name(k1=1.2, b=0.75)``, a mapping in JSON, or a YAML or JSON file with one
    engine. A profile's name serves as one, unless an engine has it too.

    >>> parse_spec("HTTP(url=http://localhost/?q={query})").params
    {'url': 'http://localhost/?q={query}'}
    >>> parse_spec({"engine": "htp", "url": "http://localhost"})
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no engine named 'htp'; did you mean 'http'?
    """
    if isinstance(text, Mapping):
        return _of_mapping(text)
    text = text.strip()
    if text.startswith("{"):
        from karat.formats.jsontext import parse_json

        value = parse_json(text, "engine")
        return _of_mapping(value if isinstance(value, Mapping) else {})
    if text.lower().endswith(FILES) and not _listed(text):
        specs = read_specs(text)
        if len(specs) != 1:
            names = ", ".join(specs) or "none"
            raise InputError(f"{text}: the file has {len(specs)} engines ({names}); expected one")
        return next(iter(specs.values()))
    name, params = parse_call(text)
    try:
        return _named(name, params)
    except UnknownName:
        if hint := _listed(text) or _file_hint(name):
            raise UnknownName(f"no engine named {text!r}; {hint}") from None
        raise


def _listed(text: str) -> str:
    """Return a hint if *text* is a list of engines rather than one, else "".

    >>> _listed("bm25,hybrid(b=1, k1=2)")
    'repeat --engine: -e bm25 -e hybrid(b=1, k1=2)'
    """
    parts = [part.strip() for part in COMMA.split(text)]
    if len(parts) < 2 or not all(parts) or _is_file(text):
        return ""
    options = " ".join(f"-e {part}" for part in parts)
    return f"repeat --engine: {options}"


def _is_file(name: str) -> bool:
    # pathlib raises on a text that is too long for a path.
    return os.path.isfile(name)  # noqa: PTH113


def _file_hint(name: str) -> str:
    """Return a hint if *name* is an engine file without its suffix, or a script, else ""."""
    path = Path(name)
    if path.suffix in INTERPRETERS:
        return (
            f"a script needs a YAML file, such as {path.with_suffix('.yaml')} with these lines:\n"
            f"engine: command\nname: {path.stem}\n"
            f'command: [{INTERPRETERS[path.suffix]}, "{{here}}/{path.name}", "{{query}}"]'
        )
    files = (f"{name}{suffix}" for suffix in FILES)
    return next((f"did you mean {file}?" for file in files if _is_file(file)), "")


def spec_text(spec: Spec) -> str:
    """Return the text that :func:`parse_spec` reads as the same engine; JSON if a call cannot be.

    >>> over = {"engine": "hybrid", "dense_weight": 0.3, "model": "static"}
    >>> spec_text(Spec("engine", "rerank", {"over": over, "depth": 20}))
    'rerank(over=hybrid(dense_weight=0.3, model=static), depth=20)'
    >>> spec_text(Spec("engine", "bm25", {"chunker": "lines, k1=2"}))
    '{"engine": "bm25", "chunker": "lines, k1=2"}'
    """
    values = {name: _option_text(value) for name, value in spec.params.items()}
    written = {name: value for name, value in values.items() if value is not None}
    options = ", ".join(f"{name}={value}" for name, value in written.items())
    text = f"{spec.name}({options})" if options else spec.name
    try:
        if len(written) == len(values) and parse_call(text) == (spec.name, written):
            return text
    except InputError:
        pass
    import json

    return json.dumps({"engine": spec.name, **spec.params}, ensure_ascii=False)


def _option_text(value: object) -> str | None:
    """Return *value* as an option of a call, None if only JSON can have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, Mapping) and isinstance(name := value.get("engine"), str):
        params = {key: entry for key, entry in value.items() if key != "engine"}
        return spec_text(Spec("engine", name, params))
    return None


def read_specs(path: str | Path) -> dict[str, Spec]:
    """Return the engines of a YAML or JSON file by their labels, in its order.

    The file is one engine (a mapping with ``engine``), or a mapping of labels to engines, which
    may stand below ``engines``. ``{here}`` in a command becomes the folder of the file.
    """
    file = Path(path)
    value = _content(file)
    if isinstance(value, Mapping) and isinstance(value.get("engines"), Mapping):
        value = value["engines"]
    if not isinstance(value, Mapping):
        raise InputError(f"{file}: expected a mapping with the key engine")
    if "engine" in value or any(isinstance(value.get(key), str | list) for key in OWN_KEYS):
        spec = _of_mapping(expand_here(value, file.parent), source=f"{file}: ")
        if ENGINES.is_own(spec.name):
            # It names the run; the engines of Karat have no such option.
            others = {key: entry for key, entry in spec.params.items() if key != "name"}
            spec = Spec(spec.kind, spec.name, others)
        return {str(value.get("name") or file.stem): spec}
    return {str(label): _entry(label, entry, file) for label, entry in value.items()}


def name_in_file(path: str | Path) -> str:
    """Return the ``name`` of the one engine in a file, "" without one."""
    value = _content(Path(path))
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""


def _content(file: Path) -> object:
    """Return the value in a YAML or JSON file."""
    if not file.is_file():
        raise InputError(f"{file}: no such file")
    if file.suffix.lower() == ".json":
        from karat.formats.jsontext import load_json

        return load_json(file, limit=LARGEST_FILE)[0]
    from karat.formats.jsontext import load_yaml

    return load_yaml(file, limit=LARGEST_FILE)[0]


def expand_here(options: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return *options* with ``{here}`` in a command replaced by the absolute path of *folder*.

    Values of ``parameters`` and the command of an engine in ``over`` are included. The path is
    expanded where the file is read, because the options are hashed and sent to other processes
    without their file.

    >>> expand_here({"command": ["sh", "{here}/find.sh", "{query}"]}, Path("/ci"))
    {'command': ['sh', '/ci/find.sh', '{query}']}
    """
    expanded = dict(options)
    for key, value in options.items():
        if key == "command" and isinstance(value, list):
            expanded[key] = [here_as_path(part, folder) for part in value]
        elif key == PARAMETERS and isinstance(value, Mapping):
            expanded[key] = {name: here_as_path(each, folder) for name, each in value.items()}
        elif key == "over" and isinstance(value, Mapping):
            expanded[key] = expand_here(value, folder)
    return expanded


def here_as_path(value: Value, folder: Path) -> Value | str:
    """Return *value*; in a text, ``{here}`` becomes the absolute path of *folder*."""
    here = os.path.abspath(folder)  # noqa: PTH100 - links stay links
    return HERE.sub(lambda _: here, value) if isinstance(value, str) else value


def build(spec: Spec | str | Mapping[str, object]) -> Engine:
    """Return the engine that *spec* describes; nothing is started before ``index``.

    >>> build({"engine": "command", "command": ["rg"], "ouput": "rg"})
    Traceback (most recent call last):
    ...
    karat.errors.InputError: command: no option 'ouput'; did you mean 'output'?
    """
    if not isinstance(spec, Spec):
        spec = parse_spec(spec)
    info = ENGINES.info(spec.name)
    factory = ENGINES.get(spec.name)
    options = getattr(factory, "Options", None)
    if options is not None:
        return factory(validate_options(options, spec.params, what=spec.name))
    if spec.name in ENGINES.built_in() or info.shares:
        return factory(**check_options(factory, spec.params, what=spec.name))
    from karat.engines.adapters.python import build_plugin

    return build_plugin(factory, spec.params, spec.name)


def _entry(label: object, entry: object, file: Path) -> Spec:
    if isinstance(entry, str):
        try:
            return parse_spec(entry)
        except UnknownName as error:
            expected = "expected an engine's name or a mapping"
            raise UnknownName(f"{file}: {label}: {expected}: {error}") from None
    if not isinstance(entry, Mapping):
        raise InputError(f"{file}: {label}: expected an engine's name or a mapping")
    named = {"name": str(label), **expand_here(entry, file.parent)}
    return _of_mapping(named, source=f"{file}: {label}: ")


def _of_mapping(value: Mapping[str, object], *, source: str = "") -> Spec:
    if "engine" not in value:
        meant = next((name for key, name in OWN_KEYS.items() if key in value and name), "NAME")
        lists = "" if meant != "NAME" else " (karat engines lists the names)"
        raise InputError(f"{source}'engine' is missing; add engine: {meant}{lists}")
    name = value["engine"]
    if not isinstance(name, str):
        raise InputError(f"{source}no engine is named; expected engine: NAME")
    spec = _named(name, {key: entry for key, entry in value.items() if key != "engine"})
    if source and isinstance(spec.params.get("command"), str):
        try:
            build(spec)
        except InputError as error:
            raise InputError(f"{source}{error}") from None
    return spec


def _named(name: str, params: Mapping[str, object]) -> Spec:
    profile = PROFILES.get(name.lower())
    if profile and name.lower() not in ENGINES.built_in():
        return _of_mapping({**profile, **params})
    if ":" not in name:
        name = ENGINES.canonical(name)
    return Spec("engine", name, dict(params))
