"""karat generate: a gold set from the history of a Git repository."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.mining_options import accepted_by, recipe_options
from karat.cli.numbers import Number
from karat.cli.stray import stray

if TYPE_CHECKING:
    from karat.mining.recipe import Recipe

__all__ = ["command"]


def _configure(ctx: click.Context, _option: click.Parameter, path: str | None) -> None:
    """Take what the file says for options that are not given."""
    if path:
        from karat.app.mining_config import read_mining_config

        ctx.default_map = dict(read_mining_config(path, accepts=accepted_by(ctx.command)))


def _list_rules(*, as_json: bool) -> None:
    from karat.mining.filters import rule_table

    if as_json:
        from karat.cli.show import put_json

        put_json(rule_table())
        return
    for name, why in rule_table().items():
        click.echo(f"{name:15} {why}")


def _part_names(
    _ctx: click.Context, _option: click.Parameter, given: str | None
) -> tuple[str, str] | None:
    if given is None:
        return None
    older, _, newer = given.partition("/")
    if not older or not newer or "/" in newer or older == newer:
        raise click.BadParameter(f"{given!r} is no pair of names such as dev/test")
    return older, newer


@click.command("generate")
@stray({"--repo": "the repository", "-o": "the gold set"})
@click.option(
    "--repo",
    "repositories",
    multiple=True,
    metavar="DIR",
    help="A Git repository, bare or not; repeat it for a set of several.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="The gold set to write, such as gold.json.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_configure,
    help="YAML whose section `dataset` sets options; those given here win.",
)
@recipe_options
@click.option(
    "--rewrite",
    default="",
    metavar="MODEL",
    help="Let a language model word the queries, such as openai/gpt-4o-mini.",
)
@click.option("--list-rules", is_flag=True, help="Show the rules that can be turned off.")
@click.option(
    "--split",
    callback=_part_names,
    metavar="OLDER/NEWER",
    help="Write two files by time; dev/test makes FILE.dev.json and FILE.test.json.",
)
@click.option(
    "--test-share",
    default=0.5,
    show_default=True,
    metavar="SHARE",
    type=Number(0, 1, min_open=True, max_open=True),
    help="Share of the cases in the newer file.",
)
@click.option("--cache", is_flag=True, help="Keep what Git says about commits for the next time.")
@click.option("--json", "as_json", is_flag=True, help="JSON.")
def command(
    *,
    repositories: tuple[str, ...],
    output: str | None,
    recipe: "Recipe",
    rewrite: str,
    list_rules: bool,
    split: tuple[str, str] | None,
    test_share: float,
    cache: bool,
    as_json: bool,
) -> None:
    """Mine a gold set from the history of a Git repository.

    What a commit says it does becomes a query; the files that it changed, as they were before it,
    are what a search should find there.

    \b
    karat generate --repo ../flask -o gold.json
    karat generate --repo ../flask --level line --since 2023-01-01 --limit 100 -o gold.json
    karat generate --repo ../flask --split dev/test -o gold.json
    """
    if list_rules:
        _list_rules(as_json=as_json)
        return
    if not repositories:
        raise click.UsageError("Missing option '--repo': the repository to read, such as ../flask.")
    if output is None:
        raise click.UsageError("Missing option '-o': the gold set to write, such as gold.json.")
    from karat.app.generate import Split, generate, write_gold
    from karat.cli.progress import progress_bars

    if not output.lower().removesuffix(".gz").endswith(".json"):
        raise click.BadParameter(
            f"{output}: a gold set is JSON; expected a name such as gold.json, of which karat "
            "convert makes other formats",
            param_hint="--output",
        )
    if not Path(output).resolve().parent.is_dir():
        raise click.BadParameter(f"{output}: its folder does not exist", param_hint="--output")
    with progress_bars() as watch:
        made = generate(repositories, recipe, rewrite=rewrite, cache=cache, watch=watch)
    parts = Split(split, test_share) if split else None
    written = write_gold(made.dataset, output, split=parts)
    from karat.cli.show_generated import show, show_json

    if as_json:
        show_json(made, written)
    else:
        show(made, written)
