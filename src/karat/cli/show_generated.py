"""What karat generate says about the gold set that it made."""

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import click

from karat.cli.options import Output
from karat.cli.show import drawn
from karat.report.table import Cell, Column, Table
from karat.report.text import printable

if TYPE_CHECKING:
    from karat.app.generate import Generated
    from karat.mining.mine import Mined
    from karat.model import Dataset

__all__ = ["show", "show_json"]

PLAIN = Output(style=None, per_query=False, path=None)
SAMPLES = 10
UNREADABLE_SHOWN = 3
# In this order; what only some sets have comes last.
TAGS = (
    *("repository", "complexity", "difficulty", "leak", "identifier"),
    *("category", "hardness", "attack"),
)


def show(made: "Generated", written: "Mapping[str, Dataset]") -> None:
    """Print the waterfall, what the cases are like, some to read, and what to type next."""
    tables = [_waterfall(one) for one in made.mined]
    click.echo(drawn([*tables, _kinds(made), _samples(made.dataset)], PLAIN))
    for warning in _warnings(made):
        click.echo(printable(f"note: {warning}"), err=True)
    for path, part in written.items():
        click.echo(f"wrote {len(part):,} cases to {printable(path)}")
    path, part = next(iter(written.items()))
    file = shlex.quote(path)
    click.echo(printable(f"next: karat evaluate {file} --engine bm25"))
    click.echo(printable(f"      karat inspect {file} {shlex.quote(part.query_ids[0])}"))


def show_json(made: "Generated", written: "Mapping[str, Dataset]") -> None:
    """Print the metadata of the set, what its cases are like, and the files."""
    from karat.formats.jsontext import dumps

    value = {
        **made.dataset.metadata,
        "queries": dict(made.statuses),
        "model_failure": made.failure or None,
        "tags": {tag: dict(counts) for tag, counts in _counted(made.dataset)},
        "files": {path: len(part) for path, part in written.items()},
    }
    click.echo(dumps(value))


def _waterfall(mined: "Mined") -> Table:
    """Return the rules that dropped a commit, with their share of all commits."""
    fall = mined.waterfall
    left = fall.total
    rows = []
    for step in fall.steps:
        left -= step.dropped
        if step.dropped:
            share = f"{step.dropped / fall.total:.1%}"
            cells = (step.rule, f"{step.dropped:,}", share, f"{left:,}", step.why)
            rows.append(tuple(map(Cell, cells)))
    columns = (
        Column("rule"),
        Column("dropped", numeric=True),
        Column("share", numeric=True),
        Column("left", numeric=True),
        Column("why", spare=1),
    )
    title = f"{mined.path}: {fall.total:,} commits up to {mined.head[:12]}"
    return Table(title, columns, tuple(rows))


def _kinds(made: "Generated") -> Table:
    """Return how many queries are of which kind."""
    rows = [("files", _listed(_file_counts(made.dataset).items()))]
    rows += [(tag, _listed(counts.most_common())) for tag, counts in _counted(made.dataset)]
    rows.append(("wording", _listed(made.statuses.items())))
    return Table(
        f"{len(made.dataset):,} cases",
        (Column("kind"), Column("cases", spare=1)),
        tuple((Cell(kind), Cell(text)) for kind, text in rows),
    )


def _file_counts(dataset: "Dataset") -> Counter[str]:
    counts = [len(dataset.judgments(row)) for row in range(len(dataset))]
    names = {1: "1", 2: "2-3", 3: "2-3"}
    return Counter(names.get(count, "4 or more") for count in sorted(counts))


def _counted(dataset: "Dataset") -> Iterable[tuple[str, Counter[str]]]:
    for tag in TAGS:
        if tag in dataset.tags:
            yield tag, Counter(dataset.tags[tag])


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts)


def _samples(dataset: "Dataset") -> Table:
    """Return some cases to read, evenly spread, each of another commit."""
    first_of = {extra["commit_hash"]: row for row, extra in reversed([*enumerate(dataset.extras)])}
    firsts = sorted(first_of.values())
    rows = []
    for row in firsts[:: max(len(firsts) // SAMPLES, 1)][:SAMPLES]:
        paths = list(dataset.judgments(row))
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        rows.append((Cell(dataset.texts[row]), Cell(f"{paths[0]}{more}")))
    return Table("", (Column("query"), Column("should find", spare=1)), tuple(rows))


def _warnings(made: "Generated") -> Iterable[str]:
    """Yield what a user should know about what was left out or did not work."""
    for one in made.mined:
        losses = one.losses
        yield from losses.notes
        if losses.skipped:
            yield f"files left out of the truth: {_listed(losses.skipped.most_common())}"
        if losses.unreadable:
            shown = ", ".join(commit[:12] for commit, _ in losses.unreadable[:UNREADABLE_SHOWN])
            reason = losses.unreadable[0].reason
            yield f"{len(losses.unreadable):,} commits cannot be read ({shown}...): {reason}"
    if made.failure:
        yield f"the model did not always answer: {made.failure}"
