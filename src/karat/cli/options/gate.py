"""Rules and outputs of a gate: options of `karat gate`."""

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.options.shared import Fields, Number, WholeNumber, gather

if TYPE_CHECKING:
    from karat.app.gate import GateRules
    from karat.model.gate import Gate
    from karat.report.table import Table
    from karat.scoring.settings import Scoring

__all__ = [
    "GateOptions",
    "GateOutcome",
    "GateOutputs",
    "OctocodeOptions",
    "gate_output_options",
    "octocode_options",
    "rule_options",
]


class GateOptions(NamedTuple):
    """The rules as typed."""

    minimums: tuple[str, ...]
    regressions: tuple[str, ...]
    latencies: tuple[str, ...]
    min_queries: int
    strict: bool

    def rules(self, *, level: float = 0.0) -> "GateRules":
        """Return the parsed rules; *level* is the lowest relevant grade."""
        from karat.app.gate import parse_rules

        return parse_rules(**self._asdict(), level=level)


class GateOutcome(NamedTuple):
    """A gate, the scoring settings, and tables to print before the checks."""

    gate: "Gate"
    scoring: "Scoring"
    tables: "tuple[Table, ...]" = ()


class GateOutputs(NamedTuple):
    """Where the outcome is written; the exit code never depends on it."""

    as_json: bool
    junit: str | None
    summary: str | None
    annotations: bool


class OctocodeOptions(NamedTuple):
    """Settings of `--preset octocode`; None for an option not given."""

    csv: str | None
    mode: str | None
    threshold: float | None
    max_results: int | None
    verbose: bool
    json_out: str | None
    engine: str | None
    corpus: str | None
    no_wait: bool


RULES: Fields = {
    "minimums": click.option(
        "--min",
        "minimums",
        multiple=True,
        metavar="MEASURE=MEAN",
        help="Minimum mean of a measure, such as hit@5=0.70; may be repeated.",
    ),
    "regressions": click.option(
        "--max-regression",
        "regressions",
        multiple=True,
        metavar="[MEASURE=]LOSS",
        help="Largest allowed loss of a mean against the baseline, for one measure or for all.",
    ),
    "latencies": click.option(
        "--max-latency",
        "latencies",
        multiple=True,
        metavar="PERCENTILE=TIME",
        help="Maximum latency, such as p90=200ms; may be repeated.",
    ),
    "min_queries": click.option(
        "--min-queries",
        type=WholeNumber(1),
        default=1,
        show_default=True,
        metavar="N",
        help="A check with fewer queries is inconclusive.",
    ),
    "strict": click.option(
        "--strict", is_flag=True, help="An inconclusive check fails the gate too."
    ),
}

OUTPUTS: Fields = {
    "as_json": click.option("--json", "as_json", is_flag=True, help="Print JSON."),
    "junit": click.option(
        "--junit",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write JUnit XML, one test case per check.",
    ),
    "summary": click.option(
        "--summary",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write a Markdown summary; by default it goes to $GITHUB_STEP_SUMMARY, if set.",
    ),
    "annotations": click.option(
        "--annotations/--no-annotations",
        default=None,
        help="Print GitHub annotations; on by default in GitHub Actions.",
    ),
}

OCTOCODE: Fields = {
    "csv": click.option(
        "--csv",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="octocode: file with the queries.",
    ),
    "mode": click.option(
        "--mode", type=click.Choice(["code", "docs"]), help="octocode: content to search."
    ),
    "threshold": click.option(
        "--threshold",
        type=Number(0, 1),
        metavar="SHARE",
        help="octocode: minimum similarity of a result.",
    ),
    "max_results": click.option(
        "--max-results",
        type=WholeNumber(5),
        metavar="N",
        help="octocode: results to score per query, 20 by default.",
    ),
    "verbose": click.option("-v", "--verbose", is_flag=True, help="octocode: show every query."),
    "json_out": click.option(
        "--json-out",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="octocode: write the averages as JSON.",
    ),
    "engine": click.option(
        "-e", "--engine", metavar="SPEC", help="octocode: use this engine instead."
    ),
    "corpus": click.option(
        "--corpus", metavar="DIR", help="octocode: folder to search, by default the current one."
    ),
    "no_wait": click.option(
        "--no-wait",
        is_flag=True,
        help="octocode: with --max-latency, do not wait for other karat runs.",
    ),
}


def _make_outputs(*, annotations: bool | None, **rest: Any) -> GateOutputs:
    import os

    if annotations is None:
        annotations = os.environ.get("GITHUB_ACTIONS") == "true"
    return GateOutputs(annotations=annotations, **rest)


# The rules of the gate: *wanted*; where its outcome is written: *outputs*; and *octocode*.
rule_options = gather("wanted", GateOptions, RULES)
gate_output_options = gather("outputs", _make_outputs, OUTPUTS)
octocode_options = gather("octocode", OctocodeOptions, OCTOCODE)
