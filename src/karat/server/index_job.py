"""The job of a collection: its documents are read, cut and embedded ahead of every search."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from karat.app.collections import index_collection
from karat.errors import UnknownName
from karat.server.jobs import Work
from karat.server.schemas.events import JobProgress
from karat.store.service import JobStatus

__all__ = ["IndexJob"]

EVENT = "collection_progress"
QUIET_S = 0.5


class IndexJob:
    """Indexes a collection; what is embedded twice comes from the cache."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """Tell how far it is by *clock*, at most twice a second."""
        self._clock = clock

    def run(self, work: Work) -> None:
        """Index, and keep what was found."""
        collections = work.store.collections
        collections.change(work.job.subject, status="indexing")
        _tell(work, "running", "reading")
        told = self._clock()

        def progress(done: int, total: int) -> None:
            nonlocal told
            work.progressed()
            if self._clock() - told >= QUIET_S:
                told = self._clock()
                _tell(work, "running", "embedding", done=done, total=total)

        collection = collections.get(work.job.subject)
        found = index_collection(collection, work.settings.places, progress=progress)
        collections.keep_documents(collection.id, found.documents)
        collections.change(
            collection.id, status="ready", snapshot=found.snapshot, facts=found.facts
        )

    def ended(self, work: Work, status: JobStatus, error: str) -> None:
        """Say that the collection is ready, or why it is not."""
        # Where uploads lie is told to nobody.
        uploaded = (work.settings.places.uploads / work.job.subject).resolve()
        error = error.replace(f"{uploaded}/", "")
        if status is not JobStatus.COMPLETED:
            reason = error or "indexing was cancelled"
            with suppress(UnknownName):  # Who follows the job learns of its end all the same.
                work.store.collections.change(work.job.subject, status="failed", error=reason)
        _tell(work, status.value, status.value, error=error)


def _tell(
    work: Work, status: str, stage: str, *, done: int = 0, total: int = 0, error: str = ""
) -> None:
    data = JobProgress(
        subject_id=work.job.subject,
        status=status,
        stage=stage,
        done=done,
        total=total,
        error_message=error or None,
    )
    work.tell(EVENT, data.model_dump(mode="json"))
