"""Files of scores among the arguments of a command."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from karat.app.score_files import ScoredFiles, read_score_files
from karat.cli.options.shared import Inputs
from karat.formats import is_source
from karat.report.display import printable

if TYPE_CHECKING:
    from karat.scoring.settings import Scoring


def read_scores(names: Sequence[str], inputs: Inputs, scoring: "Scoring") -> ScoredFiles | None:
    """Return the scores in the files *names*, None if they are anything else.

    The line on how they were read goes to stderr.
    """
    scored = read_score_files(names, inputs.of_scores(scoring))
    if scored:
        for line in (scored.preview, *(f"warning: {remark}" for remark in scored.remarks)):
            click.echo(printable(line), err=True)
    return scored


def read_system(
    names: Sequence[str], inputs: Inputs, scoring: "Scoring"
) -> tuple[ScoredFiles, str] | None:
    """Return the scores in a file, and the system that is named behind it, "" for none.

    None if *names* are a gold set and a run, or stored runs.
    """
    file, *system = names
    if len(system) > 1 or any(map(is_source, system)):
        return None
    scored = read_scores([file], inputs, scoring)
    return (scored, "".join(system)) if scored else None
