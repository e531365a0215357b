"""Lines that head, tail, sed and awk leave of a file."""

import re
from collections.abc import Sequence

from karat.extensions.trace.record import TextRange

# Behind the last line of any file.
END = 10**9
# Several short options in a word, of which the last may have a value: grep -nC 3.
CLUSTER = re.compile(r"-[A-Za-z]{2,}")
RANGE = re.compile(r"^(\d+|\$)(?:,(\+?\d+|\$))?p$")
AWK_BETWEEN = re.compile(r"NR\s*>=?\s*(\d+)\s*&&\s*NR\s*<=?\s*(\d+)")
AWK_COMMA = re.compile(r"NR\s*==\s*(\d+)\s*,\s*NR\s*==\s*(\d+)")
AWK_ONE = re.compile(r"NR\s*==\s*(\d+)")


def operands(words: Sequence[str], takes: frozenset[str] = frozenset()) -> list[str]:
    """Return the words that are no options; options in *takes* have a word of their own."""
    names: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            names += rest
        elif word in takes or (CLUSTER.fullmatch(word) and f"-{word[-1]}" in takes):
            next(rest, None)
        elif not word.startswith("-") or word == "-":
            names.append(word)
    return [name for name in names if name != "-"]


def cut(part: TextRange, name: str, words: Sequence[str]) -> TextRange:
    """Return the lines of *part* that head, tail, sed -n or awk leaves."""
    if not part.has_lines:
        return part
    start, end = part.start or 1, part.end or END
    spans = _spans(name, words)
    if spans is None:
        return TextRange(part.path, -1, -1)
    low, high = spans
    cut = TextRange(part.path, start + low - 1, min(end, start + high - 1))
    return TextRange(part.path) if cut[1:] == (1, END) else cut


def _spans(name: str, words: Sequence[str]) -> tuple[int, int] | None:
    """Return the first and last line that a filter leaves, None if that is not known."""
    if name == "head":
        count = _count(words)
        return (1, count) if count > 0 else None
    if name == "tail":
        from_line = re.search(r"(?:^| )(?:-n ?)?\+(\d+)", " ".join(words[1:]))
        return (int(from_line[1]), END) if from_line else None
    if name == "sed":
        return _sed_span(words)
    program = " ".join(words[1:])
    for pattern in (AWK_BETWEEN, AWK_COMMA):
        if match := pattern.search(program):
            return int(match[1]), int(match[2])
    match = AWK_ONE.search(program)
    return (int(match[1]), int(match[1])) if match else None


def _count(words: Sequence[str]) -> int:
    text = " ".join(words[1:])
    match = re.search(r"(?:-n ?|--lines[= ]|-)(-?\d+)", text)
    if match:
        return int(match[1])
    return 0 if re.search(r"-c ?\d|--bytes", text) else 10


def _sed_span(words: Sequence[str]) -> tuple[int, int] | None:
    """Return the lines that ``sed -n 5,9p`` prints, all of them for a sed that only changes."""
    script = _sed_script(words)
    if not is_quiet(words):
        return (1, END)
    pieces = [piece.strip() for piece in re.split(r"[;\n]", script) if piece.strip()]
    ranges = [RANGE.match(piece.replace(" ", "")) for piece in pieces]
    lows, highs = [], []
    for match in ranges:
        if match is None:
            continue
        low = END if match[1] == "$" else int(match[1])
        high = match[2] or match[1]
        lows.append(low)
        highs.append(
            END if high == "$" else low + int(high[1:]) if high.startswith("+") else int(high)
        )
    return (min(lows), max(highs)) if lows else None


def is_quiet(words: Sequence[str]) -> bool:
    """Return whether sed prints only what its script asks for."""
    return any(re.fullmatch(r"-[a-zA-Z]*n[a-zA-Z]*|--quiet|--silent", word) for word in words[1:])


def _sed_script(words: Sequence[str]) -> str:
    for at, word in enumerate(words[:-1]):
        if word in ("-e", "--expression") or re.fullmatch(r"-[a-zA-Z]*e", word):
            return words[at + 1]
    return next(iter(operands(words)), "")


def all_ranges(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return each of the ranges in ``sed -n '1,5p;9,12p'`` or ``-e 1,5p -e 9,12p``."""
    scripts = [
        words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-e", "--expression", "-ne")
    ]
    ranges = []
    for script in scripts or [_sed_script(words)]:
        for piece in re.split(r"[;\n]", script):
            match = RANGE.match(piece.replace(" ", ""))
            if match and match[1] != "$":
                low = int(match[1])
                high = match[2] or match[1]
                last = END if high == "$" else low + int(high[1:]) if high[0] == "+" else int(high)
                ranges.append((low, last))
    return ranges
