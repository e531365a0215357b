"""A class by its place, ``module:Class``, as a configuration names it."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from karat.engines.adapters.options import Options
from karat.engines.adapters.python import adapted
from karat.engines.base import Engine
from karat.engines.signature import checked, takes
from karat.errors import EngineError, KaratError

__all__ = ["PythonOptions", "built", "python_engine"]


class PythonOptions(Options):
    """*class* is ``module:Class``; *options* are what it is made with.

    *use_reranker* is handed to an asynchronous store's search.
    """

    target: str = Field(alias="class")
    options: dict[str, Any] = Field(default_factory=dict)
    use_reranker: bool | None = None

    @field_validator("target")
    @classmethod
    def _is_place(cls, value: str) -> str:
        module, _, name = value.partition(":")
        if not module or not name:
            raise ValueError(f"{value!r} is no place; expected module:Class")
        return value


class _PythonEngine:
    """A class in this process: Karat's protocol, a RetrievalAgent or an asynchronous store."""

    Options = PythonOptions

    def __call__(self, options: PythonOptions) -> Engine:
        """Return an engine around a new instance of the class that *options* name."""
        from karat.engines.registry import ENGINES

        factory = ENGINES.get(options.target)
        values = checked(factory, options.options, what=options.target)
        name = options.name or options.target.partition(":")[2]
        return _made(factory, values, name, use_reranker=options.use_reranker)


python_engine = _PythonEngine()


def built(factory: Any, params: Mapping[str, object], place: str) -> Engine:
    """Return an engine of what *factory* makes of *params*; *place* is its ``module:Class``.

    ``use_reranker`` is an option of the search of an asynchronous store, unless *factory* has a
    parameter of that name.
    """
    given = dict(params)
    use_reranker = None
    if "use_reranker" in given and not takes(factory, "use_reranker"):
        search = {"use_reranker": given.pop("use_reranker")}
        use_reranker = checked(_search, search, what=place)["use_reranker"]
    values = checked(factory, given, what=place)
    return _made(factory, values, place.rpartition(":")[2], use_reranker=use_reranker)


def _search(*, use_reranker: bool) -> None:
    """Stand for the option of a store's search where its type is checked."""


def _made(
    factory: Any, values: dict[str, Any], name: str, *, use_reranker: bool | None = None
) -> Engine:
    """Return what *factory* makes of *values*, as an engine; its own failure is an EngineError."""
    try:
        target = factory(**values)
    except KaratError:
        raise
    except (Exception, SystemExit) as error:
        raise EngineError(f"{name}: {type(error).__name__} when made: {error}") from error
    return adapted(target, name, use_reranker=use_reranker)
