"""Repositories, corpora and runs for the sets of questions."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import karat
from karat.corpus import Corpus
from karat.engines.base import Engine
from karat.engines.spec import build, parse_spec

DOCS = Path(__file__).resolve().parents[1] / "docs"
DEPTH = 100


def repository(trees: Path, project: str) -> str:
    """Return the path of *project*'s repository below *trees*."""
    folder = trees / project.replace("/", "+")
    return str(folder / "repo" if (folder / "repo").is_dir() else folder)


def below(corpus: Corpus, folder: str | None, suffix: str = "") -> Corpus:
    """Return the documents of *corpus* below *folder*, with *suffix*."""
    start = f"{folder}/" if folder else ""
    kept = [d for d in corpus if d.path.startswith(start) and d.path.endswith(suffix)]
    return replace(corpus, documents=tuple(kept))


def engine_for(spec: Mapping[str, object], unit: str) -> Engine:
    """Return the engine of *spec*, with the judged *unit* if it takes one."""
    over = spec.get("over")
    if over is not None:
        return build({**spec, "over": {**described(str(over)), "unit": unit}})
    return build({**spec, "unit": unit})


def described(text: str) -> dict[str, object]:
    """Return the specification *text* as a mapping."""
    spec = parse_spec(text)
    return {"engine": spec.name, **spec.params}


def run_of(spec: Mapping[str, object], corpus: Corpus, gold: karat.Dataset, unit: str) -> karat.Run:
    """Return the run of the engine of *spec* on all queries of *gold*."""
    engine = engine_for(spec, unit)
    engine.index(corpus)
    return karat.Run.of(
        [
            karat.Answer(query_id, tuple(engine.search(text, DEPTH)))
            for query_id, text in zip(gold.query_ids, gold.texts, strict=True)
        ],
        name=engine.name,
    )
