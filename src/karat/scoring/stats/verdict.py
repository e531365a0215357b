"""The verdict on a comparison: a few short sentences for a busy engineer."""

from collections.abc import Mapping, Sequence

from karat.model.comparison import Comparison, Difference
from karat.model.evaluation import ComparisonResult
from karat.system.words import MOST_NAMED, first_few, join_names

__all__ = ["gate_verdict", "verdict"]

# With fewer queries that differ, their spread is not known well enough to say what is detectable.
FEWEST_CHANGED = 5


def verdict(comparison: Comparison | ComparisonResult) -> str:
    """Return the verdict on *comparison*, or an empty text if nothing was compared.

    A result of :func:`karat.compare` has its verdict, with the limits of the comparison.

    For two systems it covers every metric. For more systems it covers the first metric: the best
    system against the others, or each system against the baseline if only those pairs were tested.
    """
    if isinstance(comparison, ComparisonResult):
        return comparison.verdict
    if not comparison.differences:
        return ""
    lead = comparison.metrics[0]
    entries = [entry for entry in comparison.differences if entry.metric == lead]
    if len(entries) == 1:
        text = two_systems(comparison)
    elif comparison.pairs == "baseline":
        text = against_baseline(comparison, entries, lead)
    else:
        text = best_of_many(comparison, entries, lead)
    # The correction is the same for every p value: it is stated with the first.
    words = correction(comparison)
    if not words:
        return text
    start, first, rest = text.partition(words)
    return start + first + rest.replace(words, "")


def gate_verdict(comparison: Comparison) -> str:
    """Return the verdict on a run against its baseline, with every number as run minus baseline.

    A difference counts only if its interval and its p value agree, as in the checks of the gate.
    """
    entries = comparison.differences
    pair = f"{entries[0].system} and the baseline"
    real = [entry for entry in entries if entry.is_significant]
    unclear = [entry for entry in entries if entry not in real and entry.n]
    sentences = []
    for word in ("worse", "better"):
        is_better = word == "better"
        members = [e for e in real if (winner(comparison, e) == e.system) is is_better]
        if members:
            first, *others = members
            text = f"{first.system} is {word} than the baseline: {first.metric} "
            sentences.append(f"{text}{numbers(comparison, first, flip=False, hint=True)}.")
            if others:
                names = label_metrics(comparison, [entry.metric for entry in others])
                sentences.append(f"It is also {word} on {names}.")
    if unclear:
        metrics = join_names([entry.metric for entry in unclear])
        if all(is_tie(entry) for entry in unclear):
            sentences.append(f"{pair} have the same {metrics} on every query.")
        else:
            amount = ""
            if len(unclear) == 1:
                amount = size(unclear[0])
                if unclear[0].excludes_zero:
                    amount += f", p {p_value(unclear[0].p or 0.0)}"
                amount = f" ({amount})"
            sentences.append(f"No significant difference between {pair} on {metrics}{amount}.")
    return " ".join([*sentences, *reach_sentences(comparison, unclear, real)])


def two_systems(comparison: Comparison) -> str:
    """Return the verdict on one pair; the sentence about the first metric comes first."""
    entries = comparison.differences
    one, other = entries[0].baseline, entries[0].system
    real = [entry for entry in entries if entry.is_significant]
    unclear = [entry for entry in entries if entry not in real and entry.p is not None]
    unseen = [entry.metric for entry in entries if entry.p is None]
    sentences = winner_sentences(comparison, real)
    if unclear:
        metrics = join_names([entry.metric for entry in unclear])
        if all(is_tie(entry) for entry in unclear):
            text = f"{one} and {other} have the same {metrics} on every query."
        else:
            amount = ""
            if len(unclear) == 1:
                # As in the sentence about the winner: the better system minus the other one.
                flips = winner(comparison, (real or unclear)[0]) == one
                one, other = (one, other) if flips else (other, one)
                amount = f" ({size(unclear[0], flip=flips)})"
            text = f"No significant difference between {one} and {other} on {metrics}{amount}."
        sentences.insert(0 if unclear[0] is entries[0] else len(sentences), text)
    if unseen:
        sentences.append(f"No query has scores of both {one} and {other} on {join_names(unseen)}.")
    return " ".join([*sentences, *reach_sentences(comparison, unclear, real)])


def winner_sentences(comparison: Comparison, real: Sequence[Difference]) -> list[str]:
    """Return the sentences on each system that is better on a metric.

    Only the first metric of a system has numbers; a second sentence lists the others by name.
    """
    sentences = []
    for name in dict.fromkeys(winner(comparison, entry) for entry in real):
        first, *others = (entry for entry in real if winner(comparison, entry) == name)
        text = f"{name} is better than {loser(comparison, first)}: {first.metric} "
        sentences.append(f"{text}{numbers(comparison, first, hint=True)}.")
        if others:
            names = label_metrics(comparison, [entry.metric for entry in others])
            sentences.append(f"It is also better on {names}.")
    return sentences


def against_baseline(comparison: Comparison, entries: Sequence[Difference], metric: str) -> str:
    """Return the verdict on several systems against the baseline."""
    baseline, label = comparison.baseline, label_metrics(comparison, [metric])
    real = [entry for entry in entries if entry.is_significant]
    sentences = []
    for word in ("better", "worse"):
        is_better = word == "better"
        members = [e for e in real if (winner(comparison, e) == e.system) is is_better]
        if len(members) == 1:
            text = f"{members[0].system} is {word} than {baseline} on {label}: "
            sentences.append(f"{text}{numbers(comparison, members[0], flip=False)}.")
        elif len(members) > MOST_NAMED:
            most = max(members, key=lambda entry: abs(entry.difference or 0.0))
            text = f"{len(members)} systems are {word} than {baseline} on {label}, most of all "
            text += f"{most.system}: {numbers(comparison, most, flip=False)}"
            sentences.append(f"{text}.")
        elif members:
            parts = [f"{e.system} ({numbers(comparison, e, flip=False)})" for e in members]
            sentences.append(f"{join_names(parts)} are {word} than {baseline} on {label}.")
    rest = [entry for entry in entries if entry.n and entry not in real]
    if rest:
        others = [(entry.system, entry) for entry in rest]
        sentences.append(rest_sentence(baseline, others, is_best=False))
    sentences += reach_sentences(comparison, rest, real)
    return " ".join([*sentences, *unscored_sentences(comparison, metric)])


def best_of_many(comparison: Comparison, entries: Sequence[Difference], metric: str) -> str:
    """Return the verdict on all pairs: the system with the best mean against the others."""
    scores = [(entry.mean, entry.system) for entry in comparison.means if entry.metric == metric]
    known = [(mean, system) for mean, system in scores if mean is not None]
    if not known:
        return f"No query has a score on {metric}."
    # Of equal means the first system wins, so that the order of systems decides, not their names.
    lower = metric in comparison.lower_is_better
    top = (min if lower else max)(mean for mean, _ in known)
    best = next(system for mean, system in known if mean == top)
    own = [entry for entry in entries if entry.n and best in (entry.baseline, entry.system)]
    significant = [entry for entry in own if entry.is_significant]
    real = [entry for entry in significant if winner(comparison, entry) == best]
    rest = [entry for entry in own if entry not in significant]
    text = f"{best} has the {'lowest' if lower else 'highest'} {metric}, {top:.3f}"
    text += " (lower is better)" if lower else ""
    if len(real) > MOST_NAMED:
        nearest = min(real, key=lambda entry: abs(entry.difference or 0.0))
        text += f", and is better than {len(real)} others. The smallest difference is to "
        text += f"{loser(comparison, nearest)}: {numbers(comparison, nearest)}"
    elif real:
        parts = [f"{loser(comparison, e)} ({numbers(comparison, e)})" for e in real]
        text += f", and is better than {join_names(parts)}"
    sentences = [f"{text}."]
    # Possible if runs lack queries: a mean uses all queries of a run, a pair only the common ones.
    sentences += [
        f"{winner(comparison, entry)} is better than {best} on their common queries "
        f"({numbers(comparison, entry)})."
        for entry in significant
        if entry not in real
    ]
    if rest:
        others = [(e.system if e.baseline == best else e.baseline, e) for e in rest]
        sentences.append(rest_sentence(best, others, is_best=True))
    sentences += reach_sentences(comparison, rest, real)
    return " ".join([*sentences, *unscored_sentences(comparison, metric)])


def unscored_sentences(comparison: Comparison, metric: str) -> list[str]:
    """Return a sentence about the systems without a score on *metric*, if there are any."""
    means = [mean for mean in comparison.means if mean.metric == metric]
    names = [mean.system for mean in means if mean.mean is None]
    if not names:
        return []
    verb = "has" if len(names) == 1 else "have"
    return [f"{join_names(first_few(names))} {verb} no score on {metric}."]


def winner(comparison: Comparison, entry: Difference) -> str:
    """Return the name with the better mean; of equal means the system."""
    return comparison.winner(entry) or entry.system


def loser(comparison: Comparison, entry: Difference) -> str:
    """Return the other name of the pair."""
    return entry.baseline if winner(comparison, entry) == entry.system else entry.system


def label_metrics(comparison: Comparison, metrics: Sequence[str]) -> str:
    """Return *metrics* as a list; those of which less is better come last and are marked."""
    more = [name for name in metrics if name not in comparison.lower_is_better]
    less = [name for name in metrics if name in comparison.lower_is_better]
    if not less:
        return join_names(more)
    text = f"{join_names(less)} (lower is better)"
    return f"{join_names(more)}, and on {text}" if more else text


def numbers(
    comparison: Comparison, entry: Difference, *, flip: bool = True, hint: bool = False
) -> str:
    """Return a significant difference with its interval and corrected p value.

    It is winner minus loser, or with *flip* False always system minus baseline. *hint* marks a
    metric of which less is better.
    """
    flips = flip and winner(comparison, entry) == entry.baseline
    text = size(entry, flip=flips)
    if hint and entry.metric in comparison.lower_is_better:
        text += " (lower is better)"
    return f"{text}, p {p_value(entry.p_corrected or 0.0)}{correction(comparison)}"


def correction(comparison: Comparison) -> str:
    """Return for how many comparisons p values are corrected, "" for a single one."""
    if comparison.family <= 1:
        return ""
    words = "not corrected" if comparison.correction == "none" else "corrected"
    return f" {words} for {comparison.family} comparisons"


def size(entry: Difference, *, flip: bool = False) -> str:
    """Return the signed difference and its interval; with *flip* baseline minus system."""
    sign = -1.0 if flip else 1.0
    text = number(sign * (entry.difference or 0.0), signed=True)
    low, high = entry.interval.low, entry.interval.high
    if low is not None and high is not None:
        low, high = sorted((sign * low, sign * high))
        text += f" [{number(low)}, {number(high)}]"
    return text


def is_tie(entry: Difference) -> bool:
    """Return whether both systems have the same score on every query."""
    return entry.n > 0 and entry.ties == entry.n


def rest_sentence(name: str, others: Sequence[tuple[str, Difference]], *, is_best: bool) -> str:
    """Return the sentence about systems that do not differ significantly from *name*.

    A number is that of the first name minus the second: of the best system minus the other one, or
    of the other one minus the baseline.
    """
    names = join_names(first_few([other for other, _ in others]))
    if all(is_tie(entry) for _, entry in others):
        return f"{name} and {names} have the same score on every query."
    if len(others) > 1:
        return f"{name} does not differ significantly from {names}."
    ((_, entry),) = others
    amount = size(entry, flip=is_best and entry.baseline == name)
    if entry.excludes_zero and entry.p_corrected is not None:
        # The interval is that of this pair alone; the p value counts all comparisons.
        amount += f", p {p_value(entry.p_corrected)} after correction"
    pair = f"{name} and {names}" if is_best else f"{names} and {name}"
    return f"No significant difference between {pair} ({amount})."


def reach_sentences(
    comparison: Comparison, entries: Sequence[Difference], real: Sequence[Difference]
) -> list[str]:
    """Return what the queries can detect, given the *entries* that are not significant.

    All scores share one number, the largest. A metric of which less is better is a count with its
    own unit, and has its own number. A *real* difference below that number gets an explanation.
    A pair that differs on few queries says too little about the noise.
    """
    reach: dict[str, float] = {}
    for entry in entries:
        if entry.detectable and entry.wins + entry.losses >= FEWEST_CHANGED:
            group = entry.metric if entry.metric in comparison.lower_is_better else ""
            reach[group] = max(reach.get(group, 0.0), entry.detectable)
    if not reach:
        return []
    smaller = smaller_than(comparison, real, reach)
    n = min(entry.n for entry in entries)
    queries = "query" if n == 1 else "queries"
    scores = reach.pop("", None)
    if scores is not None:
        values = f"{number(scores)} or more"
        counts = [f"{metric}: {count_text(value)} or more" for metric, value in reach.items()]
        values += f" ({', '.join(counts)})" if counts else ""
    elif len(entries) == 1:
        values = f"{count_text(max(reach.values()))} or more"
    else:
        values = join_names(
            [f"{count_text(value)} or more on {metric}" for metric, value in reach.items()]
        )
    text = f"{n} {queries} can reliably detect differences of about {values}"
    if smaller:
        text += f". Smaller ones, such as {number(smaller)} here, are detected less often"
    return [f"{text}."]


def smaller_than(
    comparison: Comparison, real: Sequence[Difference], reach: Mapping[str, float]
) -> float | None:
    """Return a difference among *real* below its own detectable one, None if there is none.

    Only groups of *reach* count, which have a number in the sentence. What is detectable holds for
    a power below 1, so some smaller differences are detected too.
    """
    for entry in real:
        group = entry.metric if entry.metric in comparison.lower_is_better else ""
        size = abs(entry.difference or 0.0)
        if group in reach and entry.detectable and size < entry.detectable:
            return size
    return None


def count_text(value: float) -> str:
    """Return a number of lines or tokens, whole from 10 on.

    >>> count_text(31.763), count_text(2.25)
    ('32', '2.2')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def number(value: float, *, signed: bool = False) -> str:
    """Return *value* with three decimals, or two digits if those would all be 0.

    >>> number(0.0412), number(0.00012), number(-0.0001), number(0.0412, signed=True)
    ('0.041', '0.00012', '-0.0001', '+0.041')
    """
    value += 0.0  # no negative zero
    digits = ".3f" if abs(value) >= 0.0005 or value == 0.0 else ".2g"
    return format(value, f"{'+' if signed and value else ''}{digits}")


def p_value(p: float) -> str:
    """Return *p* with "=" or "<" for printing.

    >>> p_value(0.0042), p_value(0.00001), p_value(0.04996)
    ('= 0.004', '< 0.001', '= 0.04996')
    """
    if p < 0.001:
        return "< 0.001"
    # A p value just below the level must not be printed as the level or above it.
    rounded = f"{p:.3f}"
    return f"= {rounded}" if rounded != "0.050" else f"= {p:.4g}"
