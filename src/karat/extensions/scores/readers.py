"""The contract of a reader of scores, and how the reader of a file is chosen.

A reader is one file with a :class:`ScoreReader`. An extension names it in its record:
``adds={"score_reader": {"inspect": "my_package.inspect:READER"}}``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from os import fspath
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.extensions.scores.record import ScoreMeasure, ScoreRow, ScoreSet
from karat.formats.base import DEFAULT, ReadLimits
from karat.formats.source import head_of
from karat.model.frozen import EMPTY
from karat.registry import Registry
from karat.system.words import counted, join_names


class ScoreOptions(NamedTuple):
    """What a user says about a score file.

    *columns* maps a role, such as ``query``, ``system`` or ``trial``, to the field of the file that
    has it; *lower* names measures of which less is better. *system* is the name of the only system
    of a file that names none: that of the file, where there are several.
    """

    columns: Mapping[str, str] = EMPTY
    lower: tuple[str, ...] = ()
    limits: ReadLimits = DEFAULT
    system: str = ""


class ScoreFile(NamedTuple):
    """What a reader returns: one row for each query, system and trial, and what it knows of them.

    *fields* has the field of the file for each role, for the preview: ``{"system": "model"}``.
    *measures* are those whose range or direction the format defines; others follow from their
    scores. *cluster* names the tag whose values group dependent queries, and *task* the tag of the
    data set or benchmark of a query. *remarks* are sentences for the user, such as how many samples
    were left out.
    """

    rows: Sequence[ScoreRow]
    fields: Mapping[str, str] = EMPTY
    measures: Sequence[ScoreMeasure] = ()
    cluster: str = ""
    remarks: tuple[str, ...] = ()
    task: str = "task"


class ScoreReader(NamedTuple):
    """A reader of one kind of score file.

    *detect* gets the path and the first bytes (decompressed, nothing for a folder), and returns
    whether the file is of this kind; it never raises. *read* returns the scores in a file or a
    folder, or raises FormatError with every problem. A *fallback* reads any table: it is asked only
    where no other reader fits, and where a run or a gold set is not expected.
    """

    name: str
    summary: str
    detect: Callable[[str, bytes], bool]
    read: Callable[[Path, ScoreOptions], ScoreFile]
    fallback: bool = False


SCORE_READERS: Registry[ScoreReader] = Registry("score_reader", {})


class ReadScores(NamedTuple):
    """A score set, and one line that says how its files were understood."""

    scores: ScoreSet
    preview: str
    remarks: tuple[str, ...] = ()


def reader_of(path: str) -> ScoreReader | None:
    """Return the reader of an existing file or folder, None if it has no scores that one knows."""
    head = head_of(path)
    readers = [SCORE_READERS.get(name) for name in SCORE_READERS]
    for fallback in (False, True):
        for reader in readers:
            if reader.fallback is fallback and reader.detect(path, head):
                return reader
    return None


def read_scores(
    paths: Sequence[str | Path],
    options: ScoreOptions = ScoreOptions(),  # noqa: B008 - immutable
    *,
    reader: str | None = None,
) -> ReadScores:
    """Return the scores in one file or several, by the *reader* with this name or a detected one.

    Systems of several files that have the same name and query are told apart by their files.
    """
    files = []
    chosen: dict[str, None] = {}
    names = _file_names(list(map(Path, paths))) if len(paths) > 1 else [options.system]
    for path, name in zip(paths, names, strict=True):
        one = SCORE_READERS.get(reader) if reader else reader_of(fspath(path))
        if one is None:
            known = ", ".join(SCORE_READERS)
            raise InputError(
                f"{fspath(path)}: no reader knows these scores; expected a table with the columns "
                f"query, system and score, or a file of one of: {known}"
            )
        chosen[one.name] = None
        files.append((Path(path), one.read(Path(path), options._replace(system=name))))
    return joined(files, options, list(chosen))


def joined(
    files: Sequence[tuple[Path, ScoreFile]], options: ScoreOptions, readers: Sequence[str]
) -> ReadScores:
    """Return the scores of *files*, each with its path, as one set."""
    rows = distinct_rows(files)
    measures = {each.name: each for _, file in files for each in file.measures}
    name = files[0][0].name if len(files) == 1 else f"{len(files)} files"
    scores = ScoreSet.of(
        rows,
        name=name,
        measures=list(measures.values()),
        lower=options.lower,
        cluster=next((file.cluster for _, file in files if file.cluster), ""),
        task=next((file.task for _, file in files if file.task), ""),
    )
    fields = {role: field for _, file in files for role, field in file.fields.items()}
    remarks = dict.fromkeys(remark for _, file in files for remark in file.remarks)
    remarks |= dict.fromkeys(_mistyped(rows))
    return ReadScores(scores, _preview(scores, fields, readers), tuple(remarks))


# A system with at most this share of the queries of one of nearly the same name is a suspect.
SUSPECT_SHARE = 0.2


def _mistyped(rows: Iterable[ScoreRow]) -> Iterator[str]:
    """Yield a remark on each system with few queries and a name close to one with many."""
    queries: dict[str, set[str]] = {}
    for row in rows:
        queries.setdefault(row.system, set()).add(row.query)
    for name, own in queries.items():
        most = len(own) / SUSPECT_SHARE
        larger = [other for other, theirs in queries.items() if len(theirs) >= most]
        if close := get_close_matches(name, larger, n=1, cutoff=0.8):
            total = counted(len(set().union(*queries.values())), "query")
            yield f"system {name!r} has {len(own)} of {total}; did you mean {close[0]!r}?"


def _preview(scores: ScoreSet, fields: Mapping[str, str], readers: Sequence[str]) -> str:
    """Return how the files were understood: the field of each role, the measures and the sizes."""
    roles = [f"{role} = {field}" for role, field in fields.items()] or [join_names(readers)]
    measures = ", ".join(measure.text for measure in scores.measures)
    roles.append(f"{counted(len(scores.measures), 'measure')}: {measures}")
    return f"{scores.name}: {', '.join(roles)}; {scores.sizes}"


def distinct_rows(files: Sequence[tuple[Path, ScoreFile]]) -> list[ScoreRow]:
    """Return the rows of all files; a system of two files that share a query has two names."""
    seen: dict[str, dict[str, set[int]]] = {}
    for number, (_, file) in enumerate(files):
        for row in file.rows:
            seen.setdefault(row.system, {}).setdefault(row.query, set()).add(number)
    shared = {
        system
        for system, queries in seen.items()
        if any(len(each) > 1 for each in queries.values())
    }
    if not shared:
        return [row for _, file in files for row in file.rows]
    names = _file_names([path for path, _ in files])
    return [
        row._replace(system=f"{row.system} ({name})") if row.system in shared else row
        for name, (_, file) in zip(names, files, strict=True)
        for row in file.rows
    ]


def _file_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each file: its stem or a part of it, or its path where two are equal.

    >>> _file_names([Path("2026-01-02_task_x.eval"), Path("2026-01-03_task_y.eval")])
    ['2026-01-02', '2026-01-03']
    """
    stems = [path.name.partition(".")[0] or path.name for path in paths]
    if len(set(stems)) < len(stems):
        return list(map(str, _without_common(paths)))
    parts = zip(*(stem.split("_") for stem in stems), strict=False)
    return next((list(each) for each in parts if len(set(each)) == len(each)), stems)


def _without_common(paths: Iterable[Path]) -> list[Path]:
    """Return *paths* without the folders that all share."""
    from os.path import commonpath

    absolute = [path.absolute() for path in paths]
    root = commonpath(absolute)
    return [path.relative_to(root) for path in absolute]
