"""Judgments of each of trec_eval's kinds, met with a run."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from karat.errors import FormatError, InputError
from karat.formats import read_judgments, scan_trec_run
from karat.formats.preferences import read_panel, read_preferences
from karat.matching.documents import locate
from karat.matching.ties import as_float32
from karat.model import JudgedQuery
from karat.model.preferences import Judges, PanelQuery, PreferenceQuery

__all__ = ["Cutting", "TrecQuery", "judged_queries"]

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
    """What becomes of a ranking: how ties are ordered, its depth, and what of it is kept."""

    ties: str = "trec10"
    depth: int | None = None
    judged_only: bool = False

    def kept(self, score: float) -> float:
        """Return *score* as precisely as it is compared."""
        return as_float32(score) if self.ties == "trec9" else score

    def locate(self, grades: Grades, scores: Scores) -> JudgedQuery:
        """Return the judged query of one ranking, cut first and then thinned out."""
        return locate(
            grades, scores, ties=self.ties, judged_only=self.judged_only, depth=self.depth
        )


class Truth(NamedTuple):
    """The judged documents of each query, and how the ranking of a query is judged."""

    documents: Mapping[str, Grades]
    judge: Callable[[str, Scores], JudgedQuery]


def judged_queries(
    judgments: Path, run: Path, *, kind: str, cutting: Cutting, complete: bool
) -> Iterator[TrecQuery]:
    """Yield the judged queries by id; those that the run lacks only if *complete*."""
    if cutting.ties not in TIES:
        raise InputError(f"ties {cutting.ties!r}: trec_eval knows only {', '.join(TIES)}")
    if cutting.depth is not None and cutting.depth < 1:
        raise InputError(f"depth {cutting.depth} is below 1")
    # Preference files are not a registered format; detection must not take them for another one.
    with _naming_other_formats(judgments, "" if kind == "prefs" else "trec-qrels"):
        truth = KINDS[kind](judgments, cutting)
    with _naming_other_formats(run, "trec-run"):
        found = {
            query_id: truth.judge(query_id, scores)
            for query_id, scores in scan_trec_run(run, truth.documents)
            if query_id in truth.documents
        }
    for query_id in sorted(truth.documents):
        if query_id in found:
            yield TrecQuery(query_id, found[query_id], missing=False)
        elif complete:
            yield TrecQuery(query_id, truth.judge(query_id, STAND_IN), missing=True)


@contextmanager
def _naming_other_formats(path: Path, wanted: str) -> Iterator[None]:
    """Read *path* inside; where that fails on a file of another format than *wanted*, name it."""
    try:
        yield
    except FormatError as error:
        from karat.formats import FORMATS, detect

        try:
            found = detect(path) if wanted else None
        except InputError:
            found = None
        if found is None or found.name == wanted:
            raise error from None
        place = os.fspath(path)
        what = "gold set" if found.kind == "dataset" else "run"
        advice = "QRELS comes first, then RUN"
        if found.kind == FORMATS.get(wanted).kind:
            advice = f"karat convert {place} OUT --to {wanted}"
        raise InputError(
            f"{place}: this is a {what} (format {found.name}); expected {wanted}: {advice}"
        ) from None


def _graded(judgments: Path, cutting: Cutting) -> Truth:
    """Take one grade per document; trec_eval reads whole numbers, so a fraction is cut off."""
    documents = {
        query_id: {document: float(int(grade)) for document, grade in grades.items()}
        for query_id, grades in read_judgments(judgments).items()
    }
    return Truth(documents, lambda query_id, scores: cutting.locate(documents[query_id], scores))


def _by_panel(judgments: Path, cutting: Cutting) -> Truth:
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

    return Truth(highest, judge)


def _by_preference(judgments: Path, cutting: Cutting) -> Truth:
    """Take levels by judge and part."""
    return _preferring(read_preferences(judgments), cutting)


def _by_grade_preference(judgments: Path, cutting: Cutting) -> Truth:
    """Take grades by judge: a document is preferred to each one that the judge grades lower."""
    panel = read_panel(judgments)
    return _preferring(
        {
            query_id: {judge: {"": levels} for judge, levels in judges.items()}
            for query_id, judges in panel.items()
        },
        cutting,
    )


def _preferring(preferences: Mapping[str, Judges], cutting: Cutting) -> Truth:
    numbers: dict[str, dict[str, float]] = {}
    for query_id, judges in preferences.items():
        named = (name for parts in judges.values() for part in parts.values() for name in part)
        numbers[query_id] = {name: float(n) for n, name in enumerate(dict.fromkeys(named))}

    def judge(query_id: str, scores: Scores) -> JudgedQuery:
        # trec_eval orders equal scores by ascending id here, by descending id everywhere else.
        pairs = sorted(zip(scores, scores.values(), strict=True))
        by_id = {document: cutting.kept(float(score)) for document, score in pairs}
        # Ranks are found as for grades; here the grade only says which document it is.
        located = locate(numbers[query_id], by_id, ties="order", depth=cutting.depth)
        names = list(numbers[query_id])
        returned = {
            names[int(number)]: rank
            for rank, number in zip(located.ranks, located.grades, strict=True)
        }
        return PreferenceQuery(
            query_id, preferences[query_id], returned=returned, retrieved=located.retrieved
        )

    return Truth(numbers, judge)


KINDS: Mapping[str, Callable[[Path, Cutting], Truth]] = {
    "qrels": _graded,
    "qrels_jg": _by_panel,
    "prefs": _by_preference,
    "qrels_prefs": _by_grade_preference,
}
