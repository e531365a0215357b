"""Options that several commands share.

A table maps each field of a settings class to its option, and :func:`gather` makes the record.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.errors import InputError

if TYPE_CHECKING:
    from karat.app.corpora import Corpus, FileSelection
    from karat.app.score import LabelRule
    from karat.scoring.settings import Confidence, Scoring


Command = Callable[..., None]

TIES = ("trec10", "trec9", "order", "expected", "best", "worst")
MATCHES = (
    *("document", "exact", "suffix", "substring", "directory"),
    *("lines", "symbol", "akashic", "graded"),
)

# As in karat.engines.registry.PROFILES, which help does not load.
PROFILES = ("lexical", "fast", "balanced", "quality")


class WholeNumber(click.IntRange):
    """A whole number within a range."""

    name = "whole number"


class Number(click.FloatRange):
    """A number within a range."""

    name = "number"


class ProfileName(click.Choice[str]):
    """The name of a profile; an earlier name is replaced, with a note on standard error."""

    def __init__(self) -> None:
        """Offer the current names."""
        super().__init__(PROFILES)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the current name of *value*."""
        from karat.app.engines import PROFILE_ALIASES

        current = PROFILE_ALIASES.get(value)
        if current is None:
            return super().convert(value, param, ctx)
        click.echo(
            f"note: --profile {value} is now --profile {current}; "
            f"the engine {value} (-e {value}) is a different search",
            err=True,
        )
        return current


class GoldPath(click.Path):
    """A gold set: a file, a folder, a pattern, files joined by ``+``, or ``irds:ID``."""

    name = "gold set"

    def __init__(self) -> None:
        """Accept what exists."""
        super().__init__(exists=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return *value* if it can be read."""
        if any(mark in str(value) for mark in "*?[+:"):
            from karat.formats import is_source

            if is_source(str(value)):
                return value
        return super().convert(value, param, ctx)


class RunPath(GoldPath):
    """A run: a file, or the folder or the pattern of its parts."""

    name = "run"


class OutputPath(click.Path):
    """A file, or a folder, to write; an error before anything runs if that is impossible."""

    def __init__(self, **settings: Any) -> None:
        """Accept a file; with ``dir_okay=True`` a name that ends in ``/`` is a folder."""
        super().__init__(**{"dir_okay": False, **settings})

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return *value* if it can be written."""
        path = super().convert(value, param, ctx)
        if ctx is None or not ctx.resilient_parsing:
            from karat.system.files import check_output

            named = os.fsdecode(path)
            is_folder = named.endswith("/") or os.path.isdir(named)  # noqa: PTH112 - pathlib loads slowly
            check_output(named, folder=not self.file_okay or (self.dir_okay and is_folder))
        return path


class Inputs(NamedTuple):
    """Formats of the files, labels to use, tags to add, and tags to break results down by."""

    gold_format: str | None
    run_format: str | None
    tags: tuple[str, ...]
    by: tuple[str, ...]
    columns: Mapping[str, str]
    topics: str | None = None
    judge_labels: str | None = None
    min_agreement: float | None = None

    @property
    def labels(self) -> "LabelRule":
        """Return which labels count, and below which agreement a score warns."""
        from karat.app.score import LabelRule

        rule = LabelRule(self.judge_labels or LabelRule().choice)
        return rule if self.min_agreement is None else rule._replace(minimum=self.min_agreement)

    @property
    def gold(self) -> dict[str, Any]:
        """Return the keywords of :func:`karat.app.score.read_gold` for the gold set."""
        return {**self.reading, "labels": self.labels}

    @property
    def reading(self) -> dict[str, Any]:
        """Return the keywords of :func:`karat.formats.read_dataset` for the gold set."""
        return {
            "format": self.gold_format,
            "tags": self.tags,
            "columns": self.columns,
            "topics": self.topics,
        }


class Output(NamedTuple):
    """Style of the output, whether it lists every query, and the file to write."""

    style: str | None
    per_query: bool
    path: str | None
    title: str = ""


Option = Callable[[Command], Command]
# One option for each field of a settings class.
Fields = Mapping[str, Option]

SCORING: Fields = {
    "measures": click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        metavar="NAME",
        help="A measure such as ndcg@10; repeat the option or separate names with commas.",
    ),
    "match": click.option(
        "--match", type=click.Choice(MATCHES), help="How a hit matches a target."
    ),
    "min_overlap": click.option(
        "--min-overlap",
        default=0.0,
        metavar="SHARE",
        help="Share of a target's lines that a hit must cover.",
    ),
    "ties": click.option(
        "--ties",
        type=click.Choice(TIES),
        help="How to order hits with equal scores (default: as the engine; run files: trec10).",
    ),
    "level": click.option(
        "--level",
        type=Number(0),
        default=0.0,
        metavar="GRADE",
        help="Lowest grade that counts as relevant; by default any grade above 0.",
    ),
    "judged_only": click.option(
        "--judged-only", is_flag=True, help="Drop unjudged hits, after --depth is applied."
    ),
    "depth": click.option("--depth", type=int, metavar="N", help="Score only the first N hits."),
    "root": click.option("--root", default="", metavar="DIR", help="Make paths relative to DIR."),
    "strip_prefix": click.option(
        "--strip-prefix",
        multiple=True,
        metavar="PREFIX",
        help="Remove PREFIX from the start of the run's paths or ids; may be repeated.",
    ),
    "cut_at": click.option(
        "--cut-at",
        default="",
        metavar="TEXT",
        help="Cut the run's paths or ids at the last TEXT: '#' makes a.py#3 a hit on a.py.",
    ),
    "trec": click.option(
        "--trec", is_flag=True, help="Average over answered queries only, as trec_eval does."
    ),
}


def _columns(
    _ctx: click.Context, _option: click.Parameter, given: Sequence[str]
) -> Mapping[str, str]:
    if not given:
        return {}
    from karat.formats.table import parse_columns

    return parse_columns(given)


COLUMNS = click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="ROLE=NAME",
    callback=_columns,
    help="Column of a gold set in CSV: query, document, grade, id, start, end or quote; "
    "usual names are recognised.",
)
TOPICS = click.option(
    "--topics",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Texts of the queries, for judgments without them: TREC topics, TSV or JSON lines.",
)
FORMATS: Fields = {
    "gold_format": click.option("--gold-format", metavar="FORMAT", help="Format of the gold set."),
    "columns": COLUMNS,
    "run_format": click.option("--run-format", metavar="FORMAT", help="Format of the run files."),
    "judge_labels": click.option(
        "--judge-labels",
        type=click.Choice(["include", "exclude", "only"]),
        help="Labels of models (karat judge --model): use them for hits that nobody judged, ignore "
        "them (default), or use only them.",
    ),
    "min_agreement": click.option(
        "--min-agreement",
        type=Number(-1, 1),
        metavar="KAPPA",
        help="Mark scores that use labels of models if the weighted kappa of models and people is "
        "below this, 0.6 by default, or is based on fewer than 10 hits.",
    ),
}
INPUTS: Fields = {
    "by": click.option(
        "--by",
        multiple=True,
        metavar="TAG",
        help="Break results down by a tag; file-type always exists, and difficulty where documents "
        "are searched.",
    ),
    "tags": click.option(
        "--tag",
        "tags",
        multiple=True,
        metavar="NAME[=FIRST-LAST]",
        help="Tag rows FIRST to LAST of the gold set, or use its column NAME as a tag; results "
        "are broken down by it.",
    ),
    **FORMATS,
    "topics": TOPICS,
}

CONFIDENCE: Fields = {
    "level": click.option(
        "--confidence",
        default=0.95,
        show_default=True,
        metavar="LEVEL",
        help="Confidence level of the intervals, between 0 and 1.",
    ),
    "draws": click.option(
        "--draws",
        default=9_999,
        show_default=True,
        metavar="N",
        help="Number of resamples for each test, and for intervals of fewer than 300 queries.",
    ),
    "seed": click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed."),
    "cluster": click.option(
        "--cluster",
        metavar="TAG",
        help="Resample whole groups of queries with the same value of TAG (cluster bootstrap).",
    ),
}
HUMAN_SAMPLE: Fields = {
    "human_sample": click.option(
        "--human-sample",
        metavar="FILE|auto",
        help="Combine the labels of people for some queries with model labels for all of them "
        "(prediction-powered intervals): a file with the ids of these queries, or auto for those "
        "that karat judge --next has drawn.",
    ),
}
PAIRS: Fields = {
    "pairs": click.option(
        "--pairs",
        type=click.Choice(["all", "lead", "baseline"]),
        help="all compares every pair of runs (default for up to 12 runs); lead does so on the "
        "first measure only (default for more); baseline compares each run with the first.",
    ),
}
COMPARISON: Fields = {
    **PAIRS,
    "correction": click.option(
        "--correction",
        type=click.Choice(["maxt", "tukey", "holm", "bh", "none"]),
        help="Correction for multiple comparisons; maxt by default, holm with --pairs baseline.",
    ),
    "wilcoxon": click.option(
        "--wilcoxon",
        is_flag=True,
        help="Add Wilcoxon's signed-rank test (it tests ranks, not means).",
    ),
}

STYLES: Fields = {
    "per_query": click.option("--per-query", is_flag=True, help="Show every query."),
    "json": click.option("--json", "as_json", is_flag=True, help="Print JSON, with every query."),
    "csv": click.option(
        "--csv", "as_csv", is_flag=True, help="Print CSV; with --per-query, one row per query."
    ),
    "markdown": click.option(
        "--markdown", "as_markdown", is_flag=True, help="Print Markdown tables."
    ),
}
FILE: Fields = {
    "path": click.option(
        "-o",
        "--output",
        type=OutputPath(),
        metavar="FILE",
        help="Write to a file; .html, .md, .tex, .json or .csv sets its format.",
    ),
}
TITLE = click.option(
    "--title",
    default="",
    metavar="TEXT",
    help="Title of the report; by default the name of the gold set.",
)
RESULTS: Fields = {
    "path": click.option(
        "-o",
        "--output",
        type=OutputPath(dir_okay=True),
        metavar="FILE|DIR",
        help="Also write a report, such as report.html, or a folder of results, such as results/; "
        "with --json, --csv or --markdown, write that to FILE instead.",
    ),
    "title": TITLE,
}

SELECTION: Fields = {
    "kind": click.option(
        "--kind",
        type=click.Choice(["docs", "code", "all"]),
        help="Files to search: documentation, code or all. By default the kind that the gold set "
        "declares, else all.",
    ),
    "include": click.option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Search only files that match, such as 'docs/**'; repeatable, as in .gitignore.",
    ),
    "exclude": click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Do not search files that match, such as '*.lock'; repeatable, as in .gitignore.",
    ),
}

ENGINE: Fields = {
    "engine": click.option(
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
    "profile": click.option(
        "--profile",
        type=ProfileName(),
        help="A preset engine, from the fastest to the best; lexical is bm25, the others hybrid.",
    ),
}


def gather(
    record: str, make: Callable[..., object], fields: Fields
) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of *fields*, in their order.

    The command receives ``make(field=value, ...)`` as its argument *record*.
    """
    names = {field: _parameter_name(option) for field, option in fields.items()}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> None:
            values = {field: given.pop(name) for field, name in names.items()}
            command(**{record: make(**values)}, **given)

        return with_options(call, [*fields.values()])

    return decorate


def _parameter_name(option: Option) -> str:
    """Return the name of the argument by which click passes the value of *option*."""

    def holder() -> None:
        """Receive the option."""

    (parameter,) = option(holder).__click_params__  # type: ignore[attr-defined] # set by click
    return str(parameter.name)


def _make_scoring(measures: tuple[str, ...], **rest: Any) -> "Scoring":
    from karat.scoring.settings import Scoring

    return Scoring(measures=measures, **rest)


def _make_confidence(**values: Any) -> "Confidence":
    from karat.scoring.settings import Confidence

    return Confidence(**values)


def _make_inputs(
    *,
    gold_format: str | None,
    run_format: str | None,
    columns: Mapping[str, str],
    topics: str | None = None,
    by: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
    **labels: Any,
) -> Inputs:
    if labels.get("min_agreement") is not None and labels.get("judge_labels") in (
        None,
        "exclude",
    ):
        raise click.UsageError("--min-agreement needs --judge-labels include or only")
    named = tuple(tag.partition("=")[0] for tag in tags)
    every = tuple(dict.fromkeys((*by, *named)))
    return Inputs(gold_format, run_format, tags, every, columns, topics, **labels)


# How the name of a file in each style ends.
ENDINGS = {"json": ".json", "csv": ".csv", "markdown": ".md"}


def _make_output(*, per_query: bool, path: str | None, title: str = "", **styles: bool) -> Output:
    style = one_style(**styles)
    if style and path:
        ending = os.path.splitext(path)[1].lower()  # noqa: PTH122 - pathlib loads slowly
        if ending in (*ENDINGS.values(), ".html", ".tex") and ending != ENDINGS[style]:
            raise click.UsageError(
                f"{path}: -o writes the output of --{style}; expected a name that ends in "
                f"{ENDINGS[style]}, or -o {path} without --{style}."
            )
    return Output(style, per_query, path, title)


def _make_engine(*, engine: str, profile: str | None) -> str | Mapping[str, object]:
    from karat.app.engines import profile_named

    source = click.get_current_context().get_parameter_source("engine")
    if profile and source is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--profile and --engine both name an engine; give one of them")
    return profile_named(profile) if profile else engine


def scoring_options(command: Command) -> Command:
    """Add how runs are read, matched and measured: *scoring* and *inputs*."""
    return gather("scoring", _make_scoring, SCORING)(
        gather("inputs", _make_inputs, INPUTS)(command)
    )


# The formats of the files alone: *inputs*.
input_options = gather("inputs", _make_inputs, FORMATS)
# How stored runs are matched and measured: *scoring*.
measure_options = gather("scoring", _make_scoring, SCORING)


def judging_options(command: Command) -> Command:
    """Add the same for a command without a breakdown by tags."""
    return gather("scoring", _make_scoring, SCORING)(input_options(command))


# How intervals and tests are computed: *confidence*; then also from which labels, and which runs
# are compared and how.
confidence_options = gather("confidence", _make_confidence, CONFIDENCE)
sample_options = gather("confidence", _make_confidence, {**CONFIDENCE, **HUMAN_SAMPLE})
pair_options = gather("confidence", _make_confidence, {**CONFIDENCE, **PAIRS, **HUMAN_SAMPLE})
comparison_options = gather(
    "confidence", _make_confidence, {**CONFIDENCE, **COMPARISON, **HUMAN_SAMPLE}
)
# How results are shown: *output*; then for a command that writes a report or a folder.
output_options = gather("output", _make_output, {**STYLES, **FILE})
result_options = gather("output", _make_output, {**STYLES, **RESULTS})


def one_style(**wanted: bool) -> str | None:
    """Return the style that is *wanted*, None without one; raise UsageError for several."""
    styles = [name for name, given in wanted.items() if given]
    if len(styles) > 1:
        named = " and ".join(f"--{style}" for style in styles)
        raise click.UsageError(f"{named} exclude each other; give one of them.")
    return styles[0] if styles else None


def given_options() -> set[str]:
    """Return the names of the parameters of this command that the user gave on the command line."""
    ctx = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    return {name for name in ctx.params if ctx.get_parameter_source(name) is typed}


def check_together(
    exclusive: Mapping[str, Sequence[str]], needed: Mapping[str, str] | None = None
) -> None:
    """Raise UsageError for options that exclude each other, or of which one needs another.

    Both tables have names of parameters: *exclusive* those that cannot be given with the key,
    *needed* the one that the key needs.
    """
    given = given_options()
    options = {option.name: option for option in click.get_current_context().command.params}

    def spelled(name: str) -> str:
        return options[name].opts[-1]

    for one, others in exclusive.items():
        for other in others:
            if {one, other} <= given:
                raise click.UsageError(f"{spelled(one)} and {spelled(other)} exclude each other")
    for one, other in (needed or {}).items():
        if one in given and other not in given:
            value = options[other].metavar or ""
            raise click.UsageError(f"{spelled(one)} needs {spelled(other)} {value}".rstrip())


def _make_selection(
    *, kind: str | None, include: tuple[str, ...], exclude: tuple[str, ...]
) -> "FileSelection":
    from karat.app.corpora import FileSelection

    return FileSelection(kind or "all", include, exclude)


# The files of a corpus to read: *files*.
file_options = gather("files", _make_selection, SELECTION)


def place_options(command: Command) -> Command:
    """Add the corpus and the engine: *place*, *rev*, *files* and *engine*."""
    corpus = (
        click.argument("place", default=".", metavar="[PLACE]"),
        click.option(
            "--rev",
            metavar="REVISION",
            help="Read PLACE at this Git revision, or a folder of it: v2.0:docs.",
        ),
    )
    engine = gather("engine", _make_engine, ENGINE)(command)
    return with_options(file_options(engine), corpus)


def open_corpus(place: str, *, revision: str | None, files: "FileSelection") -> "Corpus":
    """Return the selected documents of *place*; report skipped files on standard error."""
    from karat.app.corpora import load_corpus, skipped_text
    from karat.report.display import printable

    corpus = load_corpus(place, revision=revision, selection=files)
    if line := skipped_text(corpus.skipped_files):
        click.echo(printable(line), err=True)
    return corpus


def with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    """Return *command* with *options*; help lists them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def store_option(command: Command) -> Command:
    """Add where results are stored: *store*."""
    return click.option(
        "--store",
        default=".karat/karat.db",
        envvar="KARAT_STORE",
        show_default=True,
        show_envvar=True,
        metavar="PLACE",
        help="Database of results: an SQLite file or a PostgreSQL URL.",
    )(command)


def make_validator(command: click.Command) -> Callable[[str, object], object]:
    """Return a function that raises InputError if an option rejects a value."""
    options = {option.name: option for option in command.params}

    def accept(name: str, value: object) -> None:
        try:
            if name in options:
                options[name].process_value(click.Context(command), value)
        except click.BadParameter as error:
            raise InputError(error.message) from None

    return accept
