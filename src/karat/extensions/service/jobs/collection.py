"""The jobs of a collection: index its documents, and resolve the references of a dataset."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from karat.errors import UnknownName
from karat.extensions.service.collections import index_collection
from karat.extensions.service.datasets import resolve_mapping
from karat.extensions.service.jobs.job import JobContext
from karat.extensions.service.progress import COLLECTION_EVENT, MAPPING_EVENT
from karat.extensions.service.store import JobStatus

QUIET_S = 0.5


class IndexJob:
    """Indexes a collection; texts that were embedded before come from the cache."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """Report progress at most twice a second, by *clock*."""
        self._clock = clock

    def run(self, work: JobContext) -> None:
        """Index the documents and store the facts about them."""
        collections = work.store.collections
        collections.change(work.job.subject, status="indexing")
        work.report("running", "reading", event=COLLECTION_EVENT)
        reported = self._clock()

        def progress(done: int, total: int) -> None:
            nonlocal reported
            work.progressed()
            if self._clock() - reported >= QUIET_S:
                reported = self._clock()
                work.report("running", "embedding", done=done, total=total, event=COLLECTION_EVENT)

        collection = collections.get(work.job.subject)
        indexed = index_collection(collection, work.settings.folders, progress=progress)
        collections.keep_documents(collection.id, indexed.documents)
        collections.change(
            collection.id, status="ready", snapshot=indexed.snapshot, facts=indexed.facts
        )

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        """Store and report that the collection is ready, or why it is not."""
        if status is not JobStatus.COMPLETED:
            reason = error or "indexing was cancelled"
            with suppress(UnknownName):  # The event is still sent to subscribers.
                work.store.collections.change(work.job.subject, status="failed", error=reason)
        work.report(status.value, status.value, error=error, event=COLLECTION_EVENT)


class ResolveJob:
    """Resolves a mapping; it is stored when all references are looked up."""

    def run(self, work: JobContext) -> None:
        """Look up every reference."""
        _report_mapping(work, "running")
        resolve_mapping(work.store, work.job.subject, work.settings.folders)

    def ended(self, work: JobContext, status: JobStatus, error: str) -> None:
        """Report how many references are resolved now, or why resolving failed."""
        _report_mapping(work, status.value, error)


def _report_mapping(work: JobContext, status: str, error: str = "") -> None:
    mapped = work.store.mappings.get(work.job.subject)
    stage = "resolving" if status == "running" else status
    work.report(
        status, stage, done=mapped.mapped, total=mapped.total, error=error, event=MAPPING_EVENT
    )
