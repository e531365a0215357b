"""Mine a gold set from the history of one repository or several."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from karat.errors import EngineError
from karat.formats import write
from karat.installation import __version__
from karat.mining.gold import gold, names_of
from karat.mining.mine import Mined, Watch, mine
from karat.mining.recipe import Recipe
from karat.mining.rewriting import Rewriter
from karat.mining.scan_cache import ScanCache
from karat.mining.splitting import split_by_time
from karat.model import Dataset

__all__ = ["Generated", "Split", "generate", "write_gold"]


@dataclass(frozen=True, slots=True)
class Generated:
    """A gold set, and how each repository led to it.

    *statuses* counts where the queries come from: the rules, or a model. *failure* is what the
    model first said where it gave no answer ("" if it always did).
    """

    dataset: Dataset
    mined: tuple[Mined, ...]
    statuses: Mapping[str, int]
    failure: str


@dataclass(frozen=True, slots=True)
class Split:
    """Two parts by time: their names, the older first, and the newer one's share of the cases."""

    names: tuple[str, str]
    share: float = 0.5


def generate(
    repositories: Sequence[str],
    recipe: Recipe,
    *,
    rewrite: str = "",
    cache: bool = False,
    watch: Watch | None = None,
) -> Generated:
    """Return the gold set that *recipe* gives for *repositories*.

    *rewrite* names a language model that words the queries, as litellm does. With *cache* what Git
    says about a commit is kept for the next time.
    """
    names_of(repositories)
    paths = [str(Path(repository).resolve()) for repository in repositories]
    model = _Model(rewrite) if rewrite else None
    with ScanCache(_kept("commits.sqlite")) if cache else nullcontext() as commits:
        mined = tuple(
            mine(
                path,
                recipe,
                cache=commits,
                rewriter=model.rewriter if model else None,
                watch=watch,
            )
            for path in paths
        )
    dataset = gold(mined, recipe, tool=f"karat {__version__}")
    statuses = Counter(str(extra["query_status"]) for extra in dataset.extras)
    failure = model.failure if model else ""
    return Generated(dataset, mined, dict(statuses.most_common()), failure)


def write_gold(dataset: Dataset, output: str, *, split: Split | None = None) -> dict[str, Dataset]:
    """Write *dataset* to *output*, or its parts beside it, and return what each file holds.

    The parts of ``gold.json`` are ``gold.dev.json`` and ``gold.test.json`` if these are the names.
    """
    parts = {output: dataset}
    if split:
        halves = split_by_time(dataset, split.names, share=split.share)
        parts = {_part(output, name): half for name, half in zip(split.names, halves, strict=True)}
    for path, part in parts.items():
        write(part, path, format="gold")
    return parts


class _Model:
    """A language model that rewrites, and what it first failed of."""

    def __init__(self, name: str) -> None:
        from karat.mining.completion import completer

        self.failure = ""
        self._complete = completer(name)
        self.rewriter = Rewriter(self._noting, model=name, folder=_kept("rewritten"))

    def _noting(self, instruction: str, text: str) -> str:
        try:
            return self._complete(instruction, text)
        except EngineError as error:
            self.failure = self.failure or str(error)
            raise


def _kept(name: str) -> Path:
    # Its module brings numpy along, which mining can do without.
    from karat.engines.embedding.cache import cache_folder

    return cache_folder() / name


def _part(output: str, name: str) -> str:
    start, json, end = output.rpartition(".json")
    return f"{start}.{name}{json}{end}" if json else f"{output}.{name}"
