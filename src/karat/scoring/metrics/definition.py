"""The definition of a metric, and the decorator that makes one of a function."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal, TypeVar

from karat.errors import InputError

Cut = Literal["required", "optional", "none"]
Value = float | str
Average = Literal["arithmetic", "geometric", "sum"]
Score = TypeVar("Score", bound=Callable[..., float])


@dataclass(frozen=True, slots=True)
class Metric:
    """The definition of a metric: what it computes, its range, and its mathematical properties.

    ``score(judged, k=k, **params)`` returns the value of one query, NaN if it is not defined (such
    as a size that the run lacks). *params* maps each parameter to its default. *uses_labels* is
    False for a size of what was returned, relevant or not. *needs_sizes* says what must be known of
    the size of hits. *compares_runs* is True for a measure
    whose targets are the hits of another run. With *budgets*, a cut-off may count tokens: the
    metric is then of the hits that fit, and a required *k* is their number. *laws* are the
    properties that tests check:

    * ``ideal``: no order of the same hits scores higher than the one by descending grade
    * ``padding``: an unjudged hit added at the end changes nothing
    * ``promotion``: moving a better hit up never lowers the score
    * ``zero``: without a relevant hit the score is 0
    """

    name: str
    score: Callable[..., float]
    definition: str
    formula: str
    cut: Cut = "optional"
    params: Mapping[str, Value] = field(default_factory=dict)
    low: float = 0.0
    high: float = 1.0
    laws: frozenset[str] = frozenset()
    average: Average = "arithmetic"
    higher_is_better: bool = True
    expected_ties: bool = False
    needs_subtopics: bool = False
    needs_sizes: Literal["", "lines", "tokens"] = ""
    budgets: bool = False
    uses_labels: bool = True
    compares_runs: bool = False


def metric(
    definition: str, *, formula: str, name: str = "", laws: Iterable[str] = (), **properties: Any
) -> Callable[[Score], Score]:
    """Return a decorator that makes a metric of a function of one judged query.

    The metric is called like the function, or *name*. Its cut-off and its parameters are those of
    the function: ``k`` without a default is required, keywords are parameters. *properties* are
    the other fields of :class:`Metric`.

    >>> @metric("Whether the first hit is relevant.", formula="1 if rank 1 is relevant, else 0")
    ... def first(judged, *, level: float = 0.0) -> float:
    ...     return float(judged.relevant(level)[:1] == [1])
    >>> made = definition_of(first)
    >>> made.name, made.cut, made.params
    ('first', 'none', {'level': 0.0})
    """

    def decorate(score: Score) -> Score:
        parameters = signature(score).parameters.values()
        cuts = [each.default is each.empty for each in parameters if each.name == "k"]
        vars(score)["metric"] = Metric(
            name or score.__name__.replace("_", "-"),
            score,
            definition,
            formula,
            cut="none" if not cuts else "required" if cuts[0] else "optional",
            params={
                each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY
            },
            laws=frozenset(laws),
            **properties,
        )
        return score

    return decorate


def definition_of(score: object) -> Metric:
    """Return the metric that *score* is: a decorated function, or the metric itself."""
    made = getattr(score, "metric", score)
    if not isinstance(made, Metric):
        name = getattr(score, "__qualname__", repr(score))
        raise InputError(f"{name} is not a metric; decorate the function with @karat.metric")
    return made
