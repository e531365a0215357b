"""A gold set that several processes change at the same time, saved with every change."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from karat.errors import InputError
from karat.formats import FORMATS, detect, read_dataset, write
from karat.formats.base import writable
from karat.model import Dataset, Query, Target
from karat.model.frozen import EMPTY
from karat.system.locks import in_turn


class GoldFile:
    """The gold set in the file *path*; *data* is the newest state that is known here.

    A change is applied to the file as it is at that moment, under a lock that all processes share,
    and the file is replaced as a whole. So changes that others made meanwhile are kept.
    """

    def __init__(self, data: Dataset, path: str | os.PathLike[str]) -> None:
        """Start from *data*, read from *path* or to be saved there; InputError if it cannot be."""
        check_savable(data, path)
        self._set(data)
        self.path = Path(path)
        # The file may have changed since the caller read it: the first change reads it again.
        self._stamp: tuple[int, int, int] | None = None

    def change(self, edits: Mapping[str, Callable[[Query], Query]]) -> None:
        """Apply each of *edits* to the query with its id and save the result.

        An edit that returns the query itself changes nothing. Ids of queries that are no longer in
        the file are ignored.
        """

        def edited(data: Dataset) -> Dataset:
            old = list(data.queries())
            new = [edits[query.id](query) if query.id in edits else query for query in old]
            same = all(one is two for one, two in zip(old, new, strict=True))
            return data if same else data.with_queries(new)

        self.change_all(edited)

    def change_all(self, edit: Callable[[Dataset], Dataset]) -> None:
        """Apply *edit* to the gold set and save the result, unless it returns the set itself."""
        with in_turn(self.path.resolve().parent):
            self._refresh()
            data = edit(self.data)
            if data is not self.data:
                write(data, self.path, format="gold")
                self._set(data)
                self._stamp = self._stat()

    def targets(self, query_id: str) -> tuple[Target, ...] | None:
        """Return the targets of a query, None if the gold set does not have it."""
        row = self._row_of.get(query_id)
        return None if row is None else tuple(self.data.targets(row))

    def _set(self, data: Dataset) -> None:
        self.data = data
        self._row_of = {query_id: row for row, query_id in enumerate(data.query_ids)}

    def _refresh(self) -> None:
        stamp = self._stat()
        if stamp is None or stamp == self._stamp:
            return
        texts = dict(zip(self.data.query_ids, self.data.texts, strict=True))
        now = read_dataset(self.path, format="gold")
        # The texts may come from a file of topics.
        self._set(
            now.with_queries(
                query if query.text.strip() else query._replace(text=texts.get(query.id, ""))
                for query in now.queries()
            )
        )
        self._stamp = stamp

    def _stat(self) -> tuple[int, int, int] | None:
        """Return the inode, time and size of the file, None without a file."""
        if not self.path.is_file():
            return None
        stat = self.path.stat()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def check_savable(data: Dataset, path: str | os.PathLike[str]) -> None:
    """Raise InputError if *data* cannot be written to *path* in Karat's format."""
    if not all(text.strip() for text in data.texts):
        raise InputError(
            f"{data.name}: a gold set cannot hold queries without text; add the texts with "
            "--topics FILE"
        )
    writable(data, FORMATS.get("gold"))
    folder = Path(path).resolve().parent
    if not os.access(folder, os.W_OK):
        raise InputError(f"{os.fspath(path)}: cannot be written: no access to the folder {folder}")


def begun(
    goldset: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word users write
    columns: Mapping[str, str] = EMPTY,
    topics: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Return *goldset* with the judgments made so far: *output*, where that exists.

    *topics* is a file with the texts of the queries, for judgments that have none.
    """
    data = read_dataset(goldset, format=format, columns=columns, topics=topics)
    if output is None or not Path(output).exists():
        return data
    so_far = read_dataset(output, format="gold")
    if so_far.query_ids != data.query_ids:
        raise InputError(f"{os.fspath(output)}: exists already with other queries")
    return so_far


def save_path(
    goldset: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 - the word users write
) -> str | os.PathLike[str]:
    """Return where judgments are saved: *output*, else *goldset*, if that is in Karat's format."""
    if output is not None:
        return output
    chosen = FORMATS.get(format) if format else detect(goldset, kind="dataset")
    if chosen.name != "gold":
        raise InputError(
            f"{os.fspath(goldset)}: format {chosen.name!r} cannot store who judged a hit; "
            "write a gold set instead (-o FILE.json)"
        )
    return goldset
