"""Update a gold set to a newer commit, and report lost targets."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from karat.app.convert import refuse_overwriting, write_like
from karat.errors import InputError
from karat.experiments.snapshots import NOWHERE_ELSE, homes, part_of
from karat.extensions.mining.carry import CarriedDataset, carry
from karat.formats import FORMATS, detect, read_dataset
from karat.formats.base import losses
from karat.model import Dataset
from karat.model.dataset import MASKS
from karat.model.frozen import EMPTY


@dataclass(frozen=True, slots=True)
class Carrying:
    """The result of updating a file, which had *queries* and *targets*.

    *commits* has the new commit of each repository by its name, which is "" where there is only
    one. *target* is the file that was written, "" where none was asked for; *warnings* name what
    its format cannot express.
    """

    source: str
    queries: int
    targets: int
    carried: CarriedDataset
    commits: Mapping[str, str]
    target: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def commit_names(self) -> str:
        """Return the new commits, shortened; of several repositories with their names."""
        return ", ".join(f"{name} {commit[:12]}".strip() for name, commit in self.commits.items())


def carry_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str] | None,
    *,
    to: str | Sequence[str],
    repositories: Mapping[str, str] = NOWHERE_ELSE,
    base: str | None = None,
    format: str | None = None,  # noqa: A002 - the word users write
    columns: Mapping[str, str] = EMPTY,
    force: bool = False,
) -> Carrying:
    """Carry the gold set *source* to the revision *to* and write it to *target*, if that is named.

    A repository is by default the one that the set names, else the current folder; *repositories*
    has the folders of others by name. Of a set of several, each is carried by itself: *to* may be
    one revision for all, or ``name=revision`` for each. Cases without a ``base_commit`` come from
    the revision of their repository, or from *base*. The format stays the same where the name of
    *target* fits it. The source is never overwritten; another file only with *force*.
    """
    if target is not None:
        refuse_overwriting(Path(source), Path(target), force=force)
    named = format or ("csv" if columns else None)
    chosen = FORMATS.get(named) if named else detect(source, kind="dataset")
    data = read_dataset(source, format=chosen.name, columns=columns)
    if data.metadata.get(MASKS):
        raise InputError(
            f"{os.fspath(source)}: its masked lines belong to the version that it was generated "
            "from and cannot be carried; generate it again at the newer revision "
            "(karat generate --from ... --branch REVISION)"
        )
    carried, commits = _carried(data, [to] if isinstance(to, str) else to, repositories, base)
    done = Carrying(os.fspath(source), len(data), len(data.grades), carried, commits)
    if target is None:
        return done
    output = os.fspath(target)
    if not carried.data.query_ids:
        raise InputError(
            f"{done.source}: no target exists at {done.commit_names} (first one: "
            f"{carried.lost[0].reason}); nothing was written"
        )
    written = write_like(carried.data, output, chosen)
    # A format may not store the new base commits: warn only about data that the source had.
    return replace(done, target=output, warnings=losses(data, written))


def _carried(
    data: Dataset, to: Sequence[str], moved: Mapping[str, str], base: str | None
) -> tuple[CarriedDataset, dict[str, str]]:
    """Return *data* with every repository carried, and the commit of each by its name."""
    parts: list[CarriedDataset] = []
    commits: dict[str, str] = {}
    rows_by_home = homes(data, moved, otherwise=".")
    revisions = _revisions(data, to, [home.name for home in rows_by_home])
    for home, rows in rows_by_home.items():
        carried = carry(
            part_of(data, rows),
            home.folder,
            to=revisions[home.name],
            base=base or home.revision or None,
        )
        commits[home.name] = carried.commit
        parts.append(carried)
    if len(parts) == 1:
        return parts[0], commits
    order = {query_id: row for row, query_id in enumerate(data.query_ids)}
    queries = [query for part in parts for query in part.data.queries()]
    queries.sort(key=lambda query: order[query.id])
    lost = sorted(
        (loss for part in parts for loss in part.lost), key=lambda loss: order[loss.query_id]
    )
    dropped = sorted((name for part in parts for name in part.dropped), key=order.__getitem__)
    whole = CarriedDataset(
        Dataset.of(
            queries,
            name=data.name,
            match=data.match,
            metadata={**data.metadata, "carried_to": commits},
        ),
        "",
        renamed=sum(part.renamed for part in parts),
        shifted=sum(part.shifted for part in parts),
        lost=tuple(lost),
        dropped=tuple(dropped),
    )
    return whole, commits


def _revisions(data: Dataset, to: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the revision of each repository: its own in *to*, or the one for all."""
    given: dict[str, str] = {}
    for text in to:
        name, sign, revision = text.partition("=")
        if not sign or name not in names:
            name, revision = "", text
        if name in given:
            whose = f" of {name}" if name else ""
            raise InputError(f"--to names two revisions{whose}: {given[name]!r} and {revision!r}")
        given[name] = revision
    lacking = [name for name in names if name not in given and "" not in given]
    if lacking:
        options = " ".join(f"--to {name}=REVISION" for name in lacking)
        raise InputError(f"{data.name}: no revision for {', '.join(lacking)}; expected {options}")
    return {name: given.get(name) or given[""] for name in names}
