"""Places that are as good as a target: copies of a passage elsewhere in the corpus.

A query may list them in its extra field ``alternatives``. A hit on such a place counts as a hit on
the target itself, so that copies neither add to the ideal ranking nor count twice.
"""

from collections.abc import Mapping, Sequence

from karat.errors import InputError
from karat.model import Hit, Target
from karat.scoring.matching.modes import Matcher

__all__ = ["ALTERNATIVES", "with_alternatives"]

ALTERNATIVES = "alternatives"


def with_alternatives(
    hits: Sequence[Hit],
    targets: Sequence[Target],
    extra: Mapping[str, object],
    matcher: Matcher,
) -> list[Hit]:
    """Return *hits*; one on an alternative place, and on no target, becomes a hit on its target.

    >>> from karat.scoring.matching.modes import lines
    >>> copy = {"path": "b", "start_line": 7, "end_line": 8}
    >>> place = {"path": "a", "start_line": 1, "end_line": 2}
    >>> extra = {"alternatives": [{**copy, "target": place}]}
    >>> with_alternatives([Hit("b", 0.5, 8, 9)], [Target("a", 1, 1, 2)], extra, lines())[0].path
    'a'
    """
    listed = extra.get(ALTERNATIVES)
    if not listed:
        return list(hits)
    pairs = _pairs(listed, matcher)
    found = []
    for hit in hits:
        place = None
        if not any(matcher.credit(hit, target) for target in targets):
            place = next((place for copy, place in pairs if matcher.credit(hit, copy)), None)
        if place is not None:
            lines = (place.start_line, place.end_line) if hit.end_line else (0, 0)
            hit = hit._replace(path=place.path, start_line=lines[0], end_line=lines[1])  # noqa: PLW2901
        found.append(hit)
    return found


def _pairs(listed: object, matcher: Matcher) -> list[tuple[Target, Target]]:
    """Return each alternative place with the place of its target."""
    try:
        return [
            (_place(each, matcher), _place(each["target"], matcher))
            for each in listed  # type: ignore[attr-defined] # checked by the except
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"{ALTERNATIVES!r} of a query is not a list of places with path, start_line, end_line "
            "and target, as karat resolve writes it"
        ) from None


def _place(record: Mapping[str, object], matcher: Matcher) -> Target:
    start, end = (int(str(record.get(key) or 0)) for key in ("start_line", "end_line"))
    return Target(matcher.spelled(str(record["path"])), 1.0, start, end)
