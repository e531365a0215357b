"""What an engine over chunks is made of, beside its stages."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf

from karat.engines.fusion import RRF_K, check_fusion
from karat.engines.ranking import RankingRules
from karat.engines.threshold import check_threshold
from karat.errors import InputError

__all__ = ["Recipe"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an engine cuts, joins and orders.

    *unit* is what is judged, ``lines`` or ``file``: only for files is a second place of one file
    held back. *threshold* drops hits that score below that share of the best one, or with
    *by_score* below the threshold itself.
    """

    chunker: str = "auto"
    chunker_options: Mapping[str, object] = field(default_factory=dict)
    fusion: str = "min-max"
    rrf_k: float = RRF_K
    unit: str = "lines"
    threshold: float = 0.0
    by_score: bool = False
    rules: RankingRules = field(default_factory=RankingRules)

    def __post_init__(self) -> None:
        """Reject values that are out of range."""
        if self.unit not in ("lines", "file"):
            raise InputError(f"unit {self.unit!r} is none of: lines, file")
        check_fusion(self.fusion)
        if not 0 <= self.rrf_k < inf:
            raise InputError(f"rrf_k={self.rrf_k}; expected a number from 0")
        check_threshold(self.threshold)
