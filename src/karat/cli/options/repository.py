"""The option --repo: where the repositories of a gold set are on this machine."""

from collections.abc import Callable, Sequence
from pathlib import Path

import click

from karat.cli.options.shared import Command

__all__ = ["METAVAR", "folders_by_name", "repo_option"]

METAVAR = "[NAME=]DIR"


def repo_option(text: str, **settings: object) -> Callable[[Command], Command]:
    """Return what adds *repositories*, a dictionary of folders by name; *text* is its help."""
    return click.option(
        "--repo",
        "repositories",
        multiple=True,
        metavar=METAVAR,
        callback=_folders,
        help=text,
        **settings,  # type: ignore[arg-type] # those of click
    )


def folders_by_name(repos: Sequence[str]) -> dict[str, str]:
    """Return the folders by the names of their repositories.

    A single folder without a name has the name "" and is for all repositories of a set. Several
    have the names that `karat generate` gives to repositories in these folders.

    >>> folders_by_name(["click=/x/click.git", "gin=/x/gin"]), folders_by_name(["/x/click.git"])
    ({'click': '/x/click.git', 'gin': '/x/gin'}, {'': '/x/click.git'})
    >>> folders_by_name(["/x/click.git", "/x/gin"])
    {'click': '/x/click.git', 'gin': '/x/gin'}
    """
    pairs = [("", "", repo) if Path(repo).exists() else repo.rpartition("=") for repo in repos]
    alone = [folder for name, _, folder in pairs if not name]
    if len(alone) < 2:
        return {name: folder for name, _, folder in pairs}
    from karat.mining.dataset import unique_names

    named = {name: folder for name, _, folder in pairs if name}
    return dict(zip(unique_names(alone), alone, strict=True)) | named


def _folders(
    _ctx: click.Context, _option: click.Parameter, given: Sequence[str]
) -> dict[str, str] | None:
    found = folders_by_name([repo for repo in given if repo])
    for folder in found.values():
        if not Path(folder).is_dir():
            raise click.BadParameter(
                f"{folder}: no such folder; expected the folder of a Git repository"
            )
    # `karat validate --repo` alone looks where the set was mined; without it, nothing is looked up.
    return found if given else None
