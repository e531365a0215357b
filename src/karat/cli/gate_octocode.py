"""karat gate --preset octocode: what octocode's own scoring script does."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from karat.cli.gate_options import Octocode, Outcome, Wanted

if TYPE_CHECKING:
    from karat.app.settings import Confidence
    from karat.model.baseline import Baseline

__all__ = ["octocode_outcome"]

MAX_RESULTS = 20


def octocode_outcome(
    given: Octocode,
    wanted: Wanted,
    baseline: "Baseline | None",
    confidence: "Confidence",
    *,
    store: str,
    allow_changed: bool,
) -> Outcome:
    """Search, and write the averages where they are asked for."""
    from pathlib import Path

    from karat.app.octocode_gate import LEAST, octocode_engine, octocode_gate
    from karat.app.stored import open_store
    from karat.cli.progress import run_progress
    from karat.formats import read_dataset
    from karat.formats.octocode_results import write_octocode_results
    from karat.report.score_view import per_query_table, score_table

    if given.csv is None:
        raise click.UsageError("--preset octocode needs --csv FILE.")
    if given.engine and (given.mode or given.threshold is not None):
        raise click.UsageError("--mode and --threshold are octocode's; --engine takes its place.")
    gold = read_dataset(given.csv, format="octocode")
    rules = (wanted if wanted.minimums else wanted._replace(minimums=(LEAST,))).rules()
    engine = given.engine or octocode_engine(given.mode or "code", threshold=given.threshold)
    with open_store(store, new=True) as opened, run_progress({}) as listen:
        found = octocode_gate(
            gold,
            engine,
            rules,
            opened,
            corpus=given.corpus or ".",
            max_results=given.max_results or MAX_RESULTS,
            baseline=baseline,
            confidence=confidence,
            allow_changed=allow_changed,
            listen=listen,
            wait=not given.no_wait,
        )
    if given.json_out:
        write_octocode_results(found.results, Path(given.json_out))
    # Its notes stand below the checks too.
    tables = [replace(score_table(found.evaluation), notes=())]
    if given.verbose:
        texts = dict(zip(gold.query_ids, gold.texts, strict=True))
        tables.insert(0, per_query_table(found.evaluation, texts))
    return Outcome(found.gate, found.scoring, tuple(tables))
