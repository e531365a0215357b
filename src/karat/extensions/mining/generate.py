"""Mine a gold set from the history of one repository or several."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import EngineError, InputError
from karat.extensions.mining.filters import CaseLimits, Filters
from karat.extensions.mining.mine import MinedRepository, MiningProgress, build_dataset, mine
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.scan import ScanCache
from karat.extensions.mining.targets import Grain
from karat.extensions.mining.variants import Level, Rewriter
from karat.formats import write
from karat.installation import __version__
from karat.model import Dataset
from karat.model.sampling import split_by_time
from karat.system.files import unique_names


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """A gold set, and how each repository led to it.

    *statuses* counts where the queries come from: the rules, or a model. *failure* is what the
    model first said where it gave no answer ("" if it always did).
    """

    dataset: Dataset
    mined: tuple[MinedRepository, ...]
    statuses: Mapping[str, int]
    failure: str


@dataclass(frozen=True, slots=True)
class TimeSplit:
    """Two parts by time: their names, the older first, and the newer one's share of the cases."""

    names: tuple[str, str]
    share: float = 0.5


def make_recipe(
    *,
    level: str,
    hardness: str,
    min_files: int,
    max_files: int,
    exclude: tuple[str, ...],
    off: tuple[str, ...],
    **rest: Any,
) -> MiningRecipe:
    """Return the recipe with these values; *rest* are further fields of MiningRecipe."""
    return MiningRecipe(
        filters=Filters(CaseLimits(min_files, max_files), frozenset(off), exclude),
        grain=Grain(level),
        hardness=tuple(Level) if hardness == "all" else (Level[hardness.upper()],),
        **rest,
    )


def generate(
    repositories: Sequence[str],
    recipe: MiningRecipe,
    *,
    rewrite: str = "",
    cache: bool = False,
    watch: MiningProgress | None = None,
) -> GenerationResult:
    """Return the gold set that *recipe* gives for *repositories*.

    *rewrite* names a language model that words the queries, as litellm does. With *cache*, data
    that was read from Git is cached for later calls.
    """
    unique_names(repositories)
    # A missing one is named in the error as it was typed.
    paths = [
        str(Path(repository).resolve()) if Path(repository).exists() else repository
        for repository in repositories
    ]
    model = _Model(rewrite) if rewrite else None
    with _scan_cache() if cache else nullcontext() as commits:
        mined = tuple(
            mine(
                path,
                recipe,
                cache=commits,
                rewriter=model.rewriter if model else None,
                progress=watch,
            )
            for path in paths
        )
    dataset = build_dataset(mined, recipe, tool=f"karat {__version__}")
    statuses = Counter(str(extra["query_status"]) for extra in dataset.extras)
    failure = model.failure if model else ""
    return GenerationResult(dataset, mined, dict(statuses.most_common()), failure)


def write_gold(
    dataset: Dataset, output: str, *, split: TimeSplit | None = None
) -> dict[str, Dataset]:
    """Write *dataset* to *output*, or its parts beside it, and return what each file holds.

    With the names dev and test, the parts of ``gold.json`` are ``gold.dev.json`` and
    ``gold.test.json``.
    """
    parts = {output: dataset}
    if split:
        halves = split_by_time(dataset, split.names, share=split.share)
        parts = {_part(output, name): half for name, half in zip(split.names, halves, strict=True)}
    for path, part in parts.items():
        write(part, path, format="gold")
    return parts


class _Model:
    """A language model that rewrites, and its first failure."""

    def __init__(self, name: str) -> None:
        from karat.extensions.llm.batch import Spend, answer_cache, completer
        from karat.extensions.llm.client import open_model

        self.failure = ""
        self._complete = completer(open_model(name), spend=Spend(), cache=answer_cache())
        self.rewriter = Rewriter(self._noting)

    def _noting(self, instruction: str, text: str) -> str:
        try:
            return self._complete(instruction, text)
        except EngineError as error:
            self.failure = self.failure or str(error)
            raise


def _scan_cache() -> AbstractContextManager[ScanCache | None]:
    # The module imports numpy, which mining does not need.
    from karat.system.files import cache_folder
    from karat.system.sqlite import warn_of_cache

    try:
        return ScanCache(cache_folder() / "commits.sqlite")
    except (InputError, OSError) as error:
        warn_of_cache(error)
        return nullcontext()


def _part(output: str, name: str) -> str:
    start, json, end = output.rpartition(".json")
    return f"{start}.{name}{json}{end}" if json else f"{output}.{name}"
