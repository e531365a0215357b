"""Akashic queries: YAML with the files and symbols that each query should find.

A file matches as a part of a path, a symbol as a part of a name without regard to case, which the
dataset says with ``match="akashic"``. Every target has grade 1.
"""

from pathlib import Path

from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.fields import Checker, Location, Record
from karat.formats.yamltext import dump_yaml, load_yaml
from karat.model import Dataset, Query, Run, Target
from karat.system.files import write_text

__all__ = ["FORMAT"]

KNOWN = frozenset({"id", "query", "category", "expected_files", "expected_symbols"})


def detect(_path: str, head: bytes) -> bool:
    """Return whether a line of the head is the key ``queries:``."""
    return any(line.rstrip() == b"queries:" for line in head.splitlines())


def read(path: Path, options: ReadOptions) -> Dataset:
    """Return the queries; the category is a tag, unknown keys are kept as extras."""
    value, check = load_yaml(path, limit=options.limits.yaml_bytes)
    top = check.record(value, ())
    queries = []
    labels: list[tuple[Location, str]] = []
    for location, item in check.rows(top.get("queries"), ("queries",), filled=True):
        query = _query(check, check.record(item, location), location)
        queries.append(query)
        labels.append((location, query.id))
    check.unique(labels, "id")
    check.finish()
    return Dataset.of(queries, name=path.name.removesuffix(".gz"), match="akashic")


def write(data: Dataset | Run, path: Path) -> None:
    """Write ids, texts, categories, files and symbols."""
    rows = []
    for query in as_dataset(data).queries():
        relevant = [target for target in query.targets if target.grade > 0]
        row: dict[str, object] = {"id": query.id, "query": query.text}
        if "category" in query.tags:
            row["category"] = query.tags["category"]
        row["expected_files"] = list(dict.fromkeys(t.path for t in relevant if t.path))
        symbols = list(dict.fromkeys(t.symbol for t in relevant if t.symbol))
        rows.append(row | ({"expected_symbols": symbols} if symbols else {}))
    write_text(path, dump_yaml({"queries": rows}))


def _query(check: Checker, row: Record, location: Location) -> Query:
    files = [check.word(item, at) for at, item in check.listed(row, "expected_files", location)]
    symbols = [check.word(item, at) for at, item in check.listed(row, "expected_symbols", location)]
    if not files and not symbols:
        check.add(location, "neither expected_files nor expected_symbols has an entry")
    for key, words in (("expected_files", files), ("expected_symbols", symbols)):
        check.unique((((*location, key, i), word) for i, word in enumerate(words)), "entry")
    tags = {"category": check.text(row, "category", location)} if row.get("category") else {}
    extra = {key: value for key, value in row.items() if key not in KNOWN}
    targets = [Target(file) for file in files]
    targets += [Target("", symbol=symbol) for symbol in symbols]
    return Query(
        check.text(row, "id", location),
        check.text(row, "query", location),
        tuple(targets),
        tags,
        extra,
    )


FORMAT = Format(
    "akashic",
    "dataset",
    "Akashic YAML queries: expected files and symbols, matched as substrings",
    (".yaml", ".yml"),
    detect,
    read,
    write,
    frozenset({"text", "category", "files", "symbols", "pathless"}),
    frozenset({"textless", "bare"}),
)
