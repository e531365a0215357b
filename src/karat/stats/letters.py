"""Significance letters: which systems each one is significantly better than."""

from typing import NamedTuple

from karat.model.comparison import Comparison

__all__ = ["Marked", "significance_letters"]


class Marked(NamedTuple):
    """A system, its own letter, and the letters of the systems that it is better than."""

    system: str
    letter: str
    better_than: str


def significance_letters(comparison: Comparison, metric: str) -> tuple[Marked, ...]:
    """Return one row per system, in order; letters are a, b, c, ... by the order of the systems.

    A letter stands in ``better_than`` when the system's mean is the better one and the corrected
    p value is significant. Past z the letters are aa, ab, ..., and are separated by commas.
    """
    letters = {system: letter(place) for place, system in enumerate(comparison.systems)}
    beaten: dict[str, list[str]] = {system: [] for system in comparison.systems}
    for entry in comparison.differences:
        better = comparison.winner(entry) if entry.metric == metric else None
        if better is None or not comparison.significant(entry):
            continue
        beaten[better].append(entry.baseline if better == entry.system else entry.system)
    separator = "" if len(letters) <= 26 else ","
    return tuple(
        Marked(
            system,
            letters[system],
            separator.join(
                letters[other] for other in comparison.systems if other in beaten[system]
            ),
        )
        for system in comparison.systems
    )


def letter(place: int) -> str:
    """Return the letter of the system at *place* from 0.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    head, tail = divmod(place, 26)
    return (letter(head - 1) if head else "") + chr(ord("a") + tail)
