"""trec_eval's evaluation: the same numbers under the same names, from the same files."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Literal

from karat.app.trec_judging import Cutting, TrecQuery, judged_queries
from karat.errors import InputError
from karat.metrics.evaluate import LEAST_IN_GEOMETRIC
from karat.metrics.trec.names import MEASURES
from karat.metrics.trec.relstring import relstring
from karat.metrics.trec.request import Value, values
from karat.report.trec_text import TrecRow

__all__ = ["Judgments", "TrecSettings", "trec_eval"]

Judgments = Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"]
ZScores = Mapping[tuple[str, str], tuple[float, float]]

NO_ZSCORE = -1_000_000.0
ALL = "all"


@dataclass(frozen=True, slots=True)
class TrecSettings:
    """What trec_eval's options set, with its defaults.

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
    wanted = values(
        measures,
        level=settings.level,
        collection=settings.collection,
        judgments=settings.judgments,
    )
    reference: ZScores | None = None
    if zscores is not None:
        from karat.formats.zscores import read_zscores

        reference = read_zscores(zscores)
    judged = judged_queries(
        judgments,
        run,
        kind=settings.judgments,
        cutting=Cutting(settings.ties, settings.depth, settings.judged_only),
        complete=settings.complete,
    )
    evaluation = _Evaluation(wanted, settings, reference)
    rows = [row for query in judged for row in evaluation.query(query)]
    if not evaluation.count:
        raise InputError(f"{os.fspath(run)}: answers no query of {os.fspath(judgments)}")
    if settings.summary:
        rows.extend(evaluation.summary(run))
    return rows


class _Evaluation:
    """The values of each query, and their sums in the order of the queries.

    Sums are made one by one, not exactly, because the last printed digit may hang on it.
    """

    def __init__(
        self, wanted: Sequence[Value], settings: TrecSettings, zscores: ZScores | None
    ) -> None:
        self.wanted = wanted
        self.settings = settings
        self.zscores = zscores
        self.functions = [value.measure.bind() if value.measure else None for value in wanted]
        self.kinds = [
            value.measure.definition.average if value.measure else None for value in wanted
        ]
        self.sums = [0.0] * len(wanted)
        self.count = 0
        self.relevant = 0

    def query(self, query: TrecQuery) -> Iterator[TrecRow]:
        """Add one query; yield its rows if they are asked for."""
        self.count += 1
        self.relevant += query.judged.relevant_count()
        for index, value in enumerate(self.wanted):
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
        """Return one value of a query as trec_eval adds it up, None for what is no number."""
        function = self.functions[index]
        if function is None:
            return None
        name = self.wanted[index].name
        value = 0.0 if query.missing and _forgiven(name) else function(query.judged)
        if self.kinds[index] == "geometric":
            value = log(max(value, LEAST_IN_GEOMETRIC))
        if self.zscores is not None:
            value = _standardised(value, self.zscores.get((query.query_id, name)))
        return value

    def summary(self, run: str | os.PathLike[str]) -> Iterator[TrecRow]:
        """Yield the rows over all queries."""
        for index, value in enumerate(self.wanted):
            if value.family == "runid":
                from karat.formats.trec_tag import last_tag

                yield TrecRow(value.name, ALL, last_tag(run))
            elif value.measure is not None:
                whole = MEASURES[value.family].whole
                yield TrecRow(value.name, ALL, self.average(index), whole, self.zscores is not None)

    def average(self, index: int) -> float:
        """Return one value over all queries."""
        name = self.wanted[index].name
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
    """Say whether trec_eval sets *name* to 0 where the stand-in for a missing answer would count.

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
