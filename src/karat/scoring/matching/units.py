"""The unit of each query: which targets count, and which hits collapse into one file.

Every target is judged in its own unit. A query whose relevant targets are all whole files is judged
by files, whatever the other queries of the dataset have. See design/0011.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from karat.model import Dataset, Hit, Target
from karat.scoring.matching.modes import MATCHERS, Matcher

__all__ = [
    "QueryTargets",
    "counted_targets",
    "files_judged",
    "judges_files",
    "matches_by_id",
    "query_targets",
    "relevant_targets",
]


class QueryTargets(NamedTuple):
    """The targets of one query, as metrics count them.

    * ``targets``: those that count. A target that is listed twice counts once, with the highest
    grade,
      and so do all targets in one file if hits are collapsed to files.
    * ``symbols``: names that are evidence for a target, each once; see :func:`counted_targets`.
    * ``positions``: for each given target its position in ``targets``, -1 for evidence.
    * ``files``: paths whose hits collapse into the first one; None means every path.
    """

    targets: list[Target]
    symbols: list[Target]
    positions: list[int]
    files: frozenset[str] | None

    def collapsed(self, ranked: Iterable[tuple[Hit, float]]) -> list[tuple[Hit, float]]:
        """Return *ranked* hits with their scores; of a file that is one unit, only the first."""
        kept: list[tuple[Hit, float]] = []
        seen: set[str] = set()
        for hit, score in ranked:
            if self.files is None or hit.path in self.files:
                if hit.path in seen:
                    continue
                seen.add(hit.path)
            kept.append((hit, score))
        return kept


def counted_targets(targets: Sequence[Target], matcher: Matcher) -> list[bool]:
    """Return which of *targets* count in recall and gain.

    In the modes ``akashic`` and ``graded``, a relevant symbol without a path is evidence for the
    files of its query and not a target, if there is a relevant target with a path.

    >>> counted_targets([Target("auth.py"), Target("", symbol="login")], MATCHERS.get("akashic")())
    [True, False]
    """
    if not matcher.evidence or not any(t.path and t.grade > 0 for t in targets):
        return [True] * len(targets)
    return [bool(target.path) or target.grade <= 0 for target in targets]


def relevant_targets(
    targets: Sequence[Target], matcher: Matcher, *, level: float = 0.0
) -> tuple[bool, ...]:
    """Return which of *targets* count and are relevant at *level*; level 0 is any grade above 0."""
    return tuple(
        counts and (target.grade >= level if level else target.grade > 0)
        for target, counts in zip(targets, counted_targets(targets, matcher), strict=True)
    )


def judges_files(targets: Sequence[Target], matcher: Matcher) -> bool:
    """Return whether a query with *targets* is judged by whole files: one hit per file counts.

    >>> lines = MATCHERS.get("lines")()
    >>> judges_files([Target("a.py")], lines), judges_files([Target("a.py", 1, 3, 9)], lines)
    (True, False)
    """
    relevant = [target for target in targets if target.grade > 0] or targets
    return not any(map(matcher.inside, relevant))


def matches_by_id(targets: Sequence[Target], matcher: Matcher) -> bool:
    """Return whether hits on *targets* match by an equal id or path alone, one per document."""
    return matcher.by_id or (not matcher.collapse and judges_files(targets, matcher))


def files_judged(dataset: Dataset, match: str | None = None) -> tuple[bool, ...]:
    """Return for each query of *dataset* whether it is judged by whole files.

    >>> from karat.model import Query
    >>> queries = [Query("q1", "", (Target("a.py"),)), Query("q2", "", (Target("a.py", 1, 3, 9),))]
    >>> files_judged(Dataset.of(queries, match="lines"))
    (True, False)
    """
    matcher = MATCHERS.get(match or dataset.match)()
    return tuple(judges_files(dataset.targets(row), matcher) for row in range(len(dataset)))


def query_targets(targets: Sequence[Target], matcher: Matcher) -> QueryTargets:
    """Return *targets*, whose paths are in the form that *matcher* compares, in their units."""
    files = _files(targets, matcher)
    kept: list[Target] = []
    symbols: dict[str, Target] = {}
    positions: list[int] = []
    first_of: dict[Target, int] = {}
    for given, counts in zip(targets, counted_targets(targets, matcher), strict=True):
        target = given
        if not counts:
            symbols.setdefault(target.symbol.lower(), target)
            positions.append(-1)
            continue
        if files is None or target.path in files:
            target = Target(target.path, target.grade)
        known = first_of.setdefault(target._replace(grade=0.0, ref=""), len(kept))
        if known == len(kept):
            kept.append(target)
        elif target.grade > kept[known].grade:
            kept[known] = kept[known]._replace(grade=target.grade)
        positions.append(known)
    return QueryTargets(kept, list(symbols.values()), positions, files)


def _files(targets: Sequence[Target], matcher: Matcher) -> frozenset[str] | None:
    """Return the paths that are one unit each, None if every path is."""
    if judges_files(targets, matcher):
        return None
    inside = {target.path for target in targets if matcher.inside(target)}
    if "" in inside:  # a symbol without a path may be in any file
        return frozenset()
    return frozenset(target.path for target in targets if target.grade > 0) - inside
