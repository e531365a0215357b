"""The formats Karat knows, by name; each is loaded when it is first asked for."""

from karat.formats.base import Format
from karat.registry import Registry

__all__ = ["FORMATS", "SHAPES"]

FORMATS: Registry[Format] = Registry(
    "format",
    {
        "gold": "karat.formats.gold:FORMAT",
        "octocode": "karat.formats.octocode:FORMAT",
        "trec-qrels": "karat.formats.trec_qrels:FORMAT",
        "trec-run": "karat.formats.trec_run:FORMAT",
    },
    aliases={"karat-gold": "gold", "qrels": "trec-qrels", "trec": "trec-run"},
)

# What the first byte already rules out need not be loaded to be asked.
SHAPES: dict[str, frozenset[str]] = {
    "json": frozenset({"gold"}),
    "text": frozenset({"octocode", "trec-qrels", "trec-run"}),
}
