"""Several gold sets as one: a folder of them, a glob pattern, or names joined by ``+``."""

import glob
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat.errors import InputError, MissingExtension
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.source import head_of
from karat.model import Dataset, Query
from karat.model.dataset import MASKS
from karat.model.frozen import repeated

SUFFIXES = (
    *(".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml", ".qrels", ".txt", ".parquet"),
    *(".csv.gz", ".tsv.gz", ".json.gz", ".jsonl.gz", ".qrels.gz", ".txt.gz"),
)
JOINT = "+"
TAG = "file"


def is_several(name: str) -> bool:
    """Return whether *name* is not a file or folder, but a pattern or several files."""
    if os.path.exists(name):  # noqa: PTH110 - called before any reader is loaded
        return False
    pieces = [piece.strip() for piece in name.split(JOINT)]
    if len(pieces) > 1:
        return all(map(os.path.exists, pieces))
    return glob.has_magic(name)


def detect(path: str, _head: bytes) -> bool:
    """Return whether this is a folder with gold sets, or a name of several files."""
    if is_several(path):
        return True
    from karat.formats.load import FORMATS

    others = ("beir",)
    folder = Path(path)
    if not folder.is_dir() or any(FORMATS.get(name).detect(path, b"") for name in others):
        return False
    return any(_is_gold(file) for file in _files_of(folder))


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the queries of all files; an id that two files have gets the name of its file."""
    from karat.formats.load import FORMATS
    from karat.formats.load import detect as detect_file

    files = _files(path)
    sets: list[Dataset] = []
    for file in files:
        by_columns = FORMATS.get("csv") if options.columns and _is_table(file) else None
        chosen = by_columns or detect_file(file, kind="dataset")
        own = options if chosen.by_columns else options._replace(columns={})
        sets.append(as_dataset(chosen.read(file, own)))
    names = _names(files)
    counts = Counter(query_id for each in sets for query_id in each.query_ids)
    queries = [
        _named(query, name, each, clash=counts[query.id] > 1)
        for name, each in zip(names, sets, strict=True)
        for query in each.queries()
    ]
    _check_masks(names, sets)
    return Dataset.of(
        queries, name=str(path.name), match=_match(names, sets), metadata=_metadata(sets)
    )


def _files(path: Path) -> list[Path]:
    name = str(path)
    if path.is_dir():
        files = _files_of(path)
    elif JOINT in name and not glob.has_magic(name):
        files = [Path(piece.strip()) for piece in name.split(JOINT)]
    else:
        files = [Path(each) for each in sorted(glob.glob(name, recursive=True))]  # noqa: PTH207 - the pattern may be absolute
    if not files:
        raise InputError(f"{name}: no gold set; expected files such as gold.csv or gold.json")
    return files


def _files_of(folder: Path) -> list[Path]:
    """Return the files of *folder* that may be gold sets; runs are left out."""
    from karat.formats.load import detect as detect_file

    files = []
    for file in sorted(folder.iterdir()):
        if file.name.startswith(".") or not file.name.lower().endswith(SUFFIXES):
            continue
        try:
            is_run = file.is_dir() or detect_file(file).kind == "run"
        except (InputError, MissingExtension):
            is_run = False  # reading it reports the problem
        if not is_run:
            files.append(file)
    return files


def _is_gold(file: Path) -> bool:
    """Return whether the content of *file*, and not only its name, is that of a gold set."""
    from karat.formats.load import detect as detect_file

    try:
        detected = detect_file(file, kind="dataset")
    except InputError:
        return False
    return detected.detect(str(file), head_of(file))


def _is_table(file: Path) -> bool:
    return file.name.lower().endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"))


def _names(files: Sequence[Path]) -> list[str]:
    """Return a name for each file: the shortest of stem, name and path that is unique."""
    for names in (
        [file.name.partition(".")[0] for file in files],
        [file.name for file in files],
    ):
        if not repeated(names):
            return names
    return [str(file) for file in files]


def _named(query: Query, name: str, home: Dataset, *, clash: bool) -> Query:
    repository = home.metadata.get("repository")
    extra = dict(query.extra)
    if isinstance(repository, str) and "repository" not in query.tags:
        extra.setdefault("repository", repository)
    return query._replace(
        id=f"{name}:{query.id}" if clash else query.id,
        tags={TAG: name, **query.tags},
        extra=extra,
    )


def _match(names: Sequence[str], sets: Sequence[Dataset]) -> str:
    modes = dict.fromkeys(each.match for each in sets)
    if len(modes) == 1:
        return next(iter(modes))
    if modes.keys() <= {"document", "exact", "lines"}:
        return "lines" if "lines" in modes else "exact"
    listed = ", ".join(f"{name} {each.match}" for name, each in zip(names, sets, strict=True))
    raise InputError(f"the files match hits in different ways ({listed}); evaluate them one by one")


def _check_masks(names: Sequence[str], sets: Sequence[Dataset]) -> None:
    """Raise InputError if the sets hide different lines: one corpus cannot serve all of them."""
    masks = [each.metadata.get(MASKS) or {} for each in sets]
    if any(own != masks[0] for own in masks):
        listed = ", ".join(name for name, own in zip(names, masks, strict=True) if own)
        raise InputError(
            f"the files mask different lines ({listed} have masks); evaluate them one by one"
        )


def _metadata(sets: Sequence[Dataset]) -> dict[str, object]:
    """Return what all sets share, and the repositories of all."""
    first: Mapping[str, object] = sets[0].metadata
    shared = {
        key: value
        for key, value in first.items()
        if all(each.metadata.get(key) == value for each in sets)
    }
    listed = [each.metadata.get("repositories") for each in sets]
    entries = [entry for each in listed if isinstance(each, list | tuple) for entry in each]
    unique = [entry for number, entry in enumerate(entries) if entry not in entries[:number]]
    return shared | ({"repositories": unique} if unique else {})


FORMAT = Format(
    "folder",
    "dataset",
    "several gold sets as one: a folder, a glob pattern or names joined by +",
    (),
    detect,
    read,
    by_columns=True,
)
