"""Engines that are Python objects: functions, and retrievers of LangChain, LlamaIndex, Haystack.

They are recognised by their methods, so that none of these packages is imported. Such an engine has
its own index; Karat only reads its answers.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import Any

from karat.engines.adapters.external import call_foreign
from karat.errors import EngineError, InputError
from karat.model import Hit

__all__ = ["Retriever", "is_retriever", "retriever"]

# Keys of metadata that name the document of a chunk; the first that is there is taken.
DOCUMENT_KEYS = (
    *("source", "path", "file_path", "file", "doc_id", "document_id", "docno", "url"),
    *("file_name", "filename", "id"),
)
SCORE_KEYS = ("score", "relevance_score", "similarity")
EXPECTED = (
    "expected an engine's name, a YAML file, a function f(query, k), an engine with index and "
    "search, or a retriever with invoke (LangChain), retrieve (LlamaIndex) or run (Haystack)"
)

Answers = Callable[[str, int], object]


class Retriever:
    """A search as a function from query and k to hits; *key* names the metadata with the document.

    >>> search = retriever(lambda query, k: ["a.py", ("b.py", 0.5), {"path": "c.py"}], "mine")
    >>> [hit.path for hit in search.search("login", 10)]
    ['a.py', 'b.py', 'c.py']
    """

    def __init__(self, ask: Answers, name: str, *, key: str = "") -> None:
        """Read answers of *ask*."""
        self.name = name
        self._ask = ask
        self._keys = (key,) if key else DOCUMENT_KEYS

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the first *k* hits; what the search raises is an EngineError."""
        answer = call_foreign(self.name, self._ask, query, k)
        if isinstance(answer, Mapping):
            answer = answer.get("documents", answer.items())
        if isinstance(answer, str) or not isinstance(answer, Iterable):
            raise EngineError(
                f"{self.name}: returned {type(answer).__name__}; expected a list of document ids, "
                "pairs (id, score), dictionaries or documents"
            )
        return [self._hit(entry) for entry in call_foreign(self.name, list, answer)[:k]]

    def _hit(self, entry: object) -> Hit:
        if isinstance(entry, Hit):
            return entry
        if isinstance(entry, str):
            return Hit(entry)
        if isinstance(entry, tuple | list) and len(entry) == 2:
            document, score = entry
            if isinstance(document, str):
                return Hit(document, self._score(score))
            return self._hit(document)._replace(score=self._score(score))
        node = getattr(entry, "node", entry)
        metadata = _metadata(node)
        path = next((metadata[key] for key in self._keys if metadata.get(key)), None)
        if path is None and self._keys is DOCUMENT_KEYS:
            owners = ("ref_doc_id", "id", "node_id")
            path = next((found for name in owners if (found := getattr(node, name, None))), None)
        if path is None:
            known = ", ".join(map(str, metadata)) or "none"
            raise EngineError(
                f"{self.name}: {type(entry).__name__} has no document id; its metadata has the "
                f"keys {known}; choose one with karat.run(..., document_key=...)"
            )
        score = getattr(entry, "score", None)
        if score is None:
            score = next((metadata[key] for key in SCORE_KEYS if key in metadata), nan)
        lines = (metadata.get("start_line"), metadata.get("end_line"))
        start, end = (line if isinstance(line, int) else 0 for line in lines)
        return Hit(str(path), self._score(score), start, end or start)

    def _score(self, value: object) -> float:
        try:
            score = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise EngineError(f"{self.name}: score {value!r} is not a number") from None
        return score if isfinite(score) else nan


def _metadata(document: object) -> Mapping[str, Any]:
    """Return the metadata of a document; Haystack calls them meta."""
    if isinstance(document, Mapping):
        inner = document.get("metadata") or document.get("meta") or {}
        return {**document, **(inner if isinstance(inner, Mapping) else {})}
    for name in ("metadata", "meta"):
        if isinstance(found := getattr(document, name, None), Mapping):
            return found
    return {}


def is_retriever(target: object) -> bool:
    """Return whether *target* is a function or a retriever, not an engine that indexes a corpus."""
    return _answers(target) is not None


def retriever(target: object, name: str = "", *, key: str = "") -> Retriever:
    """Return *target* as a retriever, or raise InputError."""
    ask = _answers(target)
    if ask is None:
        raise InputError(f"{type(target).__name__} is not an engine; {EXPECTED}")
    return Retriever(ask, name or _name(target), key=key)


def _answers(target: object) -> Answers | None:
    """Return a function that calls *target*; None if its interface is unknown."""
    if isinstance(target, type) or (hasattr(target, "index") and hasattr(target, "search")):
        return None
    if callable(invoke := getattr(target, "invoke", None)):
        return lambda query, _: invoke(query)
    if callable(retrieve := getattr(target, "retrieve", None)):
        return None if hasattr(target, "initialize") else lambda query, _: retrieve(query)
    if callable(run := getattr(target, "run", None)) and _takes(run, "query"):
        return _component(run)
    return _function(target) if callable(target) else None


def _component(run: Callable[..., object]) -> Answers:
    """Return a function that calls the method of a Haystack component."""
    if _takes(run, "top_k"):
        return lambda query, k: run(query=query, top_k=k)
    return lambda query, _: run(query=query)


def _function(target: Callable[..., object]) -> Answers:
    """Return a function of query and k; one that takes the query alone is called so."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return target
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places: Sequence[object] = [each for each in parameters if each.kind in kinds]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters) or len(places) > 1:
        return target
    if any(each.name == "k" for each in parameters):
        return lambda query, k: target(query, k=k)
    return lambda query, _: target(query)


def _takes(function: Callable[..., object], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def _name(target: object) -> str:
    name = getattr(target, "__name__", "")
    return name if name and name != "<lambda>" else type(target).__name__
