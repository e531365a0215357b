"""Judge engines on a gold set, each query on the tree that belongs to it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from karat.app.asking import Asker
from karat.app.compare import compare
from karat.app.presence import survey
from karat.app.score import score
from karat.app.search import EngineLike
from karat.app.settings import Confidence, Scoring
from karat.app.sources import told_apart
from karat.app.trees import Trees
from karat.app.units import judges_files, with_unit
from karat.engines.base import Engine, Progress
from karat.engines.spec import FILES, build, parse_spec
from karat.errors import InputError
from karat.model import Dataset, Run
from karat.model.contest import Contest
from karat.model.evaluation import Evaluation
from karat.model.searched import Searched, Work
from karat.model.spec import Spec

__all__ = ["DEPTH", "Evaluated", "Result", "evaluate"]

DEPTH = 100

# One engine scored, or several compared.
Result = Evaluation | Contest


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What :func:`evaluate` found.

    In *overall* a target that is not in the tree searched counts as missed; *resolved* is without
    such targets, and None where there is none, or no other. *work* holds the engines that count
    what they index, *dropped* those of which hits make no sense, by reason.
    """

    searched: Searched
    runs: tuple[Run, ...]
    work: Mapping[str, Work]
    dropped: Mapping[str, Mapping[str, int]]
    overall: Result
    resolved: Result | None


class Entrant(NamedTuple):
    """An engine by the name that it has in reports, and what it was made from, if that is known."""

    name: str
    engine: Engine
    spec: Spec | None


def evaluate(
    gold: Dataset,
    engines: Sequence[EngineLike],
    trees: Trees,
    *,
    k: int | None = None,
    scoring: Scoring | None = None,
    confidence: Confidence | None = None,
    by: Iterable[str] = (),
    surveyed: Callable[[Searched], None] | None = None,
    keep: Callable[[Run], None] | None = None,
    progress: Progress | None = None,
) -> Evaluated:
    """Return the scores of *engines* on *gold*, one after the other, each query on its tree.

    *k* is how many hits are asked for, or files where files are judged; None is 100, or as deep as
    a measure looks. A built-in engine is told whether files are judged, unless it says so itself.
    *surveyed* is called before the first search, *keep* with each run as it is complete, and
    *progress* after each query.
    """
    scoring = scoring or Scoring()
    match = scoring.match or gold.match
    files = judges_files(match)
    depth = _depth(k, scoring, gold)
    if not any(text.strip() for text in gold.texts):
        raise InputError(f"{gold.name}: no query has a text to search for")
    entrants = _entrants(engines, unit="file" if files else "lines")
    searched, resolved, *_ = survey(gold, trees, match=match, root=scoring.root)
    if surveyed:
        surveyed(searched)
    runs: list[Run] = []
    work: dict[str, Work] = {}
    dropped: dict[str, Mapping[str, int]] = {}
    told = _Told(progress, len(gold) * len(entrants))
    for entrant in entrants:
        asker = Asker(entrant.engine, k=depth, files=files)
        answers = asker.answers(gold, trees, answered=told)
        metadata = _metadata(gold, trees, entrant.spec, k=depth, match=match)
        runs.append(Run.of(answers, name=entrant.name, metadata=metadata))
        if keep:
            keep(runs[-1])
        if spent := asker.work():
            work[entrant.name] = spent
        if bad := asker.dropped():
            dropped[entrant.name] = bad
    sure = confidence or Confidence()
    overall = _judged(gold, runs, scoring, sure, by=tuple(by))
    some_left = 0 < searched.unresolved < searched.targets
    rest = _judged(resolved, runs, scoring, sure) if some_left else None
    return Evaluated(searched, tuple(runs), work, dropped, overall, rest)


class _Told:
    """Counts answers, and tells *progress* of each."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress:
            self._progress(self._done, self._total)


def _depth(k: int | None, scoring: Scoring, gold: Dataset) -> int:
    cuts = {str(measure): measure.k or 0 for measure in scoring.parsed(gold)}
    if k is None:
        return max(DEPTH, *cuts.values())
    for name, cut in cuts.items():
        if cut > k:
            raise InputError(f"{name} looks deeper than the {k} hits asked for; expected -k {cut}")
    return k


def _entrants(engines: Sequence[EngineLike], *, unit: str) -> list[Entrant]:
    if not engines:
        raise InputError("no engine to evaluate; expected one or more")
    found = [_entrant(engine, unit) for engine in engines]
    names = told_apart([entrant.name for entrant in found])
    return [entrant._replace(name=name) for entrant, name in zip(found, names, strict=True)]


def _entrant(engine: EngineLike, unit: str) -> Entrant:
    if not isinstance(engine, Spec | str | Mapping):
        return Entrant(engine.name, engine, None)
    spec = with_unit(engine if isinstance(engine, Spec) else parse_spec(engine), unit)
    built = build(spec)
    # What a user has typed says more than the name of the engine, unless it is a file or JSON.
    typed = isinstance(engine, str) and not engine.endswith(FILES) and not engine.startswith("{")
    return Entrant(str(engine) if typed else built.name, built, spec)


def _metadata(
    gold: Dataset, trees: Trees, spec: Spec | None, *, k: int, match: str
) -> dict[str, object]:
    engine = {} if spec is None else {"engine": {"name": spec.name, "options": dict(spec.params)}}
    return {
        **engine,
        "gold": gold.name,
        "snapshot": trees.snapshot,
        "place": trees.place,
        "candidates": trees.candidates,
        "match": match,
        "k": k,
        "seed": trees.seed,
    }


def _judged(
    gold: Dataset,
    runs: Sequence[Run],
    scoring: Scoring,
    confidence: Confidence,
    *,
    by: Sequence[str] = (),
) -> Result:
    if len(runs) == 1:
        return score(gold, runs[0], scoring=scoring, confidence=confidence, by=by)
    return compare(gold, runs, scoring=scoring, confidence=confidence, by=by)
