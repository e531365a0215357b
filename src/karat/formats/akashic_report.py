"""Akashic reports: JSON with a summary, figures by category and the results of each query.

Read as a run, so that old reports can be scored again. :func:`write_report` and
:func:`write_comparison` take figures that were computed elsewhere.
"""

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import NamedTuple

from karat.formats.base import Format, ReadOptions
from karat.formats.fields import Checker, Location, Record
from karat.formats.jsontext import finite, load_json, opens_list, write_json
from karat.formats.results import latency_of
from karat.model import Answer, Hit, Run

__all__ = ["FORMAT", "QueryReport", "Report", "write_comparison", "write_report"]

Values = Mapping[str, object]


class QueryReport(NamedTuple):
    """One query with its hits, its expectation and its own figures."""

    query_id: str
    query: str
    category: str
    hits: Sequence[Hit]
    expected_files: Sequence[str]
    expected_symbols: Sequence[str]
    metrics: Values


class Report(NamedTuple):
    """One configuration; *summary* has ``total_queries``, ``avg_mrr``, ``avg_mrr_ci``, ..."""

    config: Values
    timestamp: str
    summary: Values
    category_metrics: Mapping[str, Values]
    query_results: Sequence[QueryReport]


def detect(_path: str, head: bytes) -> bool:
    """Return whether an object with query results or a summary of them begins here."""
    if not head.lstrip().startswith(b"{") or opens_list(head, "reports"):
        return False
    return opens_list(head, "query_results") or b'"category_metrics"' in head


def read(path: Path, options: ReadOptions) -> Run:
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


def write_report(report: Report, path: Path) -> None:
    """Write *report*; a number that is not finite becomes null."""
    write_json(path, finite(_shown(report)))


def write_comparison(reports: Sequence[Report], path: Path, *, timestamp: str) -> None:
    """Write several reports side by side."""
    shown = [_shown(report) for report in reports]
    value = {"timestamp": timestamp, "num_configs": len(shown), "reports": shown}
    write_json(path, finite(value))


def _shown(report: Report) -> dict[str, object]:
    results = []
    for query in report.query_results:
        row = query._asdict()
        hits = row.pop("hits")
        row["results"] = [
            {
                "file_path": hit.path,
                "symbol_name": hit.symbol or None,
                "score": hit.score,
                "rank": rank,
            }
            for rank, hit in enumerate(hits, 1)
        ]
        results.append(row)
    return report._asdict() | {"query_results": results}


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


FORMAT = Format(
    "akashic-report",
    "run",
    "Akashic report: the results of each query (read as a run)",
    (".json",),
    detect,
    read,
)
