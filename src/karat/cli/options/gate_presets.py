"""Presets of karat gate: each runs the benchmark of another tool, with options of its own."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.help import option
from karat.cli.options.shared import Command, ExtensibleChoice, Fields, Inputs, gather
from karat.registry import Registry

if TYPE_CHECKING:
    from karat.app.gate import GateRules
    from karat.app.score_files import ScoredFiles
    from karat.model.gate import Baseline, Gate
    from karat.report.table import Table
    from karat.scoring.settings import Confidence, Scoring


class GateOptions(NamedTuple):
    """The rules as typed."""

    minimums: tuple[str, ...]
    regressions: tuple[str, ...]
    latencies: tuple[str, ...]
    min_queries: int
    strict: bool
    lost_hits: int

    def rules(self, *, level: float = 0.0, scored: "ScoredFiles | None" = None) -> "GateRules":
        """Return the parsed rules; *level* is the lowest relevant grade of measures without one.

        Rules for a score file have the measures of *scored*.
        """
        from karat.app.gate import parse_rules

        return parse_rules(
            **self._asdict(), level=level, measure=scored.measure if scored else None
        )


class GateOutcome(NamedTuple):
    """A gate, the scoring settings, and tables to print before the checks."""

    gate: "Gate"
    scoring: "Scoring"
    tables: "tuple[Table, ...]" = ()


class GateRequest(NamedTuple):
    """What ``karat gate`` was called with, beside the options of presets."""

    names: tuple[str, ...]
    options: GateOptions
    baseline: "Baseline | None"
    scoring: "Scoring"
    inputs: Inputs
    confidence: "Confidence"
    store: str
    allow_changed: bool


class GatePreset(NamedTuple):
    """A benchmark that ``karat gate --preset NAME`` runs.

    *options* are its own options; ``make(field=value, ...)`` makes its settings of them, which
    equal *unset* if none was given. *run* runs it, or raises click.UsageError for options that do
    not fit it. *unused* returns what is wrong where settings are given without the preset, and the
    arguments.
    """

    options: Fields
    make: Callable[..., Any]
    unset: object
    run: Callable[[Any, GateRequest], GateOutcome]
    unused: Callable[[Any, tuple[str, ...]], str]


class ChosenPreset(NamedTuple):
    """The preset called *name*, "" for none, and the settings of each preset."""

    name: str
    settings: Mapping[str, Any]

    def run(self, request: GateRequest) -> GateOutcome:
        """Run the chosen preset."""
        return GATE_PRESETS.get(self.name).run(self.settings[self.name], request)

    def given(self) -> list[str]:
        """Return the presets of which an option was given."""
        return [
            name for name, value in self.settings.items() if value != GATE_PRESETS.get(name).unset
        ]

    def check_unused(self, names: tuple[str, ...]) -> None:
        """Raise click.UsageError if options of a preset that was not chosen are given."""
        for name in self.given():
            if name != self.name:
                raise click.UsageError(GATE_PRESETS.get(name).unused(self.settings[name], names))


GATE_PRESETS: Registry[GatePreset] = Registry("gate_preset", {})


def preset_options(command: Command) -> Command:
    """Add --preset and the options of every preset: *preset*. Help shows it if there is one."""
    presets = {name: GATE_PRESETS.get(name) for name in GATE_PRESETS}

    @wraps(command)
    def call(**given: Any) -> None:
        chosen = given.pop("preset", None) or ""
        settings = {name: given.pop(_argument(name)) for name in presets}
        command(preset=ChosenPreset(chosen, settings), **given)

    decorated: Command = call
    for name, preset in reversed(presets.items()):
        decorated = gather(_argument(name), preset.make, preset.options, f"Benchmark of {name}")(
            decorated
        )
    owners = " or ".join(f"{name}'s" for name in presets)
    return option(
        "--preset",
        common=True,
        group="Rules",
        type=ExtensibleChoice([*presets]),
        hidden=not presets,
        help=f"Run {owners} benchmark.",
    )(decorated)


def _argument(preset: str) -> str:
    return f"settings of {preset}"
