"""One scored run, as reports and notebooks show it.

The renderers of notebooks are in ``karat.report``, a layer above the records; they are found by
name and loaded on first use, so that a record that nobody looks at loads nothing.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import nan
from typing import TYPE_CHECKING, Any

from karat.errors import UnknownName
from karat.model.frozen import EMPTY, by_value
from karat.registry import Registry
from karat.system.words import counted, first_few, join_names, options_as_arguments

if TYPE_CHECKING:
    from karat.model.comparison import Comparison, Interval, LabelCounts
    from karat.model.judgments import LabelUse


VIEWS: Registry[Callable[..., Any]] = Registry(
    "view",
    {
        "frame": "karat.report.notebook:as_frame",
        "html": "karat.report.notebook:as_html",
        "latex": "karat.report.latex:latex_table",
        "plot": "karat.report.figures:plot",
    },
    closed=True,
)


class ResultViews(ABC):
    """The views that an evaluation and a comparison share."""

    __slots__ = ()

    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """Return the names by which parts of the result are looked up."""

    def to_pandas(self, *, summary: bool = False) -> Any:
        """Return a pandas frame: a row per run, query and measure; or per mean with *summary*."""
        return VIEWS.get("frame")(self, "pandas", summary=summary)

    def to_polars(self, *, summary: bool = False) -> Any:
        """Return a polars frame: a row per run, query and measure; or per mean with *summary*."""
        return VIEWS.get("frame")(self, "polars", summary=summary)

    def to_arrow(self, *, summary: bool = False) -> Any:
        """Return a pyarrow table: a row per run, query and measure; or per mean with *summary*."""
        return VIEWS.get("frame")(self, "pyarrow", summary=summary)

    def to_latex(self, **options: Any) -> str:
        r"""Return a LaTeX table for a paper.

        Options: *digits* behind the point (3), *percent* (False) multiplies means by 100,
        *intervals* (False) adds confidence intervals, *label* is the key for ``\ref``, *caption*
        replaces the one that explains bold and letters.
        """
        text: str = VIEWS.get("latex")(self, **options)
        return text

    def plot(self, measure: str | None = None, *, kind: str = "", ax: Any = None) -> Any:
        """Draw with matplotlib in the colours of the report, and return the axes.

        *kind* is ``means`` (with intervals), ``queries`` (sorted scores), or for two runs
        ``differences`` (a bar per query, sorted).
        """
        return VIEWS.get("plot")(self, measure, kind=kind, ax=ax)

    def _repr_html_(self) -> str:
        text: str = VIEWS.get("html")(self)
        return text


class QueryStatus(IntEnum):
    """The status of a query. All but UNJUDGED count in the means.

    MISSING, ERROR and TIMEOUT count as an empty answer, which scores 0, and are skipped if less is
    better; between two runs they share nothing.
    """

    SCORED = 0
    MISSING = 1
    ERROR = 2
    TIMEOUT = 3
    UNJUDGED = 4


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class LabelledScores:
    """Scores of one run by the labels of people and by those of a language model.

    Scores by *people* are NaN for queries outside the human sample, those by the *model* for
    queries that it has not judged. *remark* is a warning about the labels of people.
    """

    people: "Mapping[str, array[float]]"
    model: "Mapping[str, array[float]]"
    remark: str = ""


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class ScoreTable:
    """Scores of one run: ``columns[metric][query]``; NaN means that the query is not scored.

    With a human sample, *columns* has the scores by people where they judged, and those by the
    model elsewhere; *labelled* has both.
    """

    name: str
    query_ids: tuple[str, ...]
    statuses: tuple[QueryStatus, ...]
    columns: "Mapping[str, array[float]]"
    labelled: LabelledScores | None = None

    def __repr__(self) -> str:
        """Return one line: name, number of queries, and the metrics."""
        metrics = ", ".join(self.columns)
        return f"<ScoreTable {self.name}: {counted(len(self.query_ids), 'query')}, {metrics}>"

    def count(self, status: QueryStatus) -> int:
        """Return how many queries have *status*."""
        return self.statuses.count(status)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Names differ, so that in most answered queries no hit can match a target, or in a part.

    *queries* of the *answered* ones have no hit on any target. *hit* and *target* are an example of
    each side; *options* are command-line options that make them match, empty if there are none;
    then *advice* may have a suggestion. *sure* is False if the engine could also be so bad that it
    never returns any target: the scores are valid, with a warning. *partly* means that fewer
    queries are affected: in so many of the *answered* ones that were looked at, a target that
    counts as missed is among the hits under another name.
    """

    queries: int
    answered: int
    hit: str
    target: str
    options: str = ""
    sure: bool = True
    advice: str = ""
    partly: bool = False

    def text(self, name: str) -> str:
        """Return the warning about the run called *name*.

        >>> print(Mismatch(9, 9, "x/a.py", "a.py", "--root x").text("new"))
        no hit of new is a target: the run has 'x/a.py', the gold set 'a.py'; add --root x
        """
        where = f"in {self.queries} of {self.answered} answered queries "
        fix = f"add {self.options}" if self.options else self.advice
        if self.partly:
            return (
                f"in {self.queries} of {self.answered} queries, {name} has a target under another "
                f"name: the run has {self.hit!r}, the gold set {self.target!r}; {fix}"
            )
        return (
            f"{where if self.queries < self.answered else ''}no hit of {name} is a target"
            f"{'' if self.sure else '; the names may not match'}: "
            f"the run has {self.hit!r}, the gold set {self.target!r}; "
            f"{fix or 'check that both use the same names'}"
        )


WRONG_NAMES = "names do not match those of the gold set"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the scores of a run mean nothing: *reason*, and *advice* on what to do, "" without any.

    It is set if no query has a hit, if most queries fail with the same error, and if most hits
    cannot be in the corpus.
    """

    reason: str
    advice: str = ""

    def text(self, name: str) -> str:
        """Return the warning about the run called *name*.

        >>> print(Failure("returned no hits for 9 of 9 queries", "lower the threshold").text("new"))
        new: returned no hits for 9 of 9 queries; lower the threshold
        """
        return f"{name}: {self.reason}" + (f"; {self.advice}" if self.advice else "")


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One measure over a set of queries: its mean, with the interval if requested.

    *answered* is the mean over answered queries only, without errors, timeouts and missing ones.
    *labels* is set if mean and interval are prediction-powered.
    """

    measure: str
    mean: float
    answered: float
    n: int
    interval: "Interval | None" = None
    labels: "LabelCounts | None" = None


# The reason of hits that are left out, in the notes.
NON_FINITE = "non-finite score"


@by_value
@dataclass(frozen=True, slots=True, eq=False)
class Notes:
    """Notes that belong to the scores.

    *clusters* counts the groups in which queries are resampled for intervals; 0: queries are
    independent. *hits_per_query* is the mean over the queries with a hit, NaN if there are none.
    *mismatch* is set if the run and the dataset use different document names, and *failure* if the
    run is broken in another way. *removed* is a warning about hits outside the corpus, if many of
    the hits, or of the queries, are affected. *labels* says how labels of models are used,
    None if the dataset has none. *powered* is a sentence about prediction-powered intervals.
    *unit* says why the run is judged by files although targets are parts of files, else "".
    *tokens* says how the tokens of hits were counted, if a measure needs them, else "".
    Without *has_hits*, the scores are those of a file.
    """

    queries: int
    statuses: Mapping[QueryStatus, int]
    invalid: Mapping[str, int]
    unknown_queries: tuple[str, ...]
    ties: str
    tied: int
    judged_share: float
    clusters: int = 0
    hits_per_query: float = nan
    mismatch: Mismatch | None = None
    failure: Failure | None = None
    labels: "LabelUse | None" = None
    powered: str = ""
    removed: str = ""
    unit: str = ""
    tokens: str = ""
    has_hits: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(ResultViews):
    """One scored run: per query in *table*, over all in *summaries*, per tag value in *slices*.

    It reads like a mapping from measures to means: ``evaluation["ndcg@10"]``, ``dict(evaluation)``.
    *labels* has the measures that were typed in another spelling than the canonical one; both
    spellings are keys. With *in_python*, warnings name arguments of functions instead of options.
    """

    name: str
    table: ScoreTable
    summaries: tuple[Summary, ...]
    notes: Notes
    slices: Mapping[str, Mapping[str, tuple[Summary, ...]]]
    labels: Mapping[str, str] = EMPTY
    in_python: bool = False

    def __repr__(self) -> str:
        """Return one line: name, number of queries, and the first means."""
        means = [f"{self.label(each.measure)} {each.mean:.3f}" for each in self.summaries]
        return f"<Evaluation {self.name}: {counted(self.notes.queries, 'query')}, {_first(means)}>"

    @property
    def broken(self) -> bool:
        """Return whether the scores mean nothing; see :attr:`reason`."""
        return bool(self.reason)

    @property
    def reason(self) -> str:
        """Return why the scores mean nothing and the run is compared with no other, or ""."""
        mismatch, failure = self.notes.mismatch, self.notes.failure
        if mismatch and mismatch.sure:
            return WRONG_NAMES
        return failure.reason if failure else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about this run, and about labels of models that may be wrong."""
        labels, count = self.notes.labels, self.notes.invalid.get(NON_FINITE, 0)
        warnings = [*self.run_warnings]
        if count:
            hits = counted(count, "hit")
            warnings.append(f"{self.name}: {hits} left out, because the score is NaN or infinite")
        return (*warnings, *self._said([labels.text] if labels and labels.is_doubtful else []))

    @property
    def run_warnings(self) -> tuple[str, ...]:
        """Return warnings about a broken run, and about names that do not match, or may not."""
        notes = (self.notes.mismatch, self.notes.failure)
        texts = (*(each.text(self.name) for each in notes if each), self.notes.removed)
        return self._said(text for text in texts if text)

    def _said(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(options_as_arguments, texts) if self.in_python else texts)

    @property
    def mark(self) -> str:
        """Return the mark beside numbers that use doubtful labels of models, usually ""."""
        return self.notes.labels.mark if self.notes.labels else ""

    def reportable(self) -> "Evaluation":
        """Return the form for reports: a broken run has no scores, as its zeros mean nothing."""
        if not self.broken:
            return self
        nothing = array("d", [nan]) * len(self.table.query_ids)
        slices = {
            tag: {value: _unscored(summaries) for value, summaries in values.items()}
            for tag, values in self.slices.items()
        }
        return replace(
            self,
            table=replace(
                self.table, columns=dict.fromkeys(self.table.columns, nothing), labelled=None
            ),
            summaries=_unscored(self.summaries),
            slices=slices,
        )

    def labelled(self) -> "Evaluation":
        """Return the evaluation with measures named as they were typed, for tables and texts."""
        if not self.labels:
            return self
        columns = {self.label(name): values for name, values in self.table.columns.items()}
        return replace(
            self,
            table=replace(self.table, columns=columns),
            summaries=self._labelled(self.summaries),
            slices={
                tag: {value: self._labelled(summaries) for value, summaries in values.items()}
                for tag, values in self.slices.items()
            },
            labels=EMPTY,
        )

    def _labelled(self, summaries: tuple[Summary, ...]) -> tuple[Summary, ...]:
        return tuple(replace(each, measure=self.label(each.measure)) for each in summaries)

    def label(self, measure: str) -> str:
        """Return the canonical name *measure* as it was typed."""
        return self.labels.get(measure, measure)

    def keys(self) -> tuple[str, ...]:
        """Return the measures as they were typed."""
        return tuple(self.label(summary.measure) for summary in self.summaries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, measure: object) -> bool:
        try:
            self._summary(measure)
        except UnknownName:
            return False
        return True

    def __getitem__(self, measure: object) -> float:
        """Return the mean of *measure*; the spelling as typed and the canonical one both work.

        An object, such as a measure of ir_measures, is looked up by its text.
        """
        return self._summary(measure).mean

    def interval(self, measure: object) -> "Interval | None":
        """Return the confidence interval of the mean of *measure*, None if none was computed."""
        return self._summary(measure).interval

    def query(self, query_id: str) -> dict[str, float]:
        """Return the scores of one query by measure; NaN means not scored."""
        try:
            row = self.table.query_ids.index(query_id)
        except ValueError:
            raise _unknown_query(query_id, self.table.query_ids) from None
        return {self.label(name): values[row] for name, values in self.table.columns.items()}

    def per_query(self, measure: object) -> dict[str, float]:
        """Return the score of each query on *measure*; NaN means not scored."""
        column = self.table.columns[self.canonical(measure)]
        return dict(zip(self.table.query_ids, column, strict=True))

    def canonical(self, measure: object) -> str:
        """Return the canonical name of a computed *measure*, such as ``ap`` for ``MAP``."""
        return self._summary(measure).measure

    def _summary(self, measure: object) -> Summary:
        name = str(measure).strip().lower()
        for summary in self.summaries:
            if name in (summary.measure, self.label(summary.measure).lower()):
                return summary
        raise UnknownName(f"{str(measure)!r} was not computed; computed: {', '.join(self.keys())}")


MOST_SHOWN = 3


def _first(texts: list[str]) -> str:
    return ", ".join(texts[:MOST_SHOWN]) + (", ..." if len(texts) > MOST_SHOWN else "")


def _unknown_query(query_id: object, known: tuple[str, ...]) -> UnknownName:
    examples = ", ".join(map(repr, known[:MOST_SHOWN])) or "none"
    return UnknownName(f"no query {query_id!r}; the gold set has {examples}, ...")


def _unscored(summaries: tuple[Summary, ...]) -> tuple[Summary, ...]:
    return tuple(Summary(summary.measure, nan, nan, 0) for summary in summaries)


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonResult(ResultViews):
    """Several scored and compared runs: over all queries, and per value of each requested tag.

    *notes* are limits of the comparison, shown after the verdict; *further_tests* are sentences
    about additional tests; *clusters* counts the groups in which queries are resampled, 0 if
    queries are independent.
    """

    evaluations: tuple[Evaluation, ...]
    comparison: "Comparison"
    slices: "Mapping[str, Mapping[str, Comparison]]"
    verdict: str
    further_tests: tuple[str, ...] = ()
    clusters: int = 0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return one line: the number of queries, and the mean of each run on the first measure."""
        comparison = self.comparison.labelled()
        lead = comparison.metrics[0]
        means = [
            f"{entry.system} {nan if entry.mean is None else entry.mean:.3f}"
            for entry in comparison.means
            if entry.metric == lead
        ]
        return f"<ComparisonResult {counted(comparison.queries, 'query')}, {lead}: {_first(means)}>"

    def keys(self) -> tuple[str, ...]:
        """Return the names of the runs."""
        return tuple(evaluation.name for evaluation in self.evaluations)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __getitem__(self, run: str) -> Evaluation:
        """Return the evaluation of the run called *run*, with the intervals of the comparison."""
        for evaluation in self.evaluations:
            if evaluation.name == run:
                return replace(evaluation, summaries=self._with_intervals(evaluation))
        raise UnknownName(f"no run {run!r}; compared: {', '.join(self.keys())}")

    def _with_intervals(self, evaluation: Evaluation) -> tuple[Summary, ...]:
        intervals = {
            entry.metric: entry.interval
            for entry in self.comparison.means
            if entry.system == evaluation.name
        }
        return tuple(
            each if each.interval else replace(each, interval=intervals.get(each.measure))
            for each in evaluation.summaries
        )

    def query(self, query_id: str) -> dict[str, dict[str, float]]:
        """Return the scores of one query by run, then by measure."""
        return {each.name: each.query(query_id) for each in self.evaluations}

    def labelled(self) -> "ComparisonResult":
        """Return the result with measures named as they were typed, for tables and texts."""
        if not (self.comparison.labels or any(each.labels for each in self.evaluations)):
            return self
        return replace(
            self,
            evaluations=tuple(each.labelled() for each in self.evaluations),
            comparison=self.comparison.labelled(),
            slices={
                tag: {value: each.labelled() for value, each in values.items()}
                for tag, values in self.slices.items()
            },
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return warnings about runs whose scores must not be used, and about all scores."""
        return tuple(dict.fromkeys(text for each in self.evaluations for text in each.warnings))

    @property
    def broken(self) -> tuple[str, ...]:
        """Return the names of the runs that are broken, which are compared with no other."""
        return tuple(each.name for each in self.evaluations if each.broken)

    @property
    def mark(self) -> str:
        """Return the mark beside numbers that use doubtful labels of models, usually ""."""
        return next((each.mark for each in self.evaluations), "")


def broken_sentences(evaluations: Iterable[Evaluation]) -> Iterator[str]:
    """Yield for each reason why runs are broken a sentence with their names."""
    alike: dict[str, list[str]] = {}
    for evaluation in evaluations:
        if evaluation.broken:
            alike.setdefault(evaluation.reason, []).append(evaluation.name)
    for reason, names in alike.items():
        yield f"No verdict on {join_names(first_few(names))}: {reason}."


CARRY_ADVICE = (
    "if the engine has one fixed index, move the gold set to its version: "
    "karat carry GOLDSET --to HEAD -o gold-head.json"
)
