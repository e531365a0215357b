"""Texts for judgments that have none."""

from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.formats import read_dataset
from karat.formats.topics import read_topics

TREC = """<top>
<num> Number: 301
<title> International Organized &amp; Crime

<desc> Description: more
</top>
<top><num> Number: 302 <title> Poliomyelitis
</top>
"""


@pytest.mark.parametrize(
    "text",
    [
        TREC,
        '<topics><topic number="301"><query>International Organized &amp; Crime</query></topic>'
        "<topic number='302'><query>Poliomyelitis</query></topic></topics>",
        "301\tInternational Organized & Crime\n\n302\tPoliomyelitis\n",
        "qid\tquery\n301\tInternational Organized & Crime\n302\tPoliomyelitis\n",
        '{"_id": "301", "text": "International Organized & Crime"}\n'
        '{"_id": 302, "text": "Poliomyelitis"}\n',
        '[{"id": 301, "query": "International Organized & Crime"},'
        ' {"id": 302, "title": "Poliomyelitis"}]',
    ],
)
def test_every_form(tmp_path: Path, text: str) -> None:
    qrels, topics = tmp_path / "x.qrels", tmp_path / "topics"
    topics.write_text(text)
    expected = {"301": "International Organized & Crime", "302": "Poliomyelitis"}
    assert read_topics(topics) == expected
    qrels.write_text("302 0 d1 1\n")
    assert read_dataset(qrels, topics=topics).texts == ("Poliomyelitis",)
    qrels.write_text("303 0 d1 1\n302 0 d1 1\n")
    with pytest.raises(InputError, match=r"no text for 1 of 2 queries of x\.qrels, such as '303'"):
        read_dataset(qrels, topics=topics)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<top><title> x</top>", "topics:1: a topic without a number"),
        ("\n<top><num> 1 </top>", "topics:2: topic '1' has no <title>"),
        ("<other>", "topics: no <top> ... </top> in the file"),
        ("1 who\n", "topics:1: expected an id, a tab and the text"),
        ("1\twho\n1\thow\n", "topics:2: topic '1' appears twice"),
        ('{"text": "who"}\n', "topics:1: expected an id"),
    ],
)
def test_problems(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "topics"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_topics(path)
    assert message in str(caught.value)
