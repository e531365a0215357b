"""Base classes for a search that returns files: start it in a repository, ask it, reset it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["RetrievalAgent", "RetrievalResult"]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """Files, best first; scores beside them where the agent has any; anything else it tells."""

    files: Sequence[str]
    scores: Sequence[float] = ()
    metadata: Mapping[str, object] = field(default_factory=dict)


class RetrievalAgent(ABC):
    """A search over the files of one repository.

    Name it as ``module:Class`` wherever an engine is expected. A class that has these methods
    need not inherit from this one.
    """

    @abstractmethod
    def initialize(self, repo_path: str) -> None:
        """Get ready for the repository at *repo_path*."""

    @abstractmethod
    def retrieve(self, query: str) -> RetrievalResult:
        """Return the files for *query*, best first.

        An agent that finds them little by little yields such results instead, each with the files
        that come next.
        """

    @abstractmethod
    def reset(self) -> None:
        """Forget what was cached for earlier queries; called before a query's first repetition."""
