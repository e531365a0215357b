"""Explain the metrics."""

from collections.abc import Iterable
from dataclasses import dataclass

from karat.metrics import METRICS

__all__ = ["Description", "describe"]

USAGE = {"required": "@k", "optional": "[@k]", "none": ""}


@dataclass(frozen=True, slots=True)
class Description:
    """What a reader needs to know of a metric."""

    name: str
    usage: str
    definition: str
    formula: str
    low: float
    high: float
    params: dict[str, object]
    aliases: tuple[str, ...]
    higher_is_better: bool


def describe(names: Iterable[str] = ()) -> list[Description]:
    """Return the metrics *names*, or all of them in the order of the catalogue.

    >>> describe(["success"])[0].usage
    'hit[@k]'
    """
    chosen = [METRICS.canonical(name.partition("@")[0]) for name in names] or list(METRICS)
    found = []
    for name in chosen:
        metric = METRICS.get(name)
        found.append(
            Description(
                name=name,
                usage=name + USAGE[metric.cut],
                definition=metric.definition,
                formula=metric.formula,
                low=metric.low,
                high=metric.high,
                params=dict(metric.params),
                aliases=METRICS.aliases(name),
                higher_is_better=metric.higher_is_better,
            )
        )
    return found
