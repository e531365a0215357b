"""What is known of one run while it goes on, and the outcome when it has ended."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from karat.model import Answer, Dataset, Outcome, Run
from karat.model.timings import Measured, Timings
from karat.runner.events import Event, Hooks, Kind
from karat.runner.members import Account, Member, Tell
from karat.runner.plan import Configuration, Settings, Visit
from karat.runner.taken import Taken

__all__ = ["Record", "counted", "silence"]


class Record:
    """Collects the answers of *configuration* and tells the *hooks* of each.

    Answers are kept in the order of the plan, whichever process gave them and whenever.
    """

    def __init__(
        self,
        configuration: Configuration,
        dataset: Dataset,
        visits: Sequence[Visit],
        *,
        settings: Settings,
        hooks: Hooks,
    ) -> None:
        """Begin without an answer."""
        self.configuration = configuration
        self._accounts: list[Account] = []
        skipped = set(hooks.skip.get(configuration.name, ()))
        self._rows = {
            row: dataset.query_ids[row]
            for visit in visits
            for row in visit.rows
            if dataset.query_ids[row] not in skipped
        }
        self.total = len(self._rows)
        self._order = {query_id: place for place, query_id in enumerate(self._rows.values())}
        self._settings = settings
        self._hooks = hooks
        self._taken: dict[str, Taken] = {}

    @property
    def failed(self) -> str:
        """Return why the run cannot go on, "" as long as it can."""
        return next((account.failed for account in self._accounts if account.failed), "")

    def wants(self, row: int) -> bool:
        """Say whether the query at *row* is to be asked for this run."""
        return row in self._rows

    def member(self, tell: Tell | None = None) -> Member:
        """Return this run as a member of one more crew, with an account of its own."""
        self._accounts.append(account := Account())
        return Member(self.configuration, account, tell or self.tell)

    def add(self, taken: Taken) -> None:
        """Keep one more answer."""
        answer = taken.answer
        self._taken[answer.query_id] = taken
        if self._hooks.sink:
            self._hooks.sink.on_answer(self.configuration.name, answer, taken.sample)
        detail = {
            "query_id": answer.query_id,
            "outcome": answer.outcome.name.lower(),
            "latency_ns": answer.latency_ns,
        }
        self.tell("answered", detail)

    def tell(self, kind: Kind, detail: Mapping[str, object]) -> None:
        """Say what happens."""
        done = len(self._taken)
        self._hooks.listen(Event(kind, self.configuration.name, done, self.total, detail))

    def measured(self, *, timed: bool, alone: bool = False) -> Measured:
        """Return the run as far as it came, and say that it is finished."""
        taken = sorted(self._taken.values(), key=lambda one: self._order[one.answer.query_id])
        answers = [one.answer for one in taken]
        error = self.failed or silence(answers)
        status = "failed" if error else "completed"
        if not error and len(answers) < self.total:
            status = "cancelled"
        spec, name = self.configuration.spec, self.configuration.name
        notes = self._notes(taken) | {"status": status} | ({"error": error} if error else {})
        self.tell("finished", {"status": status} | ({"error": error} if error else {}))
        metadata = {"seed": self._settings.seed, "k": self.configuration.k}
        return Measured(
            Run.of(answers, name=name, metadata=metadata),
            self._timings(taken, alone=alone) if timed else None,
            spec.digest,
            name,
            notes,
        )

    def _timings(self, taken: Sequence[Taken], *, alone: bool) -> Timings:
        accounts = self._accounts
        samples = tuple(one.sample for one in taken if one.sample)
        return Timings(
            samples=samples,
            index_ns=sum(one.index_ns for one in accounts),
            index_bytes=max((one.index_bytes for one in accounts), default=0),
            peak_bytes=max((one.peak_bytes for one in accounts), default=0),
            warm_up=self._settings.warm_up,
            repetitions=self._settings.repetitions,
            # Where nothing was measured, nothing was disturbed.
            alone=alone or not samples,
        )

    def _notes(self, taken: Sequence[Taken]) -> dict[str, object]:
        accounts = self._accounts
        together = [name for one in accounts[:1] for name in one.together]
        corpora = dict.fromkeys(corpus for one in accounts for corpus in one.corpora)
        return {
            "seed": self._settings.seed,
            "corpora": list(corpora),
            **counted([one.answer for one in taken]),
            "restarts": sum(one.restarts for one in accounts),
            "work": _summed(one.work for one in accounts),
            "tracebacks": {one.answer.query_id: one.traceback for one in taken if one.traceback},
            **({"together": together} if together else {}),
        }


def counted(answers: Sequence[Answer]) -> dict[str, object]:
    """Return what *answers* say of failures, of hits that were dropped or mended, and of chance."""
    extras = [(answer.query_id, answer.extra) for answer in answers]
    return {
        "failures": Counter(extra["reason"] for _, extra in extras if "reason" in extra),
        "invalid": _summed(extra.get("invalid") for _, extra in extras),
        "mended": _summed(extra.get("mended") for _, extra in extras),
        "unstable": [query_id for query_id, extra in extras if "unstable" in extra],
    }


def silence(answers: Sequence[Answer]) -> str:
    """Return the error of a run of which no query was answered, "" where one was."""
    if not answers or any(answer.outcome is Outcome.ANSWERED for answer in answers):
        return ""
    return f"no query was answered; the first error: {answers[0].extra.get('error', '')}"


def _summed(counts: Iterable[object]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for count in counts:
        if isinstance(count, Mapping):
            total.update(count)
    return dict(total)
