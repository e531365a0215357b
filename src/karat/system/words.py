"""English lists and counts for messages."""

import re
from collections.abc import Sequence

# Longer lists of names are cut.
MOST_NAMED = 5


def join_names(names: Sequence[str]) -> str:
    """Return *names* as an English list.

    >>> join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def first_few(names: Sequence[str]) -> Sequence[str]:
    """Return *names*; if there are too many, the first ones and the number of others.

    >>> first_few(list("abcdefg"))
    ['a', 'b', 'c', 'd', '3 others']
    """
    if len(names) <= MOST_NAMED:
        return names
    return [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]


def first_line(text: str) -> str:
    r"""Return the first line of *text*.

    >>> first_line("exit code 1: ValueError: no index\n    Traceback"), first_line("")
    ('exit code 1: ValueError: no index', '')
    """
    return text.partition("\n")[0]


def counted(count: int, noun: str) -> str:
    """Return the number with its noun.

    >>> counted(1, "hit"), counted(1200, "hit"), counted(2, "query")
    ('1 hit', '1,200 hits', '2 queries')
    """
    return f"1 {noun}" if count == 1 else f"{count:,} {plural(noun)}"


def plural(noun: str) -> str:
    """Return several of *noun*.

    >>> plural("key"), plural("query"), plural("corpus")
    ('keys', 'queries', 'corpora')
    """
    if noun.endswith("corpus"):
        return f"{noun.removesuffix('us')}ora"
    return f"{noun[:-1]}ies" if noun[-2:-1] not in "aeiou" and noun[-1] == "y" else f"{noun}s"


def number_duplicates(names: Sequence[str]) -> list[str]:
    """Return *names* with a number appended to each name that occurs more than once."""
    distinct: list[str] = []
    for position, name in enumerate(names, 1):
        candidate = name if names.count(name) == 1 else f"{name}-{position}"
        while candidate in distinct or (candidate != name and candidate in names):
            candidate += "'"
        distinct.append(candidate)
    return distinct


def range_text(path: str, start_line: int, end_line: int) -> str:
    """Return *path* with its lines; without lines, the path alone.

    >>> range_text("a.py", 3, 9), range_text("a.py", 0, 0)
    ('a.py:3-9', 'a.py')
    """
    return f"{path}:{start_line}-{end_line}" if end_line else path


def is_encodable(text: str) -> bool:
    r"""Return whether *text* can be written as UTF-8: half of a surrogate pair cannot.

    >>> is_encodable("größe"), is_encodable("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Options of the command line that functions of Python take as keywords.
SHARED_OPTIONS = ("root", "strip-prefix", "cut-at", "match", "depth", "kind", "judge-labels")
OPTIONS = rf"(?<!\S)(?:--(?:{'|'.join(SHARED_OPTIONS)}) (?:'(?:[^']|'\"'\"')*'|\S*[^\s.;,)])\s?)+"


def options_as_arguments(text: str) -> str:
    """Return *text* with the options in it as arguments of a Python function.

    An absolute root is one of a run that was made without a corpus.

    >>> options_as_arguments("add --strip-prefix x/ --cut-at '#'; or cut all with --depth 5.")
    "add strip_prefix=['x/'], cut_at='#'; or cut all with depth=5."
    >>> options_as_arguments("add --root /abs/docs")
    "add root='/abs/docs', or corpus='/abs/docs' to karat.run"
    """
    return re.sub(OPTIONS, _arguments, text)


def _arguments(match: re.Match[str]) -> str:
    import shlex

    words = shlex.split(match[0])
    arguments = []
    for option, value in zip(words[::2], words[1::2], strict=True):
        name = option.removeprefix("--").replace("-", "_")
        literal = value if name == "depth" else repr([value] if name == "strip_prefix" else value)
        arguments.append(f"{name}={literal}")
        if name == "root" and value.startswith("/"):
            arguments[-1] += f", or corpus={value!r} to karat.run"
    return ", ".join(arguments) + " " * match[0].endswith(" ")
