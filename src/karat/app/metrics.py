"""List and explain the metrics."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from karat.errors import UnknownName
from karat.scoring.metrics import METRICS, Measure, parse

__all__ = [
    "METRICS",
    "Description",
    "MeasureGroup",
    "describe",
    "group_measures",
    "measures_at",
    "page",
]

# The measures that most people use, as they are typed, by purpose.
COMMON = {
    "Find an answer near the top": ("mrr@10", "hit@5", "precision@5"),
    "Find everything": ("recall@10", "acc@10", "ap", "f1@10", "r-precision"),
    "Graded relevance": ("ndcg@10", "err@10", "rbp"),
    "Diversity (targets with subtopics)": ("alpha-ndcg@10", "err-ia@10", "nrbp", "strec@10"),
    "Results without an order": ("set-precision", "set-recall", "set-f1"),
    "Line ranges": ("line-precision@10", "line-iou@10"),
    "Reading cost": ("lines@10", "tokens@10", "tokens-to-hit", "token-recall@4000"),
    "Quality of the judgments": ("judged@10",),
}
OTHERS = "Other measures"

USAGE = {"required": "@k", "optional": "[@k]", "none": ""}
# Details that the preface states for all metrics.
USUAL = ("range 0 to 1", "range 0 to inf", "parameters: level=0")

PREFACE = """\
# Metrics

A measure is a metric with cut-off and parameters: `ndcg@10`, `precision(level=2)@5`, `rbp(p=0.5)`.
Names ignore case;
[those of trec_eval, ranx and ir_measures](../src/karat/extensions/peer_names/docs/peer-names.md)
work too.
`karat metrics NAME` prints an entry of this page:

```sh
karat metrics ndcg mrr
```

Unless stated otherwise, a metric ranges from 0 to 1 (counts and sums: to infinity) and higher is
better. In `[@k]` the cut-off is optional. R is the number of relevant targets. Metrics of relevant
hits take `level`, the lowest relevant grade; 0 means any above 0. Metrics of lines need targets
with lines.

Hits with equal scores: a run that Karat makes keeps the order of its engine, and a run file is
ordered as in trec_eval. `--ties` sets one rule for both:

| `--ties` | equal scores |
|---|---|
| `order` | as the engine returned them; in a run file, as they stand there |
| `trec10`, `trec9` | by descending id, as in trec_eval; `trec9` compares scores as float32 |
| `best`, `worst` | the higher grade first, or last |
| `expected` | the mean over all orders |

A file that Karat writes from such a run has strictly descending scores: equal ones become the next
smaller float32, so that it scores like the run in any program. `karat gate` uses the rule of the
baseline.

## Token budgets

`recall@2000tok` is the recall of a reader who reads the hits in order and stops before the one
that would exceed 2,000 tokens. `ndcg`, `dcg`, `mrr`, `hit`, `acc`, `ap`, `precision`, `recall`,
`f1`, `err` and `rbp` can be cut so. All targets count, so that a larger budget never lowers a
score; only `precision` and `f1` divide by the number of hits that fit.

```sh
karat compare gold.json --corpus . --agents bm25 grep-and-read -m recall@2000tok,ndcg@2000tok
```

A target that is a file is found when any of its lines are shown, and further hits in that file
cost tokens as well. Karat counts the tokens of each hit in the lines of the file, or in the whole
file if the hit has no lines, for engines of every kind. An engine that returns less or more than
these lines reports `tokens` with each hit. Four characters are a token; `--tokenizer granite`,
`minilm` or `file:tokenizer.json` (or `KARAT_TOKENIZER`) counts those of a model. A run file needs
`tokens` in its hits. [grep-and-read](../src/karat/extensions/grep_and_read/docs/grep-and-read.md)
is an agent without a model to compare with.
"""


@dataclass(frozen=True, slots=True)
class Description:
    """Definition, formula, range and parameters of a metric."""

    name: str
    usage: str
    definition: str
    formula: str
    low: float
    high: float
    params: dict[str, object]
    aliases: tuple[str, ...]
    higher_is_better: bool
    budgets: bool

    def __str__(self) -> str:
        """Return the description as indented lines."""
        return "\n    ".join((self.usage, self.definition, f"= {self.formula}", *self.details()))

    def details(self) -> list[str]:
        """Return range, parameters and aliases, each as a line."""
        direction = "" if self.higher_is_better else ", lower is better"
        lines = [f"range {self.low:g} to {self.high:g}{direction}"]
        if self.budgets:
            lines.append(f"cut-off in tokens: {self.name}@2000tok")
        if self.params:
            given = ", ".join(f"{name}={_shown(value)}" for name, value in self.params.items())
            lines.append(f"parameters: {given}")
        if self.aliases:
            lines.append(f"aliases: {', '.join(self.aliases)}")
        return lines


class MeasureGroup(NamedTuple):
    """Measures for one purpose: each as it is typed, with its definition."""

    purpose: str
    measures: tuple[tuple[str, str], ...]


def group_measures(*, everything: bool = False) -> list[MeasureGroup]:
    """Return the common measures by purpose, and with *everything* all others in a last group.

    >>> group_measures()[0].measures[1]
    ('hit@5', 'Whether a relevant hit is among the first k.')
    """
    groups = [
        MeasureGroup(purpose, tuple((name, _definition(name)) for name in names))
        for purpose, names in COMMON.items()
    ]
    if everything:
        common = {_metric_name(name) for names in COMMON.values() for name in names}
        rest = (entry for entry in describe() if entry.name not in common)
        groups.append(MeasureGroup(OTHERS, tuple((one.usage, one.definition) for one in rest)))
    return groups


def _definition(measure: str) -> str:
    return METRICS.get(_metric_name(measure)).definition


def _metric_name(measure: str) -> str:
    """Return the metric of a measure: its name without parameters and cut-off."""
    return METRICS.canonical(re.split("[(@]", measure)[0].strip())


def describe(names: Iterable[str] = ()) -> list[Description]:
    """Return the metrics *names*, or all of them in the order of the catalogue.

    A word that names no metric finds those whose definition or purpose has it.

    >>> describe(["success"])[0].usage, describe(["ndcg(gain=exp)@10"])[0].usage
    ('hit[@k]', 'ndcg[@k]')
    >>> [entry.name for entry in describe(["accuracy"])], len(describe(["diversity"]))
    (['acc'], 4)
    """
    descriptions = []
    chosen = dict.fromkeys(match for name in names for match in _find(name))
    for name in chosen or list(METRICS):
        metric = METRICS.get(name)
        descriptions.append(
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
                budgets=metric.budgets,
            )
        )
    return descriptions


def lower_is_better(measure: str) -> bool:
    """Return whether less is better; False where the extension with the metric has gone.

    >>> lower_is_better("lines@5"), lower_is_better("mrr"), lower_is_better("gone@5")
    (True, False, False)
    """
    try:
        return not parse(measure).definition.higher_is_better
    except UnknownName:
        return False


def _find(text: str) -> list[str]:
    """Return the metric that *text* names, or those that are described by it.

    A wrong cut-off raises InputError.
    """
    cut = text.rpartition("@")[2].strip(" ]").lower()
    if "@" in text and cut != "k" and not cut.isdecimal():
        parse(text)
    try:
        return [_metric_name(text)]
    except UnknownName:
        word = text.strip().lower()
        of_purpose = [
            _metric_name(name)
            for purpose, common in COMMON.items()
            for name in common
            if word in purpose.lower()
        ]
        described = [name for name in METRICS if word in METRICS.get(name).definition.lower()]
        matches = list(dict.fromkeys((*of_purpose, *described)))
        # The name may be that of another package, or a wrong one.
        return matches if word and matches else [parse(text).metric]


def page(descriptions: Iterable[Description]) -> str:
    """Return the metrics as a page of Markdown."""
    parts = [PREFACE]
    for entry in descriptions:
        parts.append(f"\n## {entry.usage}\n\n{entry.definition}\n\n    {entry.formula}\n")
        plain = entry.name.replace("-", "_")
        aliases = tuple(alias for alias in entry.aliases if alias != plain)
        details = [line for line in replace(entry, aliases=aliases).details() if line not in USUAL]
        if details:
            sentences = ". ".join(line[0].upper() + line[1:] for line in details)
            parts.append(f"\n{sentences}.\n")
    return "".join(parts)


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def measures_at(name: str, cuts: Iterable[int], *, uncut: Iterable[str] = ()) -> list[Measure]:
    """Return the metric *name* at all *cuts*; one in *uncut*, or with its own cut-off, once.

    The labels are spelled as *name* is.

    >>> [(str(each), each.label) for each in measures_at("nDCG", [5, 10])]
    [('ndcg@5', 'nDCG@5'), ('ndcg@10', 'nDCG@10')]
    >>> [*measures_at("hit@3", [5, 10]), *measures_at("MAP", [5, 10], uncut=["ap"])]
    [Measure(metric='hit', k=3, params=()), Measure(metric='ap', k=None, params=())]
    """
    name = name.strip()
    if "@" in name or "(" in name:
        return [parse(name)]
    metric = METRICS.get(METRICS.canonical(name))
    if metric.cut == "none" or metric.name in uncut:
        return [parse(name)]
    return [parse(f"{name}@{k}") for k in cuts]
