"""Detect the format of a file, count its content, and list all problems in it."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from karat.app.detection import Detection, detection
from karat.errors import FormatError, InputError, LimitExceeded, Problem
from karat.formats import (
    DEFAULT,
    FORMATS,
    Format,
    ReadLimits,
    detect,
    read_dataset,
    read_run,
    scan_trec_run,
)
from karat.model import Dataset, Outcome, Run
from karat.model.frozen import EMPTY
from karat.scoring.matching.modes import MATCHERS, counted_targets
from karat.system.words import counted


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of :func:`validate`; the counts are 0 where the file could not be read.

    *entries* are targets of a dataset, hits of a run or systems of a file of scores, and *evidence*
    the symbols of a dataset that are evidence for the files of their query. *grades* counts targets
    by grade, from the highest; *tags* counts queries by tag and value; *unjudged* are queries
    without a relevant target; *outcomes* counts the answers of a run. Where a repository was looked
    at, *checked* and *missing* count commits, paths, lines and symbols, and *unchecked* the targets
    that it cannot tell about. *detects* is what a dataset of this size detects. *notes* are
    sentences on what may be a mistake and is not a problem.
    """

    path: str
    format: str
    kind: Literal["dataset", "run", "scores"]
    problems: tuple[Problem, ...] = ()
    queries: int = 0
    entries: int = 0
    evidence: int = 0
    unjudged: int = 0
    match: str = ""
    grades: Mapping[str, int] = field(default_factory=dict)
    tags: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    outcomes: Mapping[str, int] = field(default_factory=dict)
    checked: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, int] = field(default_factory=dict)
    unchecked: int = 0
    detects: Detection | None = None
    notes: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Return whether nothing is wrong."""
        return not self.problems


def validate(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    limits: ReadLimits = DEFAULT,
    tags: Sequence[str] = (),
    columns: Mapping[str, str] = EMPTY,
    repositories: Mapping[str, str] | None = None,
    clones: str | None = None,
    revision: str | None = None,
    corpus: str | None = None,
) -> Validation:
    """Return what *path* holds and every problem in it.

    With *repositories* each path, line range and symbol of a dataset must be there as well: at the
    case's ``base_commit``, or at *revision*. They are folders by the names of repositories, "" for
    all others; without an entry, the repository is the one in the folder *clones*, or the one that
    the dataset names. With *corpus*,
    a folder, each target must be a document there, as for an evaluation. A row without a query is a
    problem, and the others are checked without it. A file that does not
    exist, or whose format is unknown, raises InputError. A file that is neither may hold scores.
    """
    where = _Where(repositories, clones, revision, corpus)
    reading: dict[str, Any] = {"limits": limits, "tags": tags, "columns": columns}
    name = os.fspath(path)
    if format or columns or corpus or clones or repositories is not None:
        chosen = FORMATS.get(format or "csv") if format or columns else detect(path)
        return _of_data(name, chosen, reading, where)
    try:
        validation = _of_data(name, detect(path), reading, where)
    except InputError:
        if scores := _of_scores(name):
            return scores
        raise
    unreadable = not (validation.valid or validation.queries)
    return (unreadable and _of_scores(name)) or validation


class _Where(NamedTuple):
    """Where the targets of a dataset are looked up, as in :func:`validate`."""

    repositories: Mapping[str, str] | None
    clones: str | None
    revision: str | None
    corpus: str | None


def _of_data(name: str, chosen: Format, reading: Mapping[str, Any], where: _Where) -> Validation:
    """Return what a dataset or a run of the format *chosen* holds, and its problems."""
    repositories, clones, revision, corpus = where
    if (clones or repositories is not None) and chosen.kind == "run":
        raise InputError(f"{name} is a run; --repo checks only the targets of a gold set")
    if corpus is not None and chosen.kind == "run":
        raise InputError(f"{name} is a run; --corpus checks only the targets of a gold set")
    empty: list[Problem] = []
    try:
        if chosen.name == "trec-run":
            counts = [len(ranking) for _, ranking in scan_trec_run(name)]
            outcomes = {"answered": len(counts)}
            return Validation(
                name, chosen.name, "run", (), len(counts), sum(counts), outcomes=outcomes
            )
        if chosen.kind == "run":
            return _of_run(
                read_run(name, format=chosen.name, limits=reading["limits"]), name, chosen.name
            )
        data = read_dataset(name, format=chosen.name, on_empty=empty.append, **reading)
    except FormatError as error:
        return Validation(name, chosen.name, chosen.kind, _by_line((*empty, *error.problems)))
    except LimitExceeded as error:
        message = str(error).removeprefix(f"{name}: ")
        return Validation(name, chosen.name, chosen.kind, (Problem(name, 0, message),))
    validation = _of_dataset(data, name, chosen.name)
    if corpus is not None:
        validation = _in_corpus(validation, data, corpus)
    if clones is not None:
        from karat.experiments.target_check import Where

        repositories = Where(repositories or EMPTY, clones=clones).with_clones(data).repositories
    if repositories is not None:
        validation = _looked_up(validation, data, repositories, revision)
    return replace(validation, problems=(*_by_line(empty), *validation.problems))


def _of_scores(path: str) -> Validation | None:
    """Return what a file of scores holds, None if it is no such file.

    A table is one with two systems or more, or with problems below its header: a gold set whose
    columns are not recognised may have a column of numbers too.
    """
    from karat.app.score_files import ScoreInputs, read_score_files

    try:
        scored = read_score_files([path], ScoreInputs())
    except FormatError as error:
        below = any(problem.line > 1 for problem in error.problems)
        return Validation(path, "scores", "scores", error.problems) if below else None
    except InputError:
        return None
    if scored is None or len(scored.evaluations) < 2:
        return None
    notes = (scored.preview.removeprefix(f"{scored.gold.name}: "), *scored.remarks)
    return Validation(
        path,
        "scores",
        "scores",
        queries=len(scored.gold),
        entries=len(scored.evaluations),
        notes=notes,
    )


def _by_line(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.line))


def _in_corpus(validation: Validation, data: Dataset, corpus: str) -> Validation:
    """Return *validation* with a problem for each target that is not in *corpus*."""
    from karat.app.resolve import resolve_for
    from karat.experiments.target_check import Where, check_snapshots, locate_pages, missing_paths

    where = Where(corpus=corpus)
    if resolved := resolve_for(data, where):
        data = resolved.dataset
    data = locate_pages(data, where)
    with where.snapshots(data, seed=0) as snapshots:
        check = check_snapshots(data, snapshots, match=data.match, strict=False)
    searched = check.searched
    messages = []
    if searched.hint:
        count = f"{searched.unresolved:,} of {counted(searched.targets, 'target')}"
        messages.append(f"{count} not in {corpus}; {searched.hint}")
    for query_id, paths in missing_paths(data, check.resolved).items():
        for path in paths:
            hint = searched.suggestions.get(path, "")
            messages.append(
                f"query {query_id!r}: {path} is not in {corpus}{f'; {hint}' if hint else ''}"
            )
    for path, reason in searched.skipped_targets.items():
        messages.append(f"{path} is in {corpus} and is not searched: it is {reason}")
    missing = searched.unresolved + searched.left_out
    return replace(
        validation,
        problems=tuple(Problem(validation.path, 0, message) for message in messages),
        checked={"targets": searched.targets},
        missing={"targets": missing} if missing else {},
    )


def _looked_up(
    validation: Validation, data: Dataset, repositories: Mapping[str, str], revision: str | None
) -> Validation:
    from karat.experiments.commit_check import check_presence
    from karat.experiments.snapshots import HEAD, homes, part_of

    checked: Counter[str] = Counter()
    sorts: list[str] = []
    unchecked = 0
    messages: list[str] = []
    found_homes = homes(data, repositories)
    if lacking := [home.name for home in found_homes if not home.folder]:
        options = " ".join(f"--repo {name}=DIR" for name in lacking if name) or "--repo DIR"
        raise InputError(
            f"{validation.path} does not say where its repository is; give it with {options}"
            + (", or a clone in the folder of --repos" if any(lacking) else "")
        )
    for home, rows in found_homes.items():
        part = part_of(data, rows)
        presence = check_presence(part, home.folder, revision=revision or home.revision or HEAD)
        missing = _counted(missing.sort for missing in presence.missing)
        if foreign := _foreign(missing, presence.checked, cases=len(part)):
            named = f" of the repository {home.name!r}" if home.name else ""
            messages.append(
                f"{foreign}{named} exists in {home.folder}; is this the right repository?"
            )
        else:
            messages += map(str, presence.missing)
        checked.update(presence.checked)
        sorts += (missing.sort for missing in presence.missing)
        unchecked += presence.unchecked
    return replace(
        validation,
        problems=tuple(Problem(validation.path, 0, message) for message in messages),
        checked=dict(checked),
        missing=_counted(sorts),
        unchecked=unchecked,
    )


def _foreign(missing: Mapping[str, int], checked: Mapping[str, int], *, cases: int) -> str:
    """Return what is missing if a repository has nothing of a dataset, else ""."""
    if 1 < cases == missing.get("commits"):
        return f"none of the commits of its {cases:,} cases"
    if 1 < checked.get("paths", 0) == missing.get("paths"):
        return f"none of its {checked['paths']:,} paths"
    return ""


def _of_dataset(data: Dataset, path: str, chosen: str) -> Validation:
    grades = Counter(data.grades)
    matcher = MATCHERS.get(data.match)()
    evidence = 0
    if matcher.evidence:
        for targets in map(data.targets, range(len(data))):
            symbols = [
                t
                for t, counts in zip(targets, counted_targets(targets, matcher), strict=True)
                if not counts
            ]
            evidence += len(symbols)
            grades.subtract(symbol.grade for symbol in symbols)
    relevant = [
        any(grade > 0 for grade in data.grades[start:stop])
        for start, stop in zip(data.offsets, data.offsets[1:], strict=False)
    ]
    return Validation(
        path,
        chosen,
        "dataset",
        queries=len(data),
        entries=len(data.grades) - evidence,
        evidence=evidence,
        unjudged=relevant.count(False),
        match=data.match,
        grades={f"{grade:g}": grades[grade] for grade in sorted(+grades, reverse=True)},
        tags={tag: _counted(value for value in column) for tag, column in data.tags.items()},
        detects=detection(data),
        notes=tuple(_joined(data)) if chosen == "csv" else (),
    )


def _joined(data: Dataset) -> Iterator[str]:
    """Yield a note on the first cell that looks like several documents."""
    from karat.experiments.target_check import SEPARATE, PathHints

    hints = PathHints(())
    for path in data.paths.names:
        if hints.suggestion(path) == SEPARATE:
            yield f"{path!r} is one document; {SEPARATE}"
            return


def _of_run(run: Run, path: str, chosen: str) -> Validation:
    names = (Outcome(outcome).name.lower() for outcome in run.outcomes)
    return Validation(
        path,
        chosen,
        "run",
        queries=len(run),
        entries=len(run.scores),
        outcomes=_counted(names),
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    """Return how often each value occurs, the most frequent first; empty values are left out."""
    return dict(Counter(value for value in values if value).most_common())
