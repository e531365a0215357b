"""Samples of lm-evaluation-harness."""

from tests.extensions.eval_tools.conftest import Read, Write, columns

DATES = "2026-01-01T10-00-00.000001", "2026-02-01T10-00-00.000001"


def sample(number: int, label: str, **more: object) -> dict[str, object]:
    return {
        "doc_id": number,
        "doc": {"question": f"what is {label}?"},
        "target": "x",
        "arguments": [],
        "resps": [],
        "filtered_resps": [],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": label * 16,
        "prompt_hash": "p",
        "target_hash": "t",
        **more,
    }


def test_documents_are_paired_by_their_hash(write: Write, read: Read) -> None:
    # The second run has the documents in another order: doc_id 0 is another document there.
    write(
        f"out/org__a/samples_copa_{DATES[0]}.jsonl", [sample(0, "a", acc=1), sample(1, "b", acc=0)]
    )
    write(
        f"out/org__b/samples_copa_{DATES[0]}.jsonl", [sample(0, "b", acc=1), sample(1, "a", acc=0)]
    )
    folder = write("out/notes.txt", "").parent
    scores = read("lm-eval", folder).scores
    assert scores.query_ids == ("copa/aaaaaaaaaaaa", "copa/bbbbbbbbbbbb")
    assert columns(scores, "acc") == {"org/a": [1.0, 0.0], "org/b": [0.0, 1.0]}
    assert scores.texts == ("what is a?", "what is b?")
    assert dict(scores.tags) == {"task": ("copa", "copa")}


def test_filters_are_measures(write: Write, read: Read) -> None:
    lines = [
        sample(0, "a", filter=name, metrics=["exact_match"], exact_match=score)
        for name, score in (("strict", 0.0), ("flexible", 1.0))
    ]
    scores = read("lm-eval", write("m/samples_gsm8k.jsonl", lines)).scores
    assert columns(scores, "exact_match,strict") == {"m": [0.0]}
    assert columns(scores, "exact_match,flexible") == {"m": [1.0]}


def test_a_document_twice_is_two_samples(write: Write, read: Read) -> None:
    lines = [sample(0, "a", acc=1.0), sample(1, "a", acc=0.0)]
    scores = read("lm-eval", write("m/samples_t.jsonl", lines)).scores
    assert scores.query_ids == ("t/aaaaaaaaaaaa", "t/aaaaaaaaaaaa (2)")


def test_the_newest_file_and_the_direction_of_a_metric(write: Write, read: Read) -> None:
    metrics = {"metrics": ["nll", "acc", "pair"], "acc": 1.0, "pair": [1.0, 2.0]}
    write(f"m/samples_wiki_{DATES[0]}.jsonl", [sample(0, "a", nll=9.0, **metrics)])
    newest = write(f"m/samples_wiki_{DATES[1]}.jsonl", [sample(0, "a", nll=3.0, **metrics)])
    directions = {"wiki": {"nll": False, "acc": True}}
    write(f"m/results_{DATES[1]}.json", {"higher_is_better": directions})
    known = read("lm-eval", newest.parent)
    assert columns(known.scores, "nll") == {"m": [3.0]}
    assert {each.name: each.lower_is_better for each in known.scores.measures} == {
        "nll": True,
        "acc": False,
    }
    assert known.remarks == ("m: 1 older files of a model and task are left out",)


def test_an_undefined_metric_is_no_zero(write: Write, read: Read) -> None:
    path = write("m/samples_t.jsonl", "")
    path.write_text(
        '{"doc_id": 0, "doc": {}, "filtered_resps": [], "doc_hash": "x", '
        '"metrics": ["f1", "acc"], "f1": NaN, "acc": 0}'
    )
    scores = read("lm-eval", path).scores
    assert str(columns(scores, "f1")) == "{'m': [nan]}"
    assert columns(scores, "acc") == {"m": [0.0]}
