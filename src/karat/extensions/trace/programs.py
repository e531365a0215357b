"""What a command line of a shell shows: the files and lines by its arguments.

Only arguments are read here; what a search has matched is in its output, see ``outputs``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from posixpath import isabs, join, normpath
from typing import NamedTuple

from karat.extensions.trace.names import named
from karat.extensions.trace.record import StepKind, TextRange
from karat.extensions.trace.shell import Pipeline, Program, pipelines
from karat.extensions.trace.spans import END, all_ranges, cut, is_quiet, operands

SHELLS = frozenset(("bash", "sh", "zsh", "dash"))
# Programs that run the command behind them, and how many words of their own they have at least.
WRAPPERS: Mapping[str, int] = {
    **dict.fromkeys(("sudo", "time", "nohup", "nice", "env", "command", "exec", "stdbuf"), 0),
    **dict.fromkeys(("builtin", "xvfb-run", "unbuffer", "eval", "then", "else", "do"), 0),
    "timeout": 1,
}
# Programs that change, build, run or ask for something, but show no file of the corpus.
OTHER = named("other programs")
PAGERS = frozenset(("cat", "nl", "less", "more", "bat", "batcat", "tac", "expand", "col", "fold"))
DUMPS = frozenset(("strings", "hexdump", "xxd", "od", "base64", "objdump", "readelf", "pygmentize"))
GREPS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep", "ugrep", "ripgrep"))
LISTERS = frozenset(("ls", "find", "tree", "fd", "fdfind", "dir", "locate", "exa", "eza", "lsd"))
CUTTERS = frozenset(("head", "tail", "sed", "awk"))
COUNTERS = frozenset(("wc", "md5sum", "sha256sum", "cksum", "file"))
# Filters that leave the kind of what flows through them.
KEEPS = frozenset(("sort", "uniq", "tee", "column", "expand", "less", "more", "cat", "bat", "nl"))
TEXT_FILTERS = frozenset(
    ("cut", "tr", "sed", "awk", "jq", "perl", "python", "python3", "xxd", "rev")
)
# Options of grep and its kin that take the next word.
GREP_TAKES = named("grep options with a value")


class Access(NamedTuple):
    """What a pipeline does with the corpus: its kind, and the files and lines by its arguments.

    Of a search, *parts* are the files that it reads, if it names any; names in its output are
    relative to *folder*. *missed* is a program that no rule understands.
    """

    kind: StepKind
    parts: tuple[TextRange, ...] = ()
    edited: tuple[str, ...] = ()
    missed: str = ""
    folder: str = ""


NOTHING = Access(StepKind.OTHER)


class LineReading(NamedTuple):
    """What a command line does, pipeline by pipeline, and the folder in which it ends."""

    accesses: tuple[Access, ...]
    folder: str


def read_line(text: str, folder: str = "", depth: int = 0) -> LineReading:
    """Return what the command line *text* does in *folder*.

    >>> read_line("cd src && sed -n '5,9p' a.py | head -3").accesses[0].parts
    (TextRange(path='src/a.py', start=5, end=7),)
    """
    known = pipelines(text)
    if known is None:
        return LineReading(
            (Access(StepKind.UNKNOWN, missed=text.split("\n", maxsplit=1)[0][:80]),), folder
        )
    accesses: list[Access] = []
    for pipeline in known:
        first = pipeline[0]
        if first.name in ("cd", "pushd"):
            goal = next((word for word in first.words[1:] if not word.startswith("-")), "")
            folder = placed(goal, folder) if goal and "$" not in goal else folder
            continue
        inner, folder = _read(pipeline, folder, depth)
        accesses += inner
    return LineReading(tuple(accesses), folder)


def placed(path: str, folder: str) -> str:
    """Return *path* as it is from where *folder* begins.

    >>> placed("../b.py", "/repo/src"), placed("./a.py", ""), placed("/x/a", "/repo")
    ('/repo/b.py', 'a.py', '/x/a')
    """
    return normpath(path if isabs(path) else join(folder, path))


def _read(pipeline: Pipeline, folder: str, depth: int) -> tuple[list[Access], str]:
    first = _unwrapped(pipeline[0])
    if first.name in SHELLS and depth < 3 and (script := _script(first.words)):
        inner = read_line(script, folder, depth + 1)
        accesses = list(inner.accesses)
        if len(pipeline) > 1 and accesses:
            accesses[-1] = _through(accesses[-1], pipeline[1:])
        return accesses, folder
    access = _source(first, folder, depth)
    access = _through(access, pipeline[1:])
    if goal := pipeline[-1].writes:
        written = () if goal.startswith(("$", "/dev/")) else (placed(goal, folder),)
        access = Access(StepKind.OTHER, (), (*access.edited, *written), access.missed)
    return [access._replace(folder=folder)], folder


def _through(access: Access, filters: Sequence[Program]) -> Access:
    for program in filters:
        access = _filtered(access, _unwrapped(program))
    return access


def _unwrapped(program: Program) -> Program:
    """Return the program that a wrapper such as timeout runs."""
    words = program.words
    while words and words[0].rpartition("/")[2] in WRAPPERS:
        least = WRAPPERS[words[0].rpartition("/")[2]]
        rest = list(words[1:])
        while rest and (rest[0].startswith("-") or "=" in rest[0].split("/")[0]):
            rest.pop(0)
        rest = rest[least:]
        if not rest:
            break
        words = tuple(rest)
    return program._replace(words=words)


def _script(words: Sequence[str]) -> str:
    for at, word in enumerate(words[1:-1], 1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c"):
            return words[at + 1]
    return ""


def _source(program: Program, folder: str, depth: int) -> Access:
    """Return what the first program of a pipeline reads."""
    name, words = program.name, program.words
    if rule := SOURCES.get(name):
        return rule(words, folder)
    if name == "xargs":
        inner = _xargs(words)
        return _source(inner, folder, depth + 1) if inner and depth < 3 else NOTHING
    if name in OTHER | COUNTERS | SHELLS or name.startswith((".", "$")) or _is_own(words[0]):
        return NOTHING
    return Access(StepKind.UNKNOWN, missed=" ".join(words)[:80])


def _is_own(name: str) -> bool:
    """Return whether a program is one of the repository, or named by its path."""
    return "/" in name or name.endswith((".sh", ".py", ".exe", ".out"))


def _shown(parts: Sequence[TextRange]) -> Access:
    return Access(StepKind.SHOWN, tuple(parts)) if parts else NOTHING


def _filtered(access: Access, program: Program) -> Access:
    """Return what is left of *access* behind *program* in a pipe."""
    name, words = program.name, program.words
    if name == "xargs" and (inner := _xargs(words)):
        return _of_names(inner)
    if access.kind is StepKind.SHOWN:
        return _of_text(access.parts, name, words)
    # A filter of names or matches leaves some of them.
    return NOTHING if name in COUNTERS | SHELLS else access


def _of_text(parts: tuple[TextRange, ...], name: str, words: Sequence[str]) -> Access:
    """Return what a filter leaves of the lines of files."""
    if name in GREPS:
        return Access(StepKind.SEARCHED, parts)
    if name in CUTTERS:
        return _shown([cut(part, name, words) for part in parts])
    if name in KEEPS:
        return _shown(parts)
    return _unnumbered(parts) if name in TEXT_FILTERS else NOTHING


def _of_names(inner: Program) -> Access:
    """Return what a program makes of names that only the output tells: xargs, find -exec."""
    if inner.name in GREPS:
        return Access(StepKind.SEARCHED)
    if inner.name in PAGERS | CUTTERS:
        return Access(StepKind.SHOWN)
    return Access(StepKind.LISTED) if inner.name in LISTERS | COUNTERS else NOTHING


def _xargs(words: Sequence[str]) -> Program | None:
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in ("-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E") and rest:
            rest.pop(0)
    return Program(tuple(rest)) if rest else None


def _sed(words: Sequence[str], folder: str) -> Access:
    names = operands(words, frozenset(("-e", "--expression", "-ne", "-f")))
    has_option = any(word in ("-e", "-ne", "--expression", "-f") for word in words)
    files = names if has_option else names[1:]
    paths = [placed(path, folder) for path in files]
    if any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in words[1:]):
        return Access(StepKind.OTHER, (), tuple(paths))
    ranges = all_ranges(words) if is_quiet(words) else []
    if len(ranges) > 1:
        return _shown([TextRange(path, low, high) for path in paths for low, high in ranges])
    return _shown([cut(TextRange(path), "sed", words) for path in paths])


def _awk(words: Sequence[str], folder: str) -> Access:
    names = operands(words, frozenset(("-F", "-v", "-f")))
    return _shown([cut(TextRange(placed(path, folder)), "awk", words) for path in names[1:]])


def _head(words: Sequence[str], folder: str) -> Access:
    names = operands(words, frozenset(("-n", "-c", "--lines", "--bytes")))
    names = [name for name in names if not name.startswith("+")]
    name = words[0].rpartition("/")[2]
    return _shown([cut(TextRange(placed(path, folder)), name, words) for path in names])


def _grep(words: Sequence[str], folder: str) -> Access:
    if words[0].rpartition("/")[2] == "rg" and "--files" in words:
        return Access(StepKind.LISTED)
    names = operands(words, GREP_TAKES)
    given = any(re.match(r"-[A-Za-z]*[ef]$|--regexp|--file", word) for word in words[1:])
    files = names if given else names[1:]
    return Access(
        StepKind.SEARCHED, tuple(TextRange(placed(path, folder), -1, -1) for path in files)
    )


def _list(words: Sequence[str], _folder: str) -> Access:
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-x", "-X", "--exec") and at + 1 < len(words):
            inner = tuple(part for part in words[at + 1 :] if part not in (";", "+", "{}"))
            if inner:
                return _of_names(_unwrapped(Program(inner)))
    if "-delete" in words:
        return NOTHING
    return Access(StepKind.LISTED)


def _git(words: Sequence[str], folder: str) -> Access:
    names = [word for word in words[1:] if not word.startswith("-")]
    at = next((n for n, word in enumerate(words[1:], 1) if not word.startswith("-")), 0)
    if at and words[at - 1] in ("-C", "-c"):
        folder = placed(words[at], folder) if words[at - 1] == "-C" else folder
        return _git(("git", *words[at + 1 :]), folder)
    verb = names[0] if names else ""
    if verb == "grep":
        return _grep(tuple(words[words.index("grep") :]), folder)
    if verb in ("ls-files", "ls-tree"):
        return Access(StepKind.LISTED)
    if verb == "show":
        files = [word.split(":", 1)[1] for word in names[1:] if ":" in word]
        return _shown([TextRange(placed(path, folder)) for path in files if path])
    if verb == "blame":
        return _shown([TextRange(placed(path, folder)) for path in names[1:][-1:]])
    return NOTHING


def _open(words: Sequence[str], folder: str) -> Access:
    """Return what SWE-agent's open, goto and scrolling show: the output says which lines."""
    names = [word for word in words[1:] if not word.isdigit()]
    return Access(
        StepKind.SHOWN, tuple(TextRange(placed(path, folder), -1, -1) for path in names[:1])
    )


def _search_file(words: Sequence[str], folder: str) -> Access:
    return Access(
        StepKind.SEARCHED, tuple(TextRange(placed(path, folder), -1, -1) for path in words[2:3])
    )


def _edit(words: Sequence[str], folder: str) -> Access:
    names = [word for word in words[1:2] if "." in word]
    return Access(StepKind.OTHER, (), tuple(placed(path, folder) for path in names))


def _str_replace_editor(words: Sequence[str], folder: str) -> Access:
    verb, path = (*words[1:3], "", "")[:2]
    if verb != "view":
        return Access(StepKind.OTHER, (), (placed(path, folder),) if path else ())
    numbers = [int(word) for word in re.findall(r"-?\d+", " ".join(words[3:]))]
    span = (numbers[0], END if numbers[1] < 0 else numbers[1]) if len(numbers) > 1 else (0, 0)
    return _shown([TextRange(placed(path, folder), *span)])


def _page(words: Sequence[str], folder: str) -> Access:
    return _shown([TextRange(placed(path, folder)) for path in operands(words)])


def _text(words: Sequence[str], folder: str) -> Access:
    return _unnumbered([TextRange(placed(path, folder)) for path in operands(words)])


def _unnumbered(parts: Sequence[TextRange]) -> Access:
    """Return *parts* as text whose lines are not known."""
    return _shown([TextRange(part.path, -1, -1) for part in parts])


def _jq(words: Sequence[str], folder: str) -> Access:
    return _text(("jq", *operands(words)[1:]), folder)


# What a program shows that begins a pipeline, from its words and the folder.
SOURCES: Mapping[str, Callable[[Sequence[str], str], Access]] = {
    **dict.fromkeys(TEXT_FILTERS - OTHER | KEEPS, _text),
    **dict.fromkeys(PAGERS | DUMPS, _page),
    **dict.fromkeys(GREPS, _grep),
    **dict.fromkeys(LISTERS, _list),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk"), _awk),
    **dict.fromkeys(("head", "tail"), _head),
    "git": _git,
    "diff": _text,
    "jq": _jq,
    # SWE-agent's own commands.
    **dict.fromkeys(("open", "goto", "scroll_up", "scroll_down"), _open),
    "search_dir": lambda *_: Access(StepKind.SEARCHED),
    "search_file": _search_file,
    "find_file": lambda *_: Access(StepKind.LISTED),
    **dict.fromkeys(("create", "edit", "insert", "undo_edit"), _edit),
    "str_replace_editor": _str_replace_editor,
}
