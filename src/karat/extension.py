"""The contract of an extension: one record, ``EXTENSION``, that declares what it adds.

A built-in extension is a folder of ``karat.extensions`` whose module ``extension`` holds the
record. Another distribution names its record in the entry point group ``karat.extensions``; a
single file is given with ``karat --plugin FILE`` or ``plugins:`` in karat.yaml.
"""

from typing import TYPE_CHECKING

from karat.discovery import Command, Extension
from karat.exports import exports

if TYPE_CHECKING:
    from karat.app.gold_sources import GoldSource
    from karat.app.schemas import ResultSchema, RunExport
    from karat.app.score import read_gold, score
    from karat.cli.help import TieredCommand, option
    from karat.cli.options.experiment import CorpusOption, where_options
    from karat.cli.options.gate_presets import GateOutcome, GatePreset, GateRequest
    from karat.cli.options.scoring import confidence_options, judging_options, scoring_options
    from karat.cli.options.shared import (
        Fields,
        Number,
        OutputPath,
        WholeNumber,
        check_together,
        declared,
        file_options,
        gather,
        open_corpus,
        output_options,
        place_options,
        store_option,
        with_options,
    )
    from karat.cli.output.progress import run_progress, wrapped
    from karat.cli.output.show import put_table
    from karat.discovery import load_file
    from karat.experiments.store.migrations import TableSet
    from karat.model.settings import setting
    from karat.report.findings import Findings
    from karat.report.section import Bar, BarChart, ReportSection
    from karat.report.table import Cell, Column, Table, number
    from karat.system.words import counted, join_names

__all__ = [
    "Bar",
    "BarChart",
    "Cell",
    "Column",
    "Command",
    "CorpusOption",
    "Extension",
    "Fields",
    "Findings",
    "GateOutcome",
    "GatePreset",
    "GateRequest",
    "GoldSource",
    "Number",
    "OutputPath",
    "ReportSection",
    "ResultSchema",
    "RunExport",
    "Table",
    "TableSet",
    "TieredCommand",
    "WholeNumber",
    "check_together",
    "confidence_options",
    "counted",
    "declared",
    "file_options",
    "gather",
    "join_names",
    "judging_options",
    "load_file",
    "number",
    "open_corpus",
    "option",
    "output_options",
    "place_options",
    "put_table",
    "read_gold",
    "run_progress",
    "score",
    "scoring_options",
    "setting",
    "store_option",
    "where_options",
    "with_options",
    "wrapped",
]

__getattr__ = exports(
    __name__,
    {
        "discovery": "load_file",
        "cli.help": "TieredCommand option",
        "cli.options.scoring": "confidence_options judging_options scoring_options",
        "cli.options.shared": "Fields Number OutputPath WholeNumber check_together declared "
        "file_options gather open_corpus output_options place_options store_option with_options",
        "app.score": "read_gold score",
        "app.gold_sources": "GoldSource",
        "app.schemas": "ResultSchema RunExport",
        "cli.options.gate_presets": "GateOutcome GatePreset GateRequest",
        "cli.options.experiment": "CorpusOption where_options",
        "cli.output.progress": "run_progress wrapped",
        "cli.output.show": "put_table",
        "model.settings": "setting",
        "experiments.store.migrations": "TableSet",
        "report.findings": "Findings",
        "report.section": "Bar BarChart ReportSection",
        "report.table": "Cell Column Table number",
        "system.words": "counted join_names",
    },
    root="karat",
)
