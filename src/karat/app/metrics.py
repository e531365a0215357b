"""Explain the metrics."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from karat.scoring.metrics import METRICS

__all__ = ["Description", "describe", "page"]

USAGE = {"required": "@k", "optional": "[@k]", "none": ""}
# Details that the preface states for all metrics.
USUAL = ("range 0 to 1", "range 0 to inf", "parameters: level=0")

PREFACE = """\
# Metrics

A measure is a metric with cut-off and parameters: `ndcg@10`, `precision(level=2)@5`, `rbp(p=0.5)`.
Names ignore case; [trec_eval's names](trec_eval.md#measures) work too. `karat metrics NAME` prints
an entry of this page:

```sh
karat metrics ndcg mrr
```

Unless stated otherwise, a metric ranges from 0 to 1 (counts and sums: to infinity) and higher is
better. In `[@k]` the cut-off is optional. R is the number of relevant targets. Metrics of relevant
hits take `level`, the lowest relevant grade; 0 means any above 0. Metrics of lines and tokens need
targets with lines.
"""


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

    def __str__(self) -> str:
        """Return the description as indented lines."""
        return "\n    ".join((self.usage, self.definition, f"= {self.formula}", *self.details()))

    def details(self) -> list[str]:
        """Return range, parameters and aliases, each as a line."""
        direction = "" if self.higher_is_better else ", lower is better"
        lines = [f"range {self.low:g} to {self.high:g}{direction}"]
        if self.params:
            given = ", ".join(f"{name}={_shown(value)}" for name, value in self.params.items())
            lines.append(f"parameters: {given}")
        if self.aliases:
            lines.append(f"aliases: {', '.join(self.aliases)}")
        return lines


def describe(names: Iterable[str] = ()) -> list[Description]:
    """Return the metrics *names*, or all of them in the order of the catalogue.

    >>> describe(["success"])[0].usage, describe(["ndcg(gain=exp)@10"])[0].usage
    ('hit[@k]', 'ndcg[@k]')
    """
    chosen = [METRICS.canonical(re.split("[(@]", name)[0].strip()) for name in names] or list(
        METRICS
    )
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


def page(descriptions: Iterable[Description]) -> str:
    """Return the metrics as a page of Markdown."""
    parts = [PREFACE]
    for entry in descriptions:
        parts.append(f"\n## {entry.usage}\n\n{entry.definition}\n\n    {entry.formula}\n")
        plain = entry.name.replace("-", "_")
        shown = replace(entry, aliases=tuple(alias for alias in entry.aliases if alias != plain))
        details = [line for line in shown.details() if line not in USUAL]
        if details:
            sentences = ". ".join(line[0].upper() + line[1:] for line in details)
            parts.append(f"\n{sentences}.\n")
    return "".join(parts)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
