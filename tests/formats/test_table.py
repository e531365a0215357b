"""Plain tables of queries and documents, as people have them."""

from pathlib import Path

import pytest

from karat import load
from karat.errors import FormatError, InputError
from karat.formats import detect, read_dataset, write
from karat.formats.table import parse_columns
from karat.model import Dataset, Query, Target


def gold(path: Path, text: str, **options: object) -> Dataset:
    path.write_text(text, encoding="utf-8")
    return read_dataset(path, **options)  # type: ignore[arg-type]


def rows(data: Dataset) -> list[tuple[str, str, list[tuple[str, float]]]]:
    return [
        (query.id, query.text, [(target.path, target.grade) for target in query.targets])
        for query in data.queries()
    ]


@pytest.mark.parametrize(
    "text",
    [
        "question,expected_document\nhow to deploy,docs/heroku.md\nwho,a.md\n",
        "question;expected_document\r\nhow to deploy;docs/heroku.md\r\nwho;a.md\r\n",
        "Question\tExpected Document\nhow to deploy\tdocs/heroku.md\nwho\ta.md\n",
        "\ufeffquery,path\nhow to deploy,docs/heroku.md\nwho,a.md\n",
        "query,path,owner\nhow to deploy,docs/heroku.md\nwho,a.md,ann\n",
        '"query","filePath"\n"how to deploy","docs/heroku.md"\n\nwho, a.md \n',
        "query|doc\nhow to deploy|docs/heroku.md\nwho|a.md\n",
    ],
)
def test_a_query_and_a_document_are_enough(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gold.csv"
    data = gold(path, text)
    assert detect(path).name == "csv"
    assert data.match == "exact"
    assert rows(data) == [
        ("1", "how to deploy", [("docs/heroku.md", 1)]),
        ("2", "who", [("a.md", 1)]),
    ]


def test_ratings_of_quepid(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    data = gold(path, "query,docid,rating\nstar wars,11,3\nstar wars,12,0\nstar wars,13,\nx,14,1\n")
    assert detect(path).name == "quepid"
    assert data.match == "document"
    assert rows(data) == [("1", "star wars", [("11", 3), ("12", 0)]), ("2", "x", [("14", 1)])]


@pytest.mark.parametrize(
    ("cell", "delimiter"),
    [
        ("a.md|b.md", ","),
        ("a.md; b.md", ","),
        ('"a.md\nb.md"', ","),
        ('"[""a.md"", ""b.md""]"', ","),
        ("\"['a.md', 'b.md']\"", ","),
        ("a.md|b.md", ";"),
        ("a.md;b.md", "\t"),
    ],
)
def test_several_documents_in_one_cell(tmp_path: Path, cell: str, delimiter: str) -> None:
    data = gold(tmp_path / "gold.csv", f"query{delimiter}documents\nwho{delimiter}{cell}\n")
    assert rows(data) == [("1", "who", [("a.md", 1), ("b.md", 1)])]


def test_several_rows_of_a_query_have_one_id(tmp_path: Path) -> None:
    text = "qid,query,doc,relevance\nq7,who,a.md,2\nq7,,b.md,1\nq8,how,a.md,0.5\n"
    assert rows(gold(tmp_path / "gold.csv", text)) == [
        ("q7", "who", [("a.md", 2), ("b.md", 1)]),
        ("q8", "how", [("a.md", 0.5)]),
    ]


def test_ids_of_rows_do_not_split_a_query(tmp_path: Path) -> None:
    text = "id,query,doc\n1,who,a.md\n2,who,b.md\n3,how,a.md\n"
    assert rows(gold(tmp_path / "gold.csv", text)) == [
        ("1", "who", [("a.md", 1), ("b.md", 1)]),
        ("3", "how", [("a.md", 1)]),
    ]


def test_lines_in_columns_and_in_cells(tmp_path: Path) -> None:
    data = gold(tmp_path / "a.csv", "query,path,start_line,end_line\nwho,a.py,3,9\nwho,b.py,,\n")
    assert data.match == "lines"
    assert data.targets(0) == [Target("a.py", 1, 3, 9), Target("b.py")]
    data = gold(tmp_path / "b.csv", "query,path\nwho,a.py:3-9|b.py\n")
    assert data.targets(0) == [Target("a.py", 1, 3, 9), Target("b.py")]


def test_judgments_without_texts(tmp_path: Path) -> None:
    data = gold(tmp_path / "a.csv", "query-id,corpus-id,score\n7,d1,1\n7,d2,0\n")
    assert rows(data) == [("7", "", [("d1", 1), ("d2", 0)])]


def test_a_column_becomes_a_tag_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    text = "query,doc,team\nwho,a.md,red\nhow,b.md,\n"
    assert gold(path, text).tags == {}
    assert gold(path, text, tags=["team"]).tags == {"team": ("red", "")}
    with pytest.raises(InputError, match="has no column of that name; it has team; expected one"):
        gold(path, text, tags=["tam"])


def test_columns_are_named_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    text = "Frage;Quelle;Note;Nr\nwie geht das;a.md;2;x1\n"
    columns = {"query": "Frage", "document": "Quelle", "grade": "Note", "id": "Nr"}
    assert rows(gold(path, text, columns=columns)) == [("x1", "wie geht das", [("a.md", 2)])]
    assert isinstance(loaded := load(path, columns=columns), Dataset)
    assert loaded.query_ids == ("x1",)
    with pytest.raises(InputError, match="format 'gold' has no columns to name"):
        read_dataset(path, format="gold", columns=columns)


def test_unknown_columns_are_reported_with_the_option_to_type(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        gold(tmp_path / "gold.csv", "Quelle;Frage\na.md;wie geht das\n")
    assert str(caught.value).endswith(
        "gold.csv:1: no column is recognised as the query; no column is recognised as the "
        "document; the header is 'Quelle', 'Frage'; recognised: none; name the columns, for "
        "example --column query=Frage --column document=Quelle"
    )
    with pytest.raises(FormatError) as caught:
        gold(tmp_path / "gold.csv", "query,doc,document\nwho,a,b\n")
    assert str(caught.value).endswith(
        "several columns may be the document: 'doc', 'document'; the header is 'query', 'doc', "
        "'document'; recognised: query = 'query'; name the columns, for example "
        "--column document=doc"
    )
    with pytest.raises(FormatError, match="no column 'x' for --column query"):
        gold(tmp_path / "gold.csv", "a,doc\nwho,a\n", columns={"query": "x"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,doc\n,a\n", "2: the query is empty"),
        ("query,doc,grade\nwho,a,x\n", "2: grade 'x' is not a number of 0 or more"),
        ("query,doc,grade\nwho,a,1\nwho,a,2\n", "3: query 'who' judges 'a' twice"),
        (
            "query,doc\nwho,a,b\n",
            "2: 3 cells; expected 2, as in the header; put quotation marks around a text that "
            "contains ','",
        ),
        ("query,doc,start,end\nwho,a,9,3\n", "2: lines 9 to 3 are not a range"),
        ("query,doc,start,end\nwho,a,x,3\n", "2: start line 'x' is not a line number"),
        ("qid,query,doc\n1,who,a\n1,how,b\n", "3: query '1' has another text than on line 2"),
        ("qid,query,doc\n1,,a\n", "2: query '1' has no text"),
        ("query,doc\n", "1: no row after the header"),
        ('query,doc\n"a,b\n', "2: not CSV: unexpected end of data"),
        ("query,query,doc\na,b,c\n", "1: column 'query' appears twice"),
    ],
)
def test_problems_have_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        gold(tmp_path / "gold.csv", text)
    assert str(caught.value).endswith(message)


@pytest.mark.parametrize(
    ("text", "texts", "told"),
    [
        ("query,doc\nwho,a\n,b\n  ,c\nhow,d\n", ["who", "how"], ["3: the query", "4: the query"]),
        ("qid,query,doc\n1,who,a\n2,,b\n3,how,c\n", ["who", "how"], ["3: query '2' has no text"]),
        ("query,result1\nwho,a\n,b\nhow,c\n", ["who", "how"], ["3: the query is empty"]),
    ],
)
def test_rows_without_a_query_are_left_out_for_who_wants_it(
    tmp_path: Path, text: str, texts: list[str], told: list[str]
) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(text)
    with pytest.raises(FormatError):
        read_dataset(path)
    lines: list[str] = []
    data = read_dataset(path, on_empty=lambda problem: lines.append(str(problem)))
    assert [query.text for query in data.queries()] == texts
    assert len(lines) == len(told)
    for line, start in zip(lines, told, strict=True):
        assert line.startswith(f"{path}:{start}")


@pytest.mark.parametrize("header", ["query,doc", "query,result1"])
def test_a_row_without_a_query_keeps_its_number(tmp_path: Path, header: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(f"{header}\nwho,a\n,b\nhow,c\n")
    left = read_dataset(path, on_empty=lambda _: None)
    path.write_text(f"{header}\nwho,a\nwhen,b\nhow,c\n")
    assert list(left.query_ids) == ["1", "3"]
    assert [query.text for query in read_dataset(path).queries() if query.id in left.query_ids] == [
        "who",
        "how",
    ]


@pytest.mark.parametrize("header", ["query,doc", "query,result1"])
def test_something_is_left_after_rows_without_a_query(tmp_path: Path, header: str) -> None:
    path = tmp_path / "gold.csv"
    path.write_text(f"{header}\n,b\n")
    with pytest.raises(FormatError, match="has a query"):
        read_dataset(path, on_empty=lambda _: None)


def test_specialised_formats_come_first(tmp_path: Path) -> None:
    for text, name in (
        ("query,result1\nwho,a.md\n", "octocode"),
        ("query_id,query,path,rating\nq,who,a.md,1\n", "csv"),
        ("test_case_id,retrieved_files,query,path\nx,a,b,c\n", "results-csv"),
    ):
        path = tmp_path / "file.csv"
        path.write_text(text)
        assert detect(path).name == name


def test_writing(tmp_path: Path) -> None:
    files = Dataset.of([Query("a", "who", (Target("x.md", 2), Target("y.md")))], name="g")
    path = tmp_path / "out.csv"
    assert write(files, path).name == "csv"
    assert path.read_text() == "query_id,query,document,grade\na,who,x.md,2\na,who,y.md,1\n"
    assert write(files, path, format="quepid").name == "quepid"
    assert path.read_text() == "query,docid,rating\nwho,x.md,2\nwho,y.md,1\n"
    assert rows(read_dataset(path)) == [("1", "who", [("x.md", 2), ("y.md", 1)])]
    lined = Dataset.of([Query("a", "who", (Target("x.md", 2, 1, 3),))], name="g")
    assert write(lined, path).name == "octocode"
    for bad in ("a|b", "a.py:1-2", "[1]"):
        with pytest.raises(InputError, match=r"CSV table cannot hold|would be read as a path with"):
            write(Dataset.of([Query("a", "who", (Target(bad),))]), path, format="csv")
    twice = Dataset.of([Query("a", "who", (Target("x"),)), Query("b", "who", (Target("x"),))])
    with pytest.raises(InputError, match="two queries have the text 'who'; Quepid has no ids"):
        write(twice, path, format="quepid")


def test_bad_options() -> None:
    for text in ("query", "query=", "=x"):
        with pytest.raises(InputError, match="expected ROLE=COLUMN, such as query=question"):
            parse_columns([text])
    with pytest.raises(InputError, match="query is already 'a'"):
        parse_columns(["query=a", "query=b"])


@pytest.mark.parametrize(
    "text",
    [
        '[{"question": "who", "documents": ["a.md", "b.md"]}]',
        '{"question": "who", "documents": "a.md|b.md", "team": null}\n',
        '{"query": "who", "path": "a.md"}\n{"query": "who", "path": "b.md"}\n',
        '{"data": [{"query": "who", "path": "a.md"}, {"query": "who", "path": "b.md"}]}',
    ],
)
def test_rows_in_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gold.json"
    path.write_text(text)
    format_name = "csv" if text.startswith('{"data"') else None
    assert rows(read_dataset(path, format=format_name)) == [
        ("1", "who", [("a.md", 1), ("b.md", 1)])
    ]


def test_a_table_in_parquet(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "gold.parquet"
    polars.DataFrame({"question": ["who"], "documents": [["a.md", "b.md"]]}).write_parquet(path)
    assert detect(path).name == "csv"
    assert rows(read_dataset(path)) == [("1", "who", [("a.md", 1), ("b.md", 1)])]


def test_files_as_excel_writes_them(tmp_path: Path) -> None:
    text = 'sep=;\r\nquestion;document\r\nhow;"a.md;b.md"\r\n'
    assert rows(gold(tmp_path / "gold.csv", text)) == [("1", "how", [("a.md", 1.0), ("b.md", 1.0)])]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("question,expected_documnet\nhow,a.md\n", "'expected_documnet' is perhaps 'expected_doc"),
        ("How do I log in?,a.md\nwho,b.md\n", "the first line looks like data: add a header"),
    ],
)
def test_hints_about_headers(tmp_path: Path, text: str, hint: str) -> None:
    with pytest.raises(FormatError, match=hint):
        gold(tmp_path / "gold.csv", text)
