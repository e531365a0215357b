"""Options of mining; they reach the command as one recipe."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from karat.cli.options.shared import Command, WholeNumber, with_options
from karat.errors import InputError

if TYPE_CHECKING:
    from karat.mining.recipe import MiningRecipe
    from karat.mining.scan import Unit

__all__ = ["accepted_by", "recipe_command", "recipe_of", "recipe_options"]

HARDNESS = ("cleaned", "masked", "words", "dropped", "all")

RECIPE = (
    click.option(
        "--limit",
        default=250,
        show_default=True,
        type=WholeNumber(0),
        metavar="N",
        help="Cases from each repository; 0 takes all.",
    ),
    click.option(
        "--seed",
        default=0,
        show_default=True,
        type=WholeNumber(0),
        metavar="N",
        help="Random seed.",
    ),
    click.option(
        "--level",
        type=click.Choice(["file", "line", "symbol"]),
        default="file",
        show_default=True,
        help="What has to be found.",
    ),
    click.option(
        "--hardness",
        type=click.Choice(HARDNESS),
        default="cleaned",
        show_default=True,
        help="How much a query gives away: file names, identifiers; all asks each.",
    ),
    click.option(
        "--adversarial",
        is_flag=True,
        help="Also ask with a typo, and with a thing that is not meant.",
    ),
    click.option(
        "--unit",
        type=click.Choice(["commit", "pr"]),
        default="commit",
        show_default=True,
        help="A case is a commit, or what a merge brought to the branch.",
    ),
    click.option(
        "--branch",
        default="HEAD",
        show_default=True,
        metavar="NAME",
        help="Where history is read from.",
    ),
    click.option("--since", default="", metavar="DATE", help="Only commits of this day or later."),
    click.option("--until", default="", metavar="DATE", help="Only commits before this day."),
    click.option(
        "--max-commits",
        default=0,
        type=WholeNumber(0),
        metavar="N",
        help="Look at the newest N commits only.",
    ),
    click.option("--include-merges", is_flag=True, help="Take merges as commits like any other."),
    click.option(
        "--min-files",
        default=1,
        show_default=True,
        type=WholeNumber(1),
        metavar="N",
        help="Fewest target files of a case.",
    ),
    click.option(
        "--max-files",
        default=10,
        show_default=True,
        type=WholeNumber(1),
        metavar="N",
        help="Most target files of a case.",
    ),
    click.option(
        "--exclude-pattern",
        "exclude",
        multiple=True,
        metavar="GLOB",
        help="Files that are no targets, as in .gitignore; repeat it.",
    ),
    click.option("--off", multiple=True, metavar="RULE", help="Turn a rule off; repeat it."),
)


def recipe_of(values: Mapping[str, object]) -> "MiningRecipe":
    """Return the recipe by *values* of these options; what they do not name has its default."""
    found: list[MiningRecipe] = []

    def keep(*, recipe: "MiningRecipe") -> None:
        found.append(recipe)

    reader = recipe_command(keep)
    known = {option.name for option in reader.params}
    given = {name: value for name, value in values.items() if name in known}
    with reader.make_context("generate", [], default_map=given) as ctx:
        reader.invoke(ctx)
    return found[0]


def recipe_command(command: Command = lambda **_: None) -> click.Command:
    """Return a command that takes these options and nothing else."""
    return click.command("generate")(recipe_options(command))


def accepted_by(command: click.Command) -> Callable[[str, object], object]:
    """Return what raises InputError for a value that the option of a name cannot be given."""
    options = {option.name: option for option in command.params}

    def accept(name: str, value: object) -> None:
        try:
            if name in options:
                options[name].process_value(click.Context(command), value)
        except click.BadParameter as error:
            raise InputError(error.message) from None

    return accept


def recipe_options(command: Command) -> Command:
    """Add what decides which cases come out of a history: *recipe*."""

    @wraps(command)
    def gathered(
        *,
        limit: int,
        seed: int,
        level: str,
        hardness: str,
        adversarial: bool,
        unit: "Unit",
        branch: str,
        since: str,
        until: str,
        max_commits: int,
        include_merges: bool,
        min_files: int,
        max_files: int,
        exclude: tuple[str, ...],
        off: tuple[str, ...],
        **rest: Any,
    ) -> None:
        from karat.mining.filters import Filters
        from karat.mining.recipe import MiningRecipe
        from karat.mining.rules import CaseLimits
        from karat.mining.targets import Grain
        from karat.mining.variants import Level

        recipe = MiningRecipe(
            branch=branch,
            since=since,
            until=until,
            max_commits=max_commits,
            unit=unit,
            include_merges=include_merges,
            filters=Filters(CaseLimits(min_files, max_files), frozenset(off), exclude),
            limit=limit,
            seed=seed,
            grain=Grain(level),
            hardness=tuple(Level) if hardness == "all" else (Level[hardness.upper()],),
            adversarial=adversarial,
        )
        command(recipe=recipe, **rest)

    return with_options(gathered, RECIPE)
