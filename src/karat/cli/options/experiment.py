"""Where and how engines are asked: options of evaluate, compare and sweep."""

import os
from collections.abc import Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from karat.cli.options.repository import METAVAR, by_name
from karat.cli.options.shared import Command, Number, WholeNumber, store_option, with_options
from karat.cli.output.run_files import NAME

if TYPE_CHECKING:
    from karat.experiments.target_check import Where
    from karat.experiments.workers import RunSettings

__all__ = [
    "LOSSES",
    "NO_WAIT",
    "TIMED",
    "Asking",
    "CorpusOption",
    "asking_options",
    "where_options",
]

# Each of them holds an index and a model of its own.
MOST_WORKERS = 4
# So many queries are timed where nothing else is said: enough for p90, and quick.
TIMED = 20

# Of a command that measures latency.
NO_WAIT = click.option(
    "--no-wait",
    is_flag=True,
    help="Measure latency at once, while other karat runs work; it is then marked as disturbed.",
)

WHERE = (
    click.option(
        "--repo",
        "repos",
        multiple=True,
        metavar=METAVAR,
        help="Where the repository of the gold set is, if it has moved; of several, by name.",
    ),
    click.option(
        "--snapshot",
        type=click.Choice(["parent", "base", "head", "child"]),
        help="The tree before each change (default), one before all, HEAD, or the one after.",
    ),
    click.option("--corpus", metavar="PLACE", help="Search this folder instead, for any gold set."),
    click.option(
        "--rev", metavar="REVISION", help="With --corpus: PLACE as Git had it at REVISION."
    ),
    click.option(
        "--candidates",
        type=click.Choice(["production", "all"]),
        help="Files to search: production leaves out tests (default for mined sets), all "
        "searches every file.",
    ),
)


class CorpusOption(NamedTuple):
    """What is to be searched, as it was said; see :class:`karat.experiments.target_check.Where`."""

    repositories: Mapping[str, str]
    corpus: str | None
    revision: str | None
    snapshot: str | None
    candidates: str | None

    def where(self) -> "Where":
        """Return it for an experiment; that brings engines along, which run files do without."""
        from karat.experiments.target_check import Where

        return Where(*self)


LOSSES = click.option(
    "--losses",
    is_flag=True,
    help="In a report, tell where each missed target was lost; asks built-in engines again.",
)


class Asking(NamedTuple):
    """How often, how long and in how many processes; None where nothing was said.

    *timed* is how many queries are timed, or "all"; without *wait*, also while other karat runs
    work. *losses* is whether engines are asked again where a target was lost; *run_out* names files
    for the runs.
    """

    sample: int | None
    repetitions: int | None
    timeout_s: float | None
    timed: int | Literal["all"] | None
    wait: bool
    workers: int
    executor: str
    again: bool | None
    losses: bool
    run_out: str | None
    store: str

    def timed_queries(self, *, every: bool = False) -> int | None:
        """Return how many queries are timed, None for all.

        *every* query is where nothing was said and what is written has a latency for each.
        """
        if self.timed is None:
            return None if every else TIMED
        return None if self.timed == "all" else self.timed

    def settings(self, before: "RunSettings | None" = None) -> "RunSettings":
        """Return *before*, or the defaults, with what was said."""
        from dataclasses import replace

        from karat.experiments.workers import RunSettings

        said = {"repetitions": self.repetitions, "timeout_s": self.timeout_s}
        given = {name: value for name, value in said.items() if value is not None}
        return replace(before or RunSettings(), **given)  # type: ignore[arg-type] # as annotated above


def _count(
    _ctx: click.Context, _option: click.Parameter, given: str | None
) -> int | Literal["all"] | None:
    """Return how many queries are timed, None where nothing was said."""
    if given is None:
        return None
    if given == "all":
        return "all"
    if given == "none":
        return 0
    if not given.isdecimal():
        raise click.BadParameter(f"{given!r} is not a number; expected one, all or none")
    return int(given)


def where_options(command: Command) -> Command:
    """Add what is searched: *place*."""

    @wraps(command)
    def gathered(
        *,
        repos: tuple[str, ...],
        snapshot: str | None,
        corpus: str | None,
        rev: str | None,
        candidates: str | None,
        **rest: Any,
    ) -> None:
        if corpus is None and rev is not None:
            raise click.UsageError("--rev belongs to --corpus.")
        if corpus is not None and (repos or snapshot):
            raise click.UsageError("--corpus is searched in place of the trees of a repository.")
        place = CorpusOption(by_name(repos), corpus, rev, snapshot, candidates)
        command(place=place, **rest)

    return with_options(gathered, WHERE)


def asking_options(command: Command) -> Command:
    """Add how engines are asked: *asking*."""
    options = (
        click.option(
            "--sample",
            type=WholeNumber(1),
            metavar="N",
            help="Ask only N of the queries, drawn by --seed.",
        ),
        click.option(
            "--repetitions",
            type=WholeNumber(1),
            metavar="N",
            help="How often a query is timed; 3 by default, the first time cold.",
        ),
        click.option(
            "--timeout",
            type=Number(0, min_open=True),
            metavar="SECONDS",
            help="How long a search may take; 30 by default. Then its process is ended.",
        ),
        click.option(
            "--timed",
            callback=_count,
            metavar="N|all|none",
            help=f"Number of queries whose latency is measured; {TIMED} by default. evaluate and "
            "compare measure all of them where they write a folder of results.",
        ),
        NO_WAIT,
        click.option(
            "--workers",
            type=WholeNumber(1),
            envvar="KARAT_WORKERS",
            show_envvar=True,
            default=min(MOST_WORKERS, os.cpu_count() or 1),
            metavar="N",
            help="Processes that search at once where nothing is timed; one per core, at most 4.",
        ),
        click.option(
            "--executor",
            default="local",
            envvar="KARAT_EXECUTOR",
            show_default=True,
            show_envvar=True,
            metavar="URL",
            help="Where worker processes run: local, local:8 for 8 of them, or a plug-in.",
        ),
        click.option(
            "--again/--kept",
            default=None,
            help="Run all queries again, or reuse stored results. By default the results of "
            "built-in engines are reused and those of all others are not.",
        ),
        LOSSES,
        click.option(
            "--run-out",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            help=f"Write the run to a file; of several engines, {NAME} in the name tells them "
            "apart.",
        ),
        store_option,
    )

    @wraps(command)
    def gathered(
        *,
        sample: int | None,
        repetitions: int | None,
        timeout: float | None,
        timed: int | Literal["all"] | None,
        no_wait: bool,
        workers: int,
        executor: str,
        again: bool | None,
        losses: bool,
        run_out: str | None,
        store: str,
        **rest: Any,
    ) -> None:
        how = (sample, repetitions, timeout, timed, not no_wait, workers, executor)
        command(asking=Asking(*how, again, losses, run_out, store), **rest)

    return with_options(gathered, options)
