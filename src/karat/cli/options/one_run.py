"""One run on its gold set: two files, or what the store holds."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.shared import Inputs
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.model import Dataset
    from karat.scoring.sources import RunSource

__all__ = ["read_one_run"]


def read_one_run(names: tuple[str, ...], store: str, inputs: Inputs) -> "tuple[Dataset, RunSource]":
    """Return the gold set and the run that *names* mean: GOLD and RUN, or an id alone.

    A run file is left to be read as a stream.
    """
    from karat.formats import read_dataset

    if not 1 <= len(names) <= 2:
        raise click.UsageError("Expected GOLD and RUN, or the id of a stored run.")
    if all(Path(name).exists() for name in names):
        if len(names) == 1:
            raise click.UsageError(f"{names[0]} is a file; expected GOLD and RUN.")
        return read_dataset(names[0], format=inputs.gold_format), names[1]
    from karat.app.report import gather
    from karat.experiments.run_records import run_with_latencies

    found = gather(names, store=store, gold_format=inputs.gold_format)
    for remark in found.remarks:
        click.echo(printable(f"warning: {remark}"), err=True)
    if len(found.runs) > 1:
        raise click.UsageError(
            f"{names[-1]} has {len(found.runs)} runs; expected one, such as {names[-1]}.1"
        )
    return found.gold, run_with_latencies(found.runs[0])
