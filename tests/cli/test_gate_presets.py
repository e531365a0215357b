"""A preset of the gate brings its own options; without a preset the gate has none of them."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from karat.cli.options.gate_presets import (
    GATE_PRESETS,
    ChosenPreset,
    GateOptions,
    GateOutcome,
    GatePreset,
    GateRequest,
    preset_options,
)
from karat.cli.options.shared import Inputs
from karat.model.gate import Gate
from karat.scoring.settings import Confidence, Scoring
from tests.extension_kit import install_objects

RULES = GateOptions((), (), (), 1, strict=False, lost_hits=0)
REQUEST = GateRequest((), RULES, None, Scoring(), Inputs(), Confidence(), "", False)


def make(**values: Any) -> dict[str, Any]:
    return values


def run(given: dict[str, Any], request: GateRequest) -> GateOutcome:
    return GateOutcome(Gate(f"{given['file']} by {request.options.min_queries}", 0, ()), Scoring())


TOY = GatePreset(
    {"file": click.option("--file", help="toy: the questions.")},
    make,
    {"file": None},
    run,
    lambda given, names: f"--file {given['file']} needs --preset toy, not {names}",
)


def called(*arguments: str) -> tuple[ChosenPreset, str]:
    """Return the choice that a command with the options of presets receives, and its help."""
    chosen: list[ChosenPreset] = []

    @preset_options
    def take(preset: ChosenPreset) -> None:
        chosen.append(preset)

    command = click.command(take)
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    return chosen[0], CliRunner().invoke(command, ["--help"]).output


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    install_objects(monkeypatch, "gate_preset", {"toy": "elsewhere:TOY"})
    monkeypatch.setitem(GATE_PRESETS._loaded, "toy", TOY)


@pytest.mark.usefixtures("toy")
def test_a_preset_runs_with_its_options() -> None:
    chosen, output = called("--preset", "toy", "--file", "code.csv")
    assert "toy" in output
    assert "toy: the questions." in output
    chosen.check_unused(())
    assert (chosen.name, chosen.given()) == ("toy", ["toy"])
    assert chosen.run(REQUEST).gate.name == "code.csv by 1"


@pytest.mark.usefixtures("toy")
def test_options_without_their_preset_are_rejected() -> None:
    chosen, _ = called("--file", "code.csv")
    with pytest.raises(click.UsageError, match=r"--file code.csv needs --preset toy, not \('a',\)"):
        chosen.check_unused(("a",))
    nothing, _ = called()
    nothing.check_unused(("a",))
    assert (nothing.name, nothing.given()) == ("", [])


def test_there_is_no_option_without_a_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.discovery.objects", lambda *_, **__: {})
    monkeypatch.setattr(GATE_PRESETS, "_added", None)
    chosen, output = called()
    assert chosen == ChosenPreset("", {})
    assert "--preset" not in output
