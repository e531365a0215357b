"""The searched snapshots of an experiment, and the targets that they contain."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karat.model.frozen import EMPTY


@dataclass(frozen=True, slots=True)
class CorpusCoverage:
    """The searched snapshots, and how many of the relevant targets they contain.

    *snapshot* is ``parent``, ``base``, ``head`` or ``child``; ``carried`` if the dataset was
    carried to *revision*, and ``corpus`` if all queries are run on one corpus. *place* is the
    repository or the corpus. *candidates* is ``production`` (without tests) or ``all``. *fewest*
    and *most* count the documents of a snapshot. A target is unresolved if its path is not in the
    snapshot of its query; *lost_queries* have no other target.

    *left_out* counts the relevant targets that exist and are not searched; *skipped_targets* has
    the reason of each, by path. *kind* is ``docs``, ``code`` or ``all``, chosen by an option or by
    the dataset (*kind_from*); *other_kind* counts the documents of other kinds that a snapshot has.
    If nothing chose a kind and all targets have one, that is *suggested_kind*, and *other_kind*
    counts what it would leave out. *include* and *exclude* are globs. *skipped* is a sentence on
    files that could not be read, which *skipped_files* lists by reason. *missing* are some of the
    unresolved targets that do not exist, *hint* is an option with which more of them exist, and
    *suggestions* has hints on single ones, by path. *masked* says that lines which queries were
    made from are hidden from the engines.
    """

    snapshot: str
    place: str
    candidates: str
    trees: int
    fewest: int
    most: int
    targets: int
    unresolved: int
    lost_queries: int
    revision: str = ""
    kind: str = "all"
    kind_from: str = ""
    suggested_kind: str = ""
    other_kind: int = 0
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    skipped: str = ""
    skipped_files: Mapping[str, Sequence[str]] = EMPTY
    skipped_targets: Mapping[str, str] = EMPTY
    missing: tuple[str, ...] = ()
    masked: bool = False
    hint: str = ""
    suggestions: Mapping[str, str] = EMPTY
    left_out: int = 0
