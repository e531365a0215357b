"""What an embeddings endpoint answered: rows of numbers, or a sentence that says why not."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from karat.errors import EngineError

if TYPE_CHECKING:
    import httpx

__all__ = ["read_answer"]

SHOWN = 80


def read_answer(
    answer: "httpx.Response", *, texts: int, dimension: int | None, where: str
) -> tuple[NDArray[np.float32], int]:
    """Return one row for each of so many *texts*, and the tokens that the endpoint counted."""
    body = _json(answer, where)
    items = body.get("data") if isinstance(body, dict) else None
    if not isinstance(items, list):
        raise EngineError(f"{where}: the answer holds no list 'data'")
    if len(items) != texts:
        raise EngineError(f"{where}: {len(items)} embeddings came back; expected {texts}")
    rows: list[Any] = [None] * texts
    for place, item in enumerate(items):
        number = item.get("index", place) if isinstance(item, dict) else None
        if not isinstance(number, int) or not 0 <= number < texts or rows[number] is not None:
            raise EngineError(f"{where}: data[{place}] has no index of its own below {texts}")
        rows[number] = item.get("embedding")
    return _matrix(rows, dimension, where), _tokens(body)


def _json(answer: "httpx.Response", where: str) -> Any:
    text = answer.text
    if text.lstrip()[:1] == "<":
        raise EngineError(
            f"{where}: the answer is a web page, not JSON ({' '.join(text.split())[:SHOWN]!r}); "
            "expected the address of an API, which often ends in /v1"
        )
    try:
        return answer.json()
    except ValueError as error:
        raise EngineError(f"{where}: the answer is no JSON: {text[:SHOWN]!r}") from error


def _matrix(rows: list[Any], dimension: int | None, where: str) -> NDArray[np.float32]:
    try:
        matrix = np.array(rows, dtype=np.float32)
    except (TypeError, ValueError):
        matrix = np.empty(0, np.float32)
    if matrix.ndim != 2 or not matrix.shape[1]:
        raise EngineError(f"{where}: the embeddings are no lists of numbers of one length")
    if dimension is not None and matrix.shape[1] != dimension:
        raise EngineError(
            f"{where}: the embeddings have {matrix.shape[1]} dimensions; expected {dimension}"
        )
    if not np.isfinite(matrix).all():
        raise EngineError(f"{where}: an embedding holds a number that is not finite")
    return matrix


def _tokens(body: dict[str, Any]) -> int:
    """Return the counted tokens; an endpoint that counts none has used none that it bills."""
    usage = body.get("usage")
    used = usage.get("total_tokens", usage.get("prompt_tokens")) if isinstance(usage, dict) else 0
    return used if isinstance(used, int) and used > 0 else 0
