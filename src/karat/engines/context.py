"""Contextual retrieval: what writes a sentence that situates each chunk in its document."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from karat.corpus import Chunk
from karat.engines.base import Progress
from karat.engines.caches import Caches
from karat.registry import Registry


class ContextWriter(Protocol):
    """Adds to chunks the contexts that are indexed with them."""

    progress: Progress | None

    def write(self, documents: Sequence[tuple[str, Sequence[Chunk]]]) -> list[list[Chunk]]:
        """Return the chunks of each document, a text with its chunks, with their contexts.

        The id of a chunk changes with its context. EngineError is raised if a context is missing.
        """
        ...

    def work(self) -> Mapping[str, float]:
        """Return counts of the work so far, such as tokens and cost."""
        ...


class ContextFactory(Protocol):
    """Opens a writer; *argument* is what the option ``context`` of an engine says."""

    def __call__(self, argument: str, *, caches: Caches) -> ContextWriter:
        """Return the writer; nothing is sent yet."""
        ...

    def check(self, argument: str) -> None:
        """Raise InputError for an argument that cannot work; nothing is sent."""
        ...


# An argument alone is that of a chat model.
DEFAULT_CONTEXT = "chat"
CONTEXTS: Registry[ContextFactory] = Registry("context", {})


def create_context(spec: str, *, caches: Caches) -> ContextWriter:
    """Return the writer of *spec*, ``<name>:<argument>`` or the argument of ``chat`` alone."""
    factory, argument = _split(spec)
    return factory(argument, caches=caches)


def check_context(spec: str) -> None:
    """Raise InputError for a wrong or missing option, price or key; nothing is sent."""
    factory, argument = _split(spec)
    factory.check(argument)


def _split(spec: str) -> tuple[ContextFactory, str]:
    name, _, argument = spec.partition(":")
    if argument and CONTEXTS.has(name):
        return CONTEXTS.get(name), argument
    return CONTEXTS.get(DEFAULT_CONTEXT), spec
