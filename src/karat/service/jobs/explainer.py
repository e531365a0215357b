"""Why targets were lost is found out by a process of its own, which ends with that.

It loads the model of every engine once more: what it takes is free again when it has ended, and
whoever cancels a benchmark does not wait for it. It is given the store and the benchmark as one
line of JSON on its standard input, and ends with whoever holds the other end of that.
"""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import IO, TextIO, cast

from karat.app.losses import with_losses
from karat.errors import InputError
from karat.experiments.target_check import Where
from karat.experiments.workers.announcements import announce
from karat.scoring.settings import Confidence
from karat.service.losses import losses_of
from karat.service.observability.correlation import correlated, correlation_id
from karat.service.observability.logs import start_log
from karat.service.results import scored
from karat.service.store import ServiceStore

__all__ = ["explain", "explained", "main"]

logger = logging.getLogger("karat.explainer")

LOOK_S = 0.1
PATIENCE_S = 600.0


def explained(
    store: str,
    benchmark: str,
    *,
    stopped: Callable[[], bool],
    patience_s: float = PATIENCE_S,
) -> bool:
    """Have the reasons of *benchmark* kept in *store*; return whether that has come to its end.

    It has not where *stopped* came first, where it took longer than *patience_s*, and where
    something is wrong, which the log knows: results are complete without reasons.
    """
    deadline = monotonic() + patience_s
    given = {"store": store, "benchmark": benchmark, "correlation": correlation_id()}
    with subprocess.Popen(
        [sys.executable, "-m", "karat.service.jobs.explainer"], stdin=subprocess.PIPE, text=True
    ) as process:
        try:
            with suppress(BrokenPipeError):  # It has ended already, and says how.
                pipe = cast("IO[str]", process.stdin)
                pipe.write(json.dumps(given) + "\n")
                pipe.flush()
            while not stopped() and monotonic() < deadline:
                try:
                    return process.wait(LOOK_S) == 0
                except subprocess.TimeoutExpired:
                    continue
            logger.warning("reasons were not waited for", extra={"benchmark": benchmark})
            return False
        finally:
            process.kill()


def main(source: TextIO = sys.stdin) -> int:
    """Explain what the first line of *source* names, and return the exit code."""
    start_log()
    given = json.loads(source.readline())

    def watch() -> None:
        source.read()
        os._exit(1)

    Thread(target=watch, name="watch", daemon=True).start()
    with (
        correlated(given["correlation"]),
        # So that runs that measure latency see it.
        announce("explain"),
        ServiceStore(given["store"]) as store,
    ):
        try:
            explain(store, given["benchmark"])
        except Exception:  # Also what a model raises: only the log keeps secrets to itself.
            logger.exception("no reasons were found", extra={"benchmark": given["benchmark"]})
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())


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
