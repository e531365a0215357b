"""Run engines in this process, for benchmarks that change the searched snapshots."""

from karat.engines.spec import build, parse_spec
from karat.experiments.plan import with_unit
from karat.experiments.snapshots import Snapshots
from karat.experiments.workers.engine_session import first_files, hits_needed, next_depth
from karat.model import Answer, Dataset, Hit, Run

FILES = 100


def asked(gold: Dataset, engine: str, trees: Snapshots) -> Run:
    """Return the run of *engine* on every query of *gold* on its snapshot, in up to 100 files."""
    built = build(with_unit(parse_spec(engine), "file"))
    answers: list[Answer] = []
    for visit in trees:
        if answers:
            built.show(visit.corpus)
        else:
            built.index(visit.corpus)
        for row in visit.queries.rows:
            wanted = FILES
            hits = built.search(gold.texts[row], wanted)
            while hits_needed(hits, FILES) > wanted:
                wanted = next_depth(wanted + 1, files=FILES)
                hits = built.search(gold.texts[row], wanted)
            found: tuple[Hit, ...] = tuple(first_files(hits, FILES))
            answers.append(Answer(gold.query_ids[row], found))
    return Run.of(answers, name=engine)
