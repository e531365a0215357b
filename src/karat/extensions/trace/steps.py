"""Each tool call as a step: listed, searched, shown, other, or not understood."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from karat.extensions.trace import outputs
from karat.extensions.trace.names import named
from karat.extensions.trace.programs import Access, placed, read_line
from karat.extensions.trace.record import Call, Step, StepKind, TextRange, Transcript
from karat.extensions.trace.spans import END

SHELL_TOOLS = named("shell tools")
READ_TOOLS = named("reading tools")
EDITOR_TOOLS = named("editors with commands")
EDIT_TOOLS = named("editing tools")
SEARCH_TOOLS = named("searching tools")
LIST_TOOLS = named("listing tools")
OTHER_TOOLS = named("other tools")
TOOLS = (
    (StepKind.SHOWN, READ_TOOLS),
    (StepKind.SEARCHED, SEARCH_TOOLS),
    (StepKind.LISTED, LIST_TOOLS),
    (StepKind.OTHER, EDIT_TOOLS | OTHER_TOOLS),
)
# What a word in the name of another tool says.
WORDS = (
    (StepKind.OTHER, named("words of editing tools")),
    (StepKind.SEARCHED, named("words of searching tools")),
    (StepKind.LISTED, named("words of listing tools")),
    (StepKind.SHOWN, named("words of reading tools")),
)
COMMAND_KEYS = ("command", "cmd", "keystrokes", "script", "input", "code", "commands")
PATH_KEYS = (
    *("file_path", "path", "filePath", "filename", "target_file", "absolute_path", "file"),
    *("relative_workspace_path", "notebook_path", "TargetFile", "AbsolutePath", "uri"),
)
PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)


def steps_of(transcript: Transcript) -> tuple[Step, ...]:
    """Return the steps of *transcript*, one for each call; a shell stays in its folder."""
    steps = []
    folder = transcript.folder
    given = ""
    for call in transcript.calls:
        # A transcript that tells the folder of each call is right, else ``cd`` is followed.
        if call.folder and call.folder != given:
            folder = given = call.folder
        step, folder = step_of(call, folder)
        steps.append(step)
    return tuple(steps)


def step_of(call: Call, folder: str = "") -> tuple[Step, str]:
    """Return what *call* did in *folder*, and the folder in which a shell is afterwards."""
    read = token_count(call.output) if call.read < 0 else call.read
    if (line := shell_line(call)) is not None:
        reading = read_line(line, folder)
        step = _of_accesses(reading.accesses, call, folder)
        return step._replace(read=read), folder if _is_isolated(call) else reading.folder
    return _of_tool(call, folder)._replace(read=read), folder


def token_count(text: str) -> int:
    """Return about how many tokens *text* has: a token for each four characters, rounded up.

    >>> token_count("def login(user):"), token_count("")
    (4, 0)
    """
    return -(-len(text) // 4)


def tool_name(call: Call) -> str:
    """Return the name of the tool in lower case, without the server of an MCP tool.

    >>> tool_name(Call("mcp__karat__searchCode")), tool_name(Call("functions.exec_command"))
    ('search_code', 'exec_command')
    """
    name = call.tool.rpartition("__")[2].removeprefix("functions.")
    if name.lower() in KNOWN:
        return name.lower()
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


KNOWN = (
    SHELL_TOOLS | READ_TOOLS | EDITOR_TOOLS | EDIT_TOOLS | SEARCH_TOOLS | LIST_TOOLS | OTHER_TOOLS
)


def shell_line(call: Call) -> str | None:
    """Return the command line of a call of a shell, None for another tool."""
    if tool_name(call) not in SHELL_TOOLS:
        return None
    for key in COMMAND_KEYS:
        value = call.arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list | tuple):
            return _joined([str(word) for word in value])
    return ""


def _joined(words: Sequence[str]) -> str:
    """Return a list of words as a command line; ``["bash", "-lc", LINE]`` is its line."""
    import shlex

    if len(words) > 2 and words[1].startswith("-") and words[1].endswith("c"):
        return words[2]
    return shlex.join(words)


def _is_isolated(call: Call) -> bool:
    """Return whether the next command of the shell begins in the first folder again."""
    return "workdir" in call.arguments or tool_name(call) in (
        "exec_command",
        "shell",
        "shell_command",
    )


def _of_accesses(accesses: Sequence[Access], call: Call, folder: str) -> Step:
    """Return the step of a command line; *accesses* are what its pipelines do."""
    missed = tuple(access.missed for access in accesses if access.missed)
    patched = (placed(path, folder) for path in PATCHED.findall(shell_line(call) or ""))
    edited = (*(path for access in accesses for path in access.edited), *patched)
    kind = max((access.kind for access in accesses), default=StepKind.OTHER)
    parts: list[TextRange] = []
    names: tuple[str, ...] = ()
    gone = outputs.missing(call.output, folder)
    if call.output.strip():
        for access in accesses:
            if access.kind is StepKind.SHOWN:
                shown = [part for part in access.parts if part.path not in gone]
                parts += _seen_lines(shown, call.output, alone=len(accesses) == 1, folder=folder)
            elif access.kind is StepKind.SEARCHED:
                known = outputs.hits(call.output, access.parts, access.folder)
                parts += known.parts
                names += known.names
            elif access.kind is StepKind.LISTED:
                names += outputs.names(call.output, access.folder)
    return Step(kind, outputs.merged(parts), tuple(dict.fromkeys(names)), edited, 0, missed)


def _seen_lines(
    parts: Sequence[TextRange], output: str, *, alone: bool, folder: str
) -> list[TextRange]:
    """Return *parts* by the lines that the output shows where it numbers them."""
    if alone and (window := outputs.heading(output)):
        path = placed(window, folder)
        body = output.split("\n", 1)[-1]
        return list(_window(body, path)) or [TextRange(path, -1, -1)]
    if not alone or len(parts) != 1:
        return list(parts)
    (part,) = parts
    if seen := outputs.numbered(output, part.path):
        return list(seen)
    return [_shown_lines(part, output)]


def _shown_lines(part: TextRange, output: str) -> TextRange:
    """Return the lines of *part* that an output without numbers shows.

    It may be cut, or end with the file. Blank lines at its end are often stripped.
    """
    count, is_cut = outputs.head_of(output)
    last = max(part.start, 1) + count - 1
    if not part.has_lines or not (is_cut or part.end) or (not is_cut and part.end <= last + 2):
        return part
    return TextRange(part.path, max(part.start, 1), last) if count else TextRange(part.path, -1, -1)


def _window(body: str, path: str) -> tuple[TextRange, ...]:
    numbers = [int(match[1]) for match in re.finditer(r"^(\d+):", body, re.MULTILINE)]
    return outputs.merged(TextRange(path, number, number) for number in numbers)


def _of_tool(call: Call, folder: str) -> Step:
    name = tool_name(call)
    if name in EDITOR_TOOLS:
        name = "read" if call.arguments.get("command") == "view" else "edit"
    kind = kind_of(name)
    if kind is None:
        return Step(StepKind.UNKNOWN, missed=(call.tool,))
    path = _path(call.arguments)
    if kind is StepKind.OTHER:
        return Step(kind, edited=_edited(name, path, call.arguments, folder))
    if call.failed or not call.output.strip():
        return Step(kind)
    if kind is StepKind.SHOWN:
        return _of_view(call, path, folder)
    if kind is StepKind.SEARCHED:
        known = outputs.hits(call.output, _searched_files(path, folder), folder)
        return Step(kind, known.parts, known.names)
    return Step(kind, names=outputs.names(call.output, folder))


def _edited(name: str, path: str, arguments: Mapping[str, object], folder: str) -> tuple[str, ...]:
    """Return the files that a tool changes: those of a patch, or the one it names."""
    if name in OTHER_TOOLS:
        return ()
    patched = PATCHED.findall("\n".join(str(each) for each in arguments.values()))
    return tuple(placed(each, folder) for each in patched or ([path] if path else []))


def kind_of(name: str) -> StepKind | None:
    """Return what a tool of this name does, None if neither a table nor its words say.

    >>> kind_of("glob").name, kind_of("get_symbol_references"), kind_of("search_docs").name
    ('LISTED', None, 'SEARCHED')
    """
    for kind, names in TOOLS:
        if name in names:
            return kind
    parts = set(name.split("_"))
    return next((kind for kind, words in WORDS if parts & words), None)


def _of_view(call: Call, path: str, folder: str) -> Step:
    if not path:
        known = outputs.hits(call.output, (), folder)
        return Step(StepKind.SHOWN, known.parts, known.names)
    where = placed(path, folder)
    if _is_list(call.output):
        return Step(StepKind.LISTED, names=outputs.names(call.output, folder))
    seen = outputs.numbered(call.output, where)
    asked = TextRange(where, *_span(call.arguments))
    return Step(StepKind.SHOWN, seen or (_shown_lines(asked, call.output),))


def _is_list(output: str) -> bool:
    """Return whether a view printed a folder: editors say so before its files."""
    return output.startswith("Here's the files and directories up to") or (
        output.lstrip().startswith("<path>") and "<type>directory</type>" in output
    )


def _searched_files(path: str, folder: str) -> tuple[TextRange, ...]:
    return (TextRange(placed(path, folder), -1, -1),) if path else ()


def _path(arguments: Mapping[str, object]) -> str:
    for key in PATH_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value.removeprefix("file://")
    return ""


def _span(arguments: Mapping[str, object]) -> tuple[int, int]:
    """Return the lines that a view asks for; 0 and 0 for the whole file."""
    value = arguments.get("view_range") or arguments.get("line_range") or arguments.get("lines")
    if isinstance(value, str):
        value = json.loads(value) if re.fullmatch(r"\[[\d\s,-]+\]", value) else value.split("-")
    if isinstance(value, list | tuple) and len(value) == 2:
        start, end = (_integer(each) for each in value)
        return start, END if end < 0 else end
    start = _first(
        arguments, ("offset", "start_line", "startLine", "start_line_one_indexed", "line")
    )
    end = _first(
        arguments, ("end_line", "endLine", "end_line_one_indexed_inclusive", "end_line_one_indexed")
    )
    limit = _first(arguments, ("limit", "count", "num_lines"))
    if end:
        return max(start, 1), end
    if limit:
        return max(start, 1), max(start, 1) + limit - 1
    return (start, END) if start > 1 else (0, 0)


def _first(arguments: Mapping[str, object], keys: Iterable[str]) -> int:
    return next((_integer(arguments[key]) for key in keys if key in arguments), 0)


def _integer(value: object) -> int:
    try:
        return int(str(value).strip())
    except ValueError:
        return 0
