"""Stand-ins for model judges: they read the prompt and answer as a model would."""

import json
import re
from collections.abc import Callable, Sequence

from karat.extensions.llm.client import Completion, Price, Prompt

_PASSAGE = re.compile(r"<passage-(\w+)>\n(.*?)\n</passage-\1>", re.DOTALL)
_QUERY = re.compile(r"<query-(\w+)>\n(.*?)\n</query-\1>", re.DOTALL)
# Returns the grade for the text of a query and of a passage.
Grade = Callable[[str, str], object]


def parts(text: str) -> tuple[str, list[str]]:
    """Return the query and the passages of a prompt."""
    query = _QUERY.search(text)
    assert query
    return query[2], [match[2] for match in _PASSAGE.finditer(text)]


def answer_with(grade: Grade) -> Callable[[str, str], str]:
    """Return a judge that answers in the form that the instruction asks for."""

    def answer(instruction: str, text: str) -> str:
        query, passages = parts(text)
        rows = [
            {"passage": number, "reason": f"Because of {number}.", "grade": grade(query, passage)}
            for number, passage in enumerate(passages, 1)
        ]
        if '"grades"' in instruction:
            return json.dumps({"grades": rows})
        (row,) = rows
        return json.dumps({"reason": row["reason"], "grade": row["grade"]})

    return answer


class FakeModel:
    """Answers in this process; keeps the prompts, and charges 100 + 10 tokens for each."""

    def __init__(
        self,
        answer: Callable[[str, str], str],
        *,
        name: str = "fake",
        price: Price | None = Price(1.0, 2.0),  # noqa: B008 - a constant
    ) -> None:
        self.name = name
        self.price = price
        self.prompts: list[Prompt] = []
        self._answer = answer

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return Completion(self._answer(prompt.instruction, prompt.text), 100, 10)


def scripted(answers: Sequence[str]) -> Callable[[str, str], str]:
    """Return a judge that gives *answers* in turn, then the last one forever."""
    rest = list(answers)

    def answer(_instruction: str, _text: str) -> str:
        return rest.pop(0) if len(rest) > 1 else rest[0]

    return answer
