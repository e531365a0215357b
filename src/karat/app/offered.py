"""Searches that a service offers beside its own: who starts it names them, a request chooses."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from karat.engines.registry import ADAPTERS
from karat.engines.spec import build, parse_spec
from karat.errors import EngineError, InputError, MissingExtra
from karat.model.spec import Spec
from karat.sweep.axes import MODES

__all__ = ["chosen_engines", "kind_of", "offered_engines"]

# No address, no path and no module is such a name, so that none is ever taken for one.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def offered_engines(engines: Iterable[str] = (), targets: Iterable[str] = ()) -> dict[str, Spec]:
    """Return searches by their names: *engines* are ``NAME=SPEC`` and *targets* ``NAME=URL``.

    A spec is what ``karat evaluate --engine`` takes; a target is an HTTP search with nothing but
    its address. Each is built once, so that what cannot work is refused now.

    >>> found = offered_engines(["rare=bm25(k1=0.5)"], ["docs=http://localhost/?q={query}"])
    >>> {name: kind_of(spec) for name, spec in found.items()}
    {'rare': 'bm25', 'docs': 'http'}
    >>> offered_engines(["dense=bm25"])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: engine 'dense': a mode has this name; expected another one
    """
    given: list[tuple[str, str | dict[str, object]]] = [*map(_named, engines)]
    given += [(name, {"engine": "http", "url": url}) for name, url in map(_named, targets)]
    names = [name for name, _ in given]
    for name in names:
        if name in MODES:
            raise InputError(f"engine {name!r}: a mode has this name; expected another one")
        if names.count(name) > 1:
            raise InputError(f"engine {name!r} is given twice")
    return {name: _checked(name, spec) for name, spec in given}


def chosen_engines(names: Iterable[str], offered: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return those of *offered* that *names* choose, in their order.

    >>> chosen_engines(["http://localhost"], {"docs": Spec("engine", "bm25")})
    Traceback (most recent call last):
    ...
    karat.errors.InputError: no engine 'http://localhost' on this service; offered: docs
    """
    found: dict[str, Spec] = {}
    for name in names:
        if name not in offered:
            shown = ", ".join(offered) or "none, it was started without --http-target and --engine"
            raise InputError(f"no engine {name!r} on this service; offered: {shown}")
        if name in found:
            raise InputError(f"engines has {name!r} more than once")
        found[name] = offered[name]
    return found


def kind_of(spec: Spec) -> str:
    """Return what a search is, without where: ``python`` for any ``module:Class``."""
    return "python" if ":" in spec.name else spec.name


def _named(given: str) -> tuple[str, str]:
    name, equals, text = given.partition("=")
    if not equals or not NAME.fullmatch(name):
        raise InputError(
            f"engine {given!r}: expected NAME=..., a name of letters, digits, '.', '_' and '-'"
        )
    return name, text


def _checked(name: str, given: str | Mapping[str, object]) -> Spec:
    try:
        spec = parse_spec(given)
        # Its errors call it as requests do, and where it moves to is not for it to say.
        usual: dict[str, object] = {"name": name} if spec.name in ADAPTERS else {}
        if spec.name == "http":
            usual |= {"redirects": 0}
        spec = replace(spec, params={**usual, **spec.params})
        build(spec)
    except (InputError, EngineError, MissingExtra) as error:
        raise InputError(f"engine {name!r}: {error}") from error
    return spec
