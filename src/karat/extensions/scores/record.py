"""A score set: the scores of several systems on the same queries, perhaps in several trials.

A reader yields one :class:`ScoreRow` for each query, system and trial; :meth:`ScoreSet.of` makes
columns of them. A score that does not exist is NaN, and its status says why: it is never 0.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf, isfinite, isnan, nan
from typing import Literal, NamedTuple

from karat.errors import InputError
from karat.model.frozen import EMPTY, by_value
from karat.system.words import counted, join_names

Kind = Literal["binary", "bounded", "free"]


class ScoreStatus(IntEnum):
    """Why there is a score or none: the system failed (ERROR), or nobody scored it (MISSING)."""

    SCORED = 0
    ERROR = 1
    MISSING = 2


class ScoreRow(NamedTuple):
    """What one *trial* of a *system* on a *query* scored; a score of None does not exist.

    *query* is the id by which systems are paired, *text* what the user asked, "" if it is unknown.
    *tags* are properties of the query, such as its task. With *failed*, the system gave no answer,
    and a score of None counts as a failure.
    """

    query: str
    system: str
    scores: Mapping[str, float | None]
    trial: str = ""
    tags: Mapping[str, str] = EMPTY
    text: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class ScoreMeasure:
    """One measure of a score set, with the range of its scores.

    *kind* is ``binary`` for 0 and 1, ``bounded`` for a range that is known, and ``free``.
    """

    name: str
    kind: Kind = "free"
    low: float = -inf
    high: float = inf
    lower_is_better: bool = False

    @classmethod
    def seen(cls, name: str, scores: Iterable[float], *, lower: bool = False) -> "ScoreMeasure":
        """Return the measure whose range follows from its *scores*; NaN is not a score.

        Scores between 0 and 1 have these bounds, and a measure to keep low has no score below 0
        unless one is there.

        >>> ScoreMeasure.seen("passed", [1, 0, 1]).kind, ScoreMeasure.seen("f1", [0.5, 1]).high
        ('binary', 1.0)
        >>> ScoreMeasure.seen("cost", [12.5, 3], lower=True).low
        0.0
        """
        known = [score for score in scores if not isnan(score)]
        least, most = min(known, default=nan), max(known, default=nan)
        if not lower and least >= 0 and most <= 1:
            kind: Kind = "binary" if all(score in (0.0, 1.0) for score in known) else "bounded"
            return cls(name, kind, 0.0, 1.0)
        return cls(name, "free", 0.0 if lower and least >= 0 else -inf, inf, lower)

    @property
    def text(self) -> str:
        """Return the name with what is special about it.

        >>> ScoreMeasure("passed", "binary", 0, 1).text, ScoreMeasure("cost", "free", 0).text
        ('passed (0/1)', 'cost')
        """
        remarks = ["0/1"] if self.kind == "binary" else []
        remarks += ["lower is better"] if self.lower_is_better else []
        return f"{self.name} ({', '.join(remarks)})" if remarks else self.name


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class ScoreSet:
    """Scores as columns: ``values[measure][(system * queries + query) * trials + trial]``.

    NaN stands for no score; *statuses*, in the same order, says why. *tags* has properties of the
    queries by their names; *cluster* names the one whose values group dependent queries, and *task*
    that of data sets whose means are averaged, "" for none. Build one with :meth:`of`.
    """

    name: str
    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    texts: tuple[str, ...]
    trials: int
    measures: tuple[ScoreMeasure, ...]
    values: "Mapping[str, array[float]]"
    statuses: "array[int]"
    tags: Mapping[str, tuple[str, ...]] = EMPTY
    cluster: str = ""
    task: str = ""

    @classmethod
    def of(
        cls,
        rows: Iterable[ScoreRow],
        *,
        name: str = "scores",
        measures: Sequence[ScoreMeasure] = (),
        lower: Iterable[str] = (),
        cluster: str = "",
        task: str = "",
    ) -> "ScoreSet":
        """Return *rows* as columns; systems, queries and measures keep their first order.

        *measures* are those whose range is known, *lower* names measures of which less is better.
        Rows of one query and system are its trials.

        >>> failed = ScoreRow("q1", "b", {"f1": None}, failed=True)
        >>> scores = ScoreSet.of([ScoreRow("q1", "a", {"f1": 0.5}), failed])
        >>> scores.column("a", "f1"), scores.column("b", "f1"), scores.query_statuses("b")[0].name
        ([0.5], [nan], 'ERROR')
        """
        known = list(rows)
        systems = tuple(dict.fromkeys(row.system for row in known))
        queries = tuple(dict.fromkeys(row.query for row in known))
        if not systems:
            raise InputError(
                f"{name}: no score; expected a query, a system and a score in each row"
            )
        of_system = {system: index for index, system in enumerate(systems)}
        of_query = {query: index for index, query in enumerate(queries)}
        trials = _trial_numbers(known, name)
        most = max(trials) + 1
        size = len(systems) * len(queries) * most
        names = tuple(dict.fromkeys(each for row in known for each in row.scores))
        values = {each: array("d", [nan]) * size for each in names}
        statuses = array("b", [ScoreStatus.MISSING]) * size
        for row, trial in zip(known, trials, strict=True):
            at = (of_system[row.system] * len(queries) + of_query[row.query]) * most + trial
            for each, score in row.scores.items():
                if score is not None:
                    if not isfinite(score) and not isnan(score):
                        raise InputError(
                            f"{name}: {each} of query {row.query!r} is {score}; expected a number"
                        )
                    values[each][at] = score
            scored = any(not isnan(values[each][at]) for each in row.scores)
            statuses[at] = (
                ScoreStatus.ERROR
                if row.failed
                else ScoreStatus.SCORED
                if scored
                else ScoreStatus.MISSING
            )
        declared = {each.name: each for each in measures}
        small = set(lower)
        if unknown := small - set(names):
            raise InputError(
                f"{name}: no measure is called {min(unknown)!r}; expected some of "
                f"{join_names(names)}"
            )
        known_measures = (
            declared.get(each) or ScoreMeasure.seen(each, values[each], lower=each in small)
            for each in names
        )
        texts = {row.query: row.text for row in reversed(known) if row.text}
        return cls(
            name,
            systems,
            queries,
            tuple(texts.get(query, "") for query in queries),
            most,
            tuple(
                replace(each, lower_is_better=True) if each.name in small else each
                for each in known_measures
            ),
            values,
            statuses,
            _tags(known, queries, name),
            cluster,
            task,
        )

    def __repr__(self) -> str:
        """Return one line: name, and the numbers of systems, queries and measures."""
        return f"<ScoreSet {self.name}: {self.sizes}, {counted(len(self.measures), 'measure')}>"

    @property
    def sizes(self) -> str:
        """Return how many systems, queries and trials there are."""
        parts = [counted(len(self.systems), "system"), counted(len(self.query_ids), "query")]
        if self.trials > 1:
            parts.append(counted(self.trials, "trial"))
        return ", ".join(parts)

    def measure(self, name: str) -> ScoreMeasure:
        """Return the measure called *name*, or raise InputError."""
        for each in self.measures:
            if each.name.lower() == name.strip().lower():
                return each
        known = join_names([each.name for each in self.measures])
        raise InputError(f"{self.name}: no measure is called {name!r}; expected one of {known}")

    def failure_score(self, measure: ScoreMeasure) -> float:
        """Return what a failure counts: 0, or nothing where 0 is not the worst score.

        That is so if less is better, or if the range is unknown and a score is negative.
        """
        if measure.lower_is_better:
            return nan
        known = (score for score in self.values[measure.name] if not isnan(score))
        least = measure.low if isfinite(measure.low) else min(known, default=0.0)
        return 0.0 if least >= 0 else nan

    def trial_scores(
        self, system: str, measure: str, *, failed: float = nan
    ) -> Iterator[list[float]]:
        """Yield for each query the scores of all trials; NaN where there is none.

        A trial in which the system failed has the score *failed*.
        """
        column = self.values[measure]
        for first in self._starts(system):
            yield [
                failed
                if isnan(column[at]) and self.statuses[at] == ScoreStatus.ERROR
                else column[at]
                for at in range(first, first + self.trials)
            ]

    def column(self, system: str, measure: str, *, failed: float = nan) -> list[float]:
        """Return the score of each query: the mean of its trials, NaN without any.

        A trial in which the system failed counts as *failed*; by default it does not count.
        """
        return [_mean(scores) for scores in self.trial_scores(system, measure, failed=failed)]

    def query_statuses(self, system: str) -> list[ScoreStatus]:
        """Return the status of each query: SCORED if any trial is, else ERROR if any failed."""
        return [
            ScoreStatus(min(self.statuses[first : first + self.trials]))
            for first in self._starts(system)
        ]

    def count(self, system: str, status: ScoreStatus) -> int:
        """Return how many trials of *system* have *status*."""
        starts = self._starts(system)
        return self.statuses[starts.start : starts.stop].count(status)

    def _starts(self, system: str) -> range:
        """Return where the trials of each query of *system* begin in the columns."""
        width = len(self.query_ids) * self.trials
        start = self.systems.index(system) * width
        return range(start, start + width, self.trials)


def _mean(scores: Sequence[float]) -> float:
    known = [score for score in scores if not isnan(score)]
    return sum(known) / len(known) if known else nan


def _trial_numbers(rows: Sequence[ScoreRow], name: str) -> list[int]:
    """Return the number of each row's trial: its position among those of its query and system."""
    seen: set[tuple[str, str, str]] = set()
    counts: dict[tuple[str, str], int] = {}
    numbers = []
    for row in rows:
        pair = row.system, row.query
        if row.trial and (*pair, row.trial) in seen:
            raise InputError(
                f"{name}: query {row.query!r} of {row.system!r} has trial {row.trial!r} twice; "
                "expected one row for each query, system and trial"
            )
        seen.add((*pair, row.trial))
        numbers.append(counts.get(pair, 0))
        counts[pair] = numbers[-1] + 1
    return numbers


def _tags(
    rows: Sequence[ScoreRow], queries: Sequence[str], name: str
) -> Mapping[str, tuple[str, ...]]:
    """Return the tags of the queries; two values of one tag raise InputError."""
    tags: dict[str, dict[str, str]] = {}
    for row in rows:
        for tag, value in row.tags.items():
            first = tags.setdefault(tag, {}).setdefault(row.query, value)
            if first != value:
                raise InputError(
                    f"{name}: query {row.query!r} has two values of {tag}: {first!r} and {value!r}"
                )
    return {tag: tuple(of.get(query, "") for query in queries) for tag, of in tags.items()}
