"""The comparison in words: one short paragraph that calls noise noise."""

from collections.abc import Mapping, Sequence

from karat.model.comparison import Comparison, Difference

__all__ = ["verdict"]

# More names than this are a list that nobody reads.
MOST_NAMED = 5


def verdict(comparison: Comparison) -> str:
    """Return the verdict on *comparison*; the first metric leads.

    Two systems: every metric is judged, one of them with its numbers. More systems: the first
    metric only, the best system against each other one, or each against the baseline where only
    those pairs were compared. An empty text where nothing was compared.
    """
    if not comparison.differences:
        return ""
    lead = comparison.metrics[0]
    entries = [entry for entry in comparison.differences if entry.metric == lead]
    if len(entries) == 1:
        return two_systems(comparison)
    if comparison.pairs == "baseline":
        return against_baseline(comparison, entries, lead)
    return best_of_many(comparison, entries, lead)


def two_systems(comparison: Comparison) -> str:
    """Return the verdict on one pair: what is real, what is noise, the first metric's kind first.

    The first real difference is told with interval and p value, the others by name.
    """
    entries = comparison.differences
    real = [entry for entry in entries if comparison.significant(entry)]
    noise = [entry for entry in entries if entry not in real and entry.p is not None]
    unseen = [entry.metric for entry in entries if entry.p is None]
    clauses = real_clauses(comparison, real) if real else []
    if noise:
        what = f"on {listed([entry.metric for entry in noise])}"
        place = 0 if noise[0] is entries[0] else len(clauses)
        clauses.insert(place, rest_clause(comparison, what, noise, real))
    if unseen:
        clauses.append(f"no query has a score of both on {listed(unseen)}")
    return sentence("; ".join(clauses))


def real_clauses(comparison: Comparison, real: Sequence[Difference]) -> list[str]:
    """Return what the winner on the first metric of *real* wins, and then what the other one does.

    The other one's first metric has its numbers too: it is what speaks against the winner.
    """
    clauses = []
    for name in dict.fromkeys(winner(comparison, entry) for entry in real):
        first, *others = (entry for entry in real if winner(comparison, entry) == name)
        text = f"{name} beats {loser(comparison, first)} on {labelled(comparison, [first.metric])}"
        text += f" by {amount(comparison, first)}"
        if others:
            text += f", and also on {labelled(comparison, [entry.metric for entry in others])}"
        clauses.append(text)
    return clauses


def against_baseline(comparison: Comparison, entries: Sequence[Difference], metric: str) -> str:
    """Return the verdict on several systems against the first one."""
    baseline = comparison.systems[0]
    groups = [
        ("beats", "beat", [entry for entry in entries if better(comparison, entry)]),
        ("loses to", "lose to", [entry for entry in entries if worse(comparison, entry)]),
    ]
    sentences = []
    for one, many, members in groups:
        if members:
            verb = one if len(members) == 1 else many
            farthest = max(members, key=lambda entry: abs(entry.difference or 0.0))
            parts = [f"{entry.system} by {amount(comparison, entry)}" for entry in members]
            if len(members) == 1:
                text = f"{farthest.system} {verb} {baseline} by {amount(comparison, farthest)}"
            elif len(members) > MOST_NAMED:
                text = f"{len(members)} others {verb} {baseline}, most of all {farthest.system}, "
                text += f"by {amount(comparison, farthest)}"
            else:
                names = listed([entry.system for entry in members])
                text = f"{names} {verb} {baseline}: {'; '.join(parts)}"
            sentences.append(sentence(f"on {labelled(comparison, [metric])}, {text}"))
    real = [entry for entry in entries if comparison.significant(entry)]
    rest = [entry for entry in entries if entry.n and entry not in real]
    if rest:
        what = f"of {listed(first_few([entry.system for entry in rest]))} from {baseline}"
        sentences.append(sentence(rest_clause(comparison, what, rest, real)))
    return " ".join([*sentences, *unscored(comparison, metric)])


def best_of_many(comparison: Comparison, entries: Sequence[Difference], metric: str) -> str:
    """Return the verdict on all pairs: the system with the best mean against the others.

    Of many that it beats only the nearest is told with its numbers.
    """
    scores = [(entry.mean, entry.system) for entry in comparison.means if entry.metric == metric]
    known = [(mean, system) for mean, system in scores if mean is not None]
    if not known:
        return f"No query has a score on {metric}."
    # The first system wins a draw, so that the order of systems decides and not their names.
    lower = metric in comparison.lower_is_better
    top = (min if lower else max)(mean for mean, _ in known)
    best = next(system for mean, system in known if mean == top)
    own = [entry for entry in entries if entry.n and best in (entry.baseline, entry.system)]
    beaten = [entry for entry in own if winner(comparison, entry) == best]
    real = [entry for entry in beaten if comparison.significant(entry)]
    rest = [entry for entry in own if entry not in real]
    text = f"on {labelled(comparison, [metric])}, {best} has the "
    text += f"{'lowest' if lower else 'highest'} mean, {top:.3f}"
    if len(real) > MOST_NAMED:
        nearest = min(real, key=lambda entry: abs(entry.difference or 0.0))
        text += f", and beats {len(real)} others, the nearest, {loser(comparison, nearest)}, "
        text += f"by {amount(comparison, nearest)}"
    elif real:
        parts = [f"{loser(comparison, entry)} by {amount(comparison, entry)}" for entry in real]
        text += f", and beats {listed(parts)}"
    sentences = [sentence(text)]
    if rest:
        others = [entry.system if entry.baseline == best else entry.baseline for entry in rest]
        what = f"of {best} from {listed(first_few(others))}"
        sentences.append(sentence(rest_clause(comparison, what, rest, real)))
    return " ".join([*sentences, *unscored(comparison, metric)])


def unscored(comparison: Comparison, metric: str) -> list[str]:
    """Return a sentence about the systems that have no score on *metric*, none without such."""
    means = [mean for mean in comparison.means if mean.metric == metric]
    names = [mean.system for mean in means if mean.mean is None]
    if not names:
        return []
    return [f"{listed(first_few(names))} {'has' if len(names) == 1 else 'have'} no score on it."]


def better(comparison: Comparison, entry: Difference) -> bool:
    """Return whether the system is significantly better than its baseline."""
    return comparison.significant(entry) and winner(comparison, entry) == entry.system


def worse(comparison: Comparison, entry: Difference) -> bool:
    """Return whether the system is significantly worse than its baseline."""
    return comparison.significant(entry) and winner(comparison, entry) == entry.baseline


def winner(comparison: Comparison, entry: Difference) -> str:
    """Return the name with the better mean; at a draw the system."""
    return comparison.winner(entry) or entry.system


def loser(comparison: Comparison, entry: Difference) -> str:
    """Return the other name of the pair."""
    return entry.baseline if winner(comparison, entry) == entry.system else entry.system


def labelled(comparison: Comparison, metrics: Sequence[str]) -> str:
    """Return *metrics* as a list, those of which less is better last and marked so."""
    more = [name for name in metrics if name not in comparison.lower_is_better]
    less = [name for name in metrics if name in comparison.lower_is_better]
    if not less:
        return listed(more)
    text = f"{listed(less)} (lower is better)"
    return f"{listed(more)}, and on {text}" if more else text


def amount(comparison: Comparison, entry: Difference) -> str:
    """Return the size of a difference, with interval and p value, seen from the winner."""
    difference = entry.difference or 0.0
    text = number(abs(difference))
    low, high = entry.interval.low, entry.interval.high
    if low is not None and high is not None:
        if difference < 0:
            low, high = -high, -low
        text += f" [{number(low)}, {number(high)}]"
    text += f" (p {p_value(entry.p_corrected or 0.0)}"
    if comparison.family > 1:
        plain = comparison.correction == "none"
        text += f", {'not ' if plain else ''}corrected for {comparison.family} comparisons"
    return text + ")"


def rest_clause(
    comparison: Comparison, what: str, entries: Sequence[Difference], real: Sequence[Difference]
) -> str:
    """Return the clause that calls differences noise, and what the set can reliably detect.

    Where no query differs, it says that instead. Scores share one number, the largest. Metrics of
    which less is better are counts of something, each in a unit of its own, and have theirs beside
    it. A smaller difference among the *real* ones, which was detected all the same, is explained.
    """
    subject = "difference" if len(entries) == 1 else "differences"
    verb = "is" if len(entries) == 1 else "are"
    if all(entry.n > 0 and entry.ties == entry.n for entry in entries):
        return f"the {subject} {what} {verb} 0 on every query"
    text = f"the {subject} {what} {verb} inside the noise"
    reach: dict[str, float] = {}
    for entry in entries:
        if entry.detectable:
            group = entry.metric if entry.metric in comparison.lower_is_better else ""
            reach[group] = max(reach.get(group, 0.0), entry.detectable)
    if not reach:
        return text
    smaller = smaller_than(comparison, real, reach)
    n = min(entry.n for entry in entries)
    queries = "query" if n == 1 else "queries"
    scores = [number(reach.pop(""))] if "" in reach else []
    counts = [f"{number(value)} on {metric}" for metric, value in reach.items()]
    if counts and not scores and len(entries) == 1:
        counts = [number(value) for value in reach.values()]
    found = ", and ".join([*scores, *([listed(counts)] if counts else [])])
    text += f": {n} {queries} can reliably detect differences of about {found} or more"
    if smaller:
        text += f", and smaller ones, such as {number(smaller)} here, less often or where they "
        text += "vary little between queries"
    return text


def smaller_than(
    comparison: Comparison, real: Sequence[Difference], reach: Mapping[str, float]
) -> float | None:
    """Return a difference among *real* that is below the *reach* of its group, None without such.

    *reach* is for a typical pair of systems and a power below 1, so that such differences happen.
    """
    for entry in real:
        group = entry.metric if entry.metric in comparison.lower_is_better else ""
        size = abs(entry.difference or 0.0)
        if size < reach.get(group, 0.0):
            return size
    return None


def number(value: float) -> str:
    """Return *value* with three decimals, or two digits where those would all be 0.

    >>> number(0.0412), number(0.00012), number(0.0), number(-0.0001)
    ('0.041', '0.00012', '0.000', '-0.0001')
    """
    return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.2g}"


def p_value(p: float) -> str:
    """Return *p* with its sign, as it is printed.

    >>> p_value(0.0042), p_value(0.00001), p_value(0.04996)
    ('= 0.004', '< 0.001', '= 0.04996')
    """
    if p < 0.001:
        return "< 0.001"
    # A p value just below the level must not be printed as the level or above it.
    rounded = f"{p:.3f}"
    return f"= {rounded}" if rounded != "0.050" else f"= {p:.4g}"


def listed(names: Sequence[str]) -> str:
    """Return *names* as an English list.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def first_few(names: Sequence[str]) -> Sequence[str]:
    """Return *names*, of too many the first ones and how many others there are.

    >>> first_few(list("abcdefg"))
    ['a', 'b', 'c', 'd', '3 others']
    """
    if len(names) <= MOST_NAMED:
        return names
    return [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]


def sentence(text: str) -> str:
    """Return *text* with a full stop; a capital only if it starts with a word of ours.

    >>> sentence("the difference is small"), sentence("bm25 beats grep")
    ('The difference is small.', 'bm25 beats grep.')
    """
    own = ("the ", "on ", "no ")
    return (text[0].upper() + text[1:] if text.startswith(own) else text) + "."
