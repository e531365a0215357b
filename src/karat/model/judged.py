"""A run after matching: ranks and grades, of one judge or of several."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import neg
from typing import NamedTuple

from karat.model.evaluation import Mismatch, QueryStatus
from karat.model.frozen import by_value, same
from karat.model.run import Hit

FEW = 4


class Sizes(NamedTuple):
    """The size of the answer to a query; entry *i* belongs to rank i + 1.

    *lines* and *tokens* are -1 if unknown. *new_lines* counts the lines that no earlier hit
    returned, *found_lines* those of them that are in a relevant target; *target_lines* is the total
    size of all relevant targets, -1 if no target has lines. Where files are ranked, *tokens* has
    what is read until a file is first returned: also further hits in the files before it.
    """

    lines: Sequence[int]
    new_lines: Sequence[int]
    found_lines: Sequence[int]
    tokens: Sequence[int]
    target_lines: int


@by_value
class Credits(NamedTuple):
    """The best credit of each returned entry and of each relevant target, for set measures."""

    entries: Sequence[float]
    targets: Sequence[float]


@by_value
class Subtopics(NamedTuple):
    """The subtopics of a query as numbers, for measures of diversity.

    *ranked* has the subtopics of the targets first found at a rank; *targets* those of each
    relevant target, the highest path first; *total* is the number of subtopics with such a target.
    """

    ranked: Mapping[int, Sequence[int]]
    targets: Sequence[Sequence[int]]
    total: int


@by_value
class _More(NamedTuple):
    found: tuple[Sequence[int], Sequence[float]] | None
    sizes: Sizes | None
    credits: Mapping[float, Credits] | None
    subtopics: Subtopics | None = None


class JudgedQuery:
    """The judged hits of one query: the only input of a metric.

    * ``ranks`` and ``grades``: the judged hits by ascending rank (from 1). A grade of 0 or below
      is judged and not relevant; hits at other ranks are unjudged.
    * ``found_ranks`` and ``found_grades``: the rank at which each target was first covered,
    ascending.
      They differ from the above only if one hit covers several targets.
    * ``ideal``: the grades of all judgments, descending; *retrieved* is the number of hits.
    * ``spans``: under the tie policy ``expected``, the first and last possible rank of each judged
      hit; otherwise None.
    """

    __slots__ = ("_more", "_relevant", "grades", "ideal", "ranks", "retrieved", "spans", "tied")

    def __init__(
        self,
        ranks: Sequence[int],
        grades: Sequence[float],
        *,
        ideal: Sequence[float],
        retrieved: int,
        found: tuple[Sequence[int], Sequence[float]] | None = None,
        spans: Sequence[tuple[int, int]] | None = None,
        tied: bool = False,
        sizes: Sizes | None = None,
        credits: Mapping[float, Credits] | None = None,
        subtopics: Subtopics | None = None,
    ) -> None:
        """Store the columns; *tied* means that a tie rule decided a rank that matters.

        *credits* has for each grade above 0 those from targets of this grade or higher.
        """
        self.ranks = ranks
        self.grades = grades
        self.ideal = ideal
        self.retrieved = retrieved
        self.spans = spans
        self.tied = tied
        self._relevant: tuple[float, list[int]] | None = None
        # Only for hits with lines, symbols, partial credit or subtopics; most do not need it.
        self._more = None
        if found or sizes or credits or subtopics:
            self._more = _More(found, sizes, credits, subtopics)

    def __eq__(self, other: object) -> bool:
        """Compare the columns by value: a list equals a range or an array of the same numbers."""
        if not isinstance(other, JudgedQuery) or type(self) is not type(other):
            return NotImplemented
        return self is other or same(self._values(), other._values())

    def __hash__(self) -> int:
        return hash((self.retrieved, *self.ranks))

    def _values(self) -> tuple[object, ...]:
        """Return all values that decide about equality."""
        columns = (self.ranks, self.grades, self.ideal, self.spans or ())
        return (*map(tuple, columns), self.retrieved, self.tied, self._more)

    @property
    def found_ranks(self) -> Sequence[int]:
        """Return the rank at which each target was first covered."""
        return self._more.found[0] if self._more and self._more.found else self.ranks

    @property
    def found_grades(self) -> Sequence[float]:
        """Return the grades of the targets at ``found_ranks``."""
        return self._more.found[1] if self._more and self._more.found else self.grades

    @property
    def sizes(self) -> Sizes | None:
        """Return the sizes, if they were asked for or the targets have lines."""
        return self._more.sizes if self._more else None

    @property
    def subtopics(self) -> Subtopics | None:
        """Return the subtopics, if the targets have some."""
        return self._more.subtopics if self._more else None

    def with_subtopics(self, subtopics: Subtopics) -> "JudgedQuery":
        """Return the same judged hits with *subtopics*."""
        more = self._more or _More(None, None, None)
        return self._with(more._replace(subtopics=subtopics))

    def with_sizes(self, sizes: Sizes) -> "JudgedQuery":
        """Return the same judged hits with *sizes*."""
        more = self._more or _More(None, None, None)
        return self._with(more._replace(sizes=sizes))

    def _with(self, more: _More) -> "JudgedQuery":
        return JudgedQuery(
            self.ranks,
            self.grades,
            ideal=self.ideal,
            retrieved=self.retrieved,
            found=more.found,
            spans=self.spans,
            tied=self.tied,
            sizes=more.sizes,
            credits=more.credits,
            subtopics=more.subtopics,
        )

    def first(self, hits: int) -> "JudgedQuery":
        """Return the query as if only the first *hits* had been returned; ranks are not tied.

        >>> query = JudgedQuery([1, 4], [1, 2], ideal=[2, 1], retrieved=5)
        >>> query.first(3).ranks, query.first(3).retrieved
        ([1], 3)
        """
        found = None
        if self._more and self._more.found:
            end = bisect_right(self.found_ranks, hits)
            found = (self.found_ranks[:end], self.found_grades[:end])
        end = bisect_right(self.ranks, hits)
        return JudgedQuery(
            self.ranks[:end],
            self.grades[:end],
            ideal=self.ideal,
            retrieved=min(self.retrieved, hits),
            found=found,
        )

    def signature(self) -> tuple[object, ...] | None:
        """Return all inputs of the metrics, None if these are more than a few numbers."""
        # Subclasses have more than these numbers.
        if type(self) is not JudgedQuery or len(self.ideal) > FEW or self.spans or self._more:
            return None
        return (self.retrieved, len(self.ranks), *self.ranks, *self.grades, *self.ideal)

    def relevant(self, level: float = 0.0) -> list[int]:
        """Return the ranks of the hits relevant at *level*, ascending.

        Level 0 means any grade above 0; a level above 0 means that grade or more.
        """
        if self._relevant is None or self._relevant[0] != level:
            pairs = zip(self.ranks, self.grades, strict=True)
            if level > 0:
                ranks = [rank for rank, grade in pairs if grade >= level]
            else:
                ranks = [rank for rank, grade in pairs if grade > 0]
            self._relevant = (level, ranks)
        return self._relevant[1]

    def found(self, level: float = 0.0) -> list[int]:
        """Return the rank at which each target relevant at *level* was first covered."""
        if self._more is None:
            return self.relevant(level)
        pairs = zip(self.found_ranks, self.found_grades, strict=True)
        return [rank for rank, grade in pairs if (grade >= level if level > 0 else grade > 0)]

    def credits(self, level: float = 0.0) -> Credits | None:
        """Return the credits from targets relevant at *level*, None if every credit is 1."""
        if self._more is None or self._more.credits is None:
            return None
        known = self._more.credits
        grade = min((each for each in known if each >= level), default=None)
        return Credits([0.0] * self.retrieved, []) if grade is None else known[grade]

    def relevant_count(self, level: float = 0.0) -> int:
        """Return the number of judgments that are relevant at *level*, retrieved or not."""
        if self.ideal and self.ideal[-1] > 0 and self.ideal[-1] >= level:
            return len(self.ideal)
        if level > 0:
            return bisect_right(self.ideal, -level, key=neg)
        return bisect_left(self.ideal, 0.0, key=neg)


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """Every query of a dataset with the judged hits of a run.

    ``invalid`` counts the dropped hits, by reason; ``tied`` is the number of queries with a rank
    that only the tie rule decides; ``mismatch`` is set if hits and targets use different names;
    ``answered`` counts the queries for which the run has an answer or an error, and ``any_hits``
    says whether any answer has a valid hit, at any rank.
    """

    name: str
    query_ids: tuple[str, ...]
    queries: tuple[JudgedQuery, ...]
    statuses: tuple[QueryStatus, ...]
    ties: str
    invalid: Mapping[str, int] = field(default_factory=dict)
    unknown_queries: tuple[str, ...] = ()
    mismatch: Mismatch | None = None
    answered: int = 0
    any_hits: bool = False

    @property
    def tied(self) -> int:
        """Return how many queries have a relevant hit whose rank the tie rule decided."""
        return sum(query.tied for query in self.queries)


class Trace(NamedTuple):
    """One query of a run, for reports that show the hits behind a score.

    * ``hits``: the first ones by rank, as they were judged: valid, collapsed, ties broken.
    * ``matched``: for each of these hits the index of a target that it covers, -1 for none.
    * ``ranks``: for each target the rank at which it was first covered, 0 if it was not.
    * ``retrieved``: the number of ranked hits, including those not in ``hits``.
    """

    hits: tuple[Hit, ...]
    matched: tuple[int, ...]
    ranks: tuple[int, ...]
    retrieved: int
