"""A matrix from a YAML or JSON file, with the line of each problem."""

import os
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from karat.engines.fusion import RRF
from karat.engines.own_parameters import parameter_names
from karat.engines.registry import modes
from karat.engines.spec import FILES, build, expand_here, here_as_path, parse_spec
from karat.errors import EngineError, InputError, MissingExtra
from karat.experiments.matrix import (
    NO_RRF,
    OF_MODE,
    TUNED,
    Matrix,
    axis_problems,
    first_values,
    parameter_problems,
)
from karat.experiments.plan import parse_agent
from karat.formats.base import DEFAULT, ReadLimits
from karat.formats.fields import Checker, Location, Record, find_section
from karat.formats.jsontext import SWITCH, load_json, load_yaml
from karat.model.spec import Spec

BELOW = "config_matrix"


# Axes of names that a service defines, which only the service can check.
NAMED_BY_SERVICE = frozenset({"models", "rerankers", "context"})


def read_matrix(path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT) -> Matrix:
    """Return the matrix in *path*.

    It stands there alone, below ``config_matrix``, or in the section ``matrix`` of a configuration
    file. A single value stands for a list of one. A key that is not an axis of Karat is a parameter
    of the engines. All problems are reported at once, with lines.
    """
    file = _read_file(path, limits)
    folder = Path(path).parent
    parameters, meant = _parameters(file, folder)
    engines = _engines(file, folder, meant)
    file.check.finish()
    axes = file.axes
    alone = {key: values[0] for key, values in axes.items() if key in SINGLE}
    if engines:
        axes = {"search_modes": (), **axes}
    aliases = {
        name: {str(one): str(value) for one, value in pairs if one != value}
        for name in parameters
        if (pairs := list(zip(parameters[name], meant[name], strict=True)))
    }
    return Matrix(
        **axes | alone,  # type: ignore[arg-type]
        engines=engines,
        parameters=parameters,
        aliases={name: values for name, values in aliases.items() if values},
    )


def read_service_matrix(
    path: str | os.PathLike[str], *, limits: ReadLimits = DEFAULT
) -> dict[str, object]:
    """Return the matrix in *path* as the API of a service takes it.

    ``engines``, ``models``, ``rerankers`` and ``context`` are names of the service, which checks
    them. All other problems are reported at once, with lines.
    """
    file = _read_file(path, limits, unchecked=NAMED_BY_SERVICE)
    if ENGINES_KEY in file.matrix:
        # Parameters would be those of programs that a service starts for strangers.
        file.check.known(file.matrix, KEYS, file.location, list_keys=True)
    named, location = file.matrix.get(ENGINES_KEY) or [], (*file.location, ENGINES_KEY)
    engines = _values(file.check, named, location, _word, checked=False)
    file.check.finish()
    axes: dict[str, object] = {
        key: values[0] if key in SINGLE else list(values) for key, values in file.axes.items()
    }
    axes.setdefault("search_modes", [] if engines else list(Matrix().search_modes))
    return axes | ({ENGINES_KEY: list(engines)} if engines else {})


class _MatrixFile(NamedTuple):
    """The *matrix* of a file at *location*, its parsed *axes*, and the *whole* file."""

    check: Checker
    location: Location
    matrix: Record
    whole: Record
    axes: dict[str, tuple[object, ...]]


def _read_file(
    path: str | os.PathLike[str], limits: ReadLimits, unchecked: Container[str] = ()
) -> _MatrixFile:
    """Return the matrix in *path*; the values of *unchecked* axes are only parsed."""
    value, check = (
        load_json(path, limit=limits.yaml_bytes)
        if Path(path).suffix.lower() == ".json"
        else load_yaml(path, limit=limits.yaml_bytes)
    )
    top = whole = check.record(value, ())
    location: Location = ()
    if BELOW in top:
        check.known(top, (BELOW,), (), list_keys=True)
        location = (BELOW,)
        top = check.record(top[BELOW], location)
    else:
        location, top = find_section(check, top, "matrix")
    check_matrix_keys(check, top, location)
    axes = {
        key: _values(check, top[key], (*location, key), read, checked=key not in unchecked)
        for key, read in (AXES | SINGLE).items()
        if top.get(key) is not None
    }
    for key in ("rerankers", "rerank_depth"):
        if key in axes and not any(axes.get("use_reranker", ())):
            check.add((*location, key), "no run has a reranker; expected true in use_reranker")
    used = {
        axis
        for mode in axes.get("search_modes", ())
        if (info := modes().get(str(mode)))
        for axis in info.axes
    }
    if axes.get("rrf_k_values") and RRF not in axes.get("fusion", (RRF,)):
        check.add((*location, "rrf_k_values"), NO_RRF)
    for key in (*TUNED, "fusion", *OF_MODE):
        axis = OF_MODE.get(key, key)
        if key in axes and "search_modes" in axes and axis not in used:
            takers = [mode for mode, info in modes().items() if axis in info.axes]
            check.add(
                (*location, key), f"no search mode uses it; expected one of: {', '.join(takers)}"
            )
    return _MatrixFile(check, location, top, whole, axes)


def _parameters(
    file: _MatrixFile, folder: Path
) -> tuple[dict[str, tuple[object, ...]], dict[str, tuple[object, ...]]]:
    """Return the values of the keys that are not axes of Karat: as reports name them, and as meant.

    ``{here}`` is the *folder* of the file; names of configurations leave it out.
    """
    further = [key for key in file.matrix if key not in KEYS and ENGINES_KEY in file.matrix]
    typed = {
        key: _values(file.check, file.matrix[key], (*file.location, key), _scalar, checked=False)
        for key in further
    }
    parameters = {
        key: tuple(one.replace("{here}/", "") if isinstance(one, str) else one for one in values)
        for key, values in typed.items()
    }
    meant = {
        key: tuple(here_as_path(value, folder) for value in values) for key, values in typed.items()
    }
    return parameters, meant


def _engines(
    file: _MatrixFile, folder: Path, parameters: Mapping[str, Sequence[object]]
) -> dict[str, Spec]:
    """Return the engines of the matrix in *file* by name; problems are added to its check.

    Each is the name of an engine in the section ``engines`` of the file, or anything that ``-e``
    takes: an engine with options, a profile, or a file, which is relative to *folder*. They have no
    values of *parameters* yet, which are checked with them.
    """
    check, given = file.check, file.matrix.get(ENGINES_KEY)
    if given is None:
        return {}
    section = file.whole.get("engines") or file.whole.get("agents") or ()
    known = {
        str(entry["name"]): entry
        for entry in (section if isinstance(section, list) else ())
        if isinstance(entry, Mapping) and "name" in entry
    }
    location = (*file.location, ENGINES_KEY)
    engines: dict[str, Spec] = {}
    wrong = False
    for at, entry in (
        check.rows(given, location) if isinstance(given, list) else [(location, given)]
    ):
        try:
            name, spec = _engine(_word(entry), known, folder)
            if name in engines:
                raise InputError(f"{name!r} appears more than once")
            engines[name] = spec
            with suppress(EngineError):
                # A class whose constructor fails costs only its own run.
                build(first_values(spec, parameters))
        except (ValueError, InputError, MissingExtra, EngineError) as error:
            check.add(at, str(error))
            wrong = True
    _check_parameters(file, engines, parameters, complete=not wrong)
    return engines


def _check_parameters(
    file: _MatrixFile,
    engines: Mapping[str, Spec],
    parameters: Mapping[str, Sequence[object]],
    *,
    complete: bool,
) -> None:
    """Add the problems of *parameters*, and of axes of Karat that no engine takes.

    If *engines* are not *complete*, another one may have a parameter.
    """
    own = sorted({name for spec in engines.values() for name in parameter_names(spec)})
    keys = (*own, *KEYS)
    misspelt = {
        key: values
        for key, values in parameters.items()
        if key not in own and get_close_matches(key, keys, n=1)
    }
    file.check.known(misspelt, keys, file.location, list_keys=True)
    if not complete:
        return
    others = {key: values for key, values in parameters.items() if key not in misspelt}
    for name, number, message in parameter_problems(others, engines.values()):
        at = (*file.location, name)
        listed = number is not None and isinstance(file.matrix[name], list)
        file.check.add((*at, number) if listed else at, message)  # type: ignore[arg-type]
    if not file.axes.get("search_modes"):
        for key in file.axes.keys() - OF_ENGINES:
            file.check.add(
                (*file.location, key), "no search mode uses it; expected search_modes beside it"
            )


def _engine(text: str, known: Mapping[str, Record], folder: Path) -> tuple[str, Spec]:
    """Return the name and the specification of the engine that *text* names."""
    if text in known:
        entry = known[text]
        config = entry.get("config") or {}
        agent = parse_agent(
            text,
            str(entry.get("engine") or entry.get("class") or ""),
            expand_here(config, folder) if isinstance(config, Mapping) else {},
        )
        return text, agent.spec
    is_file = text.lower().endswith(FILES)
    spec = parse_spec(str(folder / text) if is_file else text)
    return (Path(text).stem if is_file else text), spec


def check_matrix_keys(check: Checker, matrix: Record, location: Location) -> None:
    """Add a problem for each unknown key of *matrix*; with engines it may be their parameter."""
    if ENGINES_KEY not in matrix:
        check.known(matrix, KEYS, location, list_keys=True)


def _values(
    check: Checker,
    given: object,
    location: Location,
    read: Callable[[object], object],
    *,
    checked: bool = True,
) -> tuple[object, ...]:
    """Return one value or a list of them, parsed by *read*, without invalid ones.

    If they are not *checked*, names that are not known here are valid.
    """
    several = isinstance(given, list) and location[-1] not in SINGLE
    rows = check.rows(given, location) if several else [(location, given)]
    read_values: dict[Location, object] = {}
    for at, value in rows:
        try:
            read_values[at] = read(value)
        except ValueError as error:
            check.add(at, str(error))
    if checked and (read_values or given == []):
        locations = list(read_values)
        for number, message in axis_problems(str(location[-1]), tuple(read_values.values())):
            check.add(location if number is None else locations[number], message)
    return tuple(read_values.values())


# From JSON come numbers and truth values, from YAML their spelling.
def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise ValueError(f"{value!r} is not a whole number")


def _threshold_value(value: object) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise ValueError(f"{value!r} is not a number; expected 0 to 1, or null")


def _number(value: object) -> float | None:
    """Return a number; null is the default of the engine."""
    try:
        return _threshold_value(value)
    except ValueError:
        raise ValueError(
            f"{value!r} is not a number; expected one, or null for the default"
        ) from None


def _switch(value: object) -> bool:
    switch = value if isinstance(value, bool) else SWITCH.get(str(value).lower())
    if switch is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return switch


def _word(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError(f"{value!r} is not a name")


def _scalar(value: object) -> object:
    if isinstance(value, str | int | float):
        return value
    raise ValueError(f"{value!r} is not a text, a number or a truth value")


def _reranker_name(value: object) -> str:
    if value is None:
        raise ValueError(
            "null is not a reranker; use_reranker: [false, true] compares with and without one"
        )
    return _word(value)


def _optional_word(value: object) -> str | None:
    return None if value is None else _word(value)


def _search_mode(value: object) -> str:
    """Return the mode; that of the engine bm25 is called sparse."""
    name = _word(value)
    return "sparse" if name == "bm25" else name


AXES: dict[str, Callable[[object], object]] = {
    "search_modes": _search_mode,
    "use_reranker": _switch,
    "top_k_values": _whole,
    "rrf_k_values": _whole,
    "score_thresholds": _threshold_value,
    "chunkers": _word,
    "models": _word,
    "sparse_models": _word,
    "late_models": _word,
    "rerankers": _reranker_name,
    "fusion": _word,
    "dense_weight": _number,
    "k1": _number,
    "b": _number,
    "code_ranking": _switch,
    "context": _optional_word,
    "rerank_depth": _whole,
    "k_values_for_metrics": _whole,
}
SINGLE: dict[str, Callable[[object], object]] = {"primary_k": _whole}
ENGINES_KEY = "engines"
KEYS = (*AXES, *SINGLE, ENGINES_KEY)
# What is combined with engines too, and what is measured.
OF_ENGINES = frozenset({"search_modes", "top_k_values", "k_values_for_metrics", *SINGLE})
