"""The job of a mapping with many references: each is looked up in the collection."""

from karat.app.mappings import resolve_mapping
from karat.server.jobs import Work
from karat.server.schemas.events import JobProgress
from karat.store.service import JobStatus

__all__ = ["ResolveJob"]

EVENT = "mapping_progress"


class ResolveJob:
    """Resolves a mapping; nothing of it is kept before all is known."""

    def run(self, work: Work) -> None:
        """Look up every reference."""
        _tell(work, "running")
        resolve_mapping(work.store, work.job.subject, work.settings.places)

    def ended(self, work: Work, status: JobStatus, error: str) -> None:
        """Tell how many references are known now, or why none could be looked up."""
        _tell(work, status.value, error)


def _tell(work: Work, status: str, error: str = "") -> None:
    mapped = work.store.mappings.get(work.job.subject)
    data = JobProgress(
        subject_id=mapped.id,
        status=status,
        stage="resolving" if status == "running" else status,
        done=mapped.mapped,
        total=mapped.total,
        error_message=error or None,
    )
    work.tell(EVENT, data.model_dump(mode="json"))
