"""Loss reasons of a benchmark, computed by a child process that ends when they are stored.

It loads the models of all engines again. A process of its own frees that memory at its end, and can
be killed when the benchmark is cancelled.
"""

import logging
import os
from collections.abc import Callable, Mapping
from time import sleep

from karat.app.loss_reasons import LossSearch, MissedTargets, missed_targets
from karat.errors import InputError, ProcessError, StoreUnavailable
from karat.experiments.store import StoredRun
from karat.experiments.store.database import log_retry
from karat.experiments.target_check import Where
from karat.experiments.workers.announcements import announce
from karat.extensions.service.judging_pool import edited
from karat.extensions.service.logs import correlated, correlation_id, start_log
from karat.extensions.service.results import ScoredBenchmark, losses_of
from karat.extensions.service.store import ServiceStore
from karat.model import Run
from karat.model.timings import RunResult
from karat.scoring.settings import Scoring
from karat.system.processes import ChildProcess, Message, ParentLink

logger = logging.getLogger("karat.losses")

POLL_S = 0.1
RETRY_S = 2.0
TIMEOUT_S = 600.0


class _JobCancelled(Exception):
    """The benchmark was cancelled while its losses were being explained."""


def store_losses(
    store: str,
    scored: ScoredBenchmark,
    *,
    stopped: Callable[[], bool],
    timeout_s: float = TIMEOUT_S,
) -> bool:
    """Store the loss reasons of *scored* in *store*; return whether all of them are stored.

    They are not where *stopped* became true, after *timeout_s*, and after an error, which is in the
    log: results are complete without loss reasons. The child process gets the missed targets: it
    neither reads the runs nor scores them.
    """

    def check(_: object) -> None:
        if stopped():
            raise _JobCancelled

    child = ChildProcess.python("karat.extensions.service.jobs.loss_reasons", capture_stderr=False)
    try:
        check(None)
        answer = child.request(loss_request(store, scored), timeout_s, on_tick=check, tick_s=POLL_S)
    except (_JobCancelled, EOFError, TimeoutError, ValueError, ProcessError) as error:
        about = {"benchmark": scored.benchmark.id, "reason": type(error).__name__.strip("_")}
        logger.warning("loss reasons were not stored", extra=about)
        return False
    finally:
        child.kill_tree()
    return bool(answer["stored"])


def loss_request(store: str, scored: ScoredBenchmark) -> Message:
    """Return the request for the loss reasons of *scored*."""
    missed = missed_targets(scored.findings)
    return {
        "store": store,
        "benchmark": scored.benchmark.id,
        "correlation": correlation_id(),
        "version": scored.version,
        "k": scored.findings.k,
        "missed": [
            [row, run, targets] for row, runs in missed.items() for run, targets in runs.items()
        ],
        "corpora": [_corpora(each) for each in scored.findings.runs],
    }


def _corpora(measured: RunResult) -> list[str]:
    """Return the snapshots that a run has searched."""
    known = measured.notes.get("corpora")
    return [str(each) for each in known] if isinstance(known, list | tuple) else []


def main() -> None:
    """Explain the losses of the benchmark in the first request, and answer whether that worked."""
    start_log()
    link = ParentLink()
    request = link.receive()
    link.when_closed(lambda: os._exit(1))
    link.send({"stored": explained(request)})


def explained(request: Message) -> bool:
    """Explain the losses in *request*; return whether their reasons are stored."""
    about = {"benchmark": request["benchmark"]}
    # Announced, so that runs that measure latency wait for it.
    with correlated(request["correlation"]), announce("explain"):
        while True:
            try:
                with ServiceStore(request["store"]) as store:
                    explain(store, request)
                return True
            except StoreUnavailable as error:  # The parent ends this process if that lasts.
                log_retry(logger, "loss reasons cannot be stored", error, **about)
                sleep(RETRY_S)
            except Exception:  # A model may raise anything; only the log redacts secrets.
                logger.exception("loss reasons could not be computed", extra=about)
                return False


def explain(store: ServiceStore, request: Message) -> None:
    """Store for each completed run why it has missed the targets in *request*.

    InputError is raised where the documents have changed since the runs.
    """
    benchmark = store.benchmarks.get(request["benchmark"])
    if benchmark.experiment is None:
        raise InputError(f"benchmark {benchmark.id} has no experiment")
    experiment = store.results.show(benchmark.experiment)
    where = experiment.config.get("where")
    if not isinstance(where, Mapping):
        raise InputError(f"experiment {experiment.id} does not record which corpus it searched")
    completed = [run for run in experiment.runs if run.scored]
    judgments = [
        each
        for each in store.judgments.all(benchmark.dataset)
        if each.version <= request["version"]
    ]
    gold = edited(store.results.dataset(experiment.dataset), judgments)
    missed: MissedTargets = {}
    for row, run, targets in request["missed"]:
        missed.setdefault(row, {})[run] = targets
    search = LossSearch(
        gold,
        [_without_hits(*each) for each in zip(completed, request["corpora"], strict=True)],
        Scoring(),
        request["k"],
    )
    losses = search.losses(missed, Where.from_json(where)) if missed else {}
    for run, lost in zip(completed, losses_of(gold, losses, len(completed)), strict=True):
        store.losses.keep(run.id, lost)


def _without_hits(run: StoredRun, corpora: list[str]) -> RunResult:
    hits = Run.of([], name=run.label, metadata=run.metadata)
    return RunResult(hits, None, run.engine.digest, run.label, {"corpora": corpora})


if __name__ == "__main__":
    main()
