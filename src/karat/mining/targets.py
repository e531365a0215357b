"""Build the targets of a case: whole files, line ranges or definitions."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from karat.corpus.chunkers.definitions import Symbol
from karat.mining.diffs import Region
from karat.mining.truth import FileTruth
from karat.model import Target

__all__ = ["MATCHES", "Grain", "targets"]


class Grain(StrEnum):
    """The unit of a target."""

    FILE = "file"
    LINE = "line"
    SYMBOL = "symbol"


# The matching mode for targets of each grain.
MATCHES: Mapping[Grain, str] = {Grain.FILE: "exact", Grain.LINE: "lines", Grain.SYMBOL: "symbol"}


def targets(files: Iterable[FileTruth], grain: Grain) -> tuple[Target, ...]:
    """Return the targets in *files*, with grade 2 if code was changed, else 1.

    A line target is a range of the file before the change; adjacent ranges are joined. It has the
    name of the definition around it, if there is exactly one. A symbol target is a definition with
    its lines. A file without lines or definitions is a target as a whole.

    >>> login = Symbol("login", "function", 10, 30)
    >>> changed = (Region(12, 13, 2, (login,)), Region(13, 14, 1, (login,)))
    >>> file = FileTruth("auth.py", "b0", "M", "auth.py", changed)
    >>> targets([file], Grain.LINE)[0][:4], targets([file], Grain.SYMBOL)[0][:5]
    (('auth.py', 2, 12, 14), ('auth.py', 2, 10, 30, 'login'))
    """
    return tuple(target for file in files for target in _FINDERS[grain](file) or [_whole(file)])


def _whole(file: FileTruth) -> Target:
    return Target(file.path, file.grade)


def _lines(file: FileTruth) -> list[Target]:
    return [
        Target(file.path, region.grade, region.start_line, region.end_line, _only(region.symbols))
        for region in _joined(file.regions)
    ]


def _joined(regions: Iterable[Region]) -> Iterator[Region]:
    """Yield *regions* by line; overlapping and adjacent ones are joined."""
    last: Region | None = None
    for region in sorted(regions):
        if last is None:
            last = region
        elif region.start_line <= last.end_line + 1:
            last = Region(
                last.start_line,
                max(last.end_line, region.end_line),
                max(last.grade, region.grade),
                tuple(dict.fromkeys((*last.symbols, *region.symbols))),
            )
        else:
            yield last
            last = region
    if last:
        yield last


def _only(symbols: tuple[Symbol, ...]) -> str:
    return symbols[0].name if len(symbols) == 1 else ""


def _symbols(file: FileTruth) -> list[Target]:
    grades: dict[Symbol, int] = {}
    for region in file.regions:
        for symbol in region.symbols:
            grades[symbol] = max(region.grade, grades.get(symbol, 0))
    return [
        Target(file.path, grade, symbol.start_line, symbol.end_line, symbol.name)
        for symbol, grade in grades.items()
    ]


_FINDERS: Mapping[Grain, Callable[[FileTruth], list[Target]]] = {
    Grain.FILE: lambda _: [],
    Grain.LINE: _lines,
    Grain.SYMBOL: _symbols,
}
