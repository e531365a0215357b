"""Entry point: find the command, and turn an error into one clear line and an exit code."""

import errno
import gc
import importlib
import inspect
import os
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from karat.cli.help import add_help_all, shows_everything
from karat.cli.options.stray import TYPED
from karat.errors import InputError, KaratError, UnknownFormat
from karat.installation import __version__

if TYPE_CHECKING:
    from karat.discovery import Command


# Parameter of a command -> kinds of file whose format it sets.
FORMAT_OPTIONS = {
    "gold_format": ("dataset",),
    "run_format": ("run",),
    "format_name": ("dataset", "run"),
    "source_format": ("dataset", "run"),
}
# Options of karat report that users try in other commands.
TABLE_OPTIONS = ("--digits", "--percent", "--intervals", "--label", "--caption")
# Longer than any sentence of help.
LONGEST = 500
# Columns of help: of a terminal at most so many are used, all but a margin, and at least so many.
WIDEST, MARGIN, NARROWEST = 80, 2, 50


class CommandGroup(click.Group):
    """A group that suggests the nearest command for an unknown name, or lists all commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a whole sentence about each command."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, command.get_short_help_str(LONGEST))
                    for name in self.list_commands(ctx)
                    if (command := self.get_command(ctx, name))
                ]
            )

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an UnknownFormat error names the option that sets the format."""
        try:
            return super().invoke(ctx)
        except UnknownFormat as error:
            if option := self._format_option(ctx, error.kind):
                raise error.with_option(option) from error
            raise

    def _format_option(self, ctx: click.Context, kind: str | None) -> str | None:
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        named = {param.name: param.opts[0] for param in command.params} if command else {}
        options = [name for name, holds in FORMAT_OPTIONS.items() if kind in (None, *holds)]
        return next((named[name] for name in options if name in named), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first of *args* names; an unknown name is a usage error."""
        if not self.has_command(ctx, args[0]) and not args[0].startswith("-"):
            from difflib import get_close_matches

            known = self.list_commands(ctx)
            near = get_close_matches(args[0], known, n=1, cutoff=NEAR)
            hint = f"Did you mean {near[0]!r}?" if near else self.unknown_hint(known)
            ctx.fail(f"No such command {args[0]!r}. {hint}")
        return super().resolve_command(ctx, args)

    def unknown_hint(self, known: Sequence[str]) -> str:
        """Return the end of an error about a name that is near none of the *known* commands."""
        return f"Commands: {', '.join(known)}."

    def has_command(self, ctx: click.Context, name: str) -> bool:
        """Return whether there is a command *name*."""
        return name in self.list_commands(ctx)


# The titles of `karat --help-all`, and the commands of the core: each is the module of its name.
# Help shows these lines without importing modules. Extensions add commands below the titles.
SECTIONS = {
    "Try it": {},
    "Make a gold set": {
        "resolve": "Map the references of a gold set to documents of a corpus.",
        "validate": "Check a file and list every problem in it.",
        "convert": "Convert a gold set or a run to another format.",
    },
    "Run engines": {
        "evaluate": "Run engines on a gold set, score the hits and measure latency.",
        "compare": "Compare engines or run files, with significance tests.",
        "sweep": "Compare many configurations and recommend one.",
        "init": "Write a commented configuration file, karat.yaml.",
        "search": "Search a folder or a repository.",
        "index": "Build the index of a folder or a repository in advance.",
        "engines": "List the engines, or check one of your own.",
    },
    "Score run files": {
        "score": "Score a run file, with confidence intervals.",
        "metrics": "List the measures, or explain one.",
    },
    "Analyze results": {
        "report": "Write a report as HTML, Markdown, CSV, JSON or LaTeX.",
        "runs": "List, show, pin, export and delete stored results.",
    },
    "Train a model": {},
    "Guard quality in CI": {
        "gate": "Fail if quality or latency is worse than required.",
        "baseline": "Store the scores that a gate compares with.",
    },
    "Serve a team": {},
    "Extend Karat": {
        "plugins": "List the extensions: what each adds, and why one is off.",
    },
}
COMMANDS = {name: line for section in SECTIONS.values() for name, line in section.items()}

# In these, threads of numpy's linear algebra cost more than they bring. The variable has to be set
# before numpy is loaded, and worker processes inherit it.
SINGLE_THREADED = frozenset({"compare", "evaluate", "gate", "report", "score", "sweep"})
THREADS = "OPENBLAS_NUM_THREADS"

# `karat --help` shows examples of these only.
FIRST = {"demo", "generate", "evaluate", "compare", "score", "gate", "report", "serve"}

# A name of a command at least so near a known one is taken for a misspelling.
NEAR = 0.7
NO_SERVICE = (
    "No extension that is installed has commands of a service, so --server cannot be used; "
    "`karat plugins` lists the extensions."
)

BAD_INPUT = 2
INTERRUPTED = 130


class ReaderGone(Exception):
    """The reader of our output, such as `head`, has closed the pipe."""


class Commands(CommandGroup):
    """A group whose commands are modules of the core, or targets of extensions."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Store the typed words, so that an error can show the corrected command."""
        ctx.meta[TYPED] = tuple(args)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return [name for section in _sections(ctx).values() for name in section]

    def unknown_hint(self, known: Sequence[str]) -> str:
        """Return the commands, and where further ones come from."""
        from karat.registry import MAY_ADD

        return f"{super().unknown_hint(known)} {MAY_ADD[0].upper()}{MAY_ADD[1:]}."

    def has_command(self, ctx: click.Context, name: str) -> bool:
        """Return whether there is a command *name*; for one of the core no extension is loaded."""
        return (name in COMMANDS and not ctx.params.get("server")) or super().has_command(ctx, name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module and return the command."""
        if not self.has_command(ctx, cmd_name):
            return None
        if cmd_name in COMMANDS and not ctx.params.get("server"):
            target = f"karat.cli.commands.{cmd_name.replace('-', '_')}:command"
        else:
            target = _extension_commands(ctx)[cmd_name].target
        command = _load_command(cmd_name, target)
        if not gc.isenabled():  # turned off by the program while it starts
            gc.freeze()
            gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; one that only a service has is a usage error that says so."""
        if not self.has_command(ctx, args[0]):
            from karat import discovery

            remote = discovery.remote_commands()
            if ctx.params.get("server") and not remote:
                ctx.fail(NO_SERVICE)
            if args[0] in remote:
                ctx.fail(f"{args[0]!r} needs a service: karat --server URL {' '.join(args)}")
        if _is_single_threaded(ctx, args[0]):
            os.environ.setdefault(THREADS, "1")
        return super().resolve_command(ctx, args)

    def __init__(self, *args: Any, **settings: Any) -> None:
        """Add --help-all."""
        super().__init__(*args, **settings)
        add_help_all(self)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summary and examples of commands that are here; of a service with --server."""
        from karat import discovery

        if server := ctx.params.get("server"):
            help_text = discovery.remote_help().replace("--server URL", f"--server {server}")
        else:
            known = {*self.list_commands(ctx), *(["--server"] if discovery.remote_help() else [])}
            if not shows_everything(ctx):
                known &= FIRST
            lines = inspect.cleandoc(self.help or "").splitlines()
            words = [line.split() for line in lines]
            help_text = "\n".join(
                line
                for line, typed in zip(lines, words, strict=True)
                if typed[:1] != ["karat"] or typed[1] in known
            )
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(help_text or NO_SERVICE)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, grouped by purpose; without --help-all, only what they are for."""
        if not (shows_everything(ctx) or ctx.params.get("server")):
            purposes = ", ".join(
                f"{title[0].lower()}{title[1:]}"
                for title, commands in _sections(ctx).items()
                if not FIRST.issuperset(commands)
            )
            formatter.write_paragraph()
            formatter.write_text("Options of a command: karat COMMAND --help")
            formatter.write_text(f"More commands: karat --help-all ({purposes})")
            return
        for title, commands in _sections(ctx).items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a closed pipe is not an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            # click would exit with 1, which says that a gate has failed.
            raise ReaderGone from error


def _name_server(ctx: click.Context, _option: click.Parameter, server: str | None) -> str | None:
    """Show --server in the usage of every command of a service."""
    if server:
        ctx.info_name = f"{ctx.info_name} --server {server}"
    return server


def _sections(ctx: click.Context) -> dict[str, dict[str, str]]:
    """Return the lines of the help by title: those of the core, with those of extensions."""
    own = {} if ctx.params.get("server") else SECTIONS
    sections = {title: list(lines.items()) for title, lines in own.items()}
    waiting = dict(_extension_commands(ctx))
    while waiting:
        listed = {name for lines in sections.values() for name, _ in lines}
        # A command may follow another that an extension adds, so those come first.
        ready = [name for name, each in waiting.items() if each.after not in {*waiting} - {name}]
        for name in ready or list(waiting):
            command = waiting.pop(name)
            lines = sections.setdefault(command.section, [])
            names = [command.section, *(each for each, _ in lines)]
            position = names.index(command.after) if command.after in names else len(lines)
            if name not in listed:
                lines.insert(position, (name, command.help))
    return {title: dict(lines) for title, lines in sections.items() if lines}


def _extension_commands(ctx: click.Context) -> "Mapping[str, Command]":
    from karat import discovery

    return discovery.remote_commands() if ctx.params.get("server") else discovery.commands()


def _load_command(name: str, target: str) -> click.Command:
    """Return the command at ``module:attribute``; one of somebody else that fails is named."""
    module, _, attribute = target.partition(":")
    try:
        command: object = getattr(importlib.import_module(module), attribute)
    except KaratError:
        raise
    except Exception as error:
        if module.startswith("karat."):
            raise  # a defect of ours
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"cannot load the command {name} from {target}: {reason}") from error
    if not isinstance(command, click.Command):
        kind = type(command).__name__
        raise InputError(
            f"the command {name} is a {kind} ({target}); decorate it: @click.command()"
        )
    return command


def _is_single_threaded(ctx: click.Context, name: str) -> bool:
    if name in COMMANDS:
        return name in SINGLE_THREADED
    command = _extension_commands(ctx).get(name)
    return command is not None and command.single_threaded


def _add_plugins(
    _ctx: click.Context, _option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """Load plug-in files before the command is looked up: they may add it."""
    if paths:
        from karat import discovery

        discovery.add_files(paths)
    return paths


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help", "--help-all"]})
@click.version_option(__version__, prog_name="karat")
@click.option(
    "--server",
    metavar="URL",
    is_eager=True,  # Help then lists the commands of the service.
    callback=_name_server,
    help="Use the service at URL; the token is read from KARAT_TOKEN.",
)
@click.option(
    "--plugin",
    "plugins",
    metavar="FILE",
    multiple=True,
    is_eager=True,
    callback=_add_plugins,
    help="Load an extension from a file, see karat init --plugin.",
)
def karat(server: str | None, plugins: tuple[str, ...]) -> None:
    """Measure how good a search is.

    \b
    karat demo                                     try it on a bundled example
    karat generate --repo ../flask -o gold.json    mine a gold set from Git
    karat evaluate gold.json --engine bm25         score what an engine finds
    karat compare gold.json --agents keyword bm25  which engine is better?
    karat score gold.csv results.run               score a run file of any engine
    karat gate gold.csv new.run --min hit@5=0.70   fail in CI below a minimum
    karat report latest -o report.html             everything on one page
    karat serve                                    web page and API for a team
    karat metrics ndcg                             explain a measure
    karat --server URL --help                      commands of a service
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 fine, 1 gate failed, 2 bad input, 3 failure, 130 ^C."""
    from karat import discovery

    warnings.formatwarning = _one_line
    discovery.on_problem(lambda line: click.echo(f"warning: {line}", err=True))
    try:
        # In this mode click hands back the code of ctx.exit() instead of exiting.
        # Left to itself, click imports shutil and its compressors to find the width out.
        width = help_width()
        sys.exit(
            karat.main(
                args=arguments, prog_name="karat", standalone_mode=False, terminal_width=width
            )
        )
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        _complain(_told(error))
        if isinstance(error, click.UsageError) and error.ctx:
            click.echo(f"Try '{error.ctx.command_path} --help'.", err=True)
        sys.exit(BAD_INPUT)
    except KaratError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except ReaderGone:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:  # the last line of defence: the traceback is for us
        if os.environ.get("KARAT_DEBUG"):
            raise
        _complain(_broken(error))
        sys.exit(KaratError.exit_code)


def help_width() -> int:
    """Return the width of help texts: that of the terminal, between 50 and 78 columns.

    The variable COLUMNS overrides the terminal's; without either it is 78.
    """
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
        except (AttributeError, ValueError, OSError):
            columns = 0
    return max(min(columns or WIDEST, WIDEST) - MARGIN, NARROWEST)


def _one_line(message: Warning | str, *_place: object, **_line: object) -> str:
    r"""Return a warning of Python without the line of code that gave it.

    >>> _one_line("the cache is full", UserWarning, "sqlite.py", 3)
    'warning: the cache is full\n'
    """
    return f"warning: {message}\n"


def _broken(error: Exception) -> str:
    """Return the message for an unexpected error."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return f"{error.filename or 'the output'}: no space left on the disk"
    return f"internal error: {type(error).__name__}: {error} (KARAT_DEBUG=1 prints the traceback)"


def _told(error: click.ClickException) -> str:
    """Return the message, with a suggestion where there is one."""
    # click writes an argument that may be absent in brackets.
    message = re.sub(r"'\[(\w+)\](\.\.\.)?'", r"'\1'", error.format_message())
    if isinstance(error, click.NoSuchOption):
        hint = f" Did you mean {error.possibilities[0]!r}?" if error.possibilities else ""
        if error.option_name in TABLE_OPTIONS and _writes_reports(error.ctx):
            hint = " karat report has it, for tables: karat report ... -o table.tex."
        return f"No such option {error.option_name!r}.{hint}"
    if isinstance(error, click.BadParameter) and (near := _nearest_choice(error)):
        return f"{message} Did you mean {near!r}?"
    if isinstance(error, click.UsageError) and error.ctx and "unexpected extra" in message:
        expected = " ".join(error.ctx.command.collect_usage_pieces(error.ctx))
        return f"{message}; expected {error.ctx.command_path} {expected}"
    return message


def _nearest_choice(error: click.BadParameter) -> str:
    """Return the choice that is most like the value in *error*, "" if none or several are."""
    from difflib import get_close_matches

    kind = error.param.type if error.param else None
    given = re.match(r"'(.*?)' is not one of .*[.]$", error.message)
    if not isinstance(kind, click.Choice) or given is None:
        return ""
    word = given[1].lower()
    begun = [choice for choice in kind.choices if choice.startswith(word)]
    return "" if len(begun) > 1 else "".join(get_close_matches(word, kind.choices, 1))


def _writes_reports(ctx: click.Context | None) -> bool:
    return ctx is not None and any("-o" in each.opts for each in ctx.command.params)


def _complain(message: str) -> None:
    from karat.report.display import printable

    for number, line in enumerate(message.splitlines()):
        click.echo(printable(line if number else f"error: {line}"), err=True)
