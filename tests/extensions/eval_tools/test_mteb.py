"""Task results of MTEB."""

import pytest

from tests.extensions.eval_tools.conftest import Read, Write, columns


def result(task: str, scores: list[float], version: str = "2.1.0") -> dict[str, object]:
    subsets = [{"main_score": score, "hf_subset": "default", "languages": []} for score in scores]
    dev = [{"main_score": 0.0, "hf_subset": "default"}]
    return {
        "dataset_revision": "x",
        "task_name": task,
        "mteb_version": version,
        "scores": {"dev": dev, "test": subsets},
        "evaluation_time": 1,
    }


def test_a_folder_of_models(write: Write, read: Read) -> None:
    write("results/org__a/r1/model_meta.json", {"name": "org/a"})
    write("results/org__a/r1/STS12.json", result("STS12", [0.5]))
    # The subsets of a task are averaged, as MTEB does.
    write("results/org__a/r1/Amazon.json", result("Amazon", [0.25, 0.75]))
    folder = write("results/org__b/r1/STS12.json", result("STS12", [0.6])).parents[2]
    # The first versions of MTEB wrote no main score.
    write("results/org__b/r1/Amazon.json", {"task_name": "Amazon", "scores": {"test": {"map": 1}}})
    known = read("mteb", folder)
    assert str(columns(known.scores, "main_score")) == "{'org/a': [0.5, 0.5], 'org/b': [nan, 0.6]}"
    assert known.scores.query_ids == ("Amazon", "STS12")
    assert known.scores.task == "task"
    assert known.remarks == (
        "results: 1 file without main_score left out",
        "results: 1 result of a model and task missing; pairs are compared on the tasks that both "
        "have",
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [(("external", "9.9.9"), ("r1", "1.0.0")), (("r2", "1.9.0"), ("r1", "1.10.0"))],
)
def test_one_revision_of_a_model_counts(
    write: Write, read: Read, first: tuple[str, str], second: tuple[str, str]
) -> None:
    write("results/m/model_meta.json", {})
    for (revision, version), score in ((first, 0.1), (second, 0.9)):
        write(f"results/m/{revision}/STS12.json", result("STS12", [score], version))
    known = read("mteb", write("results/x.txt", "").parent)
    assert columns(known.scores, "main_score") == {"m": [0.9]}
    assert known.remarks == ("results: 1 results of further revisions of a model are left out",)
