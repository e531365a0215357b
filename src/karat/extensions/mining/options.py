"""Options of mining; the command receives them as one recipe."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from karat.cli.help import option
from karat.cli.options.shared import Command, Fields, WholeNumber, gather

if TYPE_CHECKING:
    from karat.extensions.mining.recipe import MiningRecipe


CASES, COMMITS = "Cases", "Commits"
HARDNESS = ("cleaned", "masked", "words", "dropped", "all")

RECIPE: Fields = {
    "limit": option(
        "--limit",
        group=CASES,
        common=True,
        default=250,
        show_default=True,
        type=WholeNumber(0),
        metavar="N",
        help="Maximum number of cases per repository; 0 means no limit.",
    ),
    "seed": option(
        "--seed",
        group=CASES,
        default=0,
        show_default=True,
        type=WholeNumber(0),
        metavar="N",
        help="Random seed.",
    ),
    "level": option(
        "--level",
        group=CASES,
        common=True,
        type=click.Choice(["file", "line", "symbol"]),
        default="file",
        show_default=True,
        help="What a search has to find.",
    ),
    "hardness": option(
        "--hardness",
        group=CASES,
        type=click.Choice(HARDNESS),
        default="cleaned",
        show_default=True,
        help="What a query reveals: cleaned (everything), masked (no paths), words (code "
        "names split into words), dropped (code names removed), or all four.",
    ),
    "adversarial": option(
        "--adversarial",
        group=CASES,
        is_flag=True,
        help="Also add queries with a typo and queries with a negation.",
    ),
    "unit": option(
        "--unit",
        type=click.Choice(["commit", "pr"]),
        default="commit",
        show_default=True,
        help="Make a case from each commit, or from each merged pull request.",
    ),
    "branch": click.option(
        "--branch",
        default="HEAD",
        show_default=True,
        metavar="NAME",
        help="Branch or revision to read the history of.",
    ),
    "since": option(
        "--since",
        common=True,
        default="",
        metavar="DATE",
        help="Only commits on or after this day.",
    ),
    "until": click.option(
        "--until", default="", metavar="DATE", help="Only commits before this day."
    ),
    "max_commits": click.option(
        "--max-commits",
        default=0,
        type=WholeNumber(0),
        metavar="N",
        help="Read only the newest N commits.",
    ),
    "include_merges": click.option(
        "--include-merges", is_flag=True, help="Also make cases from merge commits."
    ),
    "min_files": click.option(
        "--min-files",
        default=1,
        show_default=True,
        type=WholeNumber(1),
        metavar="N",
        help="Minimum number of target files per case.",
    ),
    "max_files": click.option(
        "--max-files",
        default=10,
        show_default=True,
        type=WholeNumber(1),
        metavar="N",
        help="Maximum number of target files per case.",
    ),
    "exclude": option(
        "--exclude-pattern",
        "exclude",
        group=CASES,
        multiple=True,
        metavar="GLOB",
        help="Exclude files from the targets, as in .gitignore; may be repeated.",
    ),
    "off": click.option(
        "--off",
        multiple=True,
        metavar="RULE",
        help="Disable a rule of --list-rules; may be repeated.",
    ),
}


def _make_recipe(**values: Any) -> "MiningRecipe":
    from karat.extensions.mining.generate import make_recipe

    return make_recipe(**values)


# The settings of mining: *recipe*.
recipe_options = gather("recipe", _make_recipe, RECIPE, COMMITS)


def recipe_of(values: Mapping[str, object]) -> "MiningRecipe":
    """Return the recipe for *values* of these options; all others have their defaults."""
    recipes: list[MiningRecipe] = []

    def keep(*, recipe: "MiningRecipe") -> None:
        recipes.append(recipe)

    reader = recipe_command(keep)
    known = {option.name for option in reader.params}
    given = {name: value for name, value in values.items() if name in known}
    with reader.make_context("generate", [], default_map=given) as ctx:
        reader.invoke(ctx)
    return recipes[0]


def recipe_command(command: Command = lambda **_: None) -> click.Command:
    """Return a command with these options and no others."""
    return click.command("generate")(recipe_options(command))
