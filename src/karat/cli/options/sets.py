"""Several gold sets with a corpus each, compared in one command: the option --set."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from karat.cli.help import INPUTS, option
from karat.cli.options.experiment import CorpusOption, RunOptions
from karat.cli.options.shared import Command, Inputs, Output
from karat.errors import MissingExtension
from karat.registry import Registry

if TYPE_CHECKING:
    from karat.scoring.settings import Confidence, Scoring


class SetRequest(NamedTuple):
    """What ``karat compare --set`` was called with; *sets* are the values of the option."""

    sets: Sequence[str]
    agents: Sequence[str]
    config: str | None
    k: int | None
    place: CorpusOption
    options: RunOptions
    scoring: "Scoring"
    inputs: Inputs
    confidence: "Confidence"
    output: Output


# Runs engines on each of several sets, and shows them compared.
SET_COMPARISONS: Registry[Callable[[SetRequest], None]] = Registry("set_comparison", {})


def set_option(command: Command) -> Command:
    """Add --set: *sets*. Help lists it if an extension can run several sets."""
    return option(
        "--set",
        "sets",
        group=INPUTS,
        multiple=True,
        hidden=not list(SET_COMPARISONS),
        metavar="PLACE...",
        help="Several gold sets, each with its corpus: BEIR folders, GOLD=CORPUS, mined sets, or a "
        "folder of them.",
    )(command)


def compare_sets(request: SetRequest) -> None:
    """Run and compare the engines of *request* on each of its sets."""
    name = next(iter(SET_COMPARISONS), None)
    if name is None:
        raise MissingExtension("--set", "sets")
    SET_COMPARISONS.get(name)(request)
