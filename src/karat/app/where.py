"""Where the queries of a gold set are searched: a repository as it was, or documents named."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from karat.app.presence import Survey, survey
from karat.app.repository import NOWHERE_ELSE, TAG, check_names
from karat.app.trees import Trees, corpus_trees, history_trees
from karat.errors import InputError
from karat.model import Dataset

__all__ = ["Where", "digest_of", "surveyed"]


class Where(NamedTuple):
    """The trees to search, in the words of :mod:`karat.app.trees`.

    Without a *corpus* they are those of the repositories that the gold set was mined from;
    *revision* belongs to a corpus, *repositories* and *snapshot* do not.
    """

    repositories: Mapping[str, str] = NOWHERE_ELSE
    corpus: str | None = None
    revision: str | None = None
    snapshot: str | None = None
    candidates: str | None = None

    def to_json(self) -> dict[str, object]:
        """Return what :class:`Where` takes as keywords, with whole paths."""
        return {
            **self._asdict(),
            "repositories": {
                name: str(Path(place).resolve()) for name, place in self.repositories.items()
            },
            "corpus": None if self.corpus is None else str(Path(self.corpus).resolve()),
        }

    def of_part(self, part: Dataset, whole: Dataset) -> "Where":
        """Return it for *part* of a gold set, which may have no case of some repositories.

        Their folders are left out. A name that the *whole* set does not have raises InputError.
        """
        check_names(whole, self.repositories)
        unused = set(whole.tags.get(TAG, ())) - set(part.tags.get(TAG, ())) - {""}
        kept = {name: place for name, place in self.repositories.items() if name not in unused}
        return self._replace(repositories=kept)

    @contextmanager
    def trees(self, gold: Dataset, *, seed: int) -> Iterator[Trees]:
        """Open the trees; the order of queries on one of them is left to chance by *seed*."""
        if self.corpus is None:
            if self.revision is not None:
                raise InputError(f"revision {self.revision!r} belongs to a corpus; none is named")
            with history_trees(
                gold,
                self.repositories,
                snapshot=self.snapshot or "parent",
                candidates=self.candidates,
                seed=seed,
            ) as trees:
                yield trees
            return
        if self.repositories or self.snapshot is not None:
            raise InputError(
                f"corpus {self.corpus} is searched in place of the trees of a repository; expected "
                "neither repositories nor a snapshot beside it"
            )
        candidates = self.candidates or "all"
        yield corpus_trees(
            gold, self.corpus, revision=self.revision, candidates=candidates, seed=seed
        )


def surveyed(gold: Dataset, where: Where, *, match: str, root: str = "", seed: int = 0) -> Survey:
    """Return the visits that *where* means, and which targets of *gold* are there."""
    with where.trees(gold, seed=seed) as trees:
        return survey(gold, trees, match=match, root=root)


def digest_of(survey: Survey) -> str:
    """Return the hash of all that is searched: of one tree its snapshot, else one over them."""
    if len(survey.snapshots) == 1:
        return survey.snapshots[0]
    return sha256("\n".join(survey.snapshots).encode()).hexdigest()
