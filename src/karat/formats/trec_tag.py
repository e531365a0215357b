"""The name that a TREC run gives itself: the tag of its last row."""

import os

from karat.formats.source import Problems
from karat.formats.trec_lines import blocks, split_rows

__all__ = ["last_tag"]

TAIL_BYTES = 4096


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
