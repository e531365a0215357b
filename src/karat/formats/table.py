"""The formats Karat knows, by name; each is loaded when it is first asked for."""

from karat.formats.base import Format
from karat.registry import Registry

__all__ = ["FORMATS", "SHAPES"]

FORMATS: Registry[Format] = Registry(
    "format",
    {
        "gold": "karat.formats.gold:FORMAT",
        "octocode": "karat.formats.octocode:FORMAT",
        "akashic": "karat.formats.akashic:FORMAT",
        "semantik": "karat.formats.semantik:FORMAT",
        "semantik-csv": "karat.formats.semantik_csv:FORMAT",
        "trec-qrels": "karat.formats.trec_qrels:FORMAT",
        "beir": "karat.formats.beir:FORMAT",
        "semble": "karat.formats.semble:FORMAT",
        "karat-run": "karat.formats.karat_run:FORMAT",
        "trec-run": "karat.formats.trec_run:FORMAT",
        "parquet": "karat.formats.parquet:FORMAT",
        "results": "karat.formats.results:FORMAT",
        "results-csv": "karat.formats.results_csv:FORMAT",
        "akashic-report": "karat.formats.akashic_report:FORMAT",
    },
    aliases={"karat-gold": "gold", "qrels": "trec-qrels", "trec": "trec-run"},
)

# What the first bytes already rule out need not be loaded to be asked.
SHAPES: dict[str, frozenset[str]] = {
    "folder": frozenset({"beir"}),
    "binary": frozenset({"parquet"}),
    "json": frozenset(
        {"akashic-report", "gold", "karat-run", "results", "semantik", "semble"},
    ),
    "rows": frozenset({"trec-qrels", "trec-run"}),
    "text": frozenset(
        {"akashic", "beir", "octocode", "results-csv", "semantik-csv"},
    ),
}
