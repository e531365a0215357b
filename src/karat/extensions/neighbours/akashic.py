"""Akashic: queries in YAML, and reports in JSON.

In a dataset, a file matches as a part of a path, a symbol as a part of a name without regard to
case, which the dataset says with ``match="akashic"``. Every target has grade 1.

A report is read as a run, so that old reports can be scored again.
"""

from math import nan
from pathlib import Path

from karat.formats.base import Format, ReadOptions, as_dataset
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import load_json, load_yaml, opens_list
from karat.formats.results import latency_of
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.system.files import write_text

# What YAML takes for a line end; the plain dumper does not quote it.
YAML_LINE_ENDS = frozenset("\r\x85\u2028\u2029")
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
    write_text(path, _dump_yaml({"queries": rows}))


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


def detect_report(_path: str, head: bytes) -> bool:
    """Return whether an object with query results or a summary of them begins here."""
    if not head.lstrip().startswith(b"{") or opens_list(head, "reports"):
        return False
    return opens_list(head, "query_results") or b'"category_metrics"' in head


def read_report(path: Path, options: ReadOptions) -> Run:
    """Return the results of each query by rank, with their symbols and scores."""
    value, check = load_json(path, limit=options.limits.json_bytes)
    top = check.record(value, ())
    rows = list(check.rows(top.get("query_results"), ("query_results",)))
    answers = [_answer(check, check.record(item, location), location) for location, item in rows]
    labels = (
        (location, answer.query_id) for (location, _), answer in zip(rows, answers, strict=True)
    )
    check.unique(labels, "query_id")
    config = check.record(top.get("config") or {}, ("config",))
    name = check.text(config, "name", ("config",), default=path.name)
    check.finish()
    return Run.of(answers, name=name, metadata={"config": dict(config)} if config else {})


def _answer(check: Checker, row: Record, location: Location) -> Answer:
    ranked: list[tuple[int, Hit]] = []
    for number, (at, item) in enumerate(check.listed(row, "results", location), 1):
        record = check.record(item, at)
        symbol = check.text(record, "symbol_name", at, default="")
        hit = Hit(
            check.text(record, "file_path", at),
            check.number(record, "score", at, default=nan),
            symbol=symbol,
        )
        ranked.append((check.whole(record, "rank", at, default=number, low=1), hit))
    metrics = check.record(row.get("metrics") or {}, (*location, "metrics"))
    latency = check.number(metrics, "latency_ms", (*location, "metrics"), default=-1.0, low=0)
    ordered = sorted(ranked, key=lambda item: item[0])
    return Answer(
        check.label(row, "query_id", location),
        tuple(hit for _, hit in ordered),
        latency_ns=latency_of(latency if latency >= 0 else None),
    )


REPORT = Format(
    "akashic-report",
    "run",
    "Akashic report: the results of each query (read as a run)",
    (".json",),
    detect_report,
    read_report,
)


def _dump_yaml(value: object) -> str:
    """Return *value* as YAML in which every text is quoted where it must be."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes line ends of YAML."""

    def text(dumper: yaml.SafeDumper, word: str) -> yaml.ScalarNode:
        style = '"' if YAML_LINE_ENDS & set(word) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", word, style=style)

    Dumper.add_representer(str, text)
    dumped: str = yaml.dump(value, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=10_000)
    return dumped
