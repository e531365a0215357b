"""One engine, asked every query of a gold set on the tree that belongs to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from karat.app.index import chunk_engine
from karat.app.trees import Trees, Visit
from karat.corpus import Corpus
from karat.engines.base import Engine, SupportsClose, SupportsSnapshots
from karat.errors import EngineError
from karat.model import Answer, Dataset, Hit, Outcome
from karat.model.searched import Work
from karat.runner.depth import MORE, enough, of_first_files

__all__ = ["Asker"]


class Asker:
    """Asks *engine* for *k* hits, or with *files* for hits in *k* files.

    A tree is shown to an engine that moves between snapshots, and indexed by any other. What breaks
    costs the query that it breaks, or the queries of a tree that cannot be indexed; where no query
    at all is answered, EngineError is raised.
    """

    def __init__(self, engine: Engine, *, k: int, files: bool) -> None:
        """Keep the *engine*; nothing is indexed yet."""
        self.engine = engine
        self.k = k
        self.files = files
        self._indexed = False
        self._sizes: list[int] = []

    def answers(self, gold: Dataset, trees: Trees, *, answered: Callable[[], None]) -> list[Answer]:
        """Return the answers in the order asked; *answered* is called after each.

        The engine is closed then. An answer says on which revision it was found, and of an error
        what it was.
        """
        found: list[Answer] = []
        try:
            for visit in trees:
                for answer in self._on(visit, gold):
                    found.append(answer)
                    answered()
        finally:
            if isinstance(self.engine, SupportsClose):
                self.engine.close()
        failures = [answer for answer in found if answer.outcome is Outcome.ERROR]
        if failures and len(failures) == len(found):
            raise EngineError(
                f"no query was answered; the first error: {failures[0].extra['error']}"
            )
        return found

    def work(self) -> Work | None:
        """Return what indexing has cost, None for an engine that does not count it."""
        counting = chunk_engine(self.engine)
        if counting is None or not self._sizes:
            return None
        return Work(counting.work(), max(self._sizes), sum(self._sizes))

    def dropped(self) -> Mapping[str, int]:
        """Return the hits that the engine's adapter did not let through, by reason.

        A query that is asked again for more hits counts again.
        """
        return dict(getattr(self.engine, "invalid", {}))

    def _on(self, visit: Visit, gold: Dataset) -> Iterator[Answer]:
        where = {"revision": visit.revision} if visit.revision else {}
        broken: EngineError | None = None
        try:
            self._show(visit.corpus)
        except EngineError as error:
            broken = error
        for row in visit.rows:
            query_id = gold.query_ids[row]
            try:
                if broken:
                    raise broken
                yield Answer(query_id, tuple(self._hits(gold.texts[row])), extra=where)
            except EngineError as error:
                why = {**where, "error": str(error)}
                yield Answer(query_id, outcome=Outcome.ERROR, extra=why)

    def _show(self, corpus: Corpus) -> None:
        if self._indexed and isinstance(self.engine, SupportsSnapshots):
            self.engine.show(corpus)
        else:
            self.engine.index(corpus)
            self._indexed = True
        if counting := chunk_engine(self.engine):
            self._sizes.append(counting.chunks)

    def _hits(self, query: str) -> Sequence[Hit]:
        wanted = self.k
        hits = self.engine.search(query, wanted)
        while self.files and not enough(hits, asked=wanted, files=self.k):
            wanted *= MORE
            hits = self.engine.search(query, wanted)
        return list(of_first_files(hits, self.k)) if self.files else hits
