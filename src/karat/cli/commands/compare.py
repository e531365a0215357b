"""karat compare: which engine or run is better, and is the difference significant."""

from itertools import zip_longest
from typing import TYPE_CHECKING

import click

from karat.cli.help import ENGINES, INPUTS, TieredCommand, option
from karat.cli.options.experiment import CorpusOption, RunOptions, run_options, where_options
from karat.cli.options.scoring import comparison_options, scoring_options
from karat.cli.options.sets import SetRequest, compare_sets, set_option
from karat.cli.options.shared import Inputs, Output, WholeNumber, result_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.app.score import RunSource, Truth
    from karat.scoring.settings import Confidence, Scoring


AGENTS, SETS = "--agents", "--set"
# What one of their words may be.
EXAMPLES = {AGENTS: "a name, such as --agents bm25", SETS: "a place, such as --set headings/"}

# Options for engines that run now; a run file needs none of them.
ASKED = frozenset(
    (
        *(
            "repos",
            "snapshot",
            "corpus",
            "rev",
            "candidates",
            "kind",
            "include",
            "exclude",
            "k",
            "sample",
            "repetitions",
        ),
        *("timeout", "timed", "timed_on", "wait", "workers", "executor", "again", "losses"),
        *("run_out", "store"),
    )
)


class ManyWords(TieredCommand):
    """A command whose options --agents and --set take all words up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of the words, as click expects."""
        spread: list[str] = []
        taking = ""
        for word, after in zip_longest(args, args[1:], fillvalue="-"):
            if word in EXAMPLES:
                if after.startswith("-"):
                    raise click.BadOptionUsage(word, f"{word} needs {EXAMPLES[word]}.", ctx)
                taking = word
            elif taking and not word.startswith("-"):
                for name in _names(word) if taking == AGENTS else [word]:
                    spread += (taking, name)
            else:
                taking = ""
                spread.append(word)
        return super().parse_args(ctx, spread)


def _names(word: str) -> list[str]:
    """Return the engines in *word*, which may be separated by commas.

    >>> _names("bm25,hybrid"), _names("hybrid(model=static, b=1)"), _names("http:x?a=1,2")
    (['bm25', 'hybrid'], ['hybrid(model=static, b=1)'], ['http:x?a=1,2'])
    """
    names = word.split(",")
    plain = all(name.replace("-", "_").isidentifier() for name in names)
    return names if plain else [word]


@click.command("compare", cls=ManyWords)
@click.argument("names", nargs=-1, metavar="[GOLD] [RUN RUN...]")
@option(
    "--gold-set",
    group=INPUTS,
    type=click.Path(exists=True),
    metavar="FILE",
    help="The same as GOLD.",
)
@option(
    AGENTS,
    group=ENGINES,
    common=True,
    multiple=True,
    metavar="NAME...",
    help="Engines, profiles, YAML files, or engines of --config; instead of run files.",
)
@set_option
@option(
    "--config",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Configuration file, see karat init; without --agents, all of its engines are compared.",
)
@where_options
@option(
    "-k",
    group=ENGINES,
    common=True,
    type=WholeNumber(1),
    metavar="N",
    help="Hits to request per query, 100 by default; counted in files if targets are files.",
)
@run_options
@scoring_options
@comparison_options
@result_options
def command(
    names: tuple[str, ...],
    gold_set: str | None,
    agents: tuple[str, ...],
    config: str | None,
    k: int | None,
    *,
    sets: tuple[str, ...],
    place: CorpusOption,
    options: RunOptions,
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    output: Output,
) -> None:
    """Compare runs on GOLD, or engines; the first one is the baseline.

    A RUN is a file or a stored run: an id such as latest.1, or the name of an engine for its newest
    run on GOLD, mysearch@previous for the one before it, mysearch@pinned for the pinned one.

    Every mean and every difference has a confidence interval, and every p value is corrected
    for multiple comparisons. One bold sentence gives the verdict.

    \b
    karat compare gold.json --agents keyword bm25 hybrid -o report.html
    karat compare --set headings/ animals/ --agents bm25 hybrid
    karat compare qrels.txt bm25.run hybrid.run
    karat compare gold.json mysearch@previous mysearch bm25.run
    karat compare code.csv a.json b.json c.json --pairs baseline --by difficulty
    karat compare qrels.txt old.run new.run -m ndcg@10 --per-query --markdown -o diff.md
    karat compare --gold-set gold.json --agents keyword_search semantic_search --output report.md
    """
    if gold_set is not None:
        names = (gold_set, *names)
    if sets:
        if names or not (agents or config):
            raise click.UsageError(f"{SETS} replaces GOLD and runs; add {AGENTS} NAME....")
        request = SetRequest(
            *(sets, agents, config, k, place, options),
            *(scoring, inputs, confidence, output),
        )
        compare_sets(request)
    elif agents or config:
        if len(names) > 1:
            raise click.UsageError(f"{AGENTS} replaces run files; expected GOLD alone.")
        from karat.app.evaluate import ExperimentKind
        from karat.cli.options.agents import run_setup, select_engines

        gold = names[0] if names else None
        where = place.where()
        setup = select_engines(
            gold=gold,
            agents=agents,
            config=config,
            k=k,
            inputs=inputs,
            scoring=scoring,
            where=where,
        )
        run_setup(
            setup,
            ExperimentKind.COMPARE,
            where=where,
            inputs=inputs,
            options=options,
            confidence=confidence,
            output=output,
        )
    else:
        _compare_runs(names, scoring, inputs, confidence, output=output, store=options.store)


def _compare_runs(
    names: tuple[str, ...],
    scoring: "Scoring",
    inputs: Inputs,
    confidence: "Confidence",
    *,
    output: Output,
    store: str,
) -> None:
    from karat.app.compare import compare
    from karat.cli.options.scores import read_scores
    from karat.cli.output.show import is_report, show_result, write_page
    from karat.errors import EngineError, InputError
    from karat.formats import is_source
    from karat.scoring.settings import compared_by

    if not names:
        raise click.UsageError(f"Expected GOLD and runs, or {AGENTS}.")
    if scored := read_scores(names, inputs, scoring):
        from karat.cli.output.scores import compare_score_files

        _refuse_asked(click.get_current_context(), stored=False)
        compare_score_files(scored, inputs, confidence, output)
        return
    is_stored = not all(map(is_source, names))
    _refuse_asked(click.get_current_context(), stored=is_stored)
    written = is_report(output)
    if is_stored:
        truth, runs, called = _with_stored(names, inputs, store)
    else:
        truth, runs, called = _of_files(names, inputs)
    if not is_stored and len(runs) == 1 and compared_by(truth):
        from karat.cli.commands.score import show_score

        show_score(
            names[0],
            names[1],
            truth,
            scoring=scoring,
            inputs=inputs,
            confidence=confidence,
            output=output,
        )
        return
    if len(runs) < 2:
        given = "only one run" if runs else "no run"
        raise InputError(f"{given} to compare; give two runs or more, or engines by {AGENTS}")
    if written:
        write_page(names, inputs, output, settings=(scoring, confidence), store=store)
        output = output._replace(path=None)
    contest = compare(
        truth,
        runs,
        scoring=scoring,
        confidence=confidence,
        by=inputs.by,
        names=called,
        run_format=inputs.run_format,
    )
    show_result(contest, truth, output, settings=(scoring, confidence))
    if contest.broken:
        click.get_current_context().exit(EngineError.exit_code)


def _of_files(
    names: "Sequence[str]", inputs: Inputs
) -> "tuple[Truth, Sequence[RunSource], Sequence[str] | None]":
    """Return the gold set and the files of the runs, which are read one after another."""
    from karat.app.score import load_judgments, with_run_as_gold

    gold, *runs = names
    return load_judgments(gold, **with_run_as_gold(gold, inputs.gold)), runs, None


def _with_stored(
    names: "Sequence[str]", inputs: Inputs, store: str
) -> "tuple[Truth, Sequence[RunSource], Sequence[str] | None]":
    """Return the gold set, the runs and their names; some of *names* are those of stored runs."""
    from karat.app.report import gather
    from karat.errors import UnknownName
    from karat.report.display import printable

    try:
        given = gather(names, store=store, reading=inputs.gold, run_format=inputs.run_format)
    except UnknownName as error:
        raise UnknownName(f"{error}; engines are run with {AGENTS}") from None
    for remark in given.remarks:
        click.echo(printable(f"warning: {remark}"), err=True)
    return given.gold, [each.run for each in given.runs], [each.name for each in given.runs]


def _refuse_asked(ctx: click.Context, *, stored: bool) -> None:
    """Reject options that have no effect on runs that exist; *stored* ones need a store."""
    said = [
        option.opts[-1]
        for option in ctx.command.params
        if option.name in (ASKED - {"store"} if stored else ASKED)
        and ctx.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if said:
        raise click.UsageError(f"{', '.join(said)}: only for engines, not for runs; see {AGENTS}.")
