"""BEIR and Hugging Face folders, and datasets of ir_datasets by their id.

BEIR has ``queries.jsonl``, ``qrels/<split>.tsv`` and ``corpus.jsonl``. On Hugging Face (MTEB) the
same parts are Parquet or JSON lines, in one file or in several: ``queries/*.parquet``, and
judgments in ``qrels/``, ``default/`` or ``data/``. Name the folder for its test split, or a file of
judgments for another. The dataset has the queries that the split judges. The corpus is checked and
counted, not kept.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from karat.errors import FormatError, InputError
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.jsontext import dumps, parse_json
from karat.formats.records import head_columns, read_table, text_of
from karat.formats.source import UTF8_MARK, Problems, decode, open_bytes, parse_amount, read_text
from karat.installation import package_hint
from karat.model import Dataset, Query, Run, Target
from karat.system.files import replacing, write_text
from karat.system.tables import part_files, read_frame

HEADER = ("query-id", "corpus-id", "score")
PREFERRED = ("test", "dev", "validation", "train")
# Folders and suffixes of judgment files.
SUBFOLDERS = ("qrels", "default/qrels", "default", "data", ".")
ENDS = (".tsv", ".tsv.gz", ".parquet", ".jsonl", ".jsonl.gz", ".csv")
TABLES = (".parquet", ".jsonl", ".jsonl.gz", ".csv")
IDS = ("_id", "id", "query-id", "query_id")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "query-id": ("query-id", "query_id", "qid"),
    "corpus-id": ("corpus-id", "corpus_id", "doc_id", "docid"),
    "score": ("score", "relevance", "label"),
}
IRDS_PREFIX = "irds:"
# Fields of a query that may be its text, the best first.
IRDS_TEXT_FIELDS = ("text", "title", "query", "keyword", "description")


def detect(path: str, head: bytes) -> bool:
    """Return whether this is a folder with queries and qrels, or one of those qrels."""
    location = Path(path)
    if location.is_dir():
        return bool(part_files(location, "queries")) and bool(_splits(location))
    names = head.partition(b"\n")[0].decode(errors="replace").strip().split("\t")
    if tuple(names) == HEADER:
        return True
    columns = head_columns(path, head)
    return set(HEADER) <= columns and _home(location) is not None


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the judged queries in the order of the queries file; their metadata are extras."""
    folder, split, qrels = _files(path)
    judged = _judgments(qrels, options)
    sources = part_files(folder, "queries")
    if not sources:
        raise InputError(f"{folder}: no queries.jsonl; expected a BEIR folder")
    problems = Problems(sources[0])
    queries: list[Query] = []
    for line, row in _records(sources, problems):
        metadata = row.get("metadata")
        extra = metadata if isinstance(metadata, dict) else {}
        text = row.get("text", row.get("query"))
        if not isinstance(text, str) or not text.strip():
            problems.add(line, "'text' is missing or empty")
            continue
        label = text_of(_label(row))
        targets = judged.pop(label, None)
        if targets is not None:
            relevant = tuple(Target(name, grade) for name, grade in targets.items())
            queries.append(Query(label, text, relevant, extra=extra))
    for query in judged:
        problems.add(0, f"no query {query!r}, which {qrels[0].name} judges")
    problems.finish()
    metadata = {"split": split} | _counted_corpus(folder, queries)
    return Dataset.of(queries, name=folder.name, match="document", metadata=metadata)


def write(data: Dataset | Run, path: Path) -> None:
    """Write queries and the test split into the folder *path*; a corpus is left as it is."""
    dataset = as_dataset(data)
    rows = ["\t".join(HEADER)]
    texts = []
    for index, query in enumerate(dataset.queries()):
        texts.append(
            dumps({"_id": query.id, "text": query.text, "metadata": dict(query.extra)}, indent=None)
        )
        for document, grade in dataset.judgments(index).items():
            for name in (query.id, document):
                if name != name.strip() or len(name.splitlines()) != 1 or "\t" in name:
                    raise InputError(f"{dataset.name}: BEIR files cannot hold the id {name!r}")
            rows.append(f"{query.id}\t{document}\t{int(grade)}")
    (path / "qrels").mkdir(parents=True, exist_ok=True)
    with replacing(path / "queries.jsonl") as stream:
        stream.write("".join(f"{text}\n" for text in texts).encode())
    write_text(path / "qrels" / "test.tsv", "\n".join(rows) + "\n")


def _files(path: Path) -> tuple[Path, str, list[Path]]:
    """Return the folder, the split and the files of judgments that *path* stands for."""
    if not path.is_dir():
        return _home(path) or path.parent.parent, _split(path), [path]
    splits = _splits(path)
    if not splits:
        raise InputError(f"{path}: no qrels/*.tsv; expected a BEIR folder")
    for name in PREFERRED:
        if name in splits:
            return path, name, splits[name]
    if len(splits) > 1:
        raise InputError(f"{path}: several splits ({', '.join(splits)}); name one qrels file")
    return path, *next(iter(splits.items()))


def _home(file: Path) -> Path | None:
    """Return the folder with the queries that *file* judges: one of the three above it."""
    above = (folder for folder in list(file.absolute().parents)[:3])
    return next((folder for folder in above if part_files(folder, "queries")), None)


def _split(file: Path) -> str:
    """Return the split of a file: ``test`` of ``test.tsv`` and ``test-00000-of-00002.parquet``."""
    return file.name.partition(".")[0].partition("-")[0]


def _splits(folder: Path) -> dict[str, list[Path]]:
    """Return the files of judgments by split, of the first folder and suffix that has any."""
    for subfolder in SUBFOLDERS:
        for end in ENDS:
            splits: dict[str, list[Path]] = {}
            for file in sorted((folder / subfolder).glob(f"*{end}")):
                inside = subfolder.endswith("qrels") or _split(file) in (*PREFERRED, "qrels")
                if file.is_file() and inside:
                    splits.setdefault(_split(file), []).append(file)
            if splits:
                return splits
    return {}


def _judgments(paths: Sequence[Path], options: ReadOptions) -> dict[str, dict[str, float]]:
    judged: dict[str, dict[str, float]] = {}
    for path in paths:
        problems = Problems(path)
        table = path.name.endswith(TABLES)
        for line, cells in _table_cells(path, options) if table else _tsv_cells(path, options):
            if len(cells) != len(HEADER) or not cells[0].strip() or not cells[1].strip():
                problems.add(line, f"expected {', '.join(HEADER)}, separated by tabs")
                continue
            grade = parse_amount(cells[2])
            if grade is None:
                problems.add(line, f"score {cells[2]!r} is not a number of 0 or more")
                continue
            of_query = judged.setdefault(cells[0], {})
            if cells[1] in of_query:
                problems.add(line, f"{cells[1]!r} is judged twice for query {cells[0]!r}")
            of_query[cells[1]] = grade
        if not judged and not problems:
            problems.add(0, "no judgment in the file")
        problems.finish()
    return judged


def _tsv_cells(path: Path, options: ReadOptions) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of tab-separated judgments, without the header."""
    text = read_text(path, limit=options.limits.csv_bytes, setting="csv_bytes")
    for line, row in enumerate(text.split("\n"), 1):
        cells = row.rstrip("\r").split("\t")
        if cells != [""] and not (line == 1 and tuple(cells) == HEADER):
            yield line, cells


def _table_cells(path: Path, options: ReadOptions) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of judgments with named columns."""
    table = read_table(path, options)
    names = []
    for column, others in COLUMNS.items():
        name = next((other for other in others if other in table.columns), None)
        if name is None:
            raise InputError(
                f"{path}: no column {column}; expected {', '.join(HEADER)}, "
                f"found {', '.join(table.columns)}"
            )
        names.append(name)
    for row in table.rows:
        yield row.line, [text_of(row.cells.get(name)) for name in names]


def _records(
    paths: Sequence[Path], problems: Problems
) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield line number and object of each JSON line or row with an ``_id`` that is new."""
    seen: set[str] = set()
    for path in paths:
        rows: Iterable[tuple[int, object]] = (
            ((0, row) for row in read_frame(path).iter_rows(named=True))
            if path.suffix == ".parquet"
            else _json_lines(path, problems)
        )
        for line, value in rows:
            label = _label(value) if isinstance(value, dict) else None
            if not isinstance(value, dict) or not isinstance(label, str | int) or label == "":
                problems.add(line, "expected an object with an '_id'")
            elif str(label) in seen:
                problems.add(line, f"_id {label!r} appears twice")
            else:
                seen.add(str(label))
                yield line, value


def _label(row: Mapping[str, object]) -> object:
    return next((row[name] for name in IDS if row.get(name) is not None), None)


def _json_lines(path: Path, problems: Problems) -> Iterator[tuple[int, object]]:
    with open_bytes(path) as stream:
        for line, data in enumerate(stream, 1):
            if not data.strip():
                continue
            try:
                text = decode(data.removeprefix(UTF8_MARK).rstrip(), problems.source, line=line)
                yield line, parse_json(text, problems.source, line=line)
            except FormatError as error:
                problems.extend(error.problems)


def _counted_corpus(folder: Path, queries: list[Query]) -> dict[str, object]:
    """Return how many documents the corpus has and how many judged ones it lacks."""
    sources = part_files(folder, "corpus")
    if not sources:
        return {}
    problems = Problems(sources[0])
    missing = {target.path for query in queries for target in query.targets}
    count = 0
    for line, row in _records(sources, problems):
        count += 1
        missing.discard(text_of(_label(row)))
        if not isinstance(row.get("text"), str):
            problems.add(line, "'text' is missing")
    problems.finish()
    return {"corpus_documents": count, "judged_documents_missing": len(missing)}


FORMAT = Format(
    "beir",
    "dataset",
    "BEIR or Hugging Face folder: queries, qrels and perhaps a corpus (JSON lines, TSV, Parquet)",
    (),
    detect,
    read,
    write,
    frozenset({"text", "grades", "levels", "high", "zeros", "files", "extra"}),
    frozenset({"textless", "fractions", "pathless"}),
)


def detect_irds(path: str, _head: bytes) -> bool:
    """Return whether *path* is an id and not a file."""
    return path.startswith(IRDS_PREFIX)


def read_irds(path: Path, _options: ReadOptions) -> Dataset:
    """Return the judged queries of the dataset; the package loads, perhaps downloads, its data."""
    label = path.as_posix().removeprefix(IRDS_PREFIX)
    source = _dataset(label)
    for part in ("queries", "qrels"):
        if not getattr(source, f"has_{part}")():
            raise InputError(f"{IRDS_PREFIX}{label}: the dataset has no {part}")
    judged: dict[str, dict[str, float]] = {}
    try:
        for row in source.qrels_iter():
            judged.setdefault(str(row.query_id), {})[str(row.doc_id)] = float(row.relevance)
        texts = {str(query.query_id): _text(query) for query in source.queries_iter()}
    except (OSError, RuntimeError) as error:
        raise InputError(
            f"{IRDS_PREFIX}{label}: the data cannot be loaded: {error}; "
            f"run ir_datasets export {label} qrels to see why"
        ) from error
    queries = [
        Query(query, text, tuple(Target(*pair) for pair in judged[query].items()))
        for query, text in texts.items()
        if query in judged
    ]
    return Dataset.of(queries, name=label, match="document")


def _dataset(label: str) -> Any:
    try:
        package = importlib.import_module("ir_datasets")
    except ImportError:
        raise InputError(
            f"{IRDS_PREFIX}{label} needs the package ir_datasets: {package_hint('ir_datasets')}"
        ) from None
    try:
        return package.load(label)
    except KeyError:
        raise InputError(f"{IRDS_PREFIX}{label}: ir_datasets has no dataset {label!r}") from None


def _text(query: Any) -> str:
    return next((text for name in IRDS_TEXT_FIELDS if (text := getattr(query, name, None))), "")


IRDS = Format(
    "irds",
    "dataset",
    "a dataset of the package ir_datasets by its id, irds:antique/test",
    (),
    detect_irds,
    read_irds,
)
