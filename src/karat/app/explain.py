"""Why a benchmark has missed what it has: its engines are asked again when it ends."""

from collections.abc import Mapping

from karat.app.kept_losses import losses_of
from karat.app.losses import with_losses
from karat.app.results import scored
from karat.app.settings import Confidence
from karat.app.where import Where
from karat.errors import InputError
from karat.store.service import ServiceStore

__all__ = ["explain"]

# Which targets were missed does not depend on how sure the means are.
QUICK = Confidence(draws=99, pairs="baseline")


def explain(store: ServiceStore, benchmark: str) -> None:
    """Keep for each completed run of *benchmark* why it has missed what it has.

    InputError is raised where the documents have changed since they were searched.
    """
    found = scored(store, store.benchmarks.get(benchmark), confidence=QUICK)
    where = found.experiment.config.get("where")
    if not isinstance(where, Mapping):
        raise InputError(f"experiment {found.experiment.id} does not say where it has searched")
    explained = with_losses(found.findings, Where(**where))
    for run, lost in zip(found.runs, losses_of(explained), strict=True):
        store.losses.keep(run.id, lost)
