"""What is searched and how queries run: options of evaluate, compare and sweep."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from karat.cli.help import ENGINES, INPUTS, OUTPUT, option
from karat.cli.options.shared import (
    SELECTION,
    Command,
    OutputPath,
    declared,
    gather,
    in_group,
    store_option,
)
from karat.cli.output.show import ENGINE_PLACEHOLDER
from karat.model.settings import setting

if TYPE_CHECKING:
    from karat.app.evaluate import Where


METAVAR = "[NAME=]DIR"


def repo_option(text: str, **settings: object) -> Callable[[Command], Command]:
    """Return what adds *repositories*, a dictionary of folders by name; *text* is its help."""
    return option(
        "--repo",
        "repositories",
        group=INPUTS,
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

    ``owner/name``, as SWE-bench writes it, is ``owner__name``.

    >>> folders_by_name(["pallets/flask=/x/flask"])
    {'pallets__flask': '/x/flask'}
    """
    pairs = [("", "", repo) if Path(repo).exists() else repo.rpartition("=") for repo in repos]
    pairs = [(name.replace("/", "__"), sign, folder) for name, sign, folder in pairs]
    alone = [folder for name, _, folder in pairs if not name]
    if len(alone) < 2:
        return {name: folder for name, _, folder in pairs}
    from karat.system.files import unique_names

    named = {name: folder for name, _, folder in pairs if name}
    return dict(zip(unique_names(alone), alone, strict=True)) | named


def _folders(
    _ctx: click.Context, _option: click.Parameter, given: Sequence[str]
) -> dict[str, str] | None:
    folders = folders_by_name([repo for repo in given if repo])
    for folder in folders.values():
        if not Path(folder).is_dir():
            from karat.system.files import no_folder

            expected = "the folder of a Git repository"
            raise click.BadParameter(no_folder(folder, expected=expected))
    # `karat validate --repo` alone looks where the set was mined; without it, nothing is looked up.
    return folders if given else None


# Each of them holds an index and a model of its own.
MOST_WORKERS = 4
# Queries that are timed by default: enough for p90, and quick.
TIMED = 20

# For a command whose purpose is latency.
NO_WAIT = option(
    "--no-wait",
    group=ENGINES,
    is_flag=True,
    help="Measure latency while other karat runs are active; it is then marked as disturbed.",
)


def _count(
    _ctx: click.Context, _option: click.Parameter, given: str | None
) -> int | Literal["all"] | None:
    """Return the number of queries to time, None if the option is not given."""
    if given is None:
        return None
    if given == "all":
        return "all"
    if given == "none":
        return 0
    if not given.isdecimal():
        raise click.BadParameter(f"{given!r} is not a number; expected a number, all or none")
    return int(given)


@dataclass(frozen=True)
class CorpusOption:
    """What is searched; see :class:`karat.app.evaluate.Where`."""

    repositories: Mapping[str, str] = setting(
        *("--repo", "repos"),
        default=(),
        metavar=METAVAR,
        help="Folder of the gold set's repository, if it has moved; NAME= for one of several.",
    )
    clones: str | None = setting(
        *("--repos", "clones"),
        type=click.Path(exists=True, file_okay=False),
        metavar="FOLDER",
        help="Folder with a clone of each repository, called owner__name, owner/name or name.",
    )
    only_given: bool = setting(
        "--only-given",
        type=bool,
        default=False,
        help="Run only the cases whose repository is there, and name the others.",
    )
    snapshot: str | None = setting(
        "--snapshot",
        type=("parent", "base", "head", "child"),
        help="Version to search: parent of each change (default), base before all changes, HEAD, "
        "or child (after each change).",
    )
    corpus: str | None = setting(
        "--corpus",
        common=True,
        metavar="PLACE",
        help="Search this folder or repository instead.",
    )
    revision: str | None = setting(
        "--rev",
        metavar="REVISION",
        help="With --corpus: read PLACE at this Git revision, or a folder of it: v2.0:docs.",
    )
    candidates: str | None = setting(
        "--candidates",
        type=("production", "all"),
        help="Files to search: production leaves out tests (default for mined sets), all "
        "searches every file.",
    )
    kind: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def where(self) -> "Where":
        """Return the same for an experiment; its module imports engines, so it is loaded late."""
        from karat.app.evaluate import Where

        return Where(**vars(self))


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How often, how long and in how many processes queries run; None for an option not given.

    *timed* is the number of timed queries, or "all"; *timed_on* is the slot that measures their
    latency. *losses* explains missed targets in a report. *run_out* names the files for the runs.
    """

    sample: int | None = setting(
        "--sample",
        common=True,
        type=int,
        minimum=1,
        metavar="N",
        help="Run only N randomly drawn queries; --seed sets the draw.",
    )
    repetitions: int | None = setting(
        "--repetitions",
        type=int,
        minimum=1,
        metavar="N",
        help="How often each timed query runs; 3 by default, the first is cold.",
    )
    timeout_s: float | None = setting(
        "--timeout",
        type=float,
        minimum=0,
        above_minimum=True,
        metavar="SECONDS",
        help="Time limit of a query, 30 by default; the engine's process is then killed.",
    )
    tokenizer: str = setting(
        "--tokenizer",
        default="",
        envvar="KARAT_TOKENIZER",
        show_envvar=True,
        metavar="NAME",
        help="What counts the tokens of hits: granite, minilm or file:tokenizer.json; by default "
        "four characters are a token.",
    )
    timed: int | Literal["all"] | None = setting(
        "--timed",
        common=True,
        callback=_count,
        metavar="N|all|none",
        help=f"Number of queries whose latency is measured; {TIMED} by default, all of them when "
        "evaluate or compare writes a folder of results.",
    )
    timed_on: str | None = setting(
        "--timed-on",
        metavar="SLOT",
        help="Measure latency on this slot or machine of --executor, as karat executors names it; "
        "by default on this machine.",
    )
    wait: bool = setting(
        "--wait/--no-wait",
        type=bool,
        default=False,
        help="Measure latency only when no other karat run is active; by default it is measured at "
        "once, and then marked as disturbed.",
    )
    workers: int = setting(
        "--workers",
        type=int,
        minimum=1,
        envvar="KARAT_WORKERS",
        show_envvar=True,
        default=min(MOST_WORKERS, os.cpu_count() or 1),
        metavar="N",
        help="Parallel processes for untimed queries; one per core by default, at most 4.",
    )
    executor: str = setting(
        "--executor",
        default="local",
        envvar="KARAT_EXECUTOR",
        show_default=True,
        show_envvar=True,
        metavar="URL",
        help="Where worker processes run: local, local:8 for 8 of them, dask://host:8786 or "
        "ray:auto.",
    )
    again: bool | None = setting(
        "--again/--kept",
        type=bool,
        help="Run all queries again, or reuse stored results. By default the results of "
        "built-in engines are reused and those of all others are not.",
    )
    losses: bool = setting(
        "--losses",
        group=OUTPUT,
        type=bool,
        default=False,
        help="Explain in the report where each missed target was lost; repeats the queries of "
        "built-in engines.",
    )
    run_out: str | None = setting(
        "--run-out",
        group=OUTPUT,
        type=OutputPath(),
        metavar="FILE",
        help=f"Write the run to a file; {ENGINE_PLACEHOLDER} in its name stands for the engine.",
    )
    store: str = ""

    def timed_queries(self, *, every: bool = False) -> int | None:
        """Return the number of queries to time, None for all.

        Without --timed, *every* query is timed if the output has a latency for each.
        """
        if self.timed is None:
            return None if every else TIMED
        return None if self.timed == "all" else self.timed


def _make_corpus(*, repositories: tuple[str, ...], **rest: Any) -> CorpusOption:
    if rest["corpus"] is None and rest["revision"] is not None:
        raise click.UsageError("--rev needs --corpus.")
    of_git = (repositories, *(rest[name] for name in ("snapshot", "clones", "only_given")))
    if rest["corpus"] is not None and any(of_git):
        raise click.UsageError(
            "--corpus cannot be combined with --repo, --repos, --only-given or --snapshot."
        )
    return CorpusOption(folders_by_name(repositories), **rest)


# What is searched: *place*; how queries run: *options*.
where_options = gather("place", _make_corpus, {**declared(CorpusOption), **SELECTION}, INPUTS)
run_options = gather(
    "options", RunOptions, {**declared(RunOptions), "store": store_option}, ENGINES
)
(clones_option,) = declared(CorpusOption, "clones").values()
executor_option = in_group(ENGINES, declared(RunOptions, "executor")["executor"])
losses_option = in_group(OUTPUT, declared(RunOptions, "losses")["losses"], common=True)
