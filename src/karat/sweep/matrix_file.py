"""A matrix in a YAML or JSON file."""

import os
from collections.abc import Callable
from pathlib import Path

from karat.formats import DEFAULT, Limits
from karat.formats.akashic_suites import SWITCH
from karat.formats.fields import Checker, Place
from karat.formats.jsontext import load_json
from karat.formats.yamltext import load_yaml
from karat.sweep.axes import faults
from karat.sweep.matrix import Matrix

__all__ = ["read_matrix"]

BELOW = "config_matrix"


def read_matrix(path: str | os.PathLike[str], *, limits: Limits = DEFAULT) -> Matrix:
    """Return the matrix in *path*, which stands there alone or below ``config_matrix``.

    A value alone stands for a list of one. Every problem is told at once, with its line.
    """
    value, check = (
        load_json(path, limit=limits.yaml_bytes)
        if Path(path).suffix.lower() == ".json"
        else load_yaml(path, limit=limits.yaml_bytes)
    )
    top = check.record(value, ())
    place: Place = ()
    if BELOW in top:
        check.known(top, (BELOW,), ())
        place = (BELOW,)
        top = check.record(top[BELOW], place)
    check.known(top, (*AXES, *SINGLE), place)
    found = {
        key: _values(check, top[key], (*place, key), read)
        for key, read in (AXES | SINGLE).items()
        if top.get(key) is not None
    }
    if "rerankers" in found and not any(found.get("use_reranker", ())):
        check.add((*place, "rerankers"), "no run has a reranker; expected true in use_reranker")
    check.finish()
    alone = {key: values[0] for key, values in found.items() if key in SINGLE}
    return Matrix(**found | alone)  # type: ignore[arg-type]


def _values(
    check: Checker, given: object, place: Place, read: Callable[[object], object]
) -> tuple[object, ...]:
    """Return what *read* makes of one value or of a list, without those that mean nothing."""
    several = isinstance(given, list) and place[-1] in AXES
    rows = check.rows(given, place) if several else [(place, given)]
    found: dict[Place, object] = {}
    for at, value in rows:
        try:
            found[at] = read(value)
        except ValueError as error:
            check.add(at, str(error))
    if found or given == []:
        places = list(found)
        for number, message in faults(str(place[-1]), tuple(found.values())):
            check.add(place if number is None else places[number], message)
    return tuple(found.values())


# From JSON come numbers and truth values, from YAML their spelling.
def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise ValueError(f"{value!r} is no whole number")


def _threshold(value: object) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return float(value)
    except ValueError:
        pass
    raise ValueError(f"{value!r} is no number; expected 0 to 1, or null")


def _switch(value: object) -> bool:
    found = value if isinstance(value, bool) else SWITCH.get(str(value).lower())
    if found is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return found


def _word(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ValueError(f"{value!r} is no name")


AXES: dict[str, Callable[[object], object]] = {
    "search_modes": _word,
    "use_reranker": _switch,
    "top_k_values": _whole,
    "rrf_k_values": _whole,
    "score_thresholds": _threshold,
    "chunkers": _word,
    "models": _word,
    "rerankers": _word,
    "k_values_for_metrics": _whole,
}
SINGLE: dict[str, Callable[[object], object]] = {"primary_k": _whole}
