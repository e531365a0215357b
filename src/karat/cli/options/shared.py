"""Options that several commands share.

A table maps each field of a settings class to its option, and :func:`gather` makes the record.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli.help import ENGINES, INPUTS, OUTPUT, STATISTICS, option
from karat.errors import InputError, Problem
from karat.model.settings import Setting, setting, settings_of
from karat.registry import MAY_ADD

if TYPE_CHECKING:
    from karat.app.corpora import Corpus, FileSelection
    from karat.app.score import LabelRule
    from karat.app.score_files import ScoreInputs
    from karat.scoring.settings import Scoring


Command = Callable[..., None]

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


class ExtensibleChoice(click.Choice[str]):
    """One of several names, to which extensions may add."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return *value* if it is one of the names."""
        if value not in self.choices:
            known = ", ".join(map(repr, self.choices))
            problem = f"is not one of {known}" if known else "is unknown"
            self.fail(f"{value!r} {problem}; {MAY_ADD}", param, ctx)
        return super().convert(value, param, ctx)


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


def _columns(
    _ctx: click.Context, _option: click.Parameter, given: Sequence[str]
) -> Mapping[str, str]:
    if not given:
        return {}
    from karat.formats.table import parse_columns

    return parse_columns(given)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Formats of the files, labels to use, tags to add, and tags to break results down by."""

    by: tuple[str, ...] = setting(
        "--by",
        common=True,
        group=STATISTICS,
        default=(),
        metavar="TAG",
        help="Break results down by a tag; file-type always exists, and difficulty where documents "
        "are searched.",
    )
    tags: tuple[str, ...] = setting(
        *("--tag", "tags"),
        default=(),
        metavar="NAME[=FIRST-LAST]",
        help="Tag rows FIRST to LAST of the gold set, or use its column NAME as a tag; results "
        "are broken down by it.",
    )
    gold_format: str | None = setting(
        "--gold-format", metavar="FORMAT", help="Format of the gold set."
    )
    columns: Mapping[str, str] = setting(
        *("--column", "columns"),
        default=(),
        metavar="ROLE=NAME",
        callback=_columns,
        help="Column of a gold set in CSV: query, document, grade, id, start, end or quote; of a "
        "file of scores: query, system, score, trial, task, cluster, ...; usual names are "
        "recognised.",
    )
    run_format: str | None = setting(
        "--run-format", metavar="FORMAT", help="Format of the run files, or of files of scores."
    )
    lower: tuple[str, ...] = setting(
        *("--lower", "lower"),
        default=(),
        metavar="MEASURE",
        help="Measures of a file of scores of which less is better, such as cost,latency.",
    )
    judge_labels: str | None = setting(
        "--judge-labels",
        type=("include", "exclude", "only"),
        help="Labels of models (karat judge --model): use them for hits that nobody judged, ignore "
        "them (default), or use only them.",
    )
    min_agreement: float | None = setting(
        "--min-agreement",
        type=float,
        minimum=-1,
        maximum=1,
        metavar="KAPPA",
        help="Mark scores that use labels of models if the weighted kappa of models and people is "
        "below this, 0.6 by default, or is based on fewer than 10 hits.",
    )
    topics: str | None = setting(
        "--topics",
        type=click.Path(exists=True, dir_okay=False),
        metavar="FILE",
        help="Texts of the queries, for judgments without them: TREC topics, TSV or JSON lines.",
    )

    @property
    def labels(self) -> "LabelRule":
        """Return which labels count, and below which agreement a score warns."""
        from karat.app.score import LabelRule

        rule = LabelRule(self.judge_labels or LabelRule().choice)
        return rule if self.min_agreement is None else rule._replace(minimum=self.min_agreement)

    def of_scores(self, scoring: "Scoring") -> "ScoreInputs":
        """Return what is said about files of scores; their measures are those of *scoring*."""
        from karat.app.score_files import ScoreInputs

        return ScoreInputs(self.columns, self.lower, scoring.measures, self.run_format or "")

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
            "on_empty": warn_of_row,
        }


def warn_of_row(problem: Problem) -> None:
    """Say that a row of a gold set without a query is left out."""
    from karat.report.display import printable

    click.echo(printable(f"warning: {problem}; the row is left out"), err=True)


class Output(NamedTuple):
    """Style of the output, whether it lists every query, and the file to write.

    *details* asks for all tables instead of the overview.
    """

    style: str | None = None
    per_query: bool = False
    path: str | None = None
    title: str = ""
    details: bool = False


Option = Callable[[Command], Command]
# One option for each field of a settings class.
Fields = Mapping[str, Option]
# The limits of a number in a setting, by the names of click.
LIMITS = {"min": "minimum", "max": "maximum", "min_open": "above_minimum"}

DETAILS = option(
    "--details",
    is_flag=True,
    common=True,
    group=OUTPUT,
    help="Print all tables: every interval and test, latency, and the method.",
)
STYLES: Fields = {
    "details": DETAILS,
    "per_query": option("--per-query", is_flag=True, common=True, help="Show every query."),
    "json": option(
        "--json", "as_json", is_flag=True, common=True, help="Print JSON, with every query."
    ),
    "csv": option(
        "--csv", "as_csv", is_flag=True, help="Print CSV; with --per-query, one row per query."
    ),
    "markdown": option("--markdown", "as_markdown", is_flag=True, help="Print Markdown tables."),
}
FILE: Fields = {
    "path": option(
        "-o",
        "--output",
        common=True,
        type=OutputPath(),
        metavar="FILE",
        help="Write to a file; .html, .md, .tex, .json or .csv sets its format.",
    ),
}
TITLE = option(
    "--title",
    group=OUTPUT,
    default="",
    metavar="TEXT",
    help="Title of the report; by default the name of the gold set.",
)
RESULTS: Fields = {
    "path": option(
        "-o",
        "--output",
        common=True,
        type=OutputPath(dir_okay=True),
        metavar="FILE|DIR",
        help="Also write a report, such as report.html or table.tex, or a folder of results, such "
        "as results/; with --json, --csv or --markdown, write that to FILE instead.",
    ),
    "title": TITLE,
}

SELECTION: Fields = {
    "kind": option(
        "--kind",
        type=click.Choice(["docs", "code", "all"]),
        help="Files to search: documentation, code or all. By default the kind that the gold set "
        "declares, else all.",
    ),
    "include": option(
        "--include",
        multiple=True,
        metavar="GLOB",
        help="Search only files that match, such as 'docs/**'; repeatable, as in .gitignore.",
    ),
    "exclude": option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Do not search files that match, such as '*.lock'; repeatable, as in .gitignore.",
    ),
}

ENGINE: Fields = {
    "engine": option(
        "-e",
        "--engine",
        "--agent",
        "--mode",
        "engine",
        common=True,
        default="bm25",
        show_default=True,
        metavar="SPEC",
        help="An engine such as bm25(k1=1.2), a profile, or a YAML file; see karat engines.",
    ),
    "profile": option(
        "--profile",
        type=ProfileName(),
        help="A preset engine, from the fastest to the best; lexical is bm25, the others hybrid.",
    ),
}


def gather(
    record: str, make: Callable[..., object], fields: Fields, group: str = ""
) -> Callable[[Command], Command]:
    """Return a decorator that adds the options of *fields*, in their order.

    The command receives ``make(field=value, ...)`` as its argument *record*. ``--help-all`` lists
    options that name no group themselves below the title *group*.
    """
    names = {field: _parameter_name(option) for field, option in fields.items()}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def call(**given: Any) -> None:
            values = {field: given.pop(name) for field, name in names.items()}
            command(**{record: make(**values)}, **given)

        return with_options(call, [in_group(group, each) for each in fields.values()])

    return decorate


def in_group(title: str, add: Option, *, common: bool = False) -> Option:
    """Return *add* for an option that help lists below *title*, unless it names a group itself.

    With *common*, ``--help`` lists it too.
    """

    def decorate(command: Command) -> Command:
        decorated = add(command)
        added = decorated.__click_params__[-1]  # type: ignore[attr-defined] # set by click
        added.group = getattr(added, "group", "") or title
        added.common = common or getattr(added, "common", False)
        return decorated

    return decorate


def declared(record: type, *names: str) -> Fields:
    """Return the options of the settings of *record*; with *names*, only of these."""
    return {name: _option(given) for name, given in settings_of(record, *names).items()}


def _option(given: Setting) -> Option:
    """Return the click option of a setting."""
    kind, default, form = given.type, given.default, dict(given.form)
    limits = {name: form.pop(long) for name, long in LIMITS.items() if long in form}
    if kind is bool:
        # Two spellings, --a/--b, are a switch of their own.
        form |= {"default": default} if "/" in given.options[0] else {"is_flag": True}
    elif isinstance(kind, tuple):
        form["type"] = click.Choice(kind)
    elif limits:
        form["type"] = WholeNumber(**limits) if kind is int else Number(**limits)
    elif kind is not str:
        form["type"] = kind
    if default == ():
        form["multiple"] = True
    elif default is not None and kind is not bool:
        form["default"] = default
    return option(*given.options, help=given.help, common=given.common, group=given.group, **form)


def _parameter_name(option: Option) -> str:
    """Return the name of the argument by which click passes the value of *option*."""

    def holder() -> None:
        """Receive the option."""

    (parameter,) = option(holder).__click_params__  # type: ignore[attr-defined] # set by click
    return str(parameter.name)


def make_inputs(**given: Any) -> Inputs:
    """Return the inputs that options name; results are also broken down by the tags they add."""
    inputs = Inputs(**given)
    if inputs.min_agreement is not None and inputs.judge_labels in (None, "exclude"):
        raise click.UsageError("--min-agreement needs --judge-labels include or only")
    named = (tag.partition("=")[0] for tag in inputs.tags)
    return replace(inputs, by=tuple(dict.fromkeys((*inputs.by, *named))))


# The formats of the files and the labels to use, without tags and topics: *inputs*.
FORMATS = ("gold_format", "columns", "run_format", "lower", "judge_labels", "min_agreement")
input_options = gather("inputs", make_inputs, declared(Inputs, *FORMATS), INPUTS)
COLUMNS, TOPICS = (
    in_group(INPUTS, each) for each in declared(Inputs, "columns", "topics").values()
)


# How the name of a file in each style ends.
ENDINGS = {"json": ".json", "csv": ".csv", "markdown": ".md"}


def _make_output(
    *, details: bool, per_query: bool, path: str | None, title: str = "", **styles: bool
) -> Output:
    style = one_style(**styles)
    if style and path:
        ending = os.path.splitext(path)[1].lower()  # noqa: PTH122 - pathlib loads slowly
        if ending in (*ENDINGS.values(), ".html", ".tex") and ending != ENDINGS[style]:
            raise click.UsageError(
                f"{path}: -o writes the output of --{style}; expected a name that ends in "
                f"{ENDINGS[style]}, or -o {path} without --{style}."
            )
    return Output(style, per_query, path, title, details)


def _make_engine(*, engine: str, profile: str | None) -> str | Mapping[str, object]:
    from karat.app.engines import profile_named

    source = click.get_current_context().get_parameter_source("engine")
    if profile and source is not click.core.ParameterSource.DEFAULT:
        raise click.UsageError("--profile and --engine both name an engine; give one of them")
    return profile_named(profile) if profile else engine


# How results are shown: *output*; then for a command that writes a report or a folder.
output_options = gather("output", _make_output, {**STYLES, **FILE}, OUTPUT)
result_options = gather("output", _make_output, {**STYLES, **RESULTS}, OUTPUT)


def one_style(**flags: bool) -> str | None:
    """Return the style whose flag is set, None without one; raise UsageError for several."""
    styles = [name for name, given in flags.items() if given]
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
file_options = gather("files", _make_selection, SELECTION, INPUTS)


def place_options(command: Command) -> Command:
    """Add the corpus and the engine: *place*, *rev*, *files* and *engine*."""
    corpus = (
        click.argument("place", default=".", metavar="[PLACE]"),
        option(
            "--rev",
            group=INPUTS,
            metavar="REVISION",
            help="Read PLACE at this Git revision, or a folder of it: v2.0:docs.",
        ),
    )
    engine = gather("engine", _make_engine, ENGINE, ENGINES)(command)
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
    for add in reversed(options):
        command = add(command)
    return command


def store_option(command: Command) -> Command:
    """Add where results are stored: *store*."""
    return option(
        "--store",
        group=OUTPUT,
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
