"""Judge by files where a run returns whole files and the targets are parts of files.

Several parts of one file would take several ranks: an agent that locates three functions of a file
has used up three of them. See design/0011.
"""

from collections.abc import Mapping
from dataclasses import replace

from karat.model import Dataset, Run
from karat.scoring.matching.judge import Scored, Truth
from karat.scoring.matching.modes import files_judged
from karat.scoring.settings import Scoring
from karat.system.words import first_few, join_names

FILES = "exact"
# The modes for parts of files, and the field that a hit needs in each.
PARTS = {"lines": "lines", "symbol": "symbols"}


def judge_whole_files(truth: Truth, runs: Mapping[str, Run | Scored], scoring: Scoring) -> Scoring:
    """Return *scoring*, by files if the targets are parts of files and one of *runs* has no parts.

    All runs are judged alike, by name in *runs*. A mode, a minimum overlap or a measure of sizes
    that the user has chosen stays, and so does the mode of targets without a path.

    >>> from karat.model import Answer, Hit, Query, Target
    >>> gold = Dataset.of([Query("q", "", (Target("a.py", 1, 3, 9),))], match="lines")
    >>> run = Run.of([Answer("q", (Hit("a.py", symbol="f"),))])
    >>> judge_whole_files(gold, {"agent": run}, Scoring()).match
    'exact'
    """
    if not isinstance(truth, Dataset) or not has_parts(truth, scoring):
        return scoring
    lacking = [name for name, run in runs.items() if _lacks(run, truth.match)]
    if not lacking:
        return scoring
    parts = PARTS[truth.match]
    subject = "the run" if len(runs) == 1 else join_names(first_few(lacking))
    has = "has" if len(lacking) == 1 else "have"
    unit = (
        f"judged by files, because {subject} {has} no {parts} "
        f"(--match {truth.match} judges by {parts})"
    )
    return replace(scoring, match=FILES, unit=unit)


def has_parts(truth: Truth, scoring: Scoring) -> bool:
    """Return whether targets of *truth* are parts of files, and *scoring* may judge by files."""
    if not isinstance(truth, Dataset) or truth.match not in PARTS or scoring.match:
        return False
    measures = scoring.parsed() if scoring.measures else []
    if scoring.min_overlap or any(each.needs_sizes for each in measures):
        return False
    return _have_paths(truth) and not all(files_judged(truth))


def _lacks(run: Run | Scored, match: str) -> bool:
    """Return whether *run* has hits, and none of them has the parts that *match* compares."""
    if not isinstance(run, Run):
        return True
    if match == "lines":
        return len(run.end_lines) > 0 and not any(run.end_lines)
    return len(run.end_lines) > 0 and not any(run.symbols.names)


def _have_paths(gold: Dataset) -> bool:
    """Return whether every relevant target names a file."""
    return all(gold.paths[row] or grade <= 0 for row, grade in enumerate(gold.grades))
