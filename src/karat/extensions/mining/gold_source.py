"""The section ``dataset`` of karat.yaml as settings of ``karat generate``."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from karat.app.gold_sources import GOLD_SET, SECTION, GoldSource
from karat.cli.options.shared import make_validator
from karat.cli.output.progress import progress_bars
from karat.extensions.mining.options import recipe_command, recipe_of
from karat.formats import DEFAULT, ReadLimits
from karat.formats.fields import ANYTHING, SECTIONS, Accepts, Checker, Record
from karat.formats.jsontext import SWITCH, load_yaml
from karat.model import Dataset
from karat.system.words import counted

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
KEYS = (*LISTS, *SWITCHES, *TEXTS)


class MinedGold:
    """Mines the gold set from repositories, or makes it from their texts."""

    @property
    def keys(self) -> Sequence[str]:
        """The keys of the section besides the one for an existing gold set."""
        return KEYS

    def read(self, check: Checker, section: Record) -> Mapping[str, object]:
        """Return option -> value; values that the options of a recipe reject are problems."""
        return _read_options(check, section, make_validator(recipe_command()))

    def make(self, settings: Mapping[str, object]) -> Dataset | None:
        """Return the gold set of the repositories; without any there is none."""
        repositories = settings.get("repositories")
        if not isinstance(repositories, list):
            return None
        made_from = settings.get("made_from")
        if made_from in ("code", "docs"):
            raise click.UsageError(
                f"The section dataset has `from: {made_from}`, which needs a language model; first "
                "run karat generate --config FILE -o gold.json, then give gold.json as the gold "
                "set."
            )
        recipe = recipe_of(settings)
        with progress_bars() as watch:
            if made_from:
                from karat.extensions.mining.questions.generate import generate_from

                made = generate_from(
                    repositories,
                    recipe,
                    str(made_from),
                    masked=str(settings.get("mask") or "all"),
                    folder=False,
                    watch=watch,
                )
            else:
                from karat.extensions.mining.generate import generate

                made = generate(repositories, recipe, watch=watch)
        click.echo(f"mined {counted(len(made.dataset), 'case')}", err=True)
        return made.dataset


SOURCE: GoldSource = MinedGold()


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
    section = check.record(top.get("dataset") or {}, SECTION)
    check.known(section, (GOLD_SET, *KEYS), SECTION, list_keys=True)
    options = _read_options(check, section, accepts)
    check.finish()
    return options


def _read_options(check: Checker, section: Record, accepts: Accepts) -> Mapping[str, object]:
    options: dict[str, object] = {}
    for key, given in section.items():
        if given is None or key == GOLD_SET:
            continue
        option = OPTIONS.get(key, key)
        if value := _value(check, section, key):
            try:
                accepts(option, value)
            except ValueError as error:
                check.add((*SECTION, key), str(error))
        options[option] = value
    folder = Path(check.source).parent
    repositories = options.get("repositories")
    if isinstance(repositories, list):
        options["repositories"] = [str(folder / repository) for repository in repositories]
    if corpus := options.get("corpus"):
        options["corpus"] = str(folder / str(corpus))
    return options


def _value(check: Checker, section: Record, key: str) -> object:
    if key in LISTS:
        return check.texts(section[key], (*SECTION, key))
    text = check.text(section, key, SECTION)
    if key not in SWITCHES:
        return text
    if text.lower() not in SWITCH:
        check.add((*SECTION, key), f"{text!r} is neither true nor false")
    return SWITCH.get(text.lower(), False)
