"""Results of Ragas."""

from karat.extensions.scores.readers import reader_of
from tests.extensions.eval_tools.conftest import Read, Write, columns

HEADER = ",user_input,retrieved_contexts,response,reference,faithfulness,answer_relevancy"
CSV = f"""{HEADER}
0,what is a?,['x'],a,a,1.0,0.75
1,what is b?,['y'],b,b,,0.5
"""


def test_csv_by_hand(write: Write, read: Read) -> None:
    known = read("ragas", write("bm25.csv", CSV))
    # The index of a data frame is no metric, and an empty cell is no 0.
    assert [measure.name for measure in known.scores.measures] == [
        "faithfulness",
        "answer_relevancy",
    ]
    assert str(columns(known.scores, "faithfulness")) == "{'bm25': [1.0, nan]}"
    assert columns(known.scores, "answer_relevancy") == {"bm25": [0.75, 0.5]}
    assert known.remarks == ("bm25.csv: the judge of faithfulness failed on 1 question",)


def test_json_lines_with_nan(write: Write, read: Read) -> None:
    line = '{"id": 1, "user_input": "q", "response": "r", "faithfulness": NaN, "correct": true}\n'
    scores = read("ragas", write("experiments/a.jsonl", line)).scores
    assert str(columns(scores, "correct")) == "{'a': [1.0]}"
    assert [measure.name for measure in scores.measures] == ["correct"]


def test_a_test_set_has_no_results(write: Write) -> None:
    path = write("set.csv", "user_input,reference_contexts,reference\nq,\"['c']\",a\n")
    reader = reader_of(str(path))
    assert reader is not None
    assert reader.fallback
