"""karat gate --preset octocode: the options, and what is printed."""

from dataclasses import astuple, replace
from pathlib import Path
from typing import NamedTuple

import click

from karat.cli.options.gate_presets import GateOutcome, GatePreset, GateRequest
from karat.cli.options.shared import Fields, Number, OutputPath, WholeNumber


class OctocodeOptions(NamedTuple):
    """Settings of `--preset octocode`; None for an option not given."""

    csv: str | None
    mode: str | None
    threshold: float | None
    max_results: int | None
    verbose: bool
    json_out: str | None
    engine: str | None
    corpus: str | None
    no_wait: bool


OCTOCODE: Fields = {
    "csv": click.option(
        "--csv",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="octocode: file with the queries; by default benchmark/code.csv or docs.csv here.",
    ),
    "mode": click.option(
        "--mode",
        type=click.Choice(["code", "docs"]),
        help="octocode: files to search, with any engine; by default all.",
    ),
    "threshold": click.option(
        "--threshold",
        type=Number(0, 1),
        metavar="SHARE",
        help="octocode: minimum similarity of a result.",
    ),
    "max_results": click.option(
        "--max-results",
        type=WholeNumber(5),
        metavar="N",
        help="octocode: results to score per query, 20 by default.",
    ),
    "verbose": click.option("-v", "--verbose", is_flag=True, help="octocode: show every query."),
    "json_out": click.option(
        "--json-out",
        type=OutputPath(),
        metavar="FILE",
        help="octocode: write the averages as JSON.",
    ),
    "engine": click.option(
        "-e", "--engine", metavar="SPEC", help="octocode: use this engine instead."
    ),
    "corpus": click.option(
        "--corpus", metavar="DIR", help="octocode: folder to search, by default the current one."
    ),
    "no_wait": click.option(
        "--no-wait",
        is_flag=True,
        help="octocode: with --max-latency, do not wait for other karat runs.",
    ),
}


UNSET = OctocodeOptions(None, None, None, None, False, None, None, None, False)
MAX_RESULTS = 20
# Where octocode's repository has its queries, by mode; its own script reads the first one.
OWN_QUERIES = {"code": "benchmark/code.csv", "docs": "benchmark/docs.csv"}


def _run(given: OctocodeOptions, request: GateRequest) -> GateOutcome:
    """Run the engine, and write the averages if a file was named for them."""
    _check(given, request)
    from karat.cli.output.experiments import show_searched
    from karat.cli.output.progress import run_progress
    from karat.experiments.store import open_store
    from karat.extensions.neighbours.octocode_gate import LEAST, octocode_engine, octocode_gate
    from karat.extensions.neighbours.schemas import write_octocode_results
    from karat.formats import read_dataset
    from karat.report.score_view import per_query_table, score_table

    gold = read_dataset(given.csv or _own_queries(given), format="octocode")
    options = request.options
    rules = (options if options.minimums else options._replace(minimums=(LEAST,))).rules()
    engine = given.engine or octocode_engine(given.mode or "code", threshold=given.threshold)
    with open_store(request.store, new=True) as opened, run_progress({}) as listen:
        result = octocode_gate(
            gold,
            engine,
            rules,
            opened,
            corpus=given.corpus or ".",
            # octocode selects files itself.
            kind=given.mode if given.engine else "all",
            max_results=given.max_results or MAX_RESULTS,
            baseline=request.baseline,
            confidence=request.confidence,
            allow_changed=request.allow_changed,
            listen=listen,
            on_searched=show_searched,
            wait=not given.no_wait,
        )
    if given.json_out:
        write_octocode_results(result.results, Path(given.json_out))
    # Its notes stand below the checks too.
    tables = [replace(score_table(result.evaluation), notes=())]
    if given.verbose:
        texts = dict(zip(gold.query_ids, gold.texts, strict=True))
        tables.insert(0, per_query_table(result.evaluation, texts))
    return GateOutcome(result.gate, result.scoring, tuple(tables))


def _check(given: OctocodeOptions, request: GateRequest) -> None:
    """Reject options that are missing, exclude each other or would have no effect."""
    from karat.scoring.settings import Scoring

    if request.names:
        raise click.UsageError("--preset octocode takes --csv FILE instead of GOLD and RUN.")
    if request.scoring != Scoring() or any(astuple(request.inputs)):
        raise click.UsageError(
            "--preset octocode sets matching and measures; remove these options."
        )
    if given.csv is None and not Path(_own_queries(given)).is_file():
        raise click.UsageError(
            f"--preset octocode needs --csv FILE, because {_own_queries(given)} is not in the "
            "current folder."
        )
    if given.engine and given.threshold is not None:
        raise click.UsageError("--threshold cannot be combined with --engine.")


def _own_queries(given: OctocodeOptions) -> str:
    """Return the queries that octocode's repository has for the mode."""
    return OWN_QUERIES[given.mode or "code"]


def _unused(given: OctocodeOptions, names: tuple[str, ...]) -> str:
    from karat.cli.commands.gate import run_first

    if given.engine:
        return f"--engine needs --preset octocode; {run_first(given.engine, *names[:1])}"
    return "--csv, --engine and similar options need --preset octocode."


PRESET = GatePreset(OCTOCODE, OctocodeOptions, UNSET, _run, _unused)
