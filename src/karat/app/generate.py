"""Mine a gold set from the history of one repository or several."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from karat.errors import EngineError, InputError
from karat.formats import DEFAULT, ReadLimits, write
from karat.formats.fields import SECTIONS, Checker, Record
from karat.formats.jsontext import SWITCH, load_yaml
from karat.installation import __version__
from karat.mining.filters import CaseLimits, Filters, rule_table
from karat.mining.mine import MinedRepository, MiningProgress, build_dataset, mine
from karat.mining.recipe import MiningRecipe
from karat.mining.scan import ScanCache
from karat.mining.targets import Grain
from karat.mining.variants import Level, Rewriter
from karat.model import Dataset
from karat.model.sampling import split_by_time
from karat.system.files import unique_names

__all__ = [
    "ANYTHING",
    "GOLD_SET",
    "Accepts",
    "GenerationResult",
    "MinedRepository",
    "MiningRecipe",
    "TimeSplit",
    "generate",
    "make_recipe",
    "mining_options",
    "read_mining_config",
    "rule_table",
    "write_gold",
]


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
        str(Path(place).resolve()) if Path(place).exists() else place for place in repositories
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
        from karat.llm.batch import Spend, answer_cache, completer
        from karat.llm.client import open_model

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


# Raises ValueError if the option of this name rejects the value.
Accepts = Callable[[str, object], object]
ANYTHING: Accepts = lambda _name, _value: None  # noqa: E731 - what a default is called
# An existing gold set, which is not mined.
GOLD_SET = "gold_set"
# Keys whose option has another name.
OPTIONS = {
    "from": "made_from",
    "repository_path": "repositories",
    "exclude_patterns": "exclude",
    "include_merge_commits": "include_merges",
}
LISTS = ("repository_path", "exclude_patterns", "off")
SWITCHES = ("include_merge_commits", "adversarial", "cache")
TEXTS = (
    *("min_files", "max_files", "max_commits", "limit", "seed", "test_share"),
    *("unit", "since", "until", "branch", "level", "hardness", "rewrite", "split"),
    *("from", "corpus", "mask", "model", "hard", "max_cost", "price", "workers"),
)
KEYS = (GOLD_SET, *LISTS, *SWITCHES, *TEXTS)
_PLACE = ("dataset",)


def read_mining_config(
    path: str | os.PathLike[str], *, accepts: Accepts = ANYTHING, limits: ReadLimits = DEFAULT
) -> Mapping[str, object]:
    """Return option -> value of the section ``dataset``; numbers stay text, for options to parse.

    The path of a repository is relative to the folder of the file. Unknown keys are errors, and so
    are values for which *accepts* raises ValueError.
    """
    value, check = load_yaml(path, limit=limits.yaml_bytes)
    top = check.record(value, ())
    check.known(top, SECTIONS, (), list_keys=True)
    found = mining_options(check, top, accepts)
    check.finish()
    return found


def mining_options(check: Checker, top: Record, accepts: Accepts) -> Mapping[str, object]:
    """Return the same from a parsed file; problems are added to *check*."""
    section = check.record(top.get("dataset") or {}, _PLACE)
    check.known(section, KEYS, _PLACE, list_keys=True)
    found: dict[str, object] = {}
    for key, given in section.items():
        if given is None or key == GOLD_SET:
            continue
        option = OPTIONS.get(key, key)
        if value := _value(check, section, key):
            try:
                accepts(option, value)
            except ValueError as error:
                check.add((*_PLACE, key), str(error))
        found[option] = value
    folder = Path(check.source).parent
    places = found.get("repositories")
    if isinstance(places, list):
        found["repositories"] = [str(folder / place) for place in places]
    if corpus := found.get("corpus"):
        found["corpus"] = str(folder / str(corpus))
    return found


def _value(check: Checker, section: Record, key: str) -> object:
    if key in LISTS:
        return check.texts(section[key], (*_PLACE, key))
    text = check.text(section, key, _PLACE)
    if key not in SWITCHES:
        return text
    if text.lower() not in SWITCH:
        check.add((*_PLACE, key), f"{text!r} is neither true nor false")
    return SWITCH.get(text.lower(), False)
