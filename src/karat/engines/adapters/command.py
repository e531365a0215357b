"""``command``: a program that is started for every query and prints its hits.

The options of every program that an adapter starts are here too; ``process`` and ``mcp`` use them.
"""

import base64
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from karat.corpus import Corpus
from karat.engines.adapters.answers import (
    GROUPS,
    JSON_PATHS,
    AnswerOptions,
    AnswerReader,
    PatternReader,
    Secrets,
    excerpt,
    json_document,
    json_lines,
    words,
)
from karat.engines.adapters.external import External, ExternalReply, timed_out
from karat.engines.placeholders import check_template, fill, literal_secrets, names_of
from karat.errors import EngineError, InputError, ProcessError
from karat.model import Hit
from karat.system.processes import (
    BASE_ENVIRONMENT,
    error_lines,
    find_program,
    last_words,
    run_command,
)

PLACEHOLDERS = ("query", "root", "k", "words")
# The argument of an interpreter, not an option or a pattern such as ``*.py``.
SCRIPT = re.compile(r"[\w.][\w./-]*\.(py|sh|m?js|ts|rb|pl)")


class ProgramOptions(AnswerOptions):
    """A program: *command* is a list of arguments and never goes through a shell.

    *env* allows variables of Karat's environment by name, or sets them: ``{RUST_LOG: off, KEY:
    "{env:MY_KEY}"}``. PATH, HOME, the language and the temporary directory are always there.
    """

    command: list[str] = Field(default_factory=list)
    env: list[str] | dict[str, str] = Field(default_factory=list)

    @field_validator("command", mode="before")
    @classmethod
    def _no_shell(cls, value: object) -> object:
        if isinstance(value, str):
            # pydantic reports a ValueError, and lets a TypeError pass.
            raise ValueError(  # noqa: TRY004
                "expected a list of arguments, because no shell is used; write "
                'command: [python3, "{here}/mysearch.py", "{query}"]'
            )
        for part in value if isinstance(value, list) else ():
            if isinstance(part, Mapping) and len(part) == 1 and None in part.values():
                name = next(iter(part))
                raise ValueError(f'write "{{{name}}}" with quotes; without them it is a mapping')
        return value

    @field_validator("command")
    @classmethod
    def _known_names(cls, value: list[str]) -> list[str]:
        if any("here" in names_of(argument) for argument in value):
            raise ValueError(
                "{here} is the folder of an engine's YAML or JSON file, and this engine was not "
                "read from a file; write an absolute path instead"
            )
        if value and "{" in value[0]:
            raise ValueError("the program itself cannot depend on the query")
        # A secret among arguments would be seen by every user of the machine.
        check_template(value, PLACEHOLDERS)
        return value

    @field_validator("env")
    @classmethod
    def _no_secrets(cls, value: list[str] | dict[str, str]) -> list[str] | dict[str, str]:
        if isinstance(value, dict):
            check_template(value, (), env=True)
            literal_secrets(value, "the variable")
        return value


class SpawnOptions(ProgramOptions):
    """A program that must be installed."""

    command: Annotated[list[str], Field(min_length=1)]


def found_program(options: ProgramOptions, environ: Mapping[str, str] | None = None) -> str:
    """Return the absolute path of the program, or raise InputError.

    The program runs in the directory of the corpus, where a relative path, or ``.`` on the search
    path, would start whatever the corpus holds.
    """
    name = options.command[0]
    source = os.environ if environ is None else environ
    program = find_program(name, source.get("PATH", os.defpath))
    if program is None:
        hint = f"; {_write_here(name)}" if "/" in name and not os.path.isabs(name) else ""  # noqa: PTH117
        raise InputError(f"no such program: {name!r}{hint}")
    return program


def relative_hint(options: ProgramOptions, root: str) -> str:
    """Return a hint for the error of a program one of whose arguments is a relative path.

    The path is a file of the current folder, or looks like a script that *root*, the folder of
    the corpus, does not have: the program runs there.
    """
    for argument in options.command[1:]:
        absolute = os.path.abspath(argument)  # noqa: PTH100 - links stay links
        if argument == absolute or names_of(argument):
            continue
        where = f"; commands run in the corpus folder: {_write_here(argument)}"
        # pathlib raises on an argument that is too long for a path, such as that of `python -c`.
        if os.path.isfile(absolute):  # noqa: PTH113
            return f"{where}, or {absolute!r}, instead of {argument!r}"
        if SCRIPT.fullmatch(argument) and not os.path.isfile(f"{root}/{argument}"):  # noqa: PTH113
            return where
    return ""


def _write_here(path: str) -> str:
    """Return the advice to name a *path* relative to the file of the engine."""
    named = "{here}/" + os.path.normpath(path)
    return f"write {named!r} in the engine's YAML file, where {{here}} is its folder"


def arguments(
    options: ProgramOptions, program: str, *, root: str, query: str = "", k: int = 0
) -> list[str]:
    """Return the command line for one query; ``{words}`` becomes ``word|word``, escaped."""
    values = {
        "query": query,
        "root": root,
        "k": str(k),
        "words": "|".join(re.escape(word) for word in words(query)) or re.escape(query),
    }
    return [program, *(fill(argument, values) for argument in options.command[1:])]


def environment(
    options: ProgramOptions, secrets: Secrets, environ: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the variables that the program sees."""
    source = os.environ if environ is None else environ
    variables = {name: source[name] for name in BASE_ENVIRONMENT if name in source}
    if isinstance(options.env, dict):
        return variables | {name: secrets.expand(value) for name, value in options.env.items()}
    # A variable that is allowed by name may be a secret, so its value is redacted from output.
    return variables | {name: secrets.get(name) for name in options.env if source.get(name)}


class MatchedLine(NamedTuple):
    """A line that matched, and how often."""

    path: str
    number: int
    text: str
    matches: int


def group_lines(text: str, query: str, *, join_lines: int) -> list[Hit]:
    r"""Return ranges of matching lines, ranked by distinct words of *query*, then by matches.

    Lines of a file that are at most *join_lines* apart make one range. The whole part of a score
    is the number of distinct words, its fraction grows with the matches; equal ranges keep the
    order of paths and lines.

    >>> event = '{"type": "match", "data": {"path": {"text": "a.py"}, "line_number": %d, '
    >>> event += '"lines": {"text": "%s"}, "submatches": [{}]}}'
    >>> matches = [(3, "def login"), (5, "password"), (99, "login")]
    >>> output = "\n".join(event % line for line in matches)
    >>> [(hit.start_line, hit.end_line, hit.score) for hit in group_lines(output, "login password",
    ...     join_lines=10)]
    [(3, 5, 2.6666666666666665), (99, 99, 1.5)]
    """
    asked = words(query)
    lines = sorted(set(_lines(text)))
    ranges = [_range(group, asked) for group in _groups(lines, join_lines)]
    return sorted(ranges, key=lambda hit: (-hit.score, hit.path, hit.start_line))


def _range(group: list[MatchedLine], asked: list[str]) -> Hit:
    words = set(re.findall(r"\w+", " ".join(line.text for line in group).lower()))
    joined = " ".join(words)
    # A word counts inside a longer one too: "login" is in "login_user".
    distinct = sum(word in joined for word in asked)
    count = sum(line.matches for line in group)
    return Hit(group[0].path, distinct + count / (count + 1), group[0].number, group[-1].number)


def _groups(lines: Iterable[MatchedLine], join_lines: int) -> Iterator[list[MatchedLine]]:
    group: list[MatchedLine] = []
    for line in lines:
        if group and (line.path != group[-1].path or line.number - group[-1].number > join_lines):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _lines(text: str) -> Iterator[MatchedLine]:
    for row in text.split("\n"):
        if not row.strip():
            continue
        try:
            event = json.loads(row)
            if event["type"] != "match":
                continue
            data = event["data"]
            # No line number: ripgrep ran without them, or on binary data.
            if data["line_number"] is not None:
                yield MatchedLine(
                    _text(data["path"]),
                    int(data["line_number"]),
                    _text(data["lines"]),
                    len(data["submatches"]) or 1,
                )
        except (ValueError, KeyError, TypeError):
            raise EngineError(f"printed {excerpt(row)}; expected the events of rg --json") from None


def _text(field: dict[str, str]) -> str:
    """Return a text of ripgrep, which is base64 if it is not UTF-8."""
    if "text" in field:
        return field["text"]
    return base64.b64decode(field["bytes"]).decode("utf-8", "replace")


class CommandOptions(SpawnOptions):
    """A command and what it prints.

    *output* is one JSON document, JSON lines, the events of ``rg --json``, octocode's array, or
    text that *pattern* reads (a regular expression with the groups path, start, end, score and
    symbol). *exit_codes* are those that mean an answer: 0, and for ripgrep 1, no match.
    """

    output: Literal["json", "jsonl", "rg", "octocode", "regex"] = "json"
    pattern: str | None = None
    exit_codes: list[int] | None = None
    join_lines: int = Field(default=10, ge=0)

    @model_validator(mode="after")
    def _used(self) -> "CommandOptions":
        """Reject settings that the output does not use."""
        if (self.pattern is None) == (self.output == "regex"):
            raise ValueError("pattern and output: regex need each other")
        if self.pattern is not None:
            check_pattern(self.pattern)
        if "join_lines" in self.model_fields_set and self.output != "rg":
            raise ValueError("join_lines needs output: rg")
        unused = sorted(JSON_PATHS & self.model_fields_set)
        if unused and self.output in ("rg", "regex", "octocode"):
            raise ValueError(f"{unused[0]} is not used with output: {self.output}")
        return self


def check_pattern(pattern: str) -> None:
    """Raise ValueError unless *pattern* is a regular expression with a group ``path``."""
    try:
        groups = set(re.compile(pattern).groupindex)
    except re.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
    if "path" not in groups:
        raise ValueError(f"{pattern!r} has no group (?P<path>...)")
    if unknown := sorted(groups - set(GROUPS)):
        raise ValueError(f"group {unknown[0]!r} is unknown; expected {', '.join(GROUPS)}")


class CommandEngine(External):
    """A program that answers one query per start, in the directory of the corpus.

    It runs in a process group of its own, which ends with the query; its start-up is part of
    every latency (``karat engines check`` says how much of it is the start of any program).
    """

    Options = CommandOptions

    def __init__(
        self, options: CommandOptions, *, environ: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(options.name or os.path.basename(options.command[0]))  # noqa: PTH119
        self.strip_prefix = options.strip_prefix
        self._options = options
        self._environ = environ
        self._secrets = Secrets(os.environ if environ is None else environ)
        self._root = ""
        self._program = ""
        self._read = _Reader(options)

    def _start(self, corpus: Corpus, root: str) -> None:  # noqa: ARG002 - nothing to start
        self._root = root
        self._program = found_program(self._options, self._environ)

    def _ask(self, query: str, k: int) -> ExternalReply:
        options = self._options
        try:
            done = run_command(
                arguments(options, self._program, root=self._root, query=query, k=k),
                root=self._root,
                environment=environment(options, self._secrets, self._environ),
                timeout_s=options.timeout_s,
                max_bytes=options.max_bytes,
            )
            if done.code not in self._codes():
                said, printed = (
                    self._secrets.scrub(each.decode("utf-8", "replace")).strip()
                    for each in (done.complaints, done.output)
                )
                message = error_lines(said or printed, relative_hint(options, self._root))
                if said and printed:
                    message += f"\n    it printed {last_words(printed)}"
                raise EngineError(f"exit code {done.code}: {message}")
            return self._read(done.output.decode("utf-8", "replace"), query)
        except (EngineError, ProcessError) as error:
            if isinstance(error.__cause__, TimeoutError):
                raise timed_out(f"{self.name}:", options.timeout_s) from error.__cause__
            message = self._secrets.scrub(f"{self.name}: {error}")
            raise EngineError(message) from error.__cause__

    def _codes(self) -> tuple[int, ...]:
        if self._options.exit_codes is not None:
            return tuple(self._options.exit_codes)
        return (0, 1) if self._options.output == "rg" else (0,)


class _Reader:
    """Parses the output of a command."""

    def __init__(self, options: CommandOptions) -> None:
        self._options = options
        self._reader = AnswerReader(options)
        self._pattern = (
            PatternReader(
                options.pattern,
                first_line=options.first_line,
                sort=options.order == "score",
            )
            if options.pattern is not None
            else None
        )

    def __call__(self, text: str, query: str) -> ExternalReply:
        if self._pattern is not None:
            return ExternalReply(self._pattern.hits(text))
        if self._options.output == "rg":
            return ExternalReply(group_lines(text, query, join_lines=self._options.join_lines))
        lines = self._options.output == "jsonl"
        try:
            if lines:
                return json_lines(text, self._reader)
            answer = json_document(text)
        except EngineError as error:
            raise EngineError(f"{error}{_output_hint(text, lines=lines)}") from None
        return self._reader.reply(answer)


DECODER = json.JSONDecoder()
# Brackets in an invalid output at which a JSON value is looked for.
MOST_BRACKETS = 200


def _output_hint(text: str, *, lines: bool) -> str:
    r"""Return how to correct the output *text*, which is not JSON, or not JSON *lines*.

    >>> _output_hint('loading ...\n[{"path": "a.py"}]', lines=False)
    '; print logs to standard error'
    >>> _output_hint('{"path": "a.py"}\n{"path": "b.py"}', lines=False)
    '; set output: jsonl for one JSON value per line'
    """
    rows = [row for row in text.split("\n") if row.strip()]
    if not rows:
        return "; print [] if there is no hit"
    if not lines and all(_is_json(row) for row in rows):
        return "; set output: jsonl for one JSON value per line"
    if _has_hits(text):
        return "; print logs to standard error"
    hit = '{"path": "a.py", "score": 1}'
    example = f"a line such as {hit} for each hit" if lines else f"a list such as [{hit}]"
    return f"; print {example}, or set output: regex and a pattern"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _has_hits(text: str) -> bool:
    """Return whether *text* contains a JSON object, or a list of objects or texts."""
    for match in islice(re.finditer(r"[\[{]", text), MOST_BRACKETS):
        try:
            value, _ = DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        entries = value if isinstance(value, list) else [value]
        if all(isinstance(entry, dict | str) for entry in entries):
            return True
    return False
