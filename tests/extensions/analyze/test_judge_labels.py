"""karat analyze topics leaves labels of models out, or uses them as --judge-labels says."""

import pytest

from tests.cli.test_judge_labels import MRR, check_choice, check_minimum, files
from tests.command_line import Karat

__all__ = ["files"]

TOPICS = (
    *("analyze", "topics", "gold.json", "first.jsonl", "--model", "words", "--topics", "2"),
    *MRR,
)


def test_labels_of_models_are_used_only_when_chosen(karat: Karat) -> None:
    check_choice(karat, *TOPICS)


@pytest.mark.parametrize("choice", [(), ("--judge-labels", "exclude")])
def test_a_minimum_without_labels_of_models_is_a_mistake(
    karat: Karat, choice: tuple[str, ...]
) -> None:
    check_minimum(karat, *TOPICS, *choice)
