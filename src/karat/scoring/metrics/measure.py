"""Measures: a metric with its cut-off and parameters, as a small value that prints and parses.

``ndcg@10``, ``precision(level=2)@5``, ``rbp(p=0.8)``. A cut-off is always in the name.

Under the tie policy ``expected`` each judged hit may have any rank of its span with equal
probability. A metric that sums over hits needs only the mean weight of a span; the others are
derived from the tied groups.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import isfinite, nan
from typing import NamedTuple

from karat.errors import InputError, UnknownName
from karat.model import JudgedQuery
from karat.scoring.metrics.catalogue import MEASURE_NAMES, METRICS
from karat.scoring.metrics.definition import Metric, Value
from karat.system.words import join_names

FORM = re.compile(
    r"(?P<name>[\w.-]+?)\s*(\((?P<params>[^()]*)\))?\s*"
    r"(@(?P<k>\d{1,9})\s*(?P<tokens>(?i:t|tok|toks|token|tokens))?)?"
)
TREC_FORM = re.compile(r"(?P<name>p|recall|ndcg_cut|map_cut|success)_(?P<k>\d{1,9})")
# The last number of a name such as ``ndcg_cut.5`` or ``ndcg@5``.
CUT_OFF = re.compile(r"(?<=[@._])\d+$")
GLUED = re.compile(r"(?P<name>[a-z-]+?)[-_]?(?P<k>\d{1,9})")


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric bound to a cut-off and parameters; *typed* is the text that named it.

    The cut-off is *k* hits, or a budget of *tokens*. *own* is the metric itself where it has no
    registered name, such as a column of scores.

    >>> str(parse("nDCG@10")), str(parse("P(level=2)@5")), str(parse("success_5"))
    ('ndcg@10', 'precision(level=2)@5', 'hit@5')
    >>> parse("nDCG@2000 tokens").tokens, str(parse("nDCG@2000 tokens"))
    (2000, 'ndcg@2000tok')
    """

    metric: str
    k: int | None = None
    params: tuple[tuple[str, Value], ...] = ()
    tokens: int | None = field(default=None, repr=False)
    typed: str = field(default="", compare=False, repr=False)
    own: Metric | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """Return the canonical name, which parses back to this measure."""
        params = ",".join(f"{name}={str(value).removesuffix('.0')}" for name, value in self.params)
        cut = f"@{self.tokens}tok" if self.tokens else f"@{self.k}" if self.k else ""
        return self.metric + (f"({params})" if params else "") + cut

    @property
    def label(self) -> str:
        """Return the name for tables: as it was typed, or the canonical one.

        >>> parse("MAP").label, parse("P@10").label, parse("P@10", level=2).label
        ('MAP', 'P@10', 'precision(level=2)@10')
        """
        # A measure may have been made from another one, or have a level that is not in the text.
        named = bool(self.typed) and parse(self.typed) == self
        return self.typed if named else str(self)

    @property
    def definition(self) -> Metric:
        """Return the metric that this measure binds."""
        return self.own or METRICS.get(self.metric)

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the range of a score, and so of a mean; the upper end may be infinite."""
        return self.definition.low, self.definition.high

    @property
    def needs_sizes(self) -> bool:
        """Return whether it needs the lines or the tokens of the hits."""
        return self.counts_tokens or self.definition.needs_sizes == "lines"

    @property
    def counts_tokens(self) -> bool:
        """Return whether it needs the tokens of the hits."""
        return self.tokens is not None or self.definition.needs_sizes == "tokens"

    @property
    def expected_ties(self) -> bool:
        """Return whether it has an expected value where hits are tied."""
        return self.tokens is None and self.definition.expected_ties

    def bind(self) -> Callable[[JudgedQuery], float]:
        """Return a function of one judged query."""
        if self.tokens is not None:
            from karat.scoring.metrics.budget import within_budget

            return within_budget(self.definition, self.tokens, dict(self.params))
        score, k = self.definition.score, self.k
        if self.params:
            cut = {} if k is None else {"k": k}
            return partial(score, **cut, **dict(self.params))
        # The plain cases are called once per query and measure, so they avoid unpacking.
        return score if k is None else lambda judged: score(judged, k)


@lru_cache(maxsize=512)
def parse(text: str, *, level: float = 0.0) -> Measure:
    """Return the measure that *text* names; *level* is the default relevance level.

    >>> parse("nDGC@10")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no metric named 'nDGC'; did you mean 'ndcg'?
    """
    try:
        return _parsed(text, level)
    except InputError:
        meant = _of_other_packages(text.strip())
        if meant is None:
            raise
        return replace(_parsed(meant, level), typed=text.strip())


def _of_other_packages(text: str) -> str | None:
    """Return the measure that another package calls *text*, None if none does."""
    translated = (MEASURE_NAMES.get(name)(text) for name in MEASURE_NAMES)
    return next((meant for meant in translated if meant and meant != text), None)


def _parsed(text: str, level: float) -> Measure:
    stripped = text.strip()
    form = TREC_FORM.fullmatch(stripped.lower()) or FORM.fullmatch(stripped)
    if form is None:
        raise InputError(
            f"{text!r} is not a valid measure; expected name, name@k or name(param=value)@k, and "
            "@2000tok for a cut-off in tokens"
        )
    parts = form.groupdict()
    name = _canonical(parts["name"])
    metric = METRICS.get(name)
    k = int(parts["k"]) if parts["k"] else None
    in_tokens = bool(parts.get("tokens"))
    if in_tokens and not metric.budgets:
        raise InputError(f"{text!r}: {_no_budget(metric, k or 0)}")
    if k is None and metric.cut == "required":
        raise InputError(f"{name} needs a cut-off; write {name}@10")
    if k is not None and metric.cut == "none":
        raise InputError(f"{name} takes no cut-off; write {name}")
    if k == 0:
        raise InputError(f"{text!r}: the cut-off must be 1 or more")
    params = _parse_params(text, metric, parts.get("params") or "")
    if level and "level" in metric.params:
        params.setdefault("level", level)
    changed = {key: value for key, value in params.items() if value != metric.params[key]}
    in_order = tuple(sorted(changed.items()))
    if in_tokens:
        return Measure(name, None, in_order, tokens=k, typed=stripped)
    return Measure(name, k, in_order, typed=stripped)


def _no_budget(metric: Metric, k: int) -> str:
    """Return why the cut-off of *metric* cannot count tokens, and what can be used instead."""
    if metric.name == "token-recall":
        return f"its cut-off counts tokens already; write {metric.name}@{k} or recall@{k}tok"
    able = join_names([name for name in METRICS.core() if METRICS.get(name).budgets])
    return f"the cut-off of {metric.name} does not count tokens; that of {able} can"


def uses_labels(text: str) -> bool:
    """Return whether scores depend on labels: False for a measure of sizes only.

    >>> uses_labels("ndcg@10"), uses_labels("lines@10"), uses_labels("mean")
    (True, False, True)
    """
    try:
        return parse(text).definition.uses_labels
    except InputError:
        return True


def parse_all(texts: Iterable[str], *, level: float = 0.0) -> list[Measure]:
    """Return the measures that *texts* name, each once, in order; commas separate names too.

    >>> parse_all(["P.5,10"])
    Traceback (most recent call last):
    ...
    karat.errors.InputError: 'P.5,10' is 2 measures; name each one: P.5,P.10
    """
    names = [name for text in texts for name in _split(text)]
    return list(dict.fromkeys(parse(name, level=level) for name in names))


def _split(text: str) -> list[str]:
    """Return the names in *text*; raise InputError for cut-offs that share one, as in trec_eval."""
    names = [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]
    meant: list[str] = []
    for name in names:
        follows = name.isdecimal() and meant and CUT_OFF.search(meant[-1])
        meant.append(CUT_OFF.sub(name, meant[-1]) if follows else name)
    if meant != names:
        each = ",".join(meant)
        raise InputError(f"{text!r} is {len(meant)} measures; name each one: {each}")
    return names


def _canonical(name: str) -> str:
    """Return the registered spelling; if only the ``@`` is missing, suggest it."""
    try:
        return METRICS.canonical(name)
    except UnknownName:
        glued = GLUED.fullmatch(name.lower())
        if glued is None or glued["name"] not in METRICS:
            raise
        meant = f"{glued['name']}@{glued['k']}"
        raise UnknownName(f"no metric named {name!r}; did you mean {meant!r}?") from None


def _parse_params(text: str, metric: Metric, inside: str) -> dict[str, Value]:
    params: dict[str, Value] = {}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        name, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or not value:
            raise InputError(f"{text!r}: {part!r} is not a parameter; expected name=value")
        value = value.strip("'\"")
        # The spelling of ir_measures.
        name = {"rel": "level", "dcg": "gain"}.get(name.lower(), name.lower())
        value = {"exp-log2": "exp", "log2": "linear"}.get(value, value) if name == "gain" else value
        if name not in metric.params:
            known = ", ".join(metric.params) or "none"
            raise InputError(f"{text!r}: {metric.name} has no parameter {name!r}; known: {known}")
        params[name] = _value(text, name, value, metric.params[name])
    return params


def _value(text: str, name: str, value: str, default: Value) -> Value:
    if isinstance(default, str):
        return value.lower()
    try:
        number = float(value)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise InputError(f"{text!r}: {name}={value} is not a finite number")
    return number


class TieGroup(NamedTuple):
    """Hits that share ranks before+1 .. before+size; *grades* are those of the judged ones."""

    before: int
    size: int
    grades: tuple[float, ...]

    def within(self, k: int | None) -> int:
        """Return how many of the shared ranks are not beyond *k*."""
        return self.size if k is None else max(0, min(self.size, k - self.before))

    def relevant(self, level: float) -> int:
        """Return how many of the judged hits are relevant at *level*."""
        return sum(grade > 0 and grade >= level for grade in self.grades)


def groups(judged: JudgedQuery) -> Iterator[TieGroup]:
    """Return the groups that have judged hits, best first; without ties each has one hit."""
    spans = judged.spans or [(rank, rank) for rank in judged.ranks]
    members: dict[tuple[int, int], list[float]] = {}
    for span, grade in zip(spans, judged.grades, strict=True):
        members.setdefault(span, []).append(grade)
    for (first, last), grades in sorted(members.items()):
        yield TieGroup(first - 1, last - first + 1, tuple(grades))


def mean_weight(first: int, last: int, weight: Callable[[int], float], k: int | None) -> float:
    """Return the mean of *weight* over ranks first..last; ranks beyond *k* weigh 0."""
    end = last if k is None else min(last, k)
    return sum(map(weight, range(first, end + 1))) / (last - first + 1)


def hits_within(judged: JudgedQuery, k: int | None, level: float) -> float:
    """Return the number of relevant hits within rank *k*, expected under ties.

    >>> hits_within(JudgedQuery([2, 4], [1, 1], ideal=[1, 1], retrieved=5), 3, level=0.0)
    1
    """
    if judged.spans is None:
        ranks = judged.relevant(level)
        return len(ranks) if k is None else bisect_right(ranks, k)
    # Integers as long as possible: a sum of many shares of one tie could round to more than k.
    return sum(tie.relevant(level) * tie.within(k) / tie.size for tie in groups(judged))
