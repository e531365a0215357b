"""Options that several commands share; a large group reaches the command as one record."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import click

__all__ = [
    "TITLE",
    "Command",
    "Inputs",
    "Number",
    "Output",
    "WholeNumber",
    "confidence_options",
    "judging_options",
    "one_style",
    "output_options",
    "place_options",
    "result_options",
    "scoring_options",
    "store_option",
    "with_options",
]

Command = Callable[..., None]

TIES = ("trec10", "trec9", "order", "expected", "best", "worst")
MATCHES = (
    *("document", "exact", "suffix", "substring", "directory"),
    *("lines", "symbol", "akashic", "graded"),
)


class Inputs(NamedTuple):
    """How to read the files, and which tags to report apart."""

    gold_format: str | None
    run_format: str | None
    tags: tuple[str, ...]
    by: tuple[str, ...]


class Output(NamedTuple):
    """How to show the result, and where."""

    style: str | None
    per_query: bool
    path: str | None
    title: str = ""


SCORING = (
    click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        metavar="NAME",
        help="A measure such as ndcg@10; repeat it, or separate by commas.",
    ),
    click.option("--match", type=click.Choice(MATCHES), help="How a hit matches a target."),
    click.option(
        "--min-overlap",
        default=0.0,
        metavar="SHARE",
        help="Share of a target's lines that a hit must cover.",
    ),
    click.option(
        "--ties",
        type=click.Choice(TIES),
        default="trec10",
        show_default=True,
        help="What to do with equal scores.",
    ),
    click.option(
        "--level",
        default=0.0,
        metavar="GRADE",
        help="Lowest relevant grade; without it, any above 0.",
    ),
    click.option("--judged-only", is_flag=True, help="Drop unjudged hits, after --depth."),
    click.option("--depth", type=int, metavar="N", help="Look at the first N hits only."),
    click.option("--root", default="", metavar="DIR", help="Paths below DIR become relative."),
    click.option(
        "--strip-prefix",
        multiple=True,
        metavar="PREFIX",
        help="Remove PREFIX from the start of the run's paths or ids; repeat it for several.",
    ),
    click.option(
        "--cut-at",
        default="",
        metavar="TEXT",
        help="Cut the run's paths or ids at the last TEXT: '#' makes a.py#3 a hit on a.py.",
    ),
    click.option("--trec", is_flag=True, help="Average over answered queries, as trec_eval does."),
)

INPUTS = (
    click.option(
        "--by",
        multiple=True,
        metavar="TAG",
        help="Break results down by a tag; file-type always exists.",
    ),
    click.option(
        "--tag",
        "tags",
        multiple=True,
        metavar="NAME=FIRST-LAST",
        help="Tag rows of the gold set by number, and report them apart.",
    ),
)

FORMATS = (
    click.option("--gold-format", metavar="FORMAT", help="Format of the gold set."),
    click.option("--run-format", metavar="FORMAT", help="Format of the run files."),
)

CONFIDENCE = (
    click.option(
        "--confidence",
        default=0.95,
        show_default=True,
        metavar="LEVEL",
        help="Level of the intervals, between 0 and 1.",
    ),
    click.option(
        "--draws",
        default=9_999,
        show_default=True,
        metavar="N",
        help="Resamples of each interval and test.",
    ),
    click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed."),
    click.option("--cluster", metavar="TAG", help="Queries of one value are drawn together."),
)

STYLES = (
    click.option("--per-query", is_flag=True, help="Show every query."),
    click.option(
        "--json", "as_json", is_flag=True, help="JSON for machines, every query included."
    ),
    click.option("--csv", "as_csv", is_flag=True, help="CSV; with --per-query one row per query."),
    click.option("--markdown", "as_markdown", is_flag=True, help="Markdown tables."),
)

FILE = click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write to a file instead of the terminal.",
)
RESULTS = click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE|DIR",
    help="Also write a report, such as report.html, or all results into a folder.",
)

TITLE = click.option(
    "--title",
    default="",
    metavar="TEXT",
    help="Title of the report; by default the name of the gold set.",
)

PLACE = (
    click.argument("place", default=".", metavar="[PLACE]"),
    click.option("--rev", metavar="REVISION", help="PLACE as Git had it at REVISION."),
    click.option(
        "-e",
        "--engine",
        "--agent",
        "--mode",
        "engine",
        default="bm25",
        show_default=True,
        metavar="SPEC",
        help="An engine such as bm25(k1=1.2), a profile, or a YAML file; see karat engines.",
    ),
    click.option(
        "--profile",
        type=click.Choice(["keyword", "fast", "balanced", "quality"]),
        help="A ready engine instead, from the fastest to the best.",
    ),
)


def scoring_options(command: Command) -> Command:
    """Add what decides how runs are read, judged and measured: *scoring* and *inputs*."""
    return with_options(_gathered(command), (*SCORING, *INPUTS, *FORMATS))


def judging_options(command: Command) -> Command:
    """Add the same for a command that reports nothing apart."""
    return with_options(_gathered(command), (*SCORING, *FORMATS))


def _gathered(command: Command) -> Command:
    @wraps(command)
    def gathered(
        *,
        metrics: tuple[str, ...],
        match: str | None,
        min_overlap: float,
        ties: str,
        level: float,
        judged_only: bool,
        depth: int | None,
        root: str,
        strip_prefix: tuple[str, ...],
        cut_at: str,
        trec: bool,
        by: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        gold_format: str | None,
        run_format: str | None,
        **rest: Any,
    ) -> None:
        from karat.scoring.settings import Scoring

        scoring = Scoring(
            measures=metrics,
            match=match,
            ties=ties,
            level=level,
            judged_only=judged_only,
            depth=depth,
            min_overlap=min_overlap,
            root=root,
            strip_prefix=strip_prefix,
            cut_at=cut_at,
            trec=trec,
        )
        named = tuple(tag.partition("=")[0] for tag in tags)
        apart = tuple(dict.fromkeys((*by, *named)))
        command(scoring=scoring, inputs=Inputs(gold_format, run_format, tags, apart), **rest)

    return gathered


def confidence_options(command: Command) -> Command:
    """Add what decides how intervals and tests are made: *confidence*."""

    @wraps(command)
    def gathered(
        *, confidence: float, draws: int, seed: int, cluster: str | None, **rest: Any
    ) -> None:
        from karat.scoring.settings import Confidence

        record = Confidence(level=confidence, draws=draws, seed=seed, cluster=cluster)
        command(confidence=record, **rest)

    return with_options(gathered, CONFIDENCE)


def output_options(command: Command) -> Command:
    """Add what decides how results are shown: *output*."""
    return with_options(_shown(command), (*STYLES, FILE))


def result_options(command: Command) -> Command:
    """Add the same for a command whose results fill a report or a folder."""
    return with_options(_shown(command), (*STYLES, RESULTS, TITLE))


def _shown(command: Command) -> Command:
    @wraps(command)
    def gathered(
        *,
        per_query: bool,
        as_json: bool,
        as_csv: bool,
        as_markdown: bool,
        output: str | None,
        title: str = "",
        **rest: Any,
    ) -> None:
        style = one_style(json=as_json, csv=as_csv, markdown=as_markdown)
        command(output=Output(style, per_query, output, title), **rest)

    return gathered


def one_style(**wanted: bool) -> str | None:
    """Return the style that is *wanted*, None where none is; more than one are refused."""
    styles = [name for name, given in wanted.items() if given]
    if len(styles) > 1:
        named = " and ".join(f"--{style}" for style in styles)
        raise click.UsageError(f"{named} exclude each other; give one of them.")
    return styles[0] if styles else None


def place_options(command: Command) -> Command:
    """Add what is searched and by what: *place*, *rev* and *engine*."""

    @wraps(command)
    def gathered(*, engine: str, profile: str | None, **rest: Any) -> None:
        from karat.engines.registry import PROFILES

        source = click.get_current_context().get_parameter_source("engine")
        if profile and source is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError("--profile and --engine both name an engine; give one of them")
        command(engine=PROFILES[profile] if profile else engine, **rest)

    return with_options(gathered, PLACE)


def with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """Return *command* with *options*, shown in their order."""
    for option in reversed(options):
        command = option(command)
    return command


class WholeNumber(click.IntRange):
    """A whole number within a range."""

    name = "whole number"


class Number(click.FloatRange):
    """A number within a range."""

    name = "number"


def store_option(command: Command) -> Command:
    """Add where results are kept: *store*."""
    return click.option(
        "--store",
        default=".karat/karat.db",
        envvar="KARAT_STORE",
        show_default=True,
        show_envvar=True,
        metavar="PLACE",
        help="Where results are kept: a file, or the address of a PostgreSQL.",
    )(command)
