"""karat export: write what Karat knows in the formats of other tools."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.help import ENGINES, OUTPUT, TieredCommand, option
from karat.cli.main import CommandGroup
from karat.cli.options.experiment import CorpusOption, where_options
from karat.cli.options.shared import (
    GoldPath,
    Inputs,
    Number,
    Output,
    OutputPath,
    WholeNumber,
    check_together,
    input_options,
)
from karat.cli.options.stray import stray
from karat.report.display import printable
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.extensions.training.export import TrainingExport


# Groups of options in help.
ROWS, PARTS = "Training data", "Splits and test sets"
# Options that mean nothing without another one.
NEEDED = {"held_out": "split", "split_by": "split", "allow_contamination": "test_sets"}


@click.group("export", cls=CommandGroup)
def command() -> None:
    """Export data for other tools.

    \b
    karat export training gold.json --engine bm25 -o training
    """


@command.command("training", cls=TieredCommand)
@click.argument("goldset", type=GoldPath())
@stray({"--engine": "an engine"})
@option(
    "-e",
    "--engine",
    group=ENGINES,
    common=True,
    metavar="SPEC",
    help="Engine whose hits become negatives: a name, a profile or a YAML file; bm25 by default.",
)
@option(
    "--run",
    "run_file",
    group=ENGINES,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Take the hits from a run file instead of running an engine.",
)
@option(
    "-o",
    "--output",
    group=OUTPUT,
    common=True,
    type=OutputPath(file_okay=False, dir_okay=True),
    default="training",
    show_default=True,
    metavar="FOLDER",
    help="Folder to write: one JSONL file per part, README.md, dataset_info.json, sources.jsonl.",
)
@option("--force", group=OUTPUT, is_flag=True, help="Replace the files of an earlier export.")
@option(
    "--layout",
    group=ROWS,
    common=True,
    type=click.Choice(["triplet", "n-tuple", "pair", "scored"]),
    default="triplet",
    show_default=True,
    help="Columns: anchor, positive, negative; with negative_1 to negative_N; anchor, positive; "
    "or anchor, text, score.",
)
@option(
    "--negatives",
    group=ROWS,
    common=True,
    type=WholeNumber(1),
    default=3,
    show_default=True,
    metavar="N",
    help="Negatives per query.",
)
@option(
    "--positives",
    group=ROWS,
    common=True,
    type=WholeNumber(1),
    default=3,
    show_default=True,
    metavar="N",
    help="Maximum number of positives per query, the highest grades first.",
)
@option(
    "--skip",
    group=ROWS,
    type=WholeNumber(0),
    default=0,
    show_default=True,
    metavar="N",
    help="Take no negatives from the first N ranks.",
)
@option(
    "--depth",
    group=ROWS,
    type=WholeNumber(1),
    default=100,
    show_default=True,
    metavar="K",
    help="Take negatives from the first K hits.",
)
@option(
    "--max-score-ratio",
    group=ROWS,
    type=Number(0, 1),
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="A negative scores at most this share of the positive's score; 0 turns the rule off.",
)
@option(
    "--same-file",
    group=ROWS,
    is_flag=True,
    help="Allow negatives from other chunks of a target's file.",
)
@option(
    "--any-language",
    group=ROWS,
    is_flag=True,
    help="Allow negatives in a language that no positive of the query has.",
)
@option(
    "--header",
    "headers",
    group=ROWS,
    is_flag=True,
    help="Begin each text with its path and symbols, as built-in engines index it.",
)
@option(
    "--split",
    group=PARTS,
    common=True,
    metavar="NAMES",
    help="Split into two or three parts, training first: train,dev or train,dev,test.",
)
@option(
    "--split-by",
    group=PARTS,
    type=click.Choice(["time", "repository"]),
    default="time",
    show_default=True,
    help="Newer queries in later parts, or every repository in one part.",
)
@option(
    "--held-out",
    group=PARTS,
    type=Number(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="Share of the queries outside the first part.",
)
@option(
    "--test-set",
    "test_sets",
    group=PARTS,
    common=True,
    type=GoldPath(),
    multiple=True,
    metavar="FILE",
    help="Gold set that you test with; queries that share a text, a commit or a target with it "
    "are dropped. May be repeated.",
)
@option(
    "--allow-contamination",
    group=PARTS,
    is_flag=True,
    help="Only report what is shared with --test-set; drop nothing.",
)
@where_options
@input_options
@option("--json", "as_json", group=OUTPUT, common=True, is_flag=True, help="Print JSON.")
def training(
    goldset: str,
    *,
    engine: str | None,
    run_file: str | None,
    output: str,
    force: bool,
    layout: str,
    negatives: int,
    positives: int,
    skip: int,
    depth: int,
    max_score_ratio: float,
    same_file: bool,
    any_language: bool,
    headers: bool,
    split: str | None,
    split_by: str,
    held_out: float,
    test_sets: tuple[str, ...],
    allow_contamination: bool,
    place: CorpusOption,
    inputs: Inputs,
    as_json: bool,
) -> None:
    """Write the queries of GOLDSET with positives and hard negatives, as training data.

    Positives are the chunks that hold the targets, in the version before each change. Hard
    negatives are the engine's first hits that are not targets. Copies of a positive and hits that
    score nearly as high as the positive are left out: they are often relevant.

    \b
    karat export training gold.json --engine bm25
    karat export training gold.json --engine hybrid --split train,dev,test -o data
    karat export training gold.json --run bm25.jsonl --layout n-tuple --negatives 5
    karat export training gold.json --test-set benchmark.json --json
    """
    from karat.app.evaluate import choose_engines
    from karat.cli.options.agents import load_gold
    from karat.cli.output.progress import progress_bar
    from karat.cli.output.show import put_json
    from karat.extensions.training.export import (
        NegativeRules,
        TrainingRequest,
        check_folder,
        export_training,
        without_own_files,
    )
    from karat.formats import read_run

    if engine and run_file:
        raise click.UsageError("--engine and --run exclude each other; give one of them.")
    check_together({}, NEEDED)
    where = without_own_files(place.where(), goldset, output, *test_sets)
    check_folder(output, force=force)
    gold = load_gold(goldset, None, inputs, where)
    request = TrainingRequest(
        gold=gold,
        where=where.with_clones(gold),
        spec=None if run_file else choose_engines([engine or "bm25"])[0].spec,
        run=read_run(run_file, format=inputs.run_format) if run_file else None,
        rules=NegativeRules(negatives, skip, depth, max_score_ratio, same_file, any_language),
        layout=layout,
        positives=positives,
        headers=headers,
        split=tuple(name.strip() for name in split.split(",")) if split else (),
        split_by=split_by,
        held_out=held_out,
        test_sets=tuple(
            load_gold(path, None, replace(inputs, gold_format=None), where) for path in test_sets
        ),
        allow_contamination=allow_contamination,
    )
    with progress_bar("searching") as progress:
        export = export_training(request, progress=progress)
    files = export.write(output)
    if export.searched.skipped:
        click.echo(printable(export.searched.skipped), err=True)
    if as_json:
        put_json({**export.to_json(), "files": [str(file) for file in files]})
    else:
        _show(export, files)


def _show(export: "TrainingExport", files: list[Path]) -> None:
    from karat.cli.output.show import draw_tables, put
    from karat.extensions.training.export import training_tables

    output = Output(style=None, per_query=False, path=None)
    put(draw_tables(training_tables(export), output), output)
    warnings = [
        f"the target texts of {check.name} were not compared: {check.unchecked}"
        for check in export.checks
        if check.unchecked
    ]
    if export.failure:
        warnings.append(f"the engine failed on some queries; the first error: {export.failure}")
    for warning in warnings:
        click.echo(printable(f"warning: {warning}"), err=True)
    rows = sum(map(len, export.rows.values()))
    click.echo(printable(f"wrote {counted(rows, 'row')} to {files[0].parent}"), err=True)
