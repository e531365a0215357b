"""Recommend the cheapest run that is not significantly worse than the best one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from statistics import median
from typing import NamedTuple

from karat.model.timings import RunResult
from karat.report.findings.contenders import Advice, Contenders
from karat.report.findings.latency import comparable_ms, mean_spent
from karat.report.table import number
from karat.system.words import counted

RECOMMENDED = "Recommended"
# Nobody waits for less: shorter latencies are equal.
FLOOR_MS = 2.0
# Costs that differ by less than this share are equal: two measurements of one engine do.
TOLERANCE = 0.1
# Models that a query of an engine of Karat goes through; an engine in `over` adds its own.
MODELS = {"bm25": 0, "keyword": 0, "sparse": 0, "dense": 1, "hybrid": 1, "colbert": 1, "rerank": 1}
HITS = "{:.0f} hits per query"
MODELS_TEXT = "models per query: {:.0f}"
DIGITS = 3
SHOWN_LOSS = 0.0005
# So much may be lost where too few queries differ for any test.
HARMLESS_LOSS = 0.02


class Cost(NamedTuple):
    """What a query costs in one respect: the amount by run, and what is said of it.

    Amounts below *floor* are equal. *none* is said of an amount of 0 where it has words of its own.
    """

    text: str
    by_run: Mapping[str, float | None]
    floor: float = 0.0
    none: str = ""

    def is_known(self, names: Sequence[str]) -> bool:
        """Return whether the amount of all of *names* is known."""
        return all(self.by_run[name] is not None for name in names)

    def said_of(self, name: str) -> str:
        """Return what a query of the run *name* costs.

        >>> Cost("needs {}", {"a": 0.0, "b": 1.0}, none="needs no model").said_of("a")
        'needs no model'
        """
        amount = self.by_run[name]
        return self.text.format(amount) if amount or not self.none else self.none

    def least(self, names: Sequence[str]) -> list[str]:
        """Return those of *names* that cost the least, all of them where a cost is unknown.

        >>> Cost("{:.1f} ms", {"a": 20.0, "b": 12.5, "c": 12.0}).least(["a", "b", "c"])
        ['b', 'c']
        """
        if not self.is_known(names):
            return list(names)
        known = [self.by_run[name] or 0.0 for name in names]
        limit = max(min(known), self.floor) * (1 + TOLERANCE)
        return [name for name, cost in zip(names, known, strict=True) if cost <= limit]


def cheapest(contenders: Contenders) -> Advice | None:
    """Return the run to take: of those not significantly worse than the best one, the cheapest.

    Money counts first, then tokens, then the median latency; without latencies the number of models
    and of hits. Costs within a tenth are equal, and so are latencies below 2 ms. Of equal runs the
    baseline is taken, which is there already, else the one with the best mean.
    """
    candidates, worse, untested = _not_worse(contenders)
    if len(candidates) + worse < 2:
        return _best_baseline(contenders, [*candidates, *untested])
    costs = list(_costs(contenders))
    remaining, cost = _cheapest_of(candidates, costs)
    comparison, lead = contenders.comparison, contenders.lead
    run = comparison.baseline if comparison.baseline in remaining else remaining[0]
    if len(candidates) == 1:
        others = "every other run" if worse == len(contenders.names) - 1 else counted(worse, "run")
        verb = "are" if 1 < worse < len(contenders.names) - 1 else "is"
        why = f"{others} {verb} significantly worse on {lead}"
    elif cost:
        loss = _mean(contenders, run) - _mean(contenders, candidates[0])
        by = f" ({loss:+.3f})" if abs(loss) >= SHOWN_LOSS else ""
        which = "best mean, and cheapest" if run == candidates[0] else "cheapest"
        group = f"{len(candidates)} that are not significantly worse than the best{by}"
        why = f"{which} of {group}: {cost.said_of(run)}"
    else:
        which = "baseline" if run == comparison.baseline else "best mean"
        # The number of hits alone says little.
        known = any(each.is_known(candidates) for each in costs if each.text != HITS)
        why = (
            f"{which}; no run that is as good is cheaper"
            if known
            else f"{which} of {len(candidates)} that are not significantly worse; costs unknown"
        )
    return Advice(RECOMMENDED, run, why, _means(contenders, run, candidates[0]))


def _cheapest_of(names: Sequence[str], costs: Iterable[Cost]) -> tuple[list[str], Cost | None]:
    """Return those of *names* that cost the least, and the cost that decided, if one did."""
    remaining, decisive = list(names), None
    for cost in costs:
        cheaper = cost.least(remaining)
        if len(cheaper) < len(remaining):
            remaining, decisive = cheaper, cost
    return remaining, decisive


def _best_baseline(contenders: Contenders, names: Sequence[str]) -> Advice | None:
    """Return the baseline if it has the best mean of *names*, and none of them is cheaper.

    It stays even where no test can tell it from the others: nothing speaks for a change.
    """
    run = contenders.comparison.baseline
    if len(names) < 2 or names[0] != run:
        return None
    cheap, _ = _cheapest_of(names, _costs(contenders))
    if run not in cheap:
        return None
    why = "baseline; no run has a better mean, and none is cheaper"
    return Advice(RECOMMENDED, run, why, _means(contenders, run, run))


def _not_worse(contenders: Contenders) -> tuple[list[str], int, list[str]]:
    """Return the runs that are not significantly worse than the best one, and how many are.

    The best mean comes first. Last come the runs whose loss is on so few queries that no test could
    have called it significant. A broken run is left out, and so is one that was not compared with
    the best one.
    """
    comparison, lead = contenders.comparison, contenders.lead
    leaders = [name for name in comparison.leaders(lead) if name not in contenders.contest.broken]
    if not leaders:
        return [], 0, []
    best, worse, untested = leaders[0], 0, list[str]()
    means = {best: 0.0}
    for entry in comparison.differences:
        pair = (entry.baseline, entry.system)
        if entry.metric != lead or best not in pair or entry.difference is None:
            continue
        other = pair[1 - pair.index(best)]
        if other in contenders.contest.broken:
            continue
        loss = abs(entry.difference)
        if not entry.can_be_significant and loss > HARMLESS_LOSS:
            untested.append(other)
        elif entry.is_significant and comparison.winner(entry) == best:
            worse += 1
        else:
            means[other] = loss
    return sorted(means, key=means.__getitem__), worse, untested


def _costs(contenders: Contenders) -> Iterator[Cost]:
    runs = dict(zip(contenders.names, contenders.runs, strict=True))
    spent = {name: mean_spent(run) for name, run in runs.items()}
    yield Cost("costs {:#.3g} per query", {name: each["cost"] for name, each in spent.items()})
    yield Cost("{:,.0f} tokens per query", {name: each["tokens"] for name, each in spent.items()})
    medians = _medians(contenders)
    yield Cost("p50 {:,.3g} ms per query", medians, FLOOR_MS)
    if all(each is None for each in medians.values()):
        models = {name: _models(run) for name, run in runs.items()}
        yield Cost(MODELS_TEXT, models, none="needs no model")
        yield Cost(HITS, {name: _hits(run) for name, run in runs.items()})


def _medians(contenders: Contenders) -> dict[str, float | None]:
    """Return the median latency of each run over the queries that all timed runs have one for."""
    medians: dict[str, float | None] = dict.fromkeys(contenders.names)
    timed = contenders.timed
    runs = [run for run in contenders.runs if run.name in timed]
    for name, times in zip(timed, comparable_ms(runs, contenders.query_ids), strict=True):
        medians[name] = median([time for time in times if not isnan(time)])
    return medians


def _models(run: RunResult) -> float | None:
    """Return the number of models that a query goes through, None for an engine from elsewhere."""
    return _models_of(run.run.metadata.get("engine"))


def _models_of(engine: object) -> float | None:
    if not isinstance(engine, Mapping):
        return None
    options = engine.get("options", engine)
    count: float | None = MODELS.get(str(engine.get("name") or engine.get("engine")))
    if count is None or not isinstance(options, Mapping):
        return None
    if (over := options.get("over")) is None:
        return count
    inner = _models_of(over)
    return None if inner is None else count + inner


def _hits(run: RunResult) -> float | None:
    k = run.run.metadata.get("k")
    return float(k) if isinstance(k, int) else None


def _means(contenders: Contenders, run: str, best: str) -> str:
    own, highest = (number(_mean(contenders, each), digits=DIGITS).text for each in (run, best))
    lead = contenders.lead
    return f"{lead} {own}." if run == best else f"{lead} {own}, {best} {highest}."


def _mean(contenders: Contenders, run: str) -> float:
    return contenders.comparison.mean(run, contenders.lead).mean or 0.0
