"""A driver that is killed while an engine searches on a cluster."""

import subprocess
import sys
from pathlib import Path
from threading import Event

from tests.experiments.workers.conftest import alive

POLL_S = 0.05
pause = Event().wait

# A driver that hangs in its first search; its engine says which process it is.
DRIVER = """
import sys
from karat.experiments.measure import measure_quality
from karat.extensions.cluster.{module} import {executor}
from karat.experiments.workers import Configuration, Source, all_queries_on
from karat.engines.spec import parse_spec
from karat.model import Dataset, Query

spec = parse_spec({{"engine": "python", "class": "toys:Bad", "options": {{"note": sys.argv[1]}}}})
gold = Dataset.of([Query("hang", "hang")])
measure_quality(
    [(Configuration("bad", spec),)],
    gold,
    all_queries_on(gold, Source.of_texts({{"a.py": ""}}), seed=0),
    executor={executor}({arguments}),
)
"""


def kill_driver(module: str, executor: str, arguments: str, note: Path) -> None:
    """Kill a driver with *executor* in the middle of a query; return when its engine has ended."""
    code = DRIVER.format(module=module, executor=executor, arguments=arguments)
    driver = subprocess.Popen([sys.executable, "-c", code, str(note)])
    try:
        while driver.poll() is None and not (note.exists() and "hang" in note.read_text()):
            pause(POLL_S)
    finally:
        driver.kill()
        driver.wait()
    engine = int(note.read_text().split()[0])
    while alive(engine):
        pause(POLL_S)
