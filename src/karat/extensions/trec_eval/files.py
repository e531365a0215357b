"""Files that only trec_eval reads: preferences, reference scores, and the name in a run."""

import os

from karat.formats.source import Problems
from karat.formats.trec_qrels import judgment_rows
from karat.formats.trec_run import blocks, decode_ids, numbers, split_rows

TAIL_BYTES = 4096


def read_preferences(
    path: str | os.PathLike[str],
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return ``{query: {judge: {part: {document: level}}}}``; all problems at once."""
    problems = Problems(path)
    by_query: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for (query, judge, part, document), level, line in judgment_rows(path, 4, "level", problems):
        levels = by_query.setdefault(query, {}).setdefault(judge, {}).setdefault(part, {})
        if document in levels:
            problems.add(line, f"{document!r} appears twice in part {part!r} of judge {judge!r}")
        if level < 0:
            problems.add(line, f"level {level:g} is below 0; 0 is not relevant, higher is better")
        levels[document] = level
    problems.finish()
    return by_query


def read_zscores(path: str | os.PathLike[str]) -> dict[tuple[str, str], tuple[float, float]]:
    """Return ``{(query, measure): (mean, standard deviation)}``; all problems at once."""
    problems = Problems(path)
    by_pair: dict[tuple[str, str], tuple[float, float]] = {}
    for first, block in blocks(path):
        lines, (queries, measures, means, deviations) = split_rows(
            block, first, width=4, want=range(4), problems=problems, longer=False
        )
        keys = zip(
            decode_ids(queries, lines, problems), decode_ids(measures, lines, problems), strict=True
        )
        values = zip(
            numbers(means, lines, "mean", problems),
            numbers(deviations, lines, "deviation", problems),
            strict=True,
        )
        for key, value, line in zip(keys, values, lines, strict=True):
            if key in by_pair:
                problems.add(line, f"{key[1]!r} of query {key[0]!r} appears twice")
            by_pair[key] = value
    if not by_pair and not problems:
        problems.add(0, "no reference score in the file; expected query measure mean deviation")
    problems.finish()
    return by_pair


def last_tag(path: str | os.PathLike[str]) -> str:
    """Return the sixth field of the last row, nothing where there is no row.

    trec_eval prints this one, so a run that was concatenated goes by its last part's name.
    """
    last = b""
    problems = Problems(path)  # the scan of the run reports them
    for line, block in blocks(path):
        # Only the end of a block can hold the last row; most of it is never split.
        start = block.rfind(b"\n", 0, -TAIL_BYTES) + 1 if len(block) > TAIL_BYTES else 0
        for part in (block[start:], block[:start]):
            tags = split_rows(
                part, line, width=6, want=(5,), problems=problems, longer=True
            ).columns[0]
            if tags:
                last = tags[-1]
                break
    return last.decode(errors="replace")
