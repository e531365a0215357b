"""BEIR folders: ``queries.jsonl``, ``qrels/<split>.tsv`` and perhaps ``corpus.jsonl``.

Name the folder for its test split, or one of its ``qrels/*.tsv`` for another. The dataset has the
queries that the split judges. The corpus is checked and counted, not kept.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from karat.errors import FormatError, InputError
from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.jsontext import dumps, parse
from karat.formats.source import UTF8_MARK, Problems, decode, open_bytes, parse_amount, read_text
from karat.model import Dataset, Query, Run, Target
from karat.system.files import replacing, write_text

__all__ = ["FORMAT"]

HEADER = ("query-id", "corpus-id", "score")
PREFERRED = ("test", "dev", "train")


def detect(path: str, head: bytes) -> bool:
    """Return whether this is a folder with queries and qrels, or one of those qrels."""
    folder = Path(path)
    if folder.is_dir():
        return _jsonl(folder, "queries") is not None and bool(_splits(folder))
    names = head.partition(b"\n")[0].decode(errors="replace").strip().split("\t")
    return tuple(names) == HEADER


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the judged queries in the order of ``queries.jsonl``; their metadata are extras."""
    folder, qrels = _files(path)
    judged = _judgments(qrels, options)
    source = _jsonl(folder, "queries")
    if source is None:
        raise InputError(f"{folder}: no queries.jsonl; expected a BEIR folder")
    problems = Problems(source)
    queries: list[Query] = []
    for line, row in _records(source, problems):
        metadata = row.get("metadata")
        extra = metadata if isinstance(metadata, dict) else {}
        text = row.get("text")
        if not isinstance(text, str) or not text.strip():
            problems.add(line, "'text' is missing or empty")
            continue
        targets = judged.pop(str(row["_id"]), None)
        if targets is not None:
            relevant = tuple(Target(name, grade) for name, grade in targets.items())
            queries.append(Query(str(row["_id"]), text, relevant, extra=extra))
    for query in judged:
        problems.add(0, f"no query {query!r}, which {qrels.name} judges")
    problems.finish()
    metadata = {"split": qrels.name.partition(".")[0]} | _counted_corpus(folder, queries)
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


def _files(path: Path) -> tuple[Path, Path]:
    """Return the folder and the qrels file that *path* stands for."""
    if not path.is_dir():
        return path.parent.parent, path
    splits = _splits(path)
    if not splits:
        raise InputError(f"{path}: no qrels/*.tsv; expected a BEIR folder")
    for name in PREFERRED:
        if name in splits:
            return path, splits[name]
    if len(splits) > 1:
        raise InputError(f"{path}: several splits ({', '.join(splits)}); name one qrels file")
    return path, next(iter(splits.values()))


def _splits(folder: Path) -> dict[str, Path]:
    files = sorted((*folder.glob("qrels/*.tsv"), *folder.glob("qrels/*.tsv.gz")))
    return {file.name.partition(".")[0]: file for file in files}


def _jsonl(folder: Path, stem: str) -> Path | None:
    names = (folder / f"{stem}.jsonl", folder / f"{stem}.jsonl.gz")
    return next((name for name in names if name.is_file()), None)


def _judgments(path: Path, options: ReadOptions) -> dict[str, dict[str, float]]:
    text = read_text(path, limit=options.limits.csv_bytes, setting="csv_bytes")
    problems = Problems(path)
    judged: dict[str, dict[str, float]] = {}
    for line, row in enumerate(text.split("\n"), 1):
        cells = row.rstrip("\r").split("\t")
        if cells == [""] or (line == 1 and tuple(cells) == HEADER):
            continue
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


def _records(
    path: str | os.PathLike[str], problems: Problems
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield line number and object of each JSON line with an ``_id`` that is new."""
    seen: set[str] = set()
    with open_bytes(path) as stream:
        for line, data in enumerate(stream, 1):
            if not data.strip():
                continue
            try:
                text = decode(data.removeprefix(UTF8_MARK).rstrip(), problems.source, line=line)
                value = parse(text, problems.source, line=line)
            except FormatError as error:
                problems.found.extend(error.problems)
                continue
            label = value.get("_id") if isinstance(value, dict) else None
            if not isinstance(value, dict) or not isinstance(label, str | int) or label == "":
                problems.add(line, "expected an object with an '_id'")
            elif str(label) in seen:
                problems.add(line, f"_id {label!r} appears twice")
            else:
                seen.add(str(label))
                yield line, value


def _counted_corpus(folder: Path, queries: list[Query]) -> dict[str, object]:
    """Return how many documents the corpus has and how many judged ones it lacks."""
    source = _jsonl(folder, "corpus")
    if source is None:
        return {}
    problems = Problems(source)
    missing = {target.path for query in queries for target in query.targets}
    count = 0
    for line, row in _records(source, problems):
        count += 1
        missing.discard(str(row["_id"]))
        if not isinstance(row.get("text"), str):
            problems.add(line, "'text' is missing")
    problems.finish()
    return {"corpus_documents": count, "judged_documents_missing": len(missing)}


FORMAT = Format(
    "beir",
    "dataset",
    "BEIR folder: queries.jsonl, qrels/*.tsv and perhaps corpus.jsonl",
    (),
    detect,
    read,
    write,
    frozenset({"text", "grades", "levels", "high", "zeros", "files", "extra"}),
    frozenset({"textless", "fractions", "pathless"}),
)
