"""What orders a few texts by how well they answer a query."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reranker"]


@runtime_checkable
class Reranker(Protocol):
    """Scores texts for a query; higher is better, on any scale.

    The law: one finite score a text, in order; a score depends on the query and its own text only;
    any text will do, what is too long is cut; several threads may ask at once. *weight* is the
    share of these scores in the order where the user does not say, the first search has the rest.
    """

    name: str
    weight: float

    def scores(self, query: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return one score a text."""
        ...
