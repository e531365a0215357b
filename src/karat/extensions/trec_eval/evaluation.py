"""trec_eval's evaluation: the same numbers under the same names, from the same files."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, log
from typing import Literal, NamedTuple

from karat.errors import FormatError, InputError
from karat.extensions.trec_eval.files import last_tag, read_preferences, read_zscores
from karat.extensions.trec_eval.judged import Judges, PanelQuery, PreferenceQuery
from karat.extensions.trec_eval.metrics.sets import relstring
from karat.extensions.trec_eval.names import MEASURES, Value, values
from karat.extensions.trec_eval.rows import TrecRow
from karat.formats import read_judgments, scan_trec_run
from karat.formats.trec_qrels import read_panel
from karat.model import JudgedQuery
from karat.scoring.matching.documents import judge_ranking
from karat.scoring.matching.modes import as_float32
from karat.scoring.metrics.evaluate import LEAST_IN_GEOMETRIC

Grades = Mapping[str, float]
Scores = Mapping[str, float]
Path = str | os.PathLike[str]


# trec_eval answers for a missing query with one document that nobody judged.
STAND_IN: Scores = {"\0": 0.0}
TIES = ("trec10", "trec9")


class TrecQuery(NamedTuple):
    """One query as trec_eval sees it; *missing* says that a stand-in answers for the run."""

    query_id: str
    judged: JudgedQuery
    missing: bool


class Cutting(NamedTuple):
    """How a ranking is cut: the order of ties, its depth, and which hits remain."""

    ties: str = "trec10"
    depth: int | None = None
    judged_only: bool = False

    def rounded(self, score: float) -> float:
        """Return *score* as precisely as it is compared."""
        return as_float32(score) if self.ties == "trec9" else score

    def locate(self, grades: Grades, scores: Scores) -> JudgedQuery:
        """Return the judged query of one ranking, cut first and then thinned out."""
        return judge_ranking(
            grades, scores, ties=self.ties, judged_only=self.judged_only, depth=self.depth
        )


class TrecJudgments(NamedTuple):
    """The judged documents of each query, and how the ranking of a query is judged."""

    documents: Mapping[str, Grades]
    judge: Callable[[str, Scores], JudgedQuery]


def judged_queries(
    judgments: Path, run: Path, *, kind: str, cutting: Cutting, complete: bool
) -> Iterator[TrecQuery]:
    """Yield the judged queries by id; those that the run lacks only if *complete*."""
    if cutting.ties not in TIES:
        raise InputError(f"ties {cutting.ties!r}: trec_eval supports only {', '.join(TIES)}")
    if cutting.depth is not None and cutting.depth < 1:
        raise InputError(f"depth {cutting.depth} is below 1")
    # Preference files are not a registered format; detection must not take them for another one.
    with _naming_other_formats(judgments, "" if kind == "prefs" else "trec-qrels"):
        truth = KINDS[kind](judgments, cutting)
    with _naming_other_formats(run, "trec-run"):
        judged = {
            query_id: truth.judge(query_id, scores)
            for query_id, scores in scan_trec_run(run, truth.documents)
            if query_id in truth.documents
        }
    for query_id in sorted(truth.documents):
        if query_id in judged:
            yield TrecQuery(query_id, judged[query_id], missing=False)
        elif complete:
            yield TrecQuery(query_id, truth.judge(query_id, STAND_IN), missing=True)


@contextmanager
def _naming_other_formats(path: Path, expected: str) -> Iterator[None]:
    """Read *path* inside; where that fails on a file of another format than *expected*, name it."""
    try:
        yield
    except FormatError as error:
        from karat.formats import FORMATS, detect

        try:
            detected = detect(path) if expected else None
        except InputError:
            detected = None
        if detected is None or detected.name == expected:
            raise error from None
        name = os.fspath(path)
        what = "gold set" if detected.kind == "dataset" else "run"
        advice = "QRELS comes first, then RUN"
        if detected.kind == FORMATS.get(expected).kind:
            advice = f"karat convert {name} OUT --to {expected}"
        raise InputError(
            f"{name}: this is a {what} (format {detected.name}); expected {expected}: {advice}"
        ) from None


def _graded(judgments: Path, cutting: Cutting) -> TrecJudgments:
    """Take one grade per document; trec_eval reads whole numbers, so a fraction is cut off."""
    documents = {
        query_id: {document: float(int(grade)) for document, grade in grades.items()}
        for query_id, grades in read_judgments(judgments).items()
    }
    return TrecJudgments(
        documents, lambda query_id, scores: cutting.locate(documents[query_id], scores)
    )


def _by_panel(judgments: Path, cutting: Cutting) -> TrecJudgments:
    """Take one grade per judge and document."""
    panel = read_panel(judgments)
    highest: dict[str, dict[str, float]] = {}
    for query_id, judges in panel.items():
        best = highest.setdefault(query_id, {})
        for grades in judges.values():
            for document, grade in grades.items():
                grades[document] = float(int(grade))
                best[document] = max(grades[document], best.get(document, grades[document]))

    def judge(query_id: str, scores: Scores) -> JudgedQuery:
        judges = panel[query_id]
        return PanelQuery(
            cutting.locate(highest[query_id], scores),
            [cutting.locate(judges[name], scores) for name in sorted(judges)],
        )

    return TrecJudgments(highest, judge)


def _by_preference(judgments: Path, cutting: Cutting) -> TrecJudgments:
    """Take levels by judge and part."""
    return _preferring(read_preferences(judgments), cutting)


def _by_grade_preference(judgments: Path, cutting: Cutting) -> TrecJudgments:
    """Take grades by judge: a document is preferred to each one that the judge grades lower."""
    panel = read_panel(judgments)
    return _preferring(
        {
            query_id: {judge: {"": levels} for judge, levels in judges.items()}
            for query_id, judges in panel.items()
        },
        cutting,
    )


def _preferring(preferences: Mapping[str, Judges], cutting: Cutting) -> TrecJudgments:
    numbers: dict[str, dict[str, float]] = {}
    for query_id, judges in preferences.items():
        named = (name for parts in judges.values() for part in parts.values() for name in part)
        numbers[query_id] = {name: float(n) for n, name in enumerate(dict.fromkeys(named))}

    def judge(query_id: str, scores: Scores) -> JudgedQuery:
        # trec_eval orders equal scores by ascending id here, by descending id everywhere else.
        pairs = sorted(zip(scores, scores.values(), strict=True))
        by_id = {document: cutting.rounded(float(score)) for document, score in pairs}
        # Ranks are found as for grades; here the grade only says which document it is.
        located = judge_ranking(numbers[query_id], by_id, ties="order", depth=cutting.depth)
        names = list(numbers[query_id])
        returned = {
            names[int(number)]: rank
            for rank, number in zip(located.ranks, located.grades, strict=True)
        }
        return PreferenceQuery(
            query_id, preferences[query_id], returned=returned, retrieved=located.retrieved
        )

    return TrecJudgments(numbers, judge)


KINDS: Mapping[str, Callable[[Path, Cutting], TrecJudgments]] = {
    "qrels": _graded,
    "qrels_jg": _by_panel,
    "prefs": _by_preference,
    "qrels_prefs": _by_grade_preference,
}


Judgments = Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"]
ZScores = Mapping[tuple[str, str], tuple[float, float]]

NO_ZSCORE = -1_000_000.0
ALL = "all"


@dataclass(frozen=True, slots=True)
class TrecSettings:
    """The options of trec_eval, with its defaults.

    *queries* is -q, *summary* not -n, *complete* -c, *level* -l, *depth* -M, *judged_only* -J,
    *judgments* -R, *collection* -N. *ties* is how equal scores are ordered.
    """

    queries: bool = False
    summary: bool = True
    complete: bool = False
    level: int = 1
    depth: int | None = None
    judged_only: bool = False
    judgments: Judgments = "qrels"
    collection: int = 0
    ties: str = "trec10"


def trec_eval(
    judgments: str | os.PathLike[str],
    run: str | os.PathLike[str],
    *,
    measures: Sequence[str] = ("official",),
    settings: TrecSettings | None = None,
    zscores: str | os.PathLike[str] | None = None,
) -> list[TrecRow]:
    """Return the lines that trec_eval prints for *run*, in its order.

    Queries come in the order of their ids. One that the run lacks is left out, or with *complete*
    counts as an answer with nothing in it. *zscores* names a file of reference scores.
    """
    settings = settings or TrecSettings()
    if settings.level < 1:
        raise InputError(f"relevance level {settings.level} is below 1")
    requested = values(
        measures,
        level=settings.level,
        collection=settings.collection,
        judgments=settings.judgments,
    )
    reference: ZScores | None = None
    if zscores is not None:
        reference = read_zscores(zscores)
    judged = judged_queries(
        judgments,
        run,
        kind=settings.judgments,
        cutting=Cutting(settings.ties, settings.depth, settings.judged_only),
        complete=settings.complete,
    )
    evaluation = _Evaluation(requested, settings, reference)
    rows = [row for query in judged for row in evaluation.query(query)]
    if not evaluation.count:
        raise InputError(f"{os.fspath(run)} has no query of {os.fspath(judgments)}")
    if settings.summary:
        rows.extend(evaluation.summary(run))
    return rows


class _Evaluation:
    """The values of each query, and their sums in the order of the queries.

    Sums are made one by one, not exactly, because the last printed digit may depend on it.
    """

    def __init__(
        self, values: Sequence[Value], settings: TrecSettings, zscores: ZScores | None
    ) -> None:
        self.values = values
        self.settings = settings
        self.zscores = zscores
        self.functions = [value.measure.bind() if value.measure else None for value in values]
        self.kinds = [
            value.measure.definition.average if value.measure else None for value in values
        ]
        self.sums = [0.0] * len(values)
        self.count = 0
        self.relevant = 0

    def query(self, query: TrecQuery) -> Iterator[TrecRow]:
        """Add one query; yield its rows if they are asked for."""
        self.count += 1
        self.relevant += query.judged.relevant_count()
        for index, value in enumerate(self.values):
            family = MEASURES[value.family]
            number = self.number(index, query)
            if number is not None:
                self.sums[index] += number
            if self.settings.queries and family.per_query:
                if number is None:
                    yield TrecRow(value.name, query.query_id, _relstring(value, query))
                else:
                    zscore = self.zscores is not None
                    yield TrecRow(value.name, query.query_id, number, family.whole, zscore)

    def number(self, index: int, query: TrecQuery) -> float | None:
        """Return one value of a query as trec_eval adds it up, None if it is not a number."""
        function = self.functions[index]
        if function is None:
            return None
        name = self.values[index].name
        value = 0.0 if query.missing and _forgiven(name) else function(query.judged)
        if self.kinds[index] == "geometric":
            value = log(max(value, LEAST_IN_GEOMETRIC))
        if self.zscores is not None:
            value = _standardised(value, self.zscores.get((query.query_id, name)))
        return value

    def summary(self, run: str | os.PathLike[str]) -> Iterator[TrecRow]:
        """Yield the rows over all queries."""
        for index, value in enumerate(self.values):
            if value.family == "runid":
                yield TrecRow(value.name, ALL, last_tag(run))
            elif value.measure is not None:
                whole = MEASURES[value.family].whole
                yield TrecRow(value.name, ALL, self.average(index), whole, self.zscores is not None)

    def average(self, index: int) -> float:
        """Return one value over all queries."""
        name = self.values[index].name
        if name == "num_q":
            return float(self.count)
        if name == "num_rel" and self.settings.complete:
            # trec_eval counts every positive grade here, whatever the level.
            return float(self.relevant)
        kind = self.kinds[index]
        if kind == "sum":
            return self.sums[index]
        mean = self.sums[index] / self.count
        return exp(mean) if kind == "geometric" else mean


def _forgiven(name: str) -> bool:
    """Return whether trec_eval sets *name* to 0 if a missing answer would count otherwise.

    It goes by the printed name, so a measure with its own parameters is not forgiven.
    """
    return name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj")


def _relstring(value: Value, query: TrecQuery) -> str:
    cleared = query.missing and value.name == "relstring"
    return "''" if cleared else f"'{relstring(query.judged, value.length)}'"


def _standardised(value: float, reference: tuple[float, float] | None) -> float:
    if reference is None:
        return NO_ZSCORE
    mean, deviation = reference
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else NO_ZSCORE
