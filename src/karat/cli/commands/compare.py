"""karat compare: which run or which search is better, and is it real."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import Asking, CorpusOption, asking_options, where_options
from karat.cli.options.shared import (
    Inputs,
    Output,
    WholeNumber,
    confidence_options,
    result_options,
    scoring_options,
)

if TYPE_CHECKING:
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["command"]

AGENTS = "--agents"

# What is said of searches that are asked now; a run file has been asked before.
ASKED = frozenset(
    (
        *("repos", "snapshot", "corpus", "rev", "candidates", "k", "sample", "repetitions"),
        *("timeout", "timed", "no_wait", "workers", "executor", "again", "losses"),
        *("run_out", "store"),
    )
)


class ManyWords(click.Command):
    """A command whose option --agents takes all words up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each of the words an option of its own, which is what click knows."""
        spread: list[str] = []
        taking = False
        for word, after in zip_longest(args, args[1:], fillvalue="-"):
            if word == AGENTS:
                if after.startswith("-"):
                    raise click.BadOptionUsage(AGENTS, f"{AGENTS} needs a name after it.", ctx)
                taking = True
            elif taking and not word.startswith("-"):
                spread += (AGENTS, word)
            else:
                taking = False
                spread.append(word)
        return super().parse_args(ctx, spread)


@click.command("compare", cls=ManyWords)
@click.argument("names", nargs=-1, metavar="[GOLD] [RUN RUN...]")
@click.option("--gold-set", type=click.Path(exists=True), metavar="FILE", help="The same as GOLD.")
@click.option(
    AGENTS,
    multiple=True,
    metavar="NAME...",
    help="Engines, profiles, YAML files or agents of --config, in place of run files.",
)
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="YAML as `karat init` writes it; without --agents, all of its agents are compared.",
)
@where_options
@click.option(
    "-k",
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query, counted in files where targets are files; 100 by default.",
)
@asking_options
@scoring_options
@confidence_options
@click.option(
    "--pairs",
    type=click.Choice(["all", "lead", "baseline"]),
    help="Compare all runs with each other (default for up to 12), only on the first measure "
    "(default for more; on the others with the first run), or each with the first run.",
)
@click.option(
    "--correction",
    type=click.Choice(["maxt", "tukey", "holm", "bh", "none"]),
    help="For many comparisons; by default maxt, and holm against a baseline.",
)
@click.option("--wilcoxon", is_flag=True, help="Add Wilcoxon's test, which tests no mean.")
@result_options
def command(
    names: tuple[str, ...],
    gold_set: str | None,
    agents: tuple[str, ...],
    config: str | None,
    k: int | None,
    *,
    pairs: str | None,
    correction: str | None,
    wilcoxon: bool,
    place: CorpusOption,
    asking: Asking,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Compare RUNs on GOLD, or searches that are asked now; the first is the baseline.

    Every mean and every difference has an interval, every p value is corrected for the number of
    comparisons, and a paragraph says in words what is known and what is inside the noise.

    \b
    karat compare qrels.txt bm25.run hybrid.run
    karat compare code.csv a.json b.json c.json --pairs baseline --by difficulty
    karat compare qrels.txt old.run new.run -m ndcg@10 --per-query --markdown -o diff.md
    karat compare gold.json --agents keyword bm25 hybrid -o report.html
    karat compare --gold-set gold.json --agents keyword_search semantic_search --output report.md
    """
    from karat.cli.output.show import single_threaded

    single_threaded()
    sure = replace(confidence, pairs=pairs, correction=correction, wilcoxon=wilcoxon)
    if gold_set is not None:
        names = (gold_set, *names)
    if agents or config:
        if len(names) > 1:
            raise click.UsageError(f"{AGENTS} takes the place of run files; expected GOLD alone.")
        from karat.cli.options.agents import chosen
        from karat.experiments.store import ExperimentKind

        gold = names[0] if names else None
        found = chosen(gold=gold, agents=agents, config=config, k=k, inputs=inputs, scoring=scoring)
        where = place.where()
        found.carry_out(
            ExperimentKind.COMPARE, where=where, asking=asking, confidence=sure, output=output
        )
    else:
        _compare_files(names, scoring, inputs, sure, output=output)


def _compare_files(
    names: tuple[str, ...],
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    *,
    output: Output,
) -> None:
    from karat.cli.output.show import show_contest
    from karat.scoring.compare import compare
    from karat.scoring.sources import load_judgments

    for name in names:
        if not Path(name).exists():
            raise click.UsageError(f"{name}: no such file; searches to compare follow {AGENTS}.")
    if not names:
        raise click.UsageError(f"Expected GOLD and RUNs, or {AGENTS}.")
    _refuse_asked(click.get_current_context())
    _check_file(output)
    gold, *runs = names
    truth = load_judgments(gold, format=inputs.gold_format, tags=inputs.tags)
    if output.path is not None and output.path.endswith(".html") and output.style is None:
        _write_page(names, inputs, output, settings=(scoring, confidence))
        output = output._replace(path=None)
    contest = compare(
        truth,
        runs,
        scoring=scoring,
        confidence=confidence,
        by=inputs.by,
        run_format=inputs.run_format,
    )
    show_contest(contest, truth, output, settings=(scoring, confidence))


def _write_page(
    names: Sequence[str], inputs: Inputs, output: Output, *, settings: "tuple[Scoring, Confidence]"
) -> None:
    """Write the HTML report on run files."""
    from karat.app.report import gather
    from karat.cli.output.report_files import findings_of, write_report

    formats = {"gold_format": inputs.gold_format, "run_format": inputs.run_format}
    found = gather(names, store="", tags=inputs.tags, **formats)
    by = inputs.by or None
    findings = findings_of(found, *settings, by=by, title=output.title)
    write_report(findings, str(output.path))


def _refuse_asked(ctx: click.Context) -> None:
    """Refuse options that would change nothing."""
    said = [
        option.opts[-1]
        for option in ctx.command.params
        if option.name in ASKED
        and ctx.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if said:
        raise click.UsageError(f"{', '.join(said)}: of searches, not of run files; see {AGENTS}.")


def _check_file(output: Output) -> None:
    """Refuse what only searches that are asked now can fill."""
    if output.path is not None and Path(output.path).is_dir():
        hint = "'-o' / '--output'"
        raise click.BadParameter(f"File {output.path!r} is a directory.", param_hint=hint)
