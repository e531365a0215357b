"""What a gate checks and where it tells what it found: options of `karat gate`."""

from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.options.shared import Command, Number, WholeNumber, with_options

if TYPE_CHECKING:
    from karat.app.gate import GateRules
    from karat.model.gate import Gate
    from karat.report.table import Table
    from karat.scoring.settings import Scoring

__all__ = [
    "GateOptions",
    "GateOutcome",
    "Octocode",
    "Outlets",
    "octocode_options",
    "outlet_options",
    "rule_options",
]


class GateOptions(NamedTuple):
    """The rules as they were written."""

    minimums: tuple[str, ...]
    regressions: tuple[str, ...]
    latencies: tuple[str, ...]
    min_queries: int
    strict: bool

    def rules(self, *, level: float = 0.0) -> "GateRules":
        """Return them parsed; *level* is the lowest relevant grade."""
        from karat.app.gate import parse_rules

        return parse_rules(**self._asdict(), level=level)


class GateOutcome(NamedTuple):
    """A gate, how the run was judged, and what to show before the checks."""

    gate: "Gate"
    scoring: "Scoring"
    tables: "tuple[Table, ...]" = ()


class Outlets(NamedTuple):
    """Where the outcome goes besides the exit code, which never depends on it."""

    as_json: bool
    junit: str | None
    summary: str | None
    annotations: bool


class Octocode(NamedTuple):
    """What `--preset octocode` searches for, and with what; None where nothing was said."""

    csv: str | None
    mode: str | None
    threshold: float | None
    max_results: int | None
    verbose: bool
    json_out: str | None
    engine: str | None
    corpus: str | None
    no_wait: bool


RULES = (
    click.option(
        "--min",
        "minimums",
        multiple=True,
        metavar="MEASURE=MEAN",
        help="The least mean of a measure, such as hit@5=0.70; repeat it.",
    ),
    click.option(
        "--max-regression",
        "regressions",
        multiple=True,
        metavar="[MEASURE=]LOSS",
        help="What a mean may lose against the baseline; without a measure, each of them.",
    ),
    click.option(
        "--max-latency",
        "latencies",
        multiple=True,
        metavar="PERCENTILE=TIME",
        help="The longest latency, such as p90=200ms; repeat it.",
    ),
    click.option(
        "--min-queries",
        type=WholeNumber(1),
        default=1,
        show_default=True,
        metavar="N",
        help="A check on fewer queries is inconclusive.",
    ),
    click.option("--strict", is_flag=True, help="What is inconclusive fails the gate too."),
)

OUTLETS = (
    click.option("--json", "as_json", is_flag=True, help="JSON for machines."),
    click.option(
        "--junit",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="JUnit XML, one test case per check.",
    ),
    click.option(
        "--summary",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Markdown; without it, added to the summary of a GitHub step.",
    ),
    click.option(
        "--annotations/--no-annotations",
        default=None,
        help="GitHub's annotations; by default where GitHub Actions runs.",
    ),
)

OCTOCODE = (
    click.option(
        "--csv",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="octocode: the questions.",
    ),
    click.option("--mode", type=click.Choice(["code", "docs"]), help="octocode: what to search."),
    click.option(
        "--threshold",
        type=Number(0, 1),
        metavar="SHARE",
        help="octocode: the least similarity that it returns.",
    ),
    click.option(
        "--max-results",
        type=WholeNumber(5),
        metavar="N",
        help="octocode: how many results of a query count, 20 by default.",
    ),
    click.option("-v", "--verbose", is_flag=True, help="octocode: show every query."),
    click.option(
        "--json-out",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="octocode: write the averages.",
    ),
    click.option("-e", "--engine", metavar="SPEC", help="octocode: another engine in its place."),
    click.option(
        "--corpus", metavar="DIR", help="octocode: the folder to search, here by default."
    ),
    click.option(
        "--no-wait",
        is_flag=True,
        help="octocode: with --max-latency, do not wait for other karat runs.",
    ),
)


def rule_options(command: Command) -> Command:
    """Add what a run must hold to: *wanted*."""

    @wraps(command)
    def gathered(
        *,
        minimums: tuple[str, ...],
        regressions: tuple[str, ...],
        latencies: tuple[str, ...],
        min_queries: int,
        strict: bool,
        **rest: Any,
    ) -> None:
        wanted = GateOptions(minimums, regressions, latencies, min_queries, strict)
        command(wanted=wanted, **rest)

    return with_options(gathered, RULES)


def outlet_options(command: Command) -> Command:
    """Add where the outcome goes: *outlets*."""

    @wraps(command)
    def gathered(
        *,
        as_json: bool,
        junit: str | None,
        summary: str | None,
        annotations: bool | None,
        **rest: Any,
    ) -> None:
        import os

        if annotations is None:
            annotations = os.environ.get("GITHUB_ACTIONS") == "true"
        command(outlets=Outlets(as_json, junit, summary, annotations), **rest)

    return with_options(gathered, OUTLETS)


def octocode_options(command: Command) -> Command:
    """Add what belongs to `--preset octocode`: *octocode*."""

    @wraps(command)
    def gathered(
        *,
        csv: str | None,
        mode: str | None,
        threshold: float | None,
        max_results: int | None,
        verbose: bool,
        json_out: str | None,
        engine: str | None,
        corpus: str | None,
        no_wait: bool,
        **rest: Any,
    ) -> None:
        wanted = (csv, mode, threshold, max_results, verbose, json_out, engine, corpus, no_wait)
        command(octocode=Octocode(*wanted), **rest)

    return with_options(gathered, OCTOCODE)
