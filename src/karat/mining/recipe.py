"""The recipe of a mined dataset: every setting that decides its queries."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from karat.errors import InputError
from karat.mining.commits import Candidate
from karat.mining.filters import Filters
from karat.mining.scan import Unit
from karat.mining.targets import Grain
from karat.mining.variants import Level, levels

__all__ = ["MiningRecipe"]


@dataclass(frozen=True, slots=True)
class MiningRecipe:
    """The same recipe gives the same cases of the same history.

    *branch* to *include_merges* say which commits are looked at, as in :func:`scan`; *limit* is how
    many cases are drawn from each repository (0: all). Each case is asked at every level of
    *hardness*, and with *adversarial* made worse as well.
    """

    branch: str = "HEAD"
    since: str = ""
    until: str = ""
    max_commits: int = 0
    unit: Unit = "commit"
    include_merges: bool = False
    filters: Filters = field(default_factory=Filters)
    limit: int = 250
    seed: int = 0
    grain: Grain = Grain.FILE
    hardness: Sequence[Level] = (Level.CLEANED,)
    adversarial: bool = False

    def __post_init__(self) -> None:
        """Refuse what no commit could satisfy."""
        limits = self.filters.limits
        if limits.min_files > limits.max_files:
            raise InputError(
                f"at least {limits.min_files} and at most {limits.max_files} files; "
                "expected the first to be no more than the second"
            )

    @property
    def asked(self) -> Filters:
        """The filters, without the rule against merges where merges are wanted."""
        if self.unit == "commit" and not self.include_merges:
            return self.filters
        return self.filters._replace(off=self.filters.off | {"merge"})

    @property
    def asks_again(self) -> bool:
        """Whether one commit can become several queries, which are then no independent ones."""
        return len(self.hardness) > 1 or self.adversarial

    def fits(self, candidate: Candidate) -> bool:
        """Say whether *candidate* can be asked at one level of the hardness at least."""
        if Level.CLEANED in self.hardness:
            return True
        return bool(levels(candidate.query, candidate.paths, wanted=self.hardness))
