"""Update a dataset for a newer commit: renames, shifted lines and moved definitions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.grammars import Symbol
from karat.corpus.git import in_order, object_ids
from karat.errors import InputError
from karat.experiments.commit_check import (
    NOT_IN_REPOSITORY,
    base_commits,
    defines,
    definitions_named,
    files_defining,
    find_paths,
)
from karat.experiments.commit_snapshots import CommitSnapshot, SnapshotReader
from karat.extensions.mining.commits import FileDiff, Hunk, diffs, read_commit
from karat.extensions.mining.scan import History
from karat.model import Dataset, Query, Target
from karat.model.judgments import (
    JudgmentRecord,
    judgments_of,
    model_labels_of,
    with_judgments,
    with_model_labels,
)
from karat.scoring.matching.modes import MATCHERS, Matcher, normalise

Move = Callable[[Target], Target]


def shift_lines(hunks: Sequence[Hunk], first: int, last: int) -> tuple[int, int] | None:
    """Return the lines *first* to *last* with the numbers that they have after *hunks*.

    Removed or replaced lines at either end are cut off. Everything between the first and the last
    remaining line belongs to the range, including added lines. Return None if no line remains.

    >>> hunks = [Hunk(2, 1, 2, 3), Hunk(6, 2, 7, 0)]
    >>> [shift_lines(hunks, *lines) for lines in [(1, 5), (2, 6), (6, 7), (8, 8)]]
    [(1, 7), (5, 7), None, (8, 8)]
    """
    for start, count, _, _ in hunks:
        if start <= first < start + count:
            first = start + count
    for start, count, _, _ in reversed(hunks):
        if start <= last < start + count:
            last = start - 1
    return None if first > last else (_line(hunks, first), _line(hunks, last))


def _line(hunks: Sequence[Hunk], line: int) -> int:
    """Return the new number of a line that still exists."""
    return line + sum(new - old for start, old, _, new in hunks if start < line)


# A percentage: even files with little in common are compared.
_HARDLY_ALIKE = 1


class Renames:
    """Follows files that are missing in the snapshot *new* through its history."""

    def __init__(self, repository: str, new: CommitSnapshot) -> None:
        """Defer all reading until the first call."""
        self._repository = repository
        self._new = new
        self._renamed_by = lru_cache(self._renamed)

    def follow(self, path: str) -> str:
        """Return the path in the new snapshot of the file once at *path*, "" if it was deleted.

        Each rename is later than the one before, so the loop ends.
        """
        while path and path not in self._new.entries:
            commit = self._removals.get(path)
            path = self._renamed_by(commit).get(path, "") if commit else ""
        return path

    def compare(self, old: CommitSnapshot, path: str) -> FileDiff | None:
        """Return the diff between the file at *path* in *old* and its new version, None if deleted.

        If less than one percent of the file remains, all its lines count as removed.
        """
        there = self.follow(path)
        if not there:
            return None
        ((_, files),) = diffs(
            self._repository,
            [f"{self._new.commit} {old.commit}"],
            alike=_HARDLY_ALIKE,
            paths=(path, there),
        )
        by_status = {file.change.status: file for file in files}
        gone = by_status.get("R") or by_status.get("D")
        return gone and gone._replace(change=gone.change._replace(status="R", path=there))

    @cached_property
    def _removals(self) -> Mapping[str, str]:
        """Return the last commit on the first-parent line that removed or renamed each path."""
        chosen = ("--first-parent", self._new.commit)
        removals: dict[str, str] = {}
        for printed in History(self._repository, chosen, 0, None).logged():
            commit = read_commit(printed)
            for change in commit.changes:
                if change.status in "DR":
                    removals.setdefault(normalise(change.old_path), commit.id)
        return removals

    def _renamed(self, commit: str) -> Mapping[str, str]:
        """Return the new path of each old path that *commit* renamed."""
        ((_, files),) = diffs(self._repository, [commit])
        renamed = (file.change for file in files if file.change.status == "R")
        return {normalise(change.old_path): normalise(change.path) for change in renamed}


class MissingTarget(Exception):
    """A target no longer exists; the message gives the reason."""


class _Location(NamedTuple):
    path: str
    start_line: int = 0
    end_line: int = 0


class Mover:
    """Moves targets from the snapshot *old* to the snapshot *new*, which differ by *files*.

    *renames* follows files that look deleted. *matcher* is the rule that matches hits with targets.
    """

    def __init__(
        self,
        old: CommitSnapshot,
        new: CommitSnapshot,
        *,
        files: Iterable[FileDiff],
        renames: Renames,
        matcher: Matcher,
    ) -> None:
        """Defer all reading until the first call."""
        self._old = old
        self._new = new
        self._renames = renames
        self._matcher = matcher
        self._changed: dict[str, FileDiff] = {}
        self._followed: set[str] = set()
        self._origins: dict[str, str] = {}
        for file in files:
            change = file.change
            old_path, path = normalise(change.old_path), normalise(change.path)
            if change.status != "A":
                self._changed[old_path] = file
            if change.status in "AMR":
                self._origins[path] = "" if change.status == "A" else old_path

    def move(self, target: Target) -> Target:
        """Return *target* as it is in the new snapshot, or raise MissingTarget.

        The spelling of its path stays if it still refers to the same file. A reference that no
        snapshot can resolve is returned unchanged.
        """
        if target.ref in NOT_IN_REPOSITORY:
            return target
        if not target.path:
            if not any(files_defining(self._new, target.symbol, part=self._matcher.by_symbol)):
                raise MissingTarget(f"nothing defines {target.symbol!r} any more")
            return target
        locations = self._locations(target)
        still_meant = self._find(self._new, target)
        location = next((location for location in locations if location.path in still_meant), None)
        if location is None and len(locations) > 1:
            listed = " and ".join(sorted(location.path for location in locations))
            raise MissingTarget(f"it now matches {len(locations)} files: {listed}")
        if location is None:
            ((location, path),) = locations.items()
            target = target._replace(path=_renamed(target, path, location.path))
        self._find(self._new, target)
        return target._replace(start_line=location.start_line, end_line=location.end_line)

    def _locations(self, target: Target) -> dict[_Location, str]:
        """Return the current locations of the files of *target*, with their old paths."""
        paths = self._find(self._old, target)
        if not paths:
            raise MissingTarget(f"no such file at its base commit {self._old.short}")
        locations: dict[_Location, str] = {}
        reasons: list[MissingTarget] = []
        for path in paths:
            try:
                locations[self._locate(path, target)] = path
            except MissingTarget as reason:
                reasons.append(reason)
        if not locations:
            raise reasons[0]
        return locations

    def _find(self, snapshot: CommitSnapshot, target: Target) -> list[str]:
        paths = find_paths(snapshot, target, self._matcher)
        if target.ref == "file_name" and len(paths) > 1:
            raise MissingTarget(f"{len(paths)} files have this name at {snapshot.short}")
        return paths

    def _locate(self, path: str, target: Target) -> _Location:
        try:
            here = self._path(path)
            if target.symbol and not self._defines(here, target.symbol):
                raise MissingTarget(f"{here} does not define {target.symbol!r}")
            return _Location(here, *self._lines(path, here, target))
        except MissingTarget:
            moved = self._moved(path, target) if target.symbol else None
            if moved is None:
                raise
            return moved

    def _path(self, path: str) -> str:
        """Return the current path of the file at *path*, or raise MissingTarget."""
        file = self._file(path)
        if file is None:
            return path
        if file.change.status == "D":
            raise MissingTarget("the file was deleted")
        if file.change.status == "T":
            raise MissingTarget("the file was replaced by a link or a submodule")
        return normalise(file.change.path)

    def _file(self, path: str) -> FileDiff | None:
        """Return the diff of the file at *path*, None if it did not change."""
        file = self._changed.get(path)
        if file and file.change.status == "D" and path not in self._followed:
            self._followed.add(path)
            file = self._changed[path] = self._renames.compare(self._old, path) or file
        return file

    def _defines(self, path: str, symbol: str) -> bool:
        return defines(self._new, path, symbol, part=self._matcher.by_symbol)

    def _lines(self, path: str, here: str, target: Target) -> tuple[int, int]:
        """Return the remaining lines; if there are none, those of the definition around them."""
        if not target.end_line:
            return 0, 0
        if target.end_line > len(lines_of(self._old.content(path).text)):
            raise MissingTarget(
                f"the file did not have these lines at its base commit {self._old.short}"
            )
        file = self._file(path)
        if file and file.is_binary:
            raise MissingTarget("Git treats the file as binary, so its lines cannot be followed")
        lines = shift_lines(file.hunks if file else (), target.start_line, target.end_line)
        if lines is None:
            definitions = _called(self._new, here, target.symbol) if target.symbol else []
            if len(definitions) != 1:
                raise MissingTarget("all of its lines were removed or rewritten")
            lines = definitions[0].start_line, definitions[0].end_line
        return lines

    def _moved(self, path: str, target: Target) -> _Location | None:
        """Return the new location of the definition: the only changed file that did not have it."""
        symbol = target.symbol
        if not _called(self._old, path, symbol):
            return None
        moved = [
            (new_path, definition)
            for new_path in files_defining(self._new, symbol, part=False, among=self._origins)
            if not _called(self._old, self._origins[new_path], symbol)
            for definition in _called(self._new, new_path, symbol)
        ]
        if len(moved) != 1:
            return None
        ((new_path, definition),) = moved
        if not target.end_line:
            return _Location(new_path)
        return _Location(new_path, definition.start_line, definition.end_line)


def _called(snapshot: CommitSnapshot, path: str, symbol: str) -> list[Symbol]:
    """Return the definitions of *symbol* at *path*; none if the file does not exist."""
    definitions = snapshot.definitions(path) if path in snapshot.entries else None
    return definitions_named(definitions or (), symbol, part=False)


def _renamed(target: Target, old: str, new: str) -> str:
    """Return the path of *target*, which referred to the file *old*, so that it refers to *new*."""
    if target.ref == "file_name":
        return new.rpartition("/")[2]
    if target.ref == "uri" and target.path.endswith(f"/{old}"):
        return target.path.removesuffix(old) + new
    return new


class LostTarget(NamedTuple):
    """A target that does not exist at the new commit, and the reason."""

    query_id: str
    target: Target
    reason: str


@dataclass(frozen=True, slots=True)
class CarriedDataset:
    """A dataset, updated to its new *commit*.

    *renamed* counts targets whose path changed, *shifted* targets whose lines changed. *dropped*
    lists the ids of queries that lost all their relevant targets and were removed.
    """

    data: Dataset
    commit: str
    renamed: int
    shifted: int
    lost: tuple[LostTarget, ...]
    dropped: tuple[str, ...]


class _MovedTarget(NamedTuple):
    query: Query
    pairs: Mapping[Target, Target]
    lost: tuple[LostTarget, ...]


def carry(data: Dataset, repository: str, *, to: str, base: str | None = None) -> CarriedDataset:
    """Return *data* with its paths, lines and symbols as they are at the commit *to*.

    A query starts from its ``base_commit``, or from *base* if it has none. Git compares each of
    these commits with *to* once, whatever the number of targets; only deleted files need further
    calls. The metadata store the new commit as ``carried_to``, because the queries no longer
    describe the change that comes next.
    """
    known, unknown = base_commits(data, repository, default=_base(data, base))
    (commit,) = object_ids(repository, [to], "commit")
    if not commit:
        raise InputError(f"{repository}: no revision {to!r}; expected a commit or a tag")
    matcher = MATCHERS.get(data.match)()
    queries = list(data.queries())
    moved: dict[int, _MovedTarget] = {}
    for name, rows in unknown.items():
        lose = _losing(f"the repository has no base commit {name!r}")
        for row in rows:
            moved[row] = _moved(queries[row], lose, commit)
    pairs = [f"{commit} {revision.commit}" for revision in in_order(repository, known)]
    with SnapshotReader(repository) as snapshots:
        new = snapshots.at(commit)
        renames = Renames(repository, new)
        for old, (_, files) in zip(snapshots.each(known), diffs(repository, pairs), strict=True):
            mover = Mover(old, new, files=files, renames=renames, matcher=matcher)
            for row in known[old.commit]:
                moved[row] = _moved(queries[row], mover.move, commit)
    return _carried(data, commit, [moved[row] for row in range(len(data))])


def _base(data: Dataset, base: str | None) -> str:
    """Return the base commit of queries without a ``base_commit``; raise if one is needed."""
    without = sum(not extra.get("base_commit") for extra in data.extras)
    if without and base is None:
        raise InputError(
            f"{data.name}: {without} of {len(data)} queries have no base_commit; pass the revision "
            "that they were written for with --from"
        )
    return base or ""


def _losing(reason: str) -> Move:
    def lose(_target: Target) -> Target:
        raise MissingTarget(reason)

    return lose


def _moved(query: Query, move: Move, commit: str) -> _MovedTarget:
    pairs: dict[Target, Target] = {}
    lost: list[LostTarget] = []
    for target in query.targets:
        try:
            pairs[target] = move(target)
        except MissingTarget as reason:
            lost.append(LostTarget(query.id, target, str(reason)))
    extra = {**query.extra, "base_commit": commit}
    judged = [
        judgment._replace(target=pairs[judgment.target])
        for judgment in judgments_of(query)
        if judgment.target in pairs
    ]
    there = query._replace(targets=_distinct(pairs.values()), extra=extra)
    carried = with_model_labels(with_judgments(there, judged), _moved_labels(query, move))
    return _MovedTarget(carried, pairs, tuple(lost))


def _moved_labels(query: Query, move: Move) -> Iterator[JudgmentRecord]:
    """Yield the labels of models whose target exists at the new commit."""
    for label in model_labels_of(query):
        with suppress(MissingTarget):
            yield label._replace(target=move(label.target))


def _distinct(targets: Iterable[Target]) -> tuple[Target, ...]:
    """Return *targets* without duplicates; of duplicates, the one with the best grade."""
    best: dict[Target, Target] = {}
    for target in targets:
        ungraded = target._replace(grade=0)
        if ungraded not in best or best[ungraded].grade < target.grade:
            best[ungraded] = target
    return tuple(best.values())


def _carried(data: Dataset, commit: str, moved: Sequence[_MovedTarget]) -> CarriedDataset:
    queries = [item.query for item in moved if not _is_empty(item)]
    pairs = [pair for item in moved for pair in item.pairs.items()]
    metadata = {**data.metadata, "carried_to": commit}
    return CarriedDataset(
        Dataset.of(queries, name=data.name, match=data.match, metadata=metadata),
        commit,
        renamed=sum(old.path != new.path for old, new in pairs),
        shifted=sum(old[2:4] != new[2:4] for old, new in pairs),
        lost=tuple(loss for item in moved for loss in item.lost),
        dropped=tuple(item.query.id for item in moved if _is_empty(item)),
    )


def _is_empty(item: _MovedTarget) -> bool:
    """Return whether a query lost all its relevant targets; a query without any is not empty."""
    relevant = any(target.grade > 0 for target in item.pairs)
    return not relevant and any(loss.target.grade > 0 for loss in item.lost)
