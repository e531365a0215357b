"""Judge the hits of runs by hand; each grade is saved before the next hit is shown."""

import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from karat.app.pooling import PooledHit, as_target, matcher_of
from karat.errors import InputError
from karat.extensions.judges.gold_file import GoldFile
from karat.model import Dataset, Query, Target
from karat.model.judgments import JudgmentRecord, judgments_of, time_text, with_judgments
from karat.scoring.human_sample import recorded_sample, with_recorded_sample
from karat.scoring.labels import is_judged

GRADES = range(4)


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
        self._matcher = matcher_of(data)
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
            regraded = [other._replace(grade=target.grade) for other in query.targets]
            targets = list(query.targets)
            if target in regraded:
                replaced = targets[regraded.index(target)]
                targets[regraded.index(target)] = target
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
