"""trec_eval's evaluation: the same numbers under the same names, from the same files."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, log
from typing import Literal, NamedTuple

from karat.errors import FormatError, InputError, UnknownName
from karat.formats import read_judgments, scan_trec_run
from karat.formats.trec_qrels import read_panel, read_preferences
from karat.model import JudgedQuery
from karat.model.judged import Judges, PanelQuery, PreferenceQuery
from karat.report.text import TrecRow
from karat.scoring.matching.documents import judge_ranking
from karat.scoring.matching.modes import as_float32
from karat.scoring.metrics.evaluate import LEAST_IN_GEOMETRIC
from karat.scoring.metrics.measure import Measure
from karat.scoring.metrics.trec_sets import relstring

# The parameters after the name: cut-offs, points (one value each), numbers or grade=gain pairs (one
# value from all of them), or none.
Takes = Literal["nothing", "cuts", "points", "numbers", "pairs"]
Needs = Literal["any", "qrels", "qrels_jg", "prefs"]
Grades = Mapping[str, float]
Scores = Mapping[str, float]
Path = str | os.PathLike[str]

# trec_eval answers for a missing query with one document that nobody judged.
STAND_IN: Scores = {"\0": 0.0}
TIES = ("trec10", "trec9")


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures.

    *metric* is Karat's name for it, empty if the value is not a number. *params* names the metric's
    parameters that the numbers after the dot set. *needs* is the kind of judgments it reads.
    """

    metric: str
    takes: Takes = "nothing"
    default: tuple[float, ...] = ()
    params: tuple[str, ...] = ()
    needs: Needs = "qrels"
    whole: bool = False
    per_query: bool = True


RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
PRICES = ("found", "wrong", "missed", "spared")


def _count(metric: str, needs: Needs = "qrels") -> TrecMeasure:
    return TrecMeasure(metric, needs=needs, whole=True)


def _cuts(metric: str, *default: int, needs: Needs = "qrels") -> TrecMeasure:
    return TrecMeasure(metric, "cuts", default or RANKS, needs=needs)


def _points(
    metric: str, param: str, default: tuple[float, ...], needs: Needs = "qrels"
) -> TrecMeasure:
    return TrecMeasure(metric, "points", default, (param,), needs)


def _gains(metric: str, *params: str) -> TrecMeasure:
    return TrecMeasure(metric, "pairs", params=params or ("gain",))


MEASURES = {
    "runid": TrecMeasure("", needs="any", per_query=False),
    "num_q": TrecMeasure("num-q", needs="any", whole=True, per_query=False),
    "num_ret": _count("num-ret"),
    "num_rel": _count("num-rel"),
    "num_rel_ret": _count("num-rel-ret"),
    "map": TrecMeasure("ap"),
    "gm_map": TrecMeasure("gm-ap", per_query=False),
    "Rprec": TrecMeasure("r-precision"),
    "bpref": TrecMeasure("bpref"),
    "recip_rank": TrecMeasure("mrr"),
    "iprec_at_recall": _points("iprec", "recall", RECALLS),
    "P": _cuts("precision"),
    "relstring": TrecMeasure("", "numbers", (10.0,)),
    "recall": _cuts("recall"),
    "infAP": TrecMeasure("inf-ap"),
    "gm_bpref": TrecMeasure("gm-bpref", per_query=False),
    "Rprec_mult": _points("r-precision-mult", "times", MULTIPLES),
    "utility": TrecMeasure("utility", "numbers", params=PRICES),
    "11pt_avg": TrecMeasure("11pt-avg", "numbers", params=("points",)),
    "binG": TrecMeasure("bin-g"),
    "G": _gains("g"),
    "dcg": _gains("dcg"),
    "ideal_dcg": _gains("ideal-dcg"),
    "ndcg": _gains("ndcg"),
    "ndcg_rel": _gains("ndcg-rel"),
    "Rndcg": _gains("r-ndcg"),
    "ndcg_cut": _cuts("ndcg"),
    "map_cut": _cuts("ap"),
    "relative_P": _cuts("relative-precision"),
    "success": _cuts("hit", 1, 5, 10),
    "set_P": TrecMeasure("set-precision"),
    "set_relative_P": TrecMeasure("set-relative-precision"),
    "set_recall": TrecMeasure("set-recall"),
    "set_map": TrecMeasure("set-ap"),
    "set_F": TrecMeasure("set-f", "numbers", params=("weight",)),
    "num_nonrel_judged_ret": _count("num-nonrel-judged-ret"),
    "prefs_num_prefs_poss": _count("prefs-num-prefs-poss", "prefs"),
    "prefs_num_prefs_ful": _count("prefs-num-prefs-ful", "prefs"),
    "prefs_num_prefs_ful_ret": _count("prefs-num-prefs-ful-ret", "prefs"),
    "prefs_simp": TrecMeasure("prefs-simp", needs="prefs"),
    "prefs_pair": TrecMeasure("prefs-pair", needs="prefs"),
    "prefs_avgjg": TrecMeasure("prefs-avgjg", needs="prefs"),
    "prefs_avgjg_Rnonrel": TrecMeasure("prefs-avgjg-rnonrel", needs="prefs"),
    "prefs_simp_ret": TrecMeasure("prefs-simp-ret", needs="prefs"),
    "prefs_pair_ret": TrecMeasure("prefs-pair-ret", needs="prefs"),
    "prefs_avgjg_ret": TrecMeasure("prefs-avgjg-ret", needs="prefs"),
    "prefs_avgjg_Rnonrel_ret": TrecMeasure("prefs-avgjg-rnonrel-ret", needs="prefs"),
    "prefs_simp_imp": TrecMeasure("prefs-simp-imp", needs="prefs"),
    "prefs_pair_imp": TrecMeasure("prefs-pair-imp", needs="prefs"),
    "prefs_avgjg_imp": TrecMeasure("prefs-avgjg-imp", needs="prefs"),
    "map_avgjg": TrecMeasure("ap-avgjg", needs="qrels_jg"),
    "P_avgjg": _cuts("precision-avgjg", needs="qrels_jg"),
    "Rprec_mult_avgjg": _points("r-precision-mult-avgjg", "times", MULTIPLES, "qrels_jg"),
    "yaap": TrecMeasure("yaap"),
    "rbp": _gains("rbp-graded", "p", "gain"),
    "rbp_resid": _gains("rbp-residual", "p"),
    "unj": _cuts("unjudged", 5, 10, 20),
}

COUNTS = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
NOT_IN_ALL = {"dcg", "ideal_dcg", "yaap"}

NICKNAMES = {
    "official": (
        *COUNTS,
        *("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"),
    ),
    "set": (
        *COUNTS,
        *("utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
    ),
    "all_trec": tuple(
        name
        for name, measure in MEASURES.items()
        if measure.needs in ("any", "qrels") and name not in NOT_IN_ALL
    ),
    "all_prefs": tuple(
        name for name, measure in MEASURES.items() if measure.needs in ("any", "prefs")
    ),
    "prefs": (
        *("runid", "num_q"),
        *("prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret"),
        *("prefs_simp", "prefs_pair", "prefs_avgjg"),
    ),
    "qrels_jg": ("runid", "num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}


LEADING_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+")


class Value(NamedTuple):
    """One value to print: its name and its measure (None if it is not a number).

    *family* is trec_eval's measure, *length* the maximum length of a relstring.
    """

    name: str
    family: str
    measure: Measure | None
    length: int = 0


def values(
    requests: Sequence[str], *, level: int = 1, collection: int = 0, judgments: str = "qrels"
) -> list[Value]:
    """Return the values that *requests* name, in trec_eval's order.

    The first parameters of a measure apply wherever else it is requested. A measure that needs
    another kind of *judgments* is an error.

    >>> [value.name for value in values(["P.10,5", "map"])]
    ['map', 'P_5', 'P_10']
    """
    wanted: set[str] = set()
    given: dict[str, str] = {}
    for request in requests:
        name, dot, parameters = request.strip().partition(".")
        if dot and not parameters:
            raise InputError(f"measure {request!r} ends in a dot; expected parameters after it")
        if name not in NICKNAMES and name not in MEASURES:
            raise _unknown(name)
        wanted.update(NICKNAMES.get(name, (name,)))
        if dot:
            given.setdefault(name, parameters)
    kind = "prefs" if judgments == "qrels_prefs" else judgments
    wrong = [
        name for name in MEASURES if name in wanted and MEASURES[name].needs not in (kind, "any")
    ]
    if wrong:
        needs = MEASURES[wrong[0]].needs
        raise InputError(f"{', '.join(wrong)}: computed from {needs}, not from {judgments}; see -R")
    return [
        value
        for name in MEASURES
        if name in wanted
        for value in _expand(name, given.get(name), {"level": level, "collection": collection})
    ]


def _expand(name: str, given: str | None, settings: Mapping[str, int]) -> Iterator[Value]:
    measure = MEASURES[name]
    if given is not None and measure.takes == "nothing":
        given = None  # as in trec_eval, parameters that a measure does not take are ignored
    full = name if given is None else f"{name}_{given}"
    if name == "runid":
        yield Value(name, name, None)
    elif name == "relstring":
        length = measure.default[0] if given is None else _numbers(name, given)[0]
        yield Value(full, name, None, int(length))
    elif measure.takes == "cuts":
        for cut in _distinct(name, measure.default if given is None else _cut_offs(name, given)):
            yield Value(f"{name}_{cut:.0f}", name, _bound(measure, settings, k=int(cut)))
    elif measure.takes == "points":
        points = measure.default if given is None else _numbers(name, given)
        for point in _distinct(name, points):
            at_point = {measure.params[0]: point}
            yield Value(f"{name}_{point:3.2f}", name, _bound(measure, settings, at_point))
    else:
        params = {} if given is None else _parameters(name, measure, given)
        yield Value(full, name, _bound(measure, settings, params))


def _bound(
    measure: TrecMeasure,
    settings: Mapping[str, int],
    params: Mapping[str, float | str] | None = None,
    *,
    k: int | None = None,
) -> Measure:
    """Return the measure with *params*, and with the settings that its metric accepts."""
    known = Measure(measure.metric).definition.params
    chosen: dict[str, float | str] = {
        name: float(value) for name, value in settings.items() if name in known
    }
    if chosen.get("level") == 1.0:
        del chosen["level"]
    chosen.update(params or {})
    return Measure(measure.metric, k, tuple(sorted(chosen.items())))


def _parameters(name: str, measure: TrecMeasure, given: str) -> dict[str, float | str]:
    if measure.takes == "pairs":
        return _pairs(name, measure, given)
    numbers = _numbers(name, given)
    if measure.params == ("points",):
        return {"points": "/".join(map(_plain, numbers))}
    if len(numbers) != len(measure.params):
        raise InputError(f"{name}.{given}: expected {len(measure.params)} numbers")
    return dict(zip(measure.params, numbers, strict=True))


def _pairs(name: str, measure: TrecMeasure, given: str) -> dict[str, float | str]:
    """Return ``p`` and the gains of ``p=0.8,1=3,2=9``; any other name is ignored."""
    params: dict[str, float | str] = {}
    gains = []
    for pair in given.split(","):
        key, equals, value = pair.partition("=")
        if not equals or not key or "=" in value:
            raise InputError(f"{name}.{given}: {pair!r} is not a pair; expected grade=gain")
        number = _number(f"{name}.{given}", value)
        if key in measure.params:
            params[key] = number
        elif "gain" in measure.params and WHOLE.fullmatch(key):
            if int(key) < 0:
                raise InputError(f"{name}.{given}: grade {key} is below 0 and has no gain")
            gains.append(f"{int(key)}:{_plain(number)}")
    if gains:
        params["gain"] = "/".join(gains)
    return params


def _cut_offs(name: str, given: str) -> list[float]:
    cuts = [float(int(number)) for number in _numbers(name, given)]
    if min(cuts) < 1:
        raise InputError(f"{name}.{given}: the cut-off must be 1 or more")
    return cuts


def _distinct(name: str, numbers: Sequence[float]) -> list[float]:
    if len(set(numbers)) < len(numbers):
        raise InputError(f"{name}: the same cut-off is given twice")
    return sorted(numbers)


def _numbers(name: str, given: str) -> list[float]:
    return [_number(f"{name}.{given}", word) for word in given.split(",")]


def _number(where: str, word: str) -> float:
    """Return the number that *word* starts with, as C's atof reads it."""
    found = LEADING_NUMBER.match(word)
    if found is None:
        raise InputError(f"{where}: {word!r} is not a number")
    return float(found.group())


def _plain(number: float) -> str:
    return str(number).removesuffix(".0")


def _unknown(name: str) -> UnknownName:
    from difflib import get_close_matches

    near = get_close_matches(name, [*MEASURES, *NICKNAMES], n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join([*MEASURES, *NICKNAMES])}"
    return UnknownName(f"trec_eval has no measure {name!r}; {hint}")


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

    def kept(self, score: float) -> float:
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
        by_id = {document: cutting.kept(float(score)) for document, score in pairs}
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
    wanted = values(
        measures,
        level=settings.level,
        collection=settings.collection,
        judgments=settings.judgments,
    )
    reference: ZScores | None = None
    if zscores is not None:
        from karat.formats.trec_qrels import read_zscores

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
        raise InputError(f"{os.fspath(run)} has no query of {os.fspath(judgments)}")
    if settings.summary:
        rows.extend(evaluation.summary(run))
    return rows


class _Evaluation:
    """The values of each query, and their sums in the order of the queries.

    Sums are made one by one, not exactly, because the last printed digit may depend on it.
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
        """Return one value of a query as trec_eval adds it up, None if it is not a number."""
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
                from karat.formats.trec_run import last_tag

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
