"""The recipe of a mined dataset: every setting that decides its queries."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from karat.errors import InputError
from karat.extensions.mining.commits import Candidate
from karat.extensions.mining.filters import MERGE, Filters
from karat.extensions.mining.scan import Unit
from karat.extensions.mining.targets import Grain
from karat.extensions.mining.variants import Level, levels


@dataclass(frozen=True, slots=True)
class MiningRecipe:
    """Settings of mining; the same recipe and history give the same cases.

    *branch* to *include_merges* select the commits, as in :func:`scan`; *limit* is the number of
    cases per repository (0: all). Each case has one query for each level of *hardness*, and with
    *adversarial* also the attacked variants of these queries.
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
        """Reject limits that no commit can satisfy."""
        limits = self.filters.limits
        if limits.min_files > limits.max_files:
            raise InputError(
                f"--min-files {limits.min_files} is above --max-files {limits.max_files}; "
                "expected --min-files to be at most --max-files"
            )

    @property
    def effective_filters(self) -> Filters:
        """The filters, without the rule against merges if merges are included."""
        if self.unit == "commit" and not self.include_merges:
            return self.filters
        return self.filters._replace(off=self.filters.off | {MERGE})

    @property
    def has_variants(self) -> bool:
        """Whether one commit can become several queries, which are then not independent."""
        return len(self.hardness) > 1 or self.adversarial

    def fits(self, candidate: Candidate) -> bool:
        """Return whether *candidate* has a query at one or more of the hardness levels."""
        if Level.CLEANED in self.hardness:
            return True
        return bool(levels(candidate.query, candidate.paths, requested=self.hardness))
