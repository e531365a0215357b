"""The verdict on a comparison: a few short sentences for a busy engineer."""

from collections.abc import Sequence

from karat.model.comparison import (
    LARGE_LOSSES,
    SMALL_GAINS,
    Comparison,
    Difference,
    decimals,
)
from karat.model.evaluation import ComparisonResult
from karat.system.words import MOST_NAMED, counted, first_few, join_names


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
    """Return the verdict on a run against its baseline, with every number as run minus baseline."""
    entries = comparison.differences
    real = [entry for entry in entries if entry.is_significant]
    unclear = [entry for entry in entries if entry not in real and entry.n]
    sentences = against_named(comparison, "the baseline")
    return " ".join([*sentences, *limits(comparison, unclear, real)])


def against_named(comparison: Comparison, other: str) -> list[str]:
    """Return the sentences on a run against one that is called *other*, as run minus *other*."""
    entries = comparison.differences
    system = entries[0].system
    real = [entry for entry in entries if entry.is_significant]
    unclear = [entry for entry in entries if entry not in real and entry.n]
    sentences = []
    for word in ("worse", "better"):
        is_better = word == "better"
        members = [e for e in real if (winner(comparison, e) == e.system) is is_better]
        if members:
            first, *others = members
            text = f"{first.system} is {word} than {other}: {first.metric} "
            sentences.append(f"{text}{numbers(comparison, first, of=first.system, hint=True)}.")
            if others:
                names = label_metrics(comparison, [entry.metric for entry in others])
                sentences.append(f"It is also {word} on {names}.")
    if unclear:
        sentences.append(unclear_sentence(comparison, unclear, system, other, of=system))
    return sentences


def two_systems(comparison: Comparison) -> str:
    """Return the verdict on one pair; the sentence about the first metric comes first."""
    entries = comparison.differences
    one, other = entries[0].baseline, entries[0].system
    real = [entry for entry in entries if entry.is_significant]
    unclear = [entry for entry in entries if entry not in real and entry.p is not None]
    unseen = [entry.metric for entry in entries if entry.p is None]
    sentences = winner_sentences(comparison, real)
    if unclear:
        # As in the sentence about the winner: the better system minus the other one.
        better = winner(comparison, (real or unclear)[0])
        ties = all(is_tie(entry) for entry in unclear)
        first, second = (one, other) if better == one or ties else (other, one)
        text = unclear_sentence(comparison, unclear, first, second, of=first)
        sentences.insert(0 if unclear[0] is entries[0] else len(sentences), text)
    if unseen:
        sentences.append(f"No query has scores of both {one} and {other} on {join_names(unseen)}.")
    return " ".join([*sentences, *limits(comparison, unclear, real)])


def unclear_sentence(
    comparison: Comparison, entries: Sequence[Difference], one: str, other: str, *, of: str
) -> str:
    """Return the sentence on the metrics of a pair without a significant difference.

    The first metric has its numbers, *of* a system minus the other one.
    """
    names = [entry.metric for entry in entries]
    if all(is_tie(entry) for entry in entries):
        return f"{one} and {other} have the same {join_names(names)} on every query."
    names[0] += f" ({numbers(comparison, entries[0], of=of)})"
    return f"No significant difference between {one} and {other} on {join_names(names)}."


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
            sentences.append(f"{text}{numbers(comparison, members[0], of=members[0].system)}.")
        elif len(members) > MOST_NAMED:
            most = max(members, key=lambda entry: abs(entry.difference or 0.0))
            text = f"{len(members)} systems are {word} than {baseline} on {label}, most of all "
            text += f"{most.system}: {numbers(comparison, most, of=most.system)}"
            sentences.append(f"{text}.")
        elif members:
            parts = [f"{e.system} ({numbers(comparison, e, of=e.system)})" for e in members]
            sentences.append(f"{join_names(parts)} are {word} than {baseline} on {label}.")
    rest = [entry for entry in entries if entry.n and entry not in real]
    sentences += rest_sentences(comparison, baseline, rest, is_best=False)
    sentences += limits(comparison, rest, real)
    return " ".join([*sentences, *unscored_sentences(comparison, metric)])


def best_of_many(comparison: Comparison, entries: Sequence[Difference], metric: str) -> str:
    """Return the verdict on all pairs: the system with the best mean against the others.

    Of equal means all are named, and the first one is compared with the others.
    """
    leaders = comparison.leaders(metric)
    if not leaders:
        return f"No query has a score on {metric}."
    best = leaders[0]
    own = [entry for entry in entries if entry.n and best in (entry.baseline, entry.system)]
    significant = [entry for entry in own if entry.is_significant]
    real = [entry for entry in significant if winner(comparison, entry) == best]
    rest = [entry for entry in own if entry not in significant]
    lower = metric in comparison.lower_is_better
    mean = f"{comparison.mean(best, metric).mean:.3f}"
    if all(is_tie(entry) for entry in own):
        names = join_names(first_few(leaders))
        equal = f"{names} have the same {metric} on every query, {mean} on average."
        return " ".join([equal, *unscored_sentences(comparison, metric)])
    verb = "has" if len(leaders) == 1 else "have"
    text = f"{join_names(first_few(leaders))} {verb} the {'lowest' if lower else 'highest'} "
    text += f"{metric}, {mean}{' (lower is better)' if lower else ''}"
    if real:
        text += ", and is better than " if len(leaders) == 1 else f". {best} is better than "
    if len(real) > MOST_NAMED:
        nearest = min(real, key=lambda entry: abs(entry.difference or 0.0))
        text += f"{len(real)} others. The smallest difference is to "
        text += f"{loser(comparison, nearest)}: {numbers(comparison, nearest)}"
    elif real:
        text += join_names([f"{loser(comparison, e)} ({numbers(comparison, e)})" for e in real])
    sentences = [f"{text}."]
    # Possible if runs lack queries: a mean uses all queries of a run, a pair only the common ones.
    sentences += [
        f"{winner(comparison, entry)} is better than {best} on their common queries "
        f"({numbers(comparison, entry)})."
        for entry in significant
        if entry not in real
    ]
    sentences += rest_sentences(comparison, best, rest, is_best=True)
    sentences += limits(comparison, rest, real)
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


def numbers(comparison: Comparison, entry: Difference, *, of: str = "", hint: bool = False) -> str:
    """Return a difference with its interval and corrected p value, and why the two disagree.

    It is that *of* a system minus the other one, by default winner minus loser. *hint* marks a
    metric of which less is better.
    """
    text = size(entry, flip=(of or winner(comparison, entry)) == entry.baseline)
    if hint and entry.metric in comparison.lower_is_better:
        text += " (lower is better)"
    if entry.p_corrected is None:
        return text
    text += f", p {p_value(entry.p_corrected)}{correction(comparison)}"
    if reason := disagreement(entry):
        text += f", {reason}"
    return text


def disagreement(entry: Difference) -> str:
    """Return why *entry* does not count although its interval or its test alone says so, or ""."""
    p = entry.p_corrected
    if p is None or entry.excludes_zero in (None, p <= entry.alpha):
        return ""
    if not entry.excludes_zero:
        return "but the interval includes 0"
    # The interval is that of this pair alone; the p value counts all comparisons.
    kind = "uncorrected " if entry.p is not None and entry.p <= entry.alpha else ""
    return f"although the {kind}interval excludes 0"


def correction(comparison: Comparison) -> str:
    """Return for how many comparisons p values are corrected, "" for a single one."""
    if comparison.family <= 1:
        return ""
    words = "not corrected" if comparison.correction == "none" else "corrected"
    return f" {words} for {comparison.family} comparisons"


def size(entry: Difference, *, flip: bool = False) -> str:
    """Return the signed difference and its interval; with *flip* baseline minus system."""
    entry = entry.reversed() if flip else entry
    text = number(entry.difference or 0.0, signed=True, digits=entry.digits)
    low, high = entry.interval.low, entry.interval.high
    if low is not None and high is not None:
        ends = (number(end, digits=entry.digits) for end in (low, high))
        text += f" [{', '.join(ends)}]"
    return text


def is_tie(entry: Difference) -> bool:
    """Return whether both systems have the same score on every query."""
    return entry.n > 0 and entry.ties == entry.n


def rest_sentences(
    comparison: Comparison, name: str, entries: Sequence[Difference], *, is_best: bool
) -> list[str]:
    """Return the sentences about systems that do not differ significantly from *name*.

    A number is that of the first name minus the second: of the best system minus the other one, or
    of the other one minus the baseline. A pair whose test alone is significant has a sentence of
    its own, which says why it does not count.
    """
    same = [entry for entry in entries if is_tie(entry)]
    alone = [e for e in entries if (e.p_corrected or 0.0) <= e.alpha]
    rest = [entry for entry in entries if entry not in same and entry not in alone]
    if len(rest) == 1:
        alone, rest = [entry for entry in entries if entry in alone or entry in rest], []
    sentences = []
    for entry in alone:
        other = partner(entry, name)
        pair, of = ((name, other), name) if is_best else ((other, name), other)
        amount = numbers(comparison, entry, of=of)
        sentences.append(f"No significant difference between {join_names(pair)} ({amount}).")
    if rest:
        names = join_names(first_few([partner(entry, name) for entry in rest]))
        p = p_value(min(entry.p_corrected or 0.0 for entry in rest))
        sentences.append(
            f"{name} does not differ significantly from {names} (smallest p {p}"
            f"{correction(comparison)})."
        )
    if same:
        names = join_names(first_few([name, *(partner(entry, name) for entry in same)]))
        sentences.append(f"{names} have the same score on every query.")
    return sentences


def partner(entry: Difference, name: str) -> str:
    """Return the other system of the pair of *name*."""
    return entry.system if entry.baseline == name else entry.baseline


def limits(
    comparison: Comparison, unclear: Sequence[Difference], real: Sequence[Difference]
) -> list[str]:
    """Return what to doubt of *real* differences, and what the queries cannot show of others."""
    return [
        *caution_sentences(comparison, real),
        *few_changed_sentences(comparison, unclear, real),
        *reach_sentences(comparison, unclear, real),
    ]


CAUTIONS = {
    LARGE_LOSSES: "{winner} gains little on many queries and loses much on a few",
    SMALL_GAINS: "three failed queries would cost {winner} more than all its gains",
}


def caution_sentences(comparison: Comparison, real: Sequence[Difference]) -> list[str]:
    """Return why *real* differences are false alarms more often than their p values say."""
    doubtful: dict[tuple[str, str], list[Difference]] = {}
    for entry in real:
        if entry.caution:
            doubtful.setdefault((entry.caution, winner(comparison, entry)), []).append(entry)
    sentences = []
    for (reason, name), entries in doubtful.items():
        where = ""
        if len({entry.metric for entry in real}) > 1:
            where += f" on {join_names([entry.metric for entry in entries])}"
        if len({partner(entry, name) for entry in real}) > 1:
            others = dict.fromkeys(partner(entry, name) for entry in entries)
            where += f" against {join_names(first_few(list(others)))}"
        why = CAUTIONS[reason].format(winner=name)
        sentences.append(f"Caution{where}: {why}, so the p value may be too optimistic.")
    return sentences


def scope(
    comparison: Comparison, some: Sequence[Difference], considered: Sequence[Difference]
) -> str:
    """Return which of the *considered* differences a sentence on *some* is about, "" for all.

    Metrics of the comparison that nobody considered count as others.
    """
    text = ""
    pairs = {frozenset((entry.baseline, entry.system)) for entry in some}
    if len(pairs) < len({frozenset((entry.baseline, entry.system)) for entry in considered}):
        # All are pairs of one system, the best one or the baseline.
        name = min(frozenset.intersection(*pairs), key=comparison.systems.index)
        others = dict.fromkeys(partner(entry, name) for entry in some)
        text += f" between {name} and {join_names(first_few(list(others)))}"
    metrics = dict.fromkeys(entry.metric for entry in some)
    if len(metrics) < len(comparison.metrics):
        text += f" on {join_names(list(metrics))}"
    return text


def few_changed_sentences(
    comparison: Comparison, entries: Sequence[Difference], real: Sequence[Difference]
) -> list[str]:
    """Return that no test can call *entries* significant in which too few queries change.

    Two systems with the same score on every query have a sentence already.
    """
    few = [entry for entry in entries if not is_tie(entry) and not entry.can_be_significant]
    if not few:
        return []
    most, unit = max((entry.changed or 0, entry.changed_unit) for entry in few)
    where = scope(comparison, few, [*entries, *real]).lstrip()
    count = f"{'at most' if len(few) > 1 else 'only'} {counted(most, unit)}"
    verb = "differs" if most == 1 else "differ"
    said = f"{where} {count} {verb}, and the test needs at least {few[0].fewest_changed} to call a "
    said = said.lstrip()
    return [f"{said[0].upper()}{said[1:]}difference significant."]


def reach_sentences(
    comparison: Comparison, entries: Sequence[Difference], real: Sequence[Difference]
) -> list[str]:
    """Return what the queries can detect, given the *entries* that are not significant.

    All scores share one number, the largest. A metric of which less is better is a count with its
    own unit, and has its own number. Where other pairs or metrics differ significantly, as *real*
    says, or were not looked at, the sentence names those that it is about. A pair that differs on
    too few queries for any significant difference has no such number. One of which no difference
    can be detected is named.
    """
    known = [entry for entry in entries if entry.can_be_significant and not is_tie(entry)]
    numbered = [(entry, entry.detectable) for entry in known if entry.detectable]
    if len({entry.metric for entry in known}) == 1 and 2 * len(numbered) < len(known):
        # The number of a few pairs says little about most of them.
        numbered = []
    reach: dict[str, float] = {}
    for entry, detectable in numbered:
        group = entry.metric if entry.metric in comparison.lower_is_better else ""
        reach[group] = max(reach.get(group, 0.0), detectable)
    n = min((entry.n for entry in entries), default=0)
    queries = "query" if n == 1 else "queries"
    if not reach:
        # Without a spread nothing is known about the noise.
        limited = [
            entry
            for entry in known
            if entry.changed and entry.effect is not None and not entry.is_vetoed
        ]
        any_difference = f"any {'other ' if real else ''}difference"
        return [f"{n} {queries} cannot reliably detect {any_difference}."] if limited else []
    numbered_entries = [entry for entry, _ in numbered]
    where = scope(comparison, numbered_entries, [*entries, *real])
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
    text = f"{n} {queries} can reliably detect differences of about {values}{where}"
    return [f"{text}.", *unreachable_sentences(known)]


def unreachable_sentences(entries: Sequence[Difference]) -> list[str]:
    """Return on which metrics, or between which systems, no difference of *entries* is detected."""
    beyond = [entry for entry in entries if entry.changed and not entry.detectable]
    if not beyond:
        return []
    metrics = dict.fromkeys(entry.metric for entry in entries)
    if len(metrics) > 1:
        where = f"on {join_names(list(dict.fromkeys(entry.metric for entry in beyond)))}"
    else:
        # All entries are pairs of one system, the best one or the baseline.
        pairs = [{entry.baseline, entry.system} for entry in entries]
        name = min(pairs[0].intersection(*pairs))
        where = f"between {name} and {join_names(first_few([partner(e, name) for e in beyond]))}"
    return [f"They cannot reliably detect any {where}."]


def count_text(value: float) -> str:
    """Return a number of lines or tokens, whole from 10 on.

    >>> count_text(31.763), count_text(2.25)
    ('32', '2.2')
    """
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def number(value: float, *, signed: bool = False, digits: int = 0) -> str:
    """Return *value* with three decimals, or more if those would all be 0, or with *digits*.

    >>> number(0.0412), number(0.00012), number(-0.0001), number(0.0412, signed=True)
    ('0.041', '0.0001', '-0.0001', '+0.041')
    """
    digits = digits or decimals(value)
    value = round(value, digits) + 0.0  # no negative zero
    return format(value, f"{'+' if signed and value else ''}.{digits}f")


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
