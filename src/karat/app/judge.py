"""Judge the hits of runs; each grade is saved before the next hit is shown."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from karat.corpus.chunkers.base import lines_of
from karat.corpus.files.content import Content, decode
from karat.errors import InputError
from karat.experiments.commit_check import base_commits
from karat.experiments.commit_snapshots import CommitSnapshot, SnapshotReader
from karat.experiments.snapshots import HEAD, NOWHERE_ELSE, homes, part_of
from karat.formats import FORMATS, detect, read_dataset, write
from karat.formats.base import writable
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.frozen import EMPTY
from karat.model.judgments import JudgmentRecord, judgments_of, time_text, with_judgments
from karat.scoring.human_sample import recorded_sample, with_recorded_sample
from karat.scoring.labels import is_judged
from karat.scoring.matching.modes import MATCHERS, Matcher, judges_files, normalise
from karat.scoring.matching.regions import order_hits, valid_hits
from karat.scoring.score import no_overlap
from karat.system.sqlite import in_turn

__all__ = [
    "GRADES",
    "Code",
    "GoldFile",
    "HitOrder",
    "Judging",
    "JudgingPool",
    "LaterJudgment",
    "PooledHit",
    "as_target",
    "begun",
    "best_rank",
    "candidates",
    "check_savable",
    "edited",
    "edited_targets",
    "folder_code",
    "grade_at",
    "lines_of",
    "place_text",
    "pool",
    "repository_code",
    "save_place",
    "without_unresolved",
]


class GoldFile:
    """The gold set in the file *path*; *data* is the newest state that is known here.

    A change is applied to the file as it is at that moment, under a lock that all processes share,
    and the file is replaced as a whole. So changes that others made meanwhile are kept.
    """

    def __init__(self, data: Dataset, path: str | os.PathLike[str]) -> None:
        """Start from *data*, read from *path* or to be saved there; InputError if it cannot be."""
        check_savable(data, path)
        self._set(data)
        self.path = Path(path)
        # The file may have changed since the caller read it: the first change reads it again.
        self._stamp: tuple[int, int, int] | None = None

    def change(self, edits: Mapping[str, Callable[[Query], Query]]) -> None:
        """Apply each of *edits* to the query with its id and save the result.

        An edit that returns the query itself changes nothing. Ids of queries that are no longer in
        the file are ignored.
        """

        def edited(data: Dataset) -> Dataset:
            old = list(data.queries())
            new = [edits[query.id](query) if query.id in edits else query for query in old]
            same = all(one is two for one, two in zip(old, new, strict=True))
            return data if same else data.with_queries(new)

        self.change_all(edited)

    def change_all(self, edit: Callable[[Dataset], Dataset]) -> None:
        """Apply *edit* to the gold set and save the result, unless it returns the set itself."""
        with in_turn(self.path.resolve().parent):
            self._refresh()
            data = edit(self.data)
            if data is not self.data:
                write(data, self.path, format="gold")
                self._set(data)
                self._stamp = self._stat()

    def targets(self, query_id: str) -> tuple[Target, ...] | None:
        """Return the targets of a query, None if the gold set does not have it."""
        row = self._rows.get(query_id)
        return None if row is None else tuple(self.data.targets(row))

    def _set(self, data: Dataset) -> None:
        self.data = data
        self._rows = {query_id: row for row, query_id in enumerate(data.query_ids)}

    def _refresh(self) -> None:
        stamp = self._stat()
        if stamp is None or stamp == self._stamp:
            return
        texts = dict(zip(self.data.query_ids, self.data.texts, strict=True))
        now = read_dataset(self.path, format="gold")
        # The texts may come from a file of topics.
        self._set(
            now.with_queries(
                query if query.text.strip() else query._replace(text=texts.get(query.id, ""))
                for query in now.queries()
            )
        )
        self._stamp = stamp

    def _stat(self) -> tuple[int, int, int] | None:
        """Return the inode, time and size of the file, None without a file."""
        if not self.path.is_file():
            return None
        stat = self.path.stat()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def check_savable(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Raise InputError if *data* cannot be written to *path* in Karat's format."""
    if not all(text.strip() for text in data.texts):
        raise InputError(
            f"{data.name}: a gold set cannot hold queries without text; add the texts with "
            "--topics FILE"
        )
    writable(data, FORMATS.get("gold"))
    folder = Path(path).resolve().parent
    if not os.access(folder, os.W_OK):
        raise InputError(f"{os.fspath(path)}: cannot be written: no access to the folder {folder}")


class PooledHit(NamedTuple):
    """An unjudged place: the row of its query, its first hit, and its rank in each run."""

    row: int
    hit: Hit
    ranks: Mapping[str, int]


def pool(data: Dataset, runs: Mapping[str, Run], *, depth: int) -> list[PooledHit]:
    """Return the unjudged among the first *depth* hits of each query in each run.

    Queries come in their order, and the hits of one by the best rank that any run gave them. Hits
    that would become the same target are one. A run that answers none of the queries raises
    InputError.
    """
    matcher = MATCHERS.get(data.match)()
    pooled = []
    for row, items in candidates(data, runs, depth=depth).items():
        targets = data.targets(row)
        unjudged = [item for item in items if not is_judged(item.hit, targets, matcher)]
        pooled += sorted(unjudged, key=best_rank)
    return pooled


def candidates(data: Dataset, runs: Mapping[str, Run], *, depth: int) -> dict[int, list[PooledHit]]:
    """Return the first *depth* hits of each query in each run, judged or not, by row in order.

    Hits that would become the same target are one. A run that answers none of the queries raises
    InputError.
    """
    if depth < 1:
        raise InputError(f"depth {depth} is below 1")
    matcher = MATCHERS.get(data.match)()
    rows = {query_id: row for row, query_id in enumerate(data.query_ids)}
    found: dict[int, dict[Target, PooledHit]] = {}
    for name, run in runs.items():
        if not any(query_id in rows for query_id in run.query_ids):
            raise no_overlap(name, data.query_ids, run.query_ids)
        for answer in run.answers():
            row = rows.get(answer.query_id)
            if row is None:
                continue
            units = found.setdefault(row, {})
            wanted = data.targets(row)
            for rank, (unit, hit) in enumerate(_units(answer, matcher, wanted), 1):
                if rank > depth:
                    break
                known = units.get(unit, PooledHit(row, hit, {}))
                units[unit] = known._replace(ranks={**known.ranks, name: rank})
    return {row: list(found[row].values()) for row in sorted(found)}


def best_rank(item: PooledHit) -> int:
    """Return the best rank that any run gave *item*."""
    return min(item.ranks.values())


def place_text(place: Target | Hit) -> str:
    """Return a place for people.

    >>> place_text(Target("a.py", 1, 3, 9)), place_text(Target("a.py", symbol="run"))
    ('a.py:3-9', 'a.py  run')
    """
    lines = f":{place.start_line}-{place.end_line}" if place.end_line else ""
    return "  ".join(part for part in (f"{place.path}{lines}", place.symbol) if part)


def as_target(hit: Hit, grade: float, matcher: Matcher, targets: Sequence[Target] = ()) -> Target:
    """Return the target that *hit* becomes in a query with *targets*: the unit that is judged.

    Where all targets are whole files, that is the file of the hit.
    """
    if targets and judges_files(targets, matcher):
        return Target(hit.path, grade)
    if matcher.name == "lines":
        return Target(hit.path, grade, hit.start_line, hit.end_line)
    return Target(hit.path, grade, symbol=hit.symbol if matcher.by_symbol else "")


def _units(
    answer: Answer, matcher: Matcher, targets: Sequence[Target]
) -> Iterable[tuple[Target, Hit]]:
    """Return what is judged at once, with its first hit, in the order that scoring gives them."""
    spelled = [hit._replace(path=matcher.spelled(hit.path)) for hit in answer.hits]
    hits = valid_hits(spelled, Counter())
    best_first, _ = order_hits(hits, [0.0] * len(hits), "trec10")
    units: dict[Target, Hit] = {}
    for hit in best_first:
        units.setdefault(as_target(hit, 0.0, matcher, targets), hit)
    return units.items()


GRADES = range(4)

# Returns what a hit of a query, by its row, is in: the text at a path.
Code = Callable[[int, str], Content]


class Judging:
    """A gold set that grows by judgments; the file *path* always holds all that were made.

    Each becomes a target, one of grade 0 as well, and beside it a record of who gave the grade,
    when and why. Other processes may change the file at the same time.
    """

    def __init__(
        self,
        data: Dataset,
        path: str | os.PathLike[str],
        *,
        judge: str,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Add to *data*, in the name of *judge*.

        InputError if the result cannot be saved, before anything is judged.
        """
        # The rows of items are those of this dataset, whatever happens to the file.
        self.data = data
        self._file = GoldFile(data, path)
        self.path = path
        self._judge = judge
        self._clock = clock
        self._matcher = MATCHERS.get(data.match)()
        # The grades that were given here, each with the target that it replaced.
        self._given: list[tuple[str, JudgmentRecord, Target | None]] = []

    def is_open(self, item: PooledHit) -> bool:
        """Return whether *item* is still unjudged: another grade may cover it by now."""
        query_id = self.data.query_ids[item.row]
        targets = self._file.targets(query_id)
        return targets is not None and not is_judged(item.hit, targets, self._matcher)

    def is_whole_file(self, item: PooledHit) -> bool:
        """Return whether a grade of *item*, a part of a file, is one of the whole file."""
        target = self._target(item, 0.0)
        is_part = bool(item.hit.end_line or item.hit.symbol)
        return is_part and not (target.end_line or target.symbol)

    def grade(self, item: PooledHit, grade: int, note: str = "") -> None:
        """Give *item* a grade and save it.

        If somebody else judged it meanwhile, both judgments are kept and this grade counts.
        """
        if grade not in GRADES:
            raise InputError(f"grade {grade} is out of range; expected 0 to {GRADES[-1]}")
        target = self._target(item, grade)
        record = JudgmentRecord(target, self._judge, time_text(self._clock()), note)
        query_id = self.data.query_ids[item.row]
        replaced: Target | None = None

        def add(query: Query) -> Query:
            nonlocal replaced
            places = [other._replace(grade=target.grade) for other in query.targets]
            targets = list(query.targets)
            if target in places:
                replaced = targets[places.index(target)]
                targets[places.index(target)] = target
            else:
                targets.append(target)
            judged = query._replace(targets=tuple(targets))
            return with_judgments(judged, [*judgments_of(query), record])

        self._file.change({query_id: add})
        if self._file.targets(query_id) is None:
            raise InputError(
                f"{self._file.path}: the query {query_id!r} was removed meanwhile, so its grade "
                "was not saved; start again with the changed gold set"
            )
        self._given.append((query_id, record, replaced))

    def record_sample(self, query_ids: Sequence[str]) -> None:
        """Record *query_ids* as all queries drawn for people, and save that; no id is removed."""

        def extended(data: Dataset) -> Dataset:
            is_known = len(query_ids) <= len(recorded_sample(data))
            return data if is_known else with_recorded_sample(data, query_ids)

        self._file.change_all(extended)

    def undo(self) -> None:
        """Take back the last grade that was given here, and save that."""
        query_id, record, replaced = self._given[-1]

        def remove(query: Query) -> Query:
            records, targets = list(judgments_of(query)), list(query.targets)
            if record in records:
                records.remove(record)
            if record.target in targets:
                at = targets.index(record.target)
                targets[at : at + 1] = [replaced] if replaced else []
            return with_judgments(query._replace(targets=tuple(targets)), records)

        self._file.change({query_id: remove})
        self._given.pop()

    def _target(self, item: PooledHit, grade: float) -> Target:
        targets = self._file.targets(self.data.query_ids[item.row]) or ()
        return as_target(item.hit, grade, self._matcher, targets)


def begun(
    goldset: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    columns: Mapping[str, str] = EMPTY,
    topics: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Return *goldset* with the judgments made so far: *output*, where that exists.

    *topics* is a file with the texts of the queries, for judgments that have none.
    """
    data = read_dataset(goldset, format=format, columns=columns, topics=topics)
    if output is None or not Path(output).exists():
        return data
    so_far = read_dataset(output, format="gold")
    if so_far.query_ids != data.query_ids:
        raise InputError(f"{os.fspath(output)}: exists already with other queries")
    return so_far


def save_place(
    goldset: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word users write
) -> str | os.PathLike[str]:
    """Return where judgments are saved: *output*, else *goldset*, if that is in Karat's format."""
    if output is not None:
        return output
    chosen = FORMATS.get(format) if format else detect(goldset, kind="dataset")
    if chosen.name != "gold":
        raise InputError(
            f"{os.fspath(goldset)}: format {chosen.name!r} cannot store who judged a hit; "
            "write a gold set instead (-o FILE.json)"
        )
    return goldset


def folder_code(folder: str) -> Code:
    """Return a function that reads files in *folder*; files outside of it are not read."""
    root = Path(folder).resolve()

    def code(_row: int, path: str) -> Content:
        place = (root / path).resolve()
        if not place.is_relative_to(root) or not place.is_file():
            return Content("", reason=f"no such file in {folder}")
        return decode(place.read_bytes())

    return code


@contextmanager
def repository_code(
    data: Dataset, repositories: Mapping[str, str] = NOWHERE_ELSE, *, revision: str | None = None
) -> Iterator[Code]:
    """Yield a function that reads files at the ``base_commit`` of each case, else *revision*.

    Each case has its own repository: where it was mined, or one of *repositories* by its name; the
    current folder if the set names none.
    """
    with ExitStack() as stack:
        commits: dict[int, str] = {}
        tree_at: dict[int, Callable[[str], CommitSnapshot]] = {}
        for home, rows in homes(data, repositories, otherwise=".").items():
            default = revision or home.revision or HEAD
            known = base_commits(part_of(data, rows), home.place, default=default).known
            # The hits of one query follow each other.
            at = lru_cache(maxsize=1)(stack.enter_context(SnapshotReader(home.place)).at)
            for place, commit in _by_row(known).items():
                commits[rows[place]] = commit
                tree_at[rows[place]] = at

        def code(row: int, path: str) -> Content:
            if row not in commits:
                return Content("", reason=f"no commit {data.extras[row]['base_commit']!r}")
            tree, name = tree_at[row](commits[row]), normalise(path)
            if name not in tree.entries:
                return Content("", reason=f"no such file at {tree.short}")
            return tree.content(name)

        yield code


def _by_row(rows_of: Mapping[str, Sequence[int]]) -> dict[int, str]:
    return {row: commit for commit, rows in rows_of.items() for row in rows}


class LaterJudgment(Protocol):
    """A judgment of lines of a document for a query."""

    @property
    def query(self) -> str:
        """Return the id of the query."""
        ...

    @property
    def path(self) -> str:
        """Return the path of the document."""
        ...

    @property
    def start_line(self) -> int:
        """Return the first line, 0 for the whole document."""
        ...

    @property
    def end_line(self) -> int:
        """Return the last line, 0 for the whole document."""
        ...

    @property
    def grade(self) -> float | None:
        """Return the grade; None withdraws older judgments."""
        ...

    @property
    def version(self) -> int:
        """Return the version of the dataset that this judgment made."""
        ...


def edited(gold: Dataset, judgments: Iterable[LaterJudgment]) -> Dataset:
    """Return *gold* with *judgments* applied in their order: the last one on a target counts.

    Where whole files are judged, a judgment of lines applies to their file. Judgments of queries
    that are not in *gold* are ignored.
    """
    changes: dict[str, list[LaterJudgment]] = {}
    for judgment in judgments:
        changes.setdefault(judgment.query, []).append(judgment)
    if not changes:
        return gold
    return gold.with_queries(
        [
            query._replace(targets=edited_targets(gold, query.targets, changes[query.id]))
            if query.id in changes
            else query
            for query in gold.queries()
        ],
    )


def edited_targets(
    gold: Dataset, targets: Sequence[Target], judgments: Iterable[LaterJudgment]
) -> tuple[Target, ...]:
    """Return the *targets* of one query of *gold* with *judgments*, which are all of that query."""
    grades = {
        _place(gold, targets, each.path, each.start_line, each.end_line): each.grade
        for each in judgments
    }
    kept = [target for target in targets if _same(gold, targets, target) not in grades]
    given = [place._replace(grade=grade) for place, grade in grades.items() if grade is not None]
    return (*kept, *given)


def grade_at(
    gold: Dataset,
    query: str,
    path: str,
    *,
    start_line: int = 0,
    end_line: int = 0,
    judgments: Iterable[LaterJudgment] = (),
) -> float | None:
    """Return the grade of lines of a document for *query*, None where they are not judged.

    *judgments* are the later ones, all of that query.
    """
    targets = gold.targets(gold.query_ids.index(query))
    place = _place(gold, targets, path, start_line, end_line)
    now = edited_targets(gold, targets, judgments)
    grades = [target.grade for target in now if _same(gold, targets, target) == place]
    return max(grades, default=None)


def without_unresolved(gold: Dataset, unresolved: Iterable[Mapping[str, object]]) -> Dataset:
    """Return *gold* without the targets whose reference could not be resolved.

    Each of *unresolved* has a ``query_id`` and a ``doc_ref``: a reference by its kind.
    """
    lost = {
        (str(each["query_id"]), str(kind), str(text))
        for each in unresolved
        for kind, text in _items(each["doc_ref"])
    }
    return gold.with_queries(
        [
            query._replace(
                targets=tuple(t for t in query.targets if (query.id, t.ref, t.path) not in lost)
            )
            for query in gold.queries()
        ],
    )


def _items(reference: object) -> Iterable[tuple[object, object]]:
    return reference.items() if isinstance(reference, Mapping) else ()


def _place(
    gold: Dataset, targets: Sequence[Target], path: str, start_line: int, end_line: int
) -> Target:
    """Return the target that a judgment is of in a query with *targets*, without its grade."""
    matcher = MATCHERS.get(gold.match)()
    hit = Hit(matcher.spelled(path), start_line=start_line, end_line=end_line)
    return as_target(hit, 0.0, matcher, targets)


def _same(gold: Dataset, targets: Sequence[Target], target: Target) -> Target:
    return _place(gold, targets, target.path, target.start_line, target.end_line)


# The best ranked hits first, or query by query in the order that the pool was made with.
HitOrder = Literal["rank", "sample"]


class JudgingPool:
    """The unjudged among the first *depth* hits of each query in each run, the best ranked first.

    *version* is that of the newest judgment it includes; 1 is the dataset as uploaded. The targets
    as uploaded decide whether a query is judged by files or by chunks, here and in
    :func:`edited_targets`: removing a target does not change the unit of stored judgments.
    """

    def __init__(
        self,
        gold: Dataset,
        runs: Mapping[str, Run],
        *,
        depth: int,
        sample: Sequence[int] | None = None,
    ) -> None:
        """Find the hits, and which of them *gold* judges already.

        *sample* has all rows of queries in the order to judge them; by default that of *gold*.
        """
        self.gold = gold
        self.version = 1
        self._matcher = MATCHERS.get(gold.match)()
        self._rows = {query_id: row for row, query_id in enumerate(gold.query_ids)}
        self._judgments: dict[str, list[LaterJudgment]] = {}
        found = candidates(gold, runs, depth=depth)
        self._hits = sorted(
            (item for items in found.values() for item in items),
            key=lambda item: (best_rank(item), item.row),
        )
        rows = range(len(gold)) if sample is None else sample
        position = {row: place for place, row in enumerate(rows)}
        # Indices into the hits: by rank, and query by query, there the best ranked first.
        self._orders: dict[HitOrder, Sequence[int]] = {
            "rank": range(len(self._hits)),
            "sample": sorted(
                range(len(self._hits)), key=lambda place: position[self._hits[place].row]
            ),
        }
        # Indices into the hits by query, and those of unjudged hits.
        self._places: dict[int, list[int]] = {}
        for place, item in enumerate(self._hits):
            self._places.setdefault(item.row, []).append(place)
        self._open: set[int] = set()
        for row in self._places:
            self._update(row)

    def __len__(self) -> int:
        return len(self._open)

    def add(self, judgments: Iterable[LaterJudgment]) -> None:
        """Apply *judgments* made after *version*, in their order."""
        changed = set()
        for judgment in judgments:
            self._judgments.setdefault(judgment.query, []).append(judgment)
            changed.add(judgment.query)
            self.version = judgment.version
        for query_id in changed:
            row = self._rows.get(query_id, -1)
            if row in self._places:
                self._update(row)

    def page(self, *, limit: int, offset: int = 0, order: HitOrder = "rank") -> list[PooledHit]:
        """Return *limit* unjudged hits in *order*, after *offset* of them."""
        unjudged = (self._hits[place] for place in self._orders[order] if place in self._open)
        return list(islice(unjudged, offset, offset + limit))

    def _update(self, row: int) -> None:
        """Update which hits of the query at *row* are unjudged."""
        judgments = self._judgments.get(self.gold.query_ids[row], ())
        targets = edited_targets(self.gold, self.gold.targets(row), judgments)
        for place in self._places[row]:
            if is_judged(self._hits[place].hit, targets, self._matcher):
                self._open.discard(place)
            else:
                self._open.add(place)
