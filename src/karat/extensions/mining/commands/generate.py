"""karat generate: a gold set from the history of a Git repository, or from its texts."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from karat.cli.help import INPUTS, OUTPUT, TieredCommand, option
from karat.cli.options.shared import (
    Number,
    Output,
    OutputPath,
    WholeNumber,
    given_options,
    make_validator,
)
from karat.cli.options.stray import stray
from karat.cli.output.show import draw_tables
from karat.extensions.mining.options import COMMITS, recipe_options
from karat.report.display import printable
from karat.report.table import Cell, Column, Table
from karat.system.words import counted

if TYPE_CHECKING:
    from karat.extensions.mining.generate import GenerationResult
    from karat.extensions.mining.mine import MinedRepository
    from karat.extensions.mining.recipe import MiningRecipe
    from karat.model import Dataset


FROM = ("docstrings", "headings", "tests", "code", "docs")
BY_MODEL = ("code", "docs")
MODEL = "Language model"
MASKED = ("all", "queries")
PLAIN = Output(style=None, per_query=False, path=None)
SAMPLES = 10
UNREADABLE_SHOWN = 3
# Order of the tags; tags that only some sets have come last.
TAGS = (
    *("repository", "kind", "hard", "language", "complexity", "difficulty", "leak", "overlap"),
    *("identifier", "category", "hardness", "attack"),
)
MODEL_OPTIONS = ("model", "hard", "max_cost", "price", "workers", "dry_run")
# Options that choose commits, or change queries that were mined from them.
COMMIT_OPTIONS = frozenset(
    {
        *("level", "hardness", "adversarial", "unit", "since", "until", "max_commits", "off"),
        *("include_merges", "min_files", "max_files", "rewrite", "split", "test_share", "cache"),
    }
)


def show(made: "GenerationResult", written: "Mapping[str, Dataset]") -> None:
    """Print dropped commits by rule, counts of cases, sample cases and the next commands."""
    from karat.app.detection import detection

    tables = [_waterfall(one) for one in made.mined]
    click.echo(draw_tables([*tables, _kinds(made), _samples(made.dataset)], PLAIN))
    for warning in _warnings(made):
        click.echo(printable(f"note: {warning}"), err=True)
    for path, part in written.items():
        click.echo(f"wrote {counted(len(part), 'case')} to {printable(path)}")
        click.echo(f"  {detection(part)}")
    path, part = next(iter(written.items()))
    file = shlex.quote(path)
    corpus = part.metadata.get("corpus")
    corpus_option = f" --corpus {shlex.quote(str(corpus))}" if corpus else ""
    click.echo(printable(f"next: karat evaluate {file}{corpus_option} --engine bm25"))
    click.echo(printable(f"      karat inspect {file} {shlex.quote(part.query_ids[0])}"))


def show_json(made: "GenerationResult", written: "Mapping[str, Dataset]") -> None:
    """Print the metadata of the set, counts of its cases, and the files."""
    from karat.app.corpora import skipped_by_reason
    from karat.app.detection import detection
    from karat.formats.jsontext import dumps

    made_from = made.dataset.metadata.get("generated_from")
    skipped = {path: why for one in made.mined for path, why in one.skipped_files.items()}
    value = {
        **{key: value for key, value in made.dataset.metadata.items() if key != "masks"},
        "queries": dict(made.statuses),
        **({"skipped_files": skipped_by_reason(skipped)} if made_from else {}),
        "model_failure": made.failure or None,
        "tags": {tag: dict(counts) for tag, counts in _counted(made.dataset)},
        "files": {path: len(part) for path, part in written.items()},
        "detects": {path: detection(part).to_json() for path, part in written.items()},
    }
    click.echo(dumps(value))


def _waterfall(mined: "MinedRepository") -> Table:
    """Return the rules that dropped commits or texts, with their share of all."""
    fall = mined.waterfall
    left = fall.total
    rows = []
    for step in fall.steps:
        left -= step.dropped
        if step.dropped:
            share = f"{step.dropped / fall.total:.1%}"
            cells = (step.rule, f"{step.dropped:,}", share, f"{left:,}", step.why)
            rows.append(tuple(map(Cell, cells)))
    columns = (
        Column("rule"),
        Column("dropped", numeric=True),
        Column("share", numeric=True),
        Column("left", numeric=True),
        Column("why", spare=1),
    )
    until = "up to" if mined.sources == "commits" else "at"
    at = f" {until} {mined.head[:12]}" if mined.head else ""
    title = f"{mined.path}: {fall.total:,} {mined.sources}{at}"
    return Table(title, columns, tuple(rows))


def _kinds(made: "GenerationResult") -> Table:
    """Return how many queries are of which kind."""
    rows = [("files", _listed(_file_counts(made.dataset).items()))]
    rows += [(tag, _listed(counts.most_common())) for tag, counts in _counted(made.dataset)]
    rows.append(("wording", _listed(made.statuses.items())))
    return Table(
        counted(len(made.dataset), "case"),
        (Column("kind"), Column("cases", spare=1)),
        tuple((Cell(kind), Cell(text)) for kind, text in rows),
    )


def _file_counts(dataset: "Dataset") -> Counter[str]:
    counts = [len(dataset.judgments(row)) for row in range(len(dataset))]
    names = {1: "1", 2: "2-3", 3: "2-3"}
    return Counter(names.get(count, "4 or more") for count in sorted(counts))


def _counted(dataset: "Dataset") -> Iterable[tuple[str, Counter[str]]]:
    for tag in TAGS:
        if tag in dataset.tags:
            yield tag, Counter(dataset.tags[tag])


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts)


def _samples(dataset: "Dataset") -> Table:
    """Return sample cases, evenly spread, each from another commit or text."""
    first_of = {
        extra.get("commit_hash", row): row for row, extra in reversed([*enumerate(dataset.extras)])
    }
    firsts = sorted(first_of.values())
    rows = []
    for row in firsts[:: max(len(firsts) // SAMPLES, 1)][:SAMPLES]:
        paths = list(dataset.judgments(row))
        if dataset.metadata.get("generated_from"):
            paths = [f"{target.path}:{target.start_line}" for target in dataset.targets(row)]
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        rows.append((Cell(dataset.texts[row]), Cell(f"{paths[0]}{more}")))
    return Table("", (Column("query"), Column("should find", spare=1)), tuple(rows))


def _warnings(made: "GenerationResult") -> Iterable[str]:
    """Yield warnings about skipped files, unreadable commits and a failing model."""
    from karat.app.corpora import skipped_text

    for one in made.mined:
        if line := skipped_text(one.skipped_files):
            yield line
        unreadable = one.unreadable
        yield from unreadable.notes
        if unreadable.skipped:
            yield f"files excluded from the targets: {_listed(unreadable.skipped.most_common())}"
        if unreadable.unreadable:
            commits = ", ".join(
                commit[:12] for commit, _ in unreadable.unreadable[:UNREADABLE_SHOWN]
            )
            reason = unreadable.unreadable[0].reason
            yield f"{len(unreadable.unreadable):,} commits cannot be read ({commits}...): {reason}"
    if made.failure:
        yield f"the language model failed for some queries: {made.failure}"


def _configure(ctx: click.Context, _option: click.Parameter, path: str | None) -> None:
    """Use the file for options that are not given."""
    if path:
        from karat.extensions.mining.gold_source import read_mining_config

        ctx.default_map = dict(read_mining_config(path, accepts=make_validator(ctx.command)))


def _list_rules(made_from: str | None, *, as_json: bool) -> None:
    if made_from:
        from karat.extensions.mining.questions.generate import question_rules

        rules = question_rules(made_from)
    else:
        from karat.extensions.mining.filters import rule_table

        rules = rule_table()
    if as_json:
        from karat.cli.output.show import put_json

        put_json(rules)
        return
    for name, why in rules.items():
        click.echo(f"{name:15} {why}")


def _part_names(
    _ctx: click.Context, _option: click.Parameter, given: str | None
) -> tuple[str, str] | None:
    if given is None:
        return None
    older, _, newer = given.partition("/")
    if not older or not newer or "/" in newer or older == newer:
        raise click.BadParameter(
            f"{given!r} is not a pair of names; expected two names such as dev/test"
        )
    return older, newer


def _check_source(ctx: click.Context, made_from: str | None) -> None:
    """Reject options that do not fit the texts that queries are made from."""
    given = given_options()
    names = {option.name: option.opts[-1] for option in ctx.command.params}
    for wrong, why in (
        (COMMIT_OPTIONS if made_from else (), "is about commits; remove it, or remove --from."),
        (() if made_from else ("corpus", "mask"), "needs --from, such as --from docstrings."),
        (() if made_from in BY_MODEL else MODEL_OPTIONS, "needs --from code or --from docs."),
        (("mask",) if made_from in BY_MODEL else (), "has no effect on questions of a model."),
    ):
        for name in sorted(given.intersection(wrong)):
            raise click.UsageError(f"{names[name]} {why}")
    if made_from in BY_MODEL and not ctx.params["model"]:
        raise click.UsageError(
            f"--from {made_from} needs a language model: --model openai/gpt-4o-mini, or "
            "--model http://localhost:8000/v1#NAME."
        )


def _ask(
    paths: Sequence[str],
    mining: "MiningRecipe",
    made_from: str,
    asking: Mapping[str, Any],
    *,
    folder: bool,
    dry_run: bool,
) -> "GenerationResult | None":
    """Show the estimate, then let a model write questions; None for a dry run."""
    from karat.cli.output.progress import progress_bars
    from karat.extensions.mining.questions.generate import (
        AskingRecipe,
        plan_asking,
        question_recipe,
        run_asking,
    )

    recipe = question_recipe(paths, mining, made_from)
    with ExitStack() as stack:
        plan = plan_asking(paths[0], recipe, AskingRecipe(**asking), folder=folder, stack=stack)
        most = plan.estimate
        cost = "price unknown (--price)" if most.cost is None else f"at most ${most.cost:.2f}"
        click.echo(
            f"estimate: at most {most.requests:,} requests, {most.prompt_tokens:,} prompt tokens, "
            f"{most.completion_tokens:,} answer tokens, {cost}; {most.cached:,} answers are cached",
            err=True,
        )
        if dry_run:
            from karat.extensions.llm.output import print_prompt

            print_prompt(plan.sample)
            return None
        with progress_bars() as watch:
            made, spend = run_asking(plan, watch=watch)
    click.echo(
        f"{spend.requests:,} requests, {spend.cached:,} cached answers, {spend.failed:,} failures, "
        f"${spend.cost:.4f} spent",
        err=True,
    )
    if spend.is_stopped:
        click.echo(
            "note: the spending limit was reached; repeat the command to continue (--max-cost "
            "limits each call, cached answers cost nothing)",
            err=True,
        )
    return made


@click.command("generate", cls=TieredCommand)
@stray({"--repo": "the repository", "-o": "the gold set"})
@option(
    "--repo",
    "repositories",
    group=INPUTS,
    common=True,
    multiple=True,
    metavar="DIR",
    help="A Git repository, bare or not; may be repeated.",
)
@option(
    "--from",
    "made_from",
    group=INPUTS,
    common=True,
    type=click.Choice(FROM),
    metavar="TEXTS",
    help="Make queries from texts instead of commits: docstrings, headings or tests, which are "
    "masked when the gold set is evaluated; or, with --model, questions about code or docs.",
)
@option(
    "--corpus",
    group=INPUTS,
    common=True,
    type=click.Path(),
    metavar="DIR",
    help="With --from: a folder to read instead of a Git repository.",
)
@option(
    "--mask",
    group=INPUTS,
    type=click.Choice(MASKED),
    default="all",
    show_default=True,
    help="With --from: hide all texts of this kind from the search, or only those of the queries.",
)
@option(
    "--model",
    group=MODEL,
    common=True,
    default="",
    metavar="SPEC",
    help="Language model for --from code and --from docs: a name of litellm, such as "
    "openai/gpt-4o-mini, or ADDRESS#NAME of an OpenAI-compatible server.",
)
@option(
    "--hard",
    group=MODEL,
    default=0.5,
    show_default=True,
    metavar="SHARE",
    type=Number(0, 1),
    help="Share of the model's questions that should avoid the words of the answer.",
)
@option(
    "--max-cost",
    group=MODEL,
    common=True,
    type=Number(0),
    metavar="USD",
    help="Spending limit of this call in US dollars.",
)
@option(
    "--price",
    group=MODEL,
    default="",
    metavar="PROMPT,ANSWER",
    help="Price of the model in US dollars per million tokens, such as 0.15,0.6. By default "
    "litellm's price list.",
)
@option(
    "--workers",
    group=MODEL,
    type=WholeNumber(1, 256),
    default=8,
    show_default=True,
    metavar="N",
    help="Requests to the model at the same time.",
)
@option(
    "--dry-run",
    group=MODEL,
    is_flag=True,
    help="Show the cost estimate and one prompt; send nothing.",
)
@option(
    "-o",
    "--output",
    group=OUTPUT,
    common=True,
    type=OutputPath(),
    metavar="FILE",
    help="The gold set to write, such as gold.json.",
)
@option(
    "--config",
    group=INPUTS,
    common=True,
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_configure,
    help="Configuration file, see karat init; its section `dataset` sets options, and options "
    "given here override it.",
)
@recipe_options
@option(
    "--rewrite",
    group=MODEL,
    default="",
    metavar="MODEL",
    help="Let a language model rewrite the queries, such as openai/gpt-4o-mini.",
)
@option(
    "--list-rules",
    group=COMMITS,
    is_flag=True,
    help="List the rules that --off can disable, or those of --from.",
)
@option(
    "--split",
    group=OUTPUT,
    common=True,
    callback=_part_names,
    metavar="OLDER/NEWER",
    help="Split by time into two files: dev/test writes FILE.dev.json and FILE.test.json.",
)
@option(
    "--test-share",
    group=OUTPUT,
    default=0.5,
    show_default=True,
    metavar="SHARE",
    type=Number(0, 1, min_open=True, max_open=True),
    help="Share of the cases in the newer part.",
)
@option(
    "--cache", group=COMMITS, is_flag=True, help="Cache what is read from Git, for the next run."
)
@option("--json", "as_json", group=OUTPUT, common=True, is_flag=True, help="Print JSON.")
def command(
    *,
    repositories: tuple[str, ...],
    made_from: str | None,
    corpus: str | None,
    mask: str,
    output: str | None,
    model: str,
    hard: float,
    max_cost: float | None,
    price: str,
    workers: int,
    dry_run: bool,
    recipe: "MiningRecipe",
    rewrite: str,
    list_rules: bool,
    split: tuple[str, str] | None,
    test_share: float,
    cache: bool,
    as_json: bool,
) -> None:
    """Make a gold set from the history of a Git repository, or from its texts.

    Each commit message becomes a query. Its targets are the files that the commit changed, in
    the version before the commit. With --from, queries are the first sentences of docstrings,
    headings of documentation or names of tests; the targets are the definition, the section and the
    code under test. A language model can write questions about code or documentation.

    \b
    karat generate --repo ../flask -o gold.json
    karat generate --corpus ./docs --from headings --limit 100 -o gold.json
    karat generate --repo ../flask --level line --since 2023-01-01 --limit 100 -o gold.json
    karat generate --repo ../flask --split dev/test -o gold.json
    karat generate --repo ../flask --from docstrings -o gold.json
    karat generate --repo ../flask --from code --model openai/gpt-4o-mini --max-cost 1 -o gold.json
    """
    if list_rules:
        _list_rules(made_from, as_json=as_json)
        return
    _check_source(click.get_current_context(), made_from)
    if not repositories and not corpus:
        raise click.UsageError(
            "Missing option '--repo': the repository to read, such as --repo ../flask."
        )
    if output is None and not dry_run:
        raise click.UsageError("Missing option '-o': the gold set to write, such as -o gold.json.")
    from karat.cli.output.progress import progress_bars
    from karat.extensions.mining.generate import TimeSplit, generate, write_gold

    output = output or "gold.json"
    if not output.lower().removesuffix(".gz").endswith(".json"):
        raise click.BadParameter(
            f"{output}: a gold set is written as JSON; expected a name such as gold.json (karat "
            "convert writes other formats)",
            param_hint="--output",
        )
    paths = [*repositories, *([corpus] if corpus else [])]
    if made_from in BY_MODEL:
        asking = {
            "model": model,
            "hard": hard,
            "max_cost": max_cost,
            "price": price,
            "workers": workers,
        }
        asked = _ask(
            paths, recipe, str(made_from), asking, folder=corpus is not None, dry_run=dry_run
        )
        if asked is None:
            return
        made = asked
    else:
        with progress_bars() as watch:
            if made_from:
                from karat.extensions.mining.questions.generate import generate_from

                made = generate_from(
                    paths, recipe, made_from, masked=mask, folder=corpus is not None, watch=watch
                )
            else:
                made = generate(repositories, recipe, rewrite=rewrite, cache=cache, watch=watch)
    parts = TimeSplit(split, test_share) if split else None
    written = write_gold(made.dataset, output, split=parts)

    if as_json:
        show_json(made, written)
    else:
        show(made, written)
