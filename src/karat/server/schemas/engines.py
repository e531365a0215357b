"""Searches that this service offers to benchmarks, beside the modes of its collections."""

from pydantic import Field

from karat.server.schemas.base import Answer

__all__ = ["Engine", "Engines"]


class Engine(Answer):
    """A search, by the name that a matrix has for it."""

    name: str = Field(examples=["docs-search"])
    kind: str = Field(examples=["http"], description="The adapter, or a built-in engine")


class Engines(Answer):
    """All searches that were named when the service was started."""

    engines: list[Engine]
