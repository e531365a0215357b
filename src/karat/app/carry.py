"""Bring a gold set to a newer commit, and say what was lost on the way."""

import os
from dataclasses import dataclass
from pathlib import Path

from karat.app.convert import refuse_overwriting, write_like
from karat.app.repository import mined_from
from karat.errors import InputError
from karat.formats import FORMATS, detect, read_dataset
from karat.formats.losses import losses
from karat.mining.carry import Carried, carry

__all__ = ["Carrying", "carry_file"]


@dataclass(frozen=True, slots=True)
class Carrying:
    """What became of a file: *queries* and *targets* are those it had.

    *target* is the file that was written, "" where none was asked for; *warnings* name what its
    format cannot express.
    """

    source: str
    queries: int
    targets: int
    carried: Carried
    target: str = ""
    warnings: tuple[str, ...] = ()


def carry_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str] | None,
    *,
    to: str,
    repository: str | None = None,
    base: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users write
    force: bool = False,
) -> Carrying:
    """Carry the gold set *source* to the revision *to* and write it to *target*, if that is named.

    The *repository* is by default the one that the set names, else the one we are in. Cases without
    a ``base_commit`` come from the revision *base*. The format stays the same where the name of
    *target* fits it. The source is never overwritten; another file only with *force*.
    """
    if target is not None:
        refuse_overwriting(Path(source), Path(target), force=force)
    chosen = FORMATS.get(format) if format else detect(source, kind="dataset")
    data = read_dataset(source, format=chosen.name)
    carried = carry(data, repository or mined_from(data) or ".", to=to, base=base)
    done = Carrying(os.fspath(source), len(data), len(data.grades), carried)
    if target is None:
        return done
    place = os.fspath(target)
    if not carried.data.query_ids:
        raise InputError(
            f"{done.source}: nothing is left at {carried.commit[:12]}, the first loss because: "
            f"{carried.lost[0].reason}; nothing was written"
        )
    written = write_like(carried.data, place, chosen)
    # Of the new base commits a format may know nothing; what counts is what the source had.
    return Carrying(done.source, done.queries, done.targets, carried, place, losses(data, written))
