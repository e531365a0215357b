"""Find the gold sets that --set names, and the corpus of each."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.formats import detect, is_source
from karat.formats.beir import IRDS_PREFIX
from karat.formats.source import head_of
from karat.model.frozen import repeated
from karat.system.files import unique_names
from karat.system.words import counted

EXPECTED = "expected a BEIR folder, a gold set, GOLD=CORPUS, irds:ID, or a folder of them"


class SetPlace(NamedTuple):
    """A gold set called *name*, and the *corpus* that is searched.

    None is the corpus of the command, or the repository that the gold set names.
    """

    name: str
    gold: str
    corpus: str | None


def find_sets(given: Sequence[str]) -> tuple[SetPlace, ...]:
    """Return the sets at *given*, two or more; those of a folder in the order of their names.

    A BEIR folder is its own corpus. A set is called by the shortest end of its path that no other
    one has.
    """
    places = [place for text in given for place in _sets_at(text)]
    if len(places) < 2:
        raise InputError(
            f"{given[0]}: {counted(len(places), 'gold set')}; expected two or more, each with its "
            "corpus; for a single one: karat compare GOLD --corpus PLACE --agents NAME..."
        )
    golds = [gold for gold, _ in places]
    if twice := repeated(str(Path(gold).resolve()) for gold in golds):
        raise InputError(f"{twice[0]}: given twice; pass each gold set once")
    names = unique_names([_path_of(gold) for gold in golds])
    return tuple(SetPlace(name, *place) for name, place in zip(names, places, strict=True))


def _path_of(gold: str) -> str:
    """Return the path or id of *gold* without what does not name it.

    >>> _path_of("irds:beir/scifact/test"), _path_of("/x/flask.json"), _path_of("/x/animals.v2/")
    ('beir/scifact/test', '/x/flask', '/x/animals.v2')
    """
    path = Path(gold.removeprefix(IRDS_PREFIX))
    bare = path.parent / path.name.partition(".")[0] if path.suffix and not path.is_dir() else path
    return str(path) if gold.endswith("/") else str(bare)


def _sets_at(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the gold sets at *text* with their corpora."""
    gold, sign, corpus = text.rpartition("=")
    if sign and not Path(text).exists():
        if not is_source(gold):
            raise InputError(f"{gold}: no such gold set; {EXPECTED}")
        yield gold, corpus
    elif not Path(text).is_dir():
        if not is_source(text):
            raise InputError(f"{text}: no such file or folder; {EXPECTED}")
        yield text, None
    elif _is_gold_folder(text):
        yield text, text
    else:
        inside = list(_sets_in(Path(text)))
        if not inside:
            raise InputError(f"{text}: no gold set in this folder; {EXPECTED}")
        yield from inside


def _is_gold_folder(path: str) -> bool:
    """Return whether the folder *path* is one gold set with its documents, such as BEIR's."""
    try:
        return detect(path, kind="dataset").name == "beir"
    except InputError:
        return False


def _sets_in(folder: Path) -> Iterator[tuple[str, str | None]]:
    """Yield the gold sets directly in *folder*."""
    for child in sorted(folder.iterdir()):
        if child.name.startswith("."):
            continue
        if child.is_dir():
            if _is_gold_folder(str(child)):
                yield str(child), str(child)
        elif _is_gold_file(child):
            yield str(child), None


def _is_gold_file(file: Path) -> bool:
    """Return whether the content of *file* is that of a gold set."""
    try:
        return detect(file).kind == "dataset" and detect(file).detect(str(file), head_of(file))
    except InputError:
        return False
