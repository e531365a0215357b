"""What a store holds, found by what a user writes: an id, the beginning of one, or ``latest``."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from karat.errors import InputError, UnknownName
from karat.model import Run
from karat.model.timings import NS_PER_MS, Measured, latency_ms
from karat.store import Experiment, Store, StoredRun

if TYPE_CHECKING:
    from karat.store import SqlStore

__all__ = ["DISTURBED", "LATEST", "Chosen", "choose", "open_store", "shown_place", "timed_run"]

LATEST = "latest"
# In the metadata of a run whose latencies were not measured alone.
DISTURBED = "disturbed"
# A folder of this name holds nothing but what Karat keeps.
OWN_FOLDER = ".karat"


class Chosen(NamedTuple):
    """An experiment and the runs of it that are meant: one, or all in the order planned."""

    experiment: Experiment
    runs: tuple[StoredRun, ...]


def open_store(place: str, *, new: bool = False) -> "SqlStore":
    """Return the store at *place*: a file, or the address of a PostgreSQL.

    Only with *new* a file is made where there is none. Of a folder ``.karat`` Git is told to leave
    it alone.
    """
    from karat.store import SqlStore

    if not new and "://" not in place and not Path(place).is_file():
        raise InputError(f"{place}: no store is here yet; karat evaluate and its like make one")
    store = SqlStore(place)
    folder = Path(place).parent
    if folder.name == OWN_FOLDER and not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return store


def shown_place(place: str) -> str:
    """Return *place* as it may stand in a log: of an address only the host and the database.

    >>> shown_place(".karat/karat.db"), shown_place("postgresql://ann:secret@db.example/karat")
    ('.karat/karat.db', 'postgresql://db.example/karat')
    """
    if "://" not in place:
        return place
    parts = urlsplit(place)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def choose(store: Store, name: str) -> Chosen:
    """Return what *name* means in *store*.

    It is the id of an experiment or of a run, a point and a number from 1 after that of its
    experiment. The id of an experiment may be shortened, and ``latest`` is the newest.
    """
    prefix, point, position = name.partition(".")
    experiment = store.latest() if prefix == LATEST else store.show(prefix)
    if not point:
        return Chosen(experiment, experiment.runs)
    run_id = f"{experiment.id}.{position}"
    runs = tuple(run for run in experiment.runs if run.id == run_id)
    if not runs:
        raise UnknownName(
            f"no run {name!r}; experiment {experiment.id} has those from 1 to "
            f"{len(experiment.runs)}"
        )
    return Chosen(experiment, runs)


def timed_run(measured: Measured) -> Run:
    """Return the run with the latencies that were measured after its answers were kept.

    Its metadata say where other work has disturbed them.
    """
    samples = measured.timings.samples if measured.timings else ()
    times = {sample.query_id: round(latency_ms(sample) * NS_PER_MS) for sample in samples}
    answers = (
        answer._replace(latency_ns=times.get(answer.query_id, answer.latency_ns))
        for answer in measured.run.answers()
    )
    metadata = dict(measured.run.metadata)
    if measured.timings and not measured.timings.alone:
        metadata[DISTURBED] = True
    return Run.of(answers, name=measured.name, metadata=metadata)
