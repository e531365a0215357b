"""The file formats of datasets and runs that Karat reads and writes."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.formats.base import DEFAULT, Format, ReadLimits, ReadOptions
    from karat.formats.load import (
        FORMATS,
        detect,
        format_to_write,
        is_source,
        read,
        read_dataset,
        read_run,
        write,
    )
    from karat.formats.trec_qrels import read_judgments
    from karat.formats.trec_run import scan_trec_run

__all__ = [
    "DEFAULT",
    "FORMATS",
    "Format",
    "ReadLimits",
    "ReadOptions",
    "detect",
    "format_to_write",
    "is_source",
    "read",
    "read_dataset",
    "read_judgments",
    "read_run",
    "scan_trec_run",
    "write",
]

__getattr__ = exports(
    __name__,
    {
        "base": "DEFAULT Format ReadLimits ReadOptions",
        "load": "FORMATS detect format_to_write is_source read read_dataset read_run write",
        "trec_qrels": "read_judgments",
        "trec_run": "scan_trec_run",
    },
)
