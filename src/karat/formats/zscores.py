"""Reference scores for standardising: ``query measure mean deviation`` per line."""

import os

from karat.formats.source import Problems
from karat.formats.trec_lines import blocks, decoded, numbers, split_rows

__all__ = ["read_zscores"]


def read_zscores(path: str | os.PathLike[str]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return ``{(query, measure): (mean, standard deviation)}``; all problems at once."""
    problems = Problems(path)
    found: dict[tuple[str, str], tuple[float, float]] = {}
    for first, block in blocks(path):
        lines, (queries, measures, means, deviations) = split_rows(
            block, first, width=4, want=range(4), problems=problems, longer=False
        )
        keys = zip(
            decoded(queries, lines, problems), decoded(measures, lines, problems), strict=True
        )
        values = zip(
            numbers(means, lines, "mean", problems),
            numbers(deviations, lines, "deviation", problems),
            strict=True,
        )
        for key, value, line in zip(keys, values, lines, strict=True):
            if key in found:
                problems.add(line, f"{key[1]!r} of query {key[0]!r} stands here twice")
            found[key] = value
    if not found and not problems:
        problems.add(0, "no reference score in the file; expected query measure mean deviation")
    problems.finish()
    return found
