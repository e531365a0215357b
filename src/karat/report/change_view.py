"""How runs changed since earlier runs of the same engines, in sentences."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from karat.model.change import Earlier, RunChange
from karat.report.display import age
from karat.scoring.stats.verdict import against_named
from karat.system.words import counted, first_few, join_names

NAMES = {Earlier.PREVIOUS: "its previous run", Earlier.PINNED: "the pinned run"}
SEVERAL = {Earlier.PREVIOUS: "their previous runs", Earlier.PINNED: "the pinned runs"}


def change_lines(changes: Sequence[RunChange], *, now: datetime | None = None) -> Iterator[str]:
    """Yield a sentence on each change, and one on all runs that are unchanged."""
    now = now or datetime.now(UTC)
    for change in changes:
        if not change.unchanged:
            yield change_line(change, now=now)
    for against in Earlier:
        same = [each for each in changes if each.unchanged and each.against is against]
        if len(same) == 1:
            yield change_line(same[0], now=now)
        elif same:
            names = join_names(first_few([each.run for each in same]))
            measure = same[0].comparison.labelled().metrics[0]
            yield f"{names} have the same {measure} on every query as {SEVERAL[against]}."


def change_line(change: RunChange, *, now: datetime) -> str:
    """Return what became of a run since an earlier one: the sentence, and what is known of both."""
    facts = [f"{change.earlier}, {age(change.ended, now=now)}"]
    if change.altered:
        facts.append(altered_text(change))
    sentence = change_sentence(change, NAMES[change.against])
    return f"{sentence.removesuffix('.')} ({'; '.join(facts)})."


def change_sentence(change: RunChange, other: str) -> str:
    """Return how a run differs from one that is called *other*, with the queries won and lost."""
    (sentence,) = against_named(change.comparison.labelled(), other)
    entry = change.difference
    counts = (
        "" if change.unchanged else f"; {counted(entry.wins, 'query')} won, {entry.losses:,} lost"
    )
    if entry.n < change.queries:
        counts += f", compared on {entry.n:,} of {change.queries:,} queries"
    return f"{sentence.removesuffix('.')}{counts}."


def altered_text(change: RunChange) -> str:
    """Return what is known to differ beside the hits, "" for nothing."""
    return f"changed: {', '.join(first_few(change.altered))}" if change.altered else ""
