"""Sentences on all runs together: the hardest value of each tag, the effect of each option."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from karat.model.comparison import Comparison
from karat.model.timings import RunResult
from karat.report.findings.recommend import engine_line, recommendations, recommended_engine
from karat.report.findings.record import Findings
from karat.report.table import mark_of, marked_text
from karat.scoring.stats import compare
from karat.scoring.stats.verdict import numbers

Scores = NDArray[np.float64]

# The name of an engine is not an option: the leaderboard compares engines.
ENGINE = "engine"
# Values of tags that Karat sets itself, as the subject of a sentence.
SUBJECTS = {
    ("identifier", "no"): "Queries without a code identifier",
    ("identifier", "yes"): "Queries with a code identifier",
    ("leak", "none"): "Queries without a telling word of the target's path",
    ("leak", "part"): "Queries with a telling word of the target's path",
    ("leak", "stem"): "Queries with all words of the target's file name",
    ("leak", "basename"): "Queries with the name of the target's file",
    ("leak", "path"): "Queries with the path of the target",
}
# Says nothing new: difficulty is derived from the query and its targets.
EXPECTED = ("difficulty", "hard")
KINDS = {"yes": "with", "true": "with", "no": "without", "false": "without"}
# What an option of a matrix is called in a sentence; options of one's own engine keep their name.
OPTION_WORDS = {
    "search_mode": "Search mode",
    "use_reranker": "Reranking",
    "top_k": "Number of hits",
    "rrf_k": "Constant of rank fusion",
    "score_threshold": "Score threshold",
    "fusion": "Fusion",
    "dense_weight": "Weight of the embeddings",
    "code_ranking": "Ranking by names of files",
    "model": "Model",
    "chunker": "Chunker",
    "reranker": "Reranker",
    "rerank_depth": "Depth of the reranker",
    "context": "Context",
}
# The values of an option that is used or not.
SWITCH = {"True": "with", "False": "without"}

# A mean over fewer queries is too uncertain to call a slice the hardest.
FEWEST_QUERIES = 10


def insights(findings: Findings) -> tuple[str, ...]:
    """Return one sentence per tag about its hardest value, and per option that the runs vary."""
    sentences = (*_hardest(findings), *_options(findings))
    mark = mark_of(findings.contest.mark, findings.lead)
    return tuple(marked_text(text, mark) for text in sentences)


def command_insights(findings: Findings) -> tuple[str, ...]:
    """Return the insights, and for who types commands the recommended run as an engine.

    The last line is left out where the name of the run is its engine already.
    """
    engines = dict(zip(findings.names, findings.engines, strict=False))
    options = recommended_engine(recommendations(findings), engines)
    return (*insights(findings), *((engine_line(options),) if options else ()))


def _hardest(findings: Findings) -> Iterator[str]:
    """Yield the hardest value of each tag, if its interval lies below the mean over all queries."""
    if findings.lower_is_better:
        return
    scores = np.array([findings.scores(run) for run in range(len(findings.names))])
    if np.isnan(scores).all():
        return
    overall = np.nanmean(scores)
    for tag, values in findings.contest.slices.items():
        means = {
            value: _mean(comparison)
            for value, comparison in values.items()
            if comparison.queries >= FEWEST_QUERIES and not np.isnan(_mean(comparison))
        }
        if len(means) < 2:
            continue
        hardest = min(means, key=means.__getitem__)
        comparison = values[hardest]
        if (tag, hardest) == EXPECTED or _upper_end(comparison, len(means)) >= overall:
            continue
        text = (
            f"{_subject(tag, hardest)} are hardest (n = {comparison.queries:,}): "
            f"mean {findings.lead} {means[hardest]:.3f}"
        )
        if len(findings.names) > 1:
            score, system = max(
                (mean.mean, mean.system) for mean in comparison.means if mean.mean is not None
            )
            text += f" over all runs; best: {system} {score:.3f}"
        yield f"{text}."


def _subject(tag: str, value: str) -> str:
    """Return the queries with *value* of *tag* in words.

    >>> _subject("identifier", "no"), _subject("category", "task")
    ('Queries without a code identifier', 'Queries of category task')
    >>> _subject("typo", "yes")
    'Queries with typo'
    """
    if value in KINDS:
        return SUBJECTS.get((tag, value), f"Queries {KINDS[value]} {tag}")
    return SUBJECTS.get((tag, value), f"Queries of {tag} {value}")


class _Level(NamedTuple):
    """The runs of one value of an option: their mean score on each query."""

    value: str
    scores: Scores


def _options(findings: Findings) -> Iterator[str]:
    """Yield the effect of each option, from runs that agree in all other options.

    Runs with fewer hits than the leading measure needs have no score of it, and are ignored.
    """
    settings = {
        run: _settings(measured)
        for run, measured in enumerate(findings.runs)
        if not np.isnan(findings.scores(run)).all()
    }
    named = (key for each in settings.values() for key in each if key != ENGINE)
    for option in dict.fromkeys(named):
        having = {run: each for run, each in settings.items() if option in each}
        shared = set.intersection(*(set(each) for each in having.values())) - {option}
        alike: dict[tuple[str, ...], dict[str, list[int]]] = {}
        for run, each in having.items():
            others = tuple(each[name] for name in sorted(shared))
            alike.setdefault(others, {}).setdefault(each[option], []).append(run)
        values = _compared_values(list(alike.values()))
        complete = [group for group in alike.values() if group.keys() >= set(values)]
        if len(values) > 1:
            levels = [
                _Level(
                    SWITCH.get(value, value),
                    np.mean([_mean_scores(group[value], findings) for group in complete], axis=0),
                )
                for value in values
            ]
            runs = sum(len(group[value]) for group in complete for value in values)
            yield _effect(option, levels, findings, runs=runs)


def _mean_scores(runs: Sequence[int], findings: Findings) -> Scores:
    """Return the mean over *runs* on each query."""
    scores: Scores = np.mean([findings.scores(run) for run in runs], axis=0)
    return scores


def _compared_values(groups: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the values to compare: those that most groups have in common, of several the most.

    >>> _compared_values([{"a": 0, "b": 1}, {"a": 2, "b": 3}, {"a": 4, "c": 5}, {"c": 6}])
    ['a', 'b']
    """
    frequencies = Counter(frozenset(group) for group in groups if len(group) > 1)
    best = max(
        frequencies, key=lambda values: (frequencies[values], len(values)), default=frozenset()
    )
    return [
        value
        for value in dict.fromkeys(value for group in groups for value in group)
        if value in best
    ]


def _settings(measured: RunResult) -> dict[str, str]:
    """Return what decides a run: its planned options, or those of its engine."""
    options = measured.run.metadata.get("options")
    if isinstance(options, Mapping) and options:
        return _flat(options)
    return _flat(measured.run.metadata.get("engine"))


def _effect(option: str, levels: list[_Level], findings: Findings, *, runs: int) -> str:
    option = OPTION_WORDS.get(option, option)
    sign = -1 if findings.lower_is_better else 1
    levels = sorted(levels, key=lambda level: -sign * np.nanmean(level.scores))
    best, second = levels[:2]
    settings = findings.contest.comparison
    # The best two are chosen of all values, so the p value is corrected for all of them.
    comparison = compare(
        np.array([level.scores for level in levels])[:, :, None],
        systems=[level.value for level in levels],
        metrics=[findings.lead],
        bounds=findings.measure(findings.lead).bounds,
        level=settings.level,
        draws=settings.draws,
        seed=settings.seed,
        clusters=findings.clusters,
        lower_is_better=[findings.lead] if sign < 0 else [],
    )
    difference = comparison.difference(best.value, second.value, findings.lead)
    if not difference.difference:
        return f"{option}: no difference between {best.value} and {second.value}."
    amount = f"{numbers(comparison, difference, of=best.value)}, over {runs} runs"
    if difference.is_significant:
        return (
            f"{option}: {best.value} is significantly better than {second.value} on "
            f"{findings.lead} ({amount})."
        )
    return (
        f"{option}: no significant difference between {best.value} and {second.value} on "
        f"{findings.lead} ({amount})."
    )


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    """Return the leaves of a specification by dotted name.

    >>> _flat({"name": "rerank", "options": {"of": "bm25", "depth": 50}})
    {'engine': 'rerank', 'of': 'bm25', 'depth': '50'}
    """
    if not isinstance(value, Mapping):
        return {} if value is None else {prefix or ENGINE: _typed(value)}
    leaves: dict[str, str] = {}
    for key, entry in value.items():
        name = {"name": ENGINE, "options": ""}.get(key, key)
        leaves |= _flat(entry, f"{prefix}.{name}".strip("."))
    return leaves


def _typed(value: object) -> str:
    """Return the value of an option; the words of a command as they are typed.

    >>> _typed(["python3", "my search.py"]), _typed(0.5)
    ("python3 'my search.py'", '0.5')
    """
    words = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    return shlex.join(cast("list[str]", value)) if words else str(value)


def _mean(comparison: Comparison) -> float:
    known = [mean.mean for mean in comparison.means if mean.mean is not None]
    return float(np.mean(known)) if known else float("nan")


def _upper_end(comparison: Comparison, choices: int) -> float:
    """Return the mean over runs of the upper ends of their intervals, else of their means.

    The lowest of several means is low by chance too: intervals are widened as a normal one would be
    for *choices* comparisons (Bonferroni).
    """
    normal, level = NormalDist(), comparison.level
    wider = normal.inv_cdf(1 - (1 - level) / 2 / choices) / normal.inv_cdf((1 + level) / 2)
    ends = [
        mean.mean + (mean.interval.high - mean.mean) * wider
        for mean in comparison.means
        if mean.mean is not None and mean.interval.high is not None
    ]
    return float(np.mean(ends)) if ends else _mean(comparison)
