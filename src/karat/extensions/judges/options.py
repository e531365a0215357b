"""Options of commands that ask chat models."""

from typing import NamedTuple

import click

from karat.cli.help import option
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
    "models": option(
        "--model",
        "models",
        common=True,
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
    "max_cost": option(
        "--max-cost",
        common=True,
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
    "dry_run": option(
        "--dry-run",
        common=True,
        is_flag=True,
        help="Show the cost estimate and one prompt; send nothing.",
    ),
    "yes": click.option("--yes", is_flag=True, help="Start without asking."),
}

# Adds the options of models: *asking*.
model_options = gather("asking", ModelOptions, MODEL, "Grade with language models")
