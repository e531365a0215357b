"""Options of commands that ask chat models, and help in sections."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import click

from karat.cli.options.shared import Fields, Number, WholeNumber, gather


class ModelOptions(NamedTuple):
    """The models to ask, how, and for how much money."""

    models: tuple[str, ...]
    judged: bool
    batch: int
    workers: int
    max_tokens: int
    timeout: float
    prices: tuple[str, ...]
    max_cost: float | None
    yes: bool
    dry_run: bool
    probe: bool


MODEL: Fields = {
    "models": click.option(
        "--model",
        "models",
        multiple=True,
        metavar="SPEC",
        help="Grade with this model instead of by hand: a name of litellm, such as "
        "openai/gpt-4o-mini, or ADDRESS#NAME of an OpenAI-compatible server; repeat the option "
        "for a vote of several.",
    ),
    "judged": click.option(
        "--judged", is_flag=True, help="Also grade hits that people have judged."
    ),
    "batch": click.option(
        "--batch",
        type=WholeNumber(1, 50),
        default=1,
        show_default=True,
        metavar="N",
        help="Passages of one query in each request.",
    ),
    "workers": click.option(
        "--workers",
        type=WholeNumber(1, 256),
        default=8,
        show_default=True,
        metavar="N",
        help="Requests at the same time.",
    ),
    "max_cost": click.option(
        "--max-cost",
        type=Number(0),
        metavar="USD",
        help="Spending limit of this call in US dollars, for all models together.",
    ),
    "prices": click.option(
        "--price",
        "prices",
        multiple=True,
        metavar="PROMPT,ANSWER",
        help="Price in US dollars per million tokens, such as 0.15,0.6; once for all models, or "
        "once for each. By default litellm's price list.",
    ),
    "max_tokens": click.option(
        "--max-tokens",
        type=WholeNumber(16),
        default=300,
        show_default=True,
        metavar="N",
        help="Longest answer in tokens; more for models that reason before they answer.",
    ),
    "timeout": click.option(
        "--timeout",
        type=Number(0.1),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Longest wait for an answer.",
    ),
    "probe": click.option(
        "--probe-injection",
        "probe",
        is_flag=True,
        help="Grade up to 20 passages with hidden suspicious lines also with these lines, and "
        "report how much the grades change.",
    ),
    "dry_run": click.option(
        "--dry-run", is_flag=True, help="Show the cost estimate and one prompt; send nothing."
    ),
    "yes": click.option("--yes", is_flag=True, help="Start without asking."),
}

# Adds the options of models: *asking*.
model_options = gather("asking", ModelOptions, MODEL)


class SectionedCommand(click.Command):
    """A command whose help lists some options in sections: title -> names of parameters."""

    def __init__(self, *args: Any, sections: Mapping[str, tuple[str, ...]], **rest: Any) -> None:
        """Remember the sections; options in none of them come first."""
        super().__init__(*args, **rest)
        self._sections = sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options section by section."""
        elsewhere = {name for names in self._sections.values() for name in names}
        rows = {
            param.name: row
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and (row := param.get_help_record(ctx)) is not None
        }
        with formatter.section("Options"):
            formatter.write_dl([row for name, row in rows.items() if name not in elsewhere])
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([rows[name] for name in names])
