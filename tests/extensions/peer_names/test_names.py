"""Every name of ranx, ir_measures, pytrec_eval and trec_eval is read, or an error explains it.

`names.json` has the names that their releases have, and the numbers that ranx and ir_measures
printed for the first run of `tests/docs/peers.json`.
"""

import json
import re
from math import exp
from pathlib import Path

import pytest
import pytrec_eval

from karat import evaluate
from karat.errors import InputError, UnknownName
from karat.scoring.metrics import parse
from karat.scoring.metrics.catalogue import METRICS
from tests.command_line import Karat

HERE = Path(__file__).parent
NAMES = json.loads((HERE / "names.json").read_text("utf-8"))
PEERS = json.loads((HERE.parents[1] / "docs" / "peers.json").read_text("utf-8"))
GOLD, RUN = PEERS["gold"], PEERS["runs"]["bm25"]
PAGE = HERE.parents[2] / "src/karat/extensions/peer_names/docs/peer-names.md"
RANX, IR_MEASURES, TREC_EVAL = "ranx 0.3.21", "ir_measures 0.4.3", "trec_eval 10"
MEASURED = {**NAMES[RANX], **NAMES[IR_MEASURES]}
MEANT = {**{name: meant for name, (meant, _) in MEASURED.items()}, **NAMES[TREC_EVAL]}
# Numbers that differ, and the measure of Karat that has the number of the other package.
DIFFERENT = {
    "Accuracy": "",
    "Accuracy@5": "",
    "ERR@5": "err(max_grade=4)@5",
    "IPrec(recall=0.3)": "iprec(recall=0.3,version=9)",
    # ranx adds up grades, which go up to 3 here.
    "rbp.80": "",
    "rbp.5": "",
    "rbp@95": "",
}
# The gold set has no subtopics.
DIVERSITY = {"alpha_nDCG@5", "ERR_IA@5", "NRBP", "StRecall@5"}


@pytest.mark.parametrize("name", MEANT)
def test_a_name_is_read_or_explained(name: str) -> None:
    if MEANT[name] is not None:
        assert str(parse(name)) == MEANT[name]
        return
    with pytest.raises(InputError) as caught:
        parse(name)
    assert not isinstance(caught.value, UnknownName)
    assert name in str(caught.value) or "needs a cut-off" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, (meant, value) in MEASURED.items()
        if meant and value is not None and name not in DIVERSITY
    ],
)
def test_the_number_is_that_of_the_package(name: str) -> None:
    asked = [each for each in (name, DIFFERENT.get(name)) if each]
    found = evaluate(GOLD, RUN, asked, confidence=None)
    expected = MEASURED[name][1]
    # gdeval prints five digits of each query.
    if name in DIFFERENT:
        assert found[name] != pytest.approx(expected, abs=1e-3)
    if name not in DIFFERENT or DIFFERENT[name]:
        assert found[asked[-1]] == pytest.approx(expected, abs=1e-6)


def test_what_pytrec_eval_prints_is_read() -> None:
    judged = {
        query: {name: int(grade) for name, grade in own.items()} for query, own in GOLD.items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, pytrec_eval.supported_measures)
    per_query = evaluator.evaluate(RUN)
    printed = next(iter(per_query.values()))
    names = [name for name in printed if name not in ("runid", "relstring")]
    assert len(names) > 90
    found = evaluate(GOLD, RUN, names, confidence=None)
    for name in names:
        expected = pytrec_eval.compute_aggregated_measure(
            name, [scores[name] for scores in per_query.values()]
        )
        if name.startswith("gm_"):
            expected = exp(sum(scores[name] for scores in per_query.values()) / len(per_query))
        measure = str(parse(name))
        if measure.startswith(("iprec", "11pt-avg")):
            inside = measure.partition("(")[2].rstrip(")")
            named = ",".join(filter(None, [inside, "version=9"]))
            measure = f"{measure.partition('(')[0]}({named})"
            value = evaluate(GOLD, RUN, [measure], confidence=None)[measure]
        else:
            value = found[name]
        assert value == pytest.approx(expected, abs=1e-9), name


def test_every_name_is_on_the_page() -> None:
    text = PAGE.read_text("utf-8")
    bare = {re.split(r"[(@.]|-l\d", name)[0] for name in MEASURED}
    assert {name for name in bare if f"`{name}" not in text} == {"α_nDCG", "α_DCG", "MAP_IA"}


def test_the_page_says_what_is_read() -> None:
    # Rows with as many names in the first column as measures in the second.
    checked = 0
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [re.findall(r"`([^`]+)`", cell) for cell in line.split("|")]
        if len(cells) == 5 and cells[1] and len(cells[1]) == len(cells[2]):
            for name, meant in zip(cells[1], cells[2], strict=True):
                assert parse(name) == parse(meant), line
                checked += 1
    assert checked > 50


def test_a_name_in_a_table_is_the_one_that_was_typed() -> None:
    assert [parse(name).label for name in ("rbp.80", "ndcg_burges@10")] == [
        "rbp.80",
        "ndcg_burges@10",
    ]
    evaluation = evaluate(GOLD, RUN, ["ndcg_burges@10"], confidence=None)
    assert evaluation["ndcg_burges@10"] == evaluation["ndcg(gain=exp)@10"]


def test_the_command_explains_a_name(karat: Karat) -> None:
    assert karat("metrics", "ndcg_burges@10").stdout.startswith("ndcg[@k]")
    done = karat("metrics", "hits@10")
    assert (done.returncode, done.stderr.startswith("error: hits@10: in ranx")) == (2, True)


def test_a_misspelling_is_still_one() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'ndcg'\?"):
        parse("ndgc@10")
    with pytest.raises(InputError, match="precision needs a cut-off; write precision@10"):
        parse("P")
    with pytest.raises(InputError, match=r"P\.5,10 is 2 measures of trec_eval.*: precision@5 and"):
        parse("P.5,10")


def test_no_name_of_karat_is_another_measure_elsewhere_without_a_word() -> None:
    text = PAGE.read_text("utf-8")
    for name in DIFFERENT:
        bare = re.split(r"[(@.]", name)[0]
        rows = [line for line in text.splitlines() if line.startswith(f"| `{bare}")]
        assert any("differs" in row.lower() for row in rows), name
    assert "accuracy" in METRICS.aliases("acc")
