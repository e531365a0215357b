"""What the repetitions of a query become: an answer, and a sample of its times."""

from collections.abc import Sequence
from typing import NamedTuple

from karat.model import Answer
from karat.model.spending import spent_in
from karat.model.timings import NS_PER_MS, Sample, latency_ms
from karat.runner.plan import Visit
from karat.runner.process import Failure, Reply

__all__ = ["Taken", "taken"]


class Taken(NamedTuple):
    """The answer to one query; a sample where it was answered and timed; else perhaps a trace."""

    answer: Answer
    sample: Sample | None = None
    traceback: str = ""


def taken(query_id: str, visit: Visit, replies: Sequence[Reply | Failure], *, timed: bool) -> Taken:
    """Return what *replies* say, the first of which is the cold one; a failure is an answer too."""
    extra: dict[str, object] = {}
    if visit.source.revision:
        extra["revision"] = visit.source.revision
    for reply in replies:
        if isinstance(reply, Failure):
            extra |= {"reason": reply.reason, "error": reply.message}
            answer = Answer(query_id, (), reply.outcome, extra=extra)
            return Taken(answer, None, reply.traceback)
    cold, *warm = (reply for reply in replies if isinstance(reply, Reply))
    for name, counts in (("invalid", cold.invalid), ("mended", cold.mended)):
        if counts:
            extra[name] = dict(counts)
    if cold.spent:
        extra["spent"] = dict(cold.spent)
    if not all(reply.same for reply in warm):
        extra["unstable"] = True
    if not timed:
        return Taken(Answer(query_id, cold.hits, extra=extra))
    spent = spent_in(extra)
    sample = Sample(
        query_id,
        cold.ns,
        tuple(reply.ns for reply in warm),
        cold.phases.get("first_hit", 0),
        cold.phases,
        spent.tokens or 0,
        spent.cost or 0.0,
    )
    latency_ns = round(latency_ms(sample) * NS_PER_MS)
    return Taken(Answer(query_id, cold.hits, latency_ns=latency_ns, extra=extra), sample)
