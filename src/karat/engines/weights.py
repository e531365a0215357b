"""How much each stage of a search counts, for code and for what is none."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from karat.engines.fusion import Weight
from karat.engines.places import Places
from karat.errors import InputError

__all__ = ["Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """One number a stage: those of *code* for pieces of code, those of *other* for all else."""

    code: tuple[float, ...]
    other: tuple[float, ...]

    @classmethod
    def alike(cls, stages: int) -> "Weights":
        """Return weights by which each of the *stages* counts as much as the next.

        >>> Weights.alike(2)
        Weights(code=(0.5, 0.5), other=(0.5, 0.5))
        """
        same = (1.0 / stages,) * stages
        return cls(same, same)

    @classmethod
    def of_dense(cls, code: float, other: float) -> "Weights":
        """Return those of words and embeddings, the share of the embeddings given.

        >>> Weights.of_dense(code=0.5, other=0.75)
        Weights(code=(0.5, 0.5), other=(0.25, 0.75))
        """
        for share in (code, other):
            if not 0.0 <= share <= 1.0:
                raise InputError(f"dense_weight={share}; expected 0 to 1")
        return cls((1.0 - code, code), (1.0 - other, other))

    def of(self, places: Places) -> Sequence[Weight]:
        """Return what each stage counts: one number, or one for each of *places*."""
        if self.code == self.other:
            return self.other
        return [
            np.where(places.code, np.float32(code), np.float32(other))
            for code, other in zip(self.code, self.other, strict=True)
        ]
