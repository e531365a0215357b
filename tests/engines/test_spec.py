"""From what a user writes to an engine."""

from pathlib import Path
from typing import Any

import pytest

from karat.engines.registry import ENGINES
from karat.engines.spec import build, parse_spec, read_specs
from karat.errors import EngineError, FormatError, InputError, UnknownName

OVERLAP = "model=tests.engines.rerank.test_engine:overlap"
MODULE = '''
from karat.model import Hit

class Mine:
    """An engine without a name."""
    def __init__(self, depth: int = 3, *, fast: bool = False, words: list[str] | None = None):
        self.made_with = (depth, fast, words)
    def index(self, corpus): pass
    def search(self, query, k): return [Hit("a", 1.0)][:k]

class Agent:
    def initialize(self, repo_path): pass
    def retrieve(self, query): raise OSError("no disk")
    def reset(self): raise RuntimeError("cannot")

class Odd:
    def initialize(self, repo_path): pass
    def retrieve(self, query): return query
    def reset(self): pass

class Scores(Odd):
    def retrieve(self, query):
        from karat.engines.base import RetrievalResult
        return RetrievalResult(["a", "b"], [1.0])

class Store:
    async def search(self, query, limit): return 7

class Reranking:
    async def search(self, query, limit, *, use_reranker=False):
        return [{"path": "a", "score": 2.0 if use_reranker else 1.0}]

class Broken:
    def __init__(self): raise KeyError("weights")

class Nothing: pass

class Unannotated:
    def __init__(self, boost=1.5, depth=3, fast=False, model="x", other=None):
        self.made_with = (boost, depth, fast, model, other)
    index = search = lambda self, *args: []

class Anything:
    def __init__(self, **options): self.options = options
    index = search = lambda self, *args: []

number = 7
'''


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "karat_test_engines.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


def made(spec: Any) -> Any:
    return build(spec)


@pytest.mark.parametrize("name", ENGINES.built_in())
def test_every_engine_can_be_loaded_and_says_what_it_is(name: str) -> None:
    assert (ENGINES.get(name).__doc__ or "").strip()


def test_a_class_by_its_place() -> None:
    engine = made("karat_test_engines:Mine")
    assert (engine.name, engine.engine.made_with) == ("Mine", (3, False, None))


@pytest.mark.parametrize(
    "spec",
    [
        "karat_test_engines:Mine(depth=5, fast=true)",
        '{"engine": "karat_test_engines:Mine", "depth": 5, "fast": true}',
        {"engine": "karat_test_engines:Mine", "depth": "5", "fast": "yes"},
        {
            "engine": "python",
            "class": "karat_test_engines:Mine",
            "options": {"depth": 5, "fast": True},
        },
    ],
)
def test_options_have_the_types_of_the_class(spec: Any) -> None:
    assert made(spec).engine.made_with == (5, True, None)


def test_options_without_annotation_have_the_types_of_their_defaults() -> None:
    target = "karat_test_engines:Unannotated"
    engine = made(f"{target}(boost=2, depth=5, fast=true, model=3, other=4)").engine
    assert engine.made_with == (2.0, 5, True, "3", "4")
    assert [type(value) for value in engine.made_with[:3]] == [float, int, bool]
    assert made(f"{target}(depth=2.5)").engine.made_with[1] == 2.5
    with pytest.raises(InputError, match="boost: Input should be a valid number"):
        made(f"{target}(boost=much)")


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_store_may_be_reranked_by_an_option_beside_its_place(value: str) -> None:
    from karat.corpus import from_texts

    engine = made(f"karat_test_engines:Reranking(use_reranker={value})")
    engine.index(from_texts({"a": "x"}))
    [hit] = engine.search("x", 1)
    assert hit.score == (2.0 if value == "true" else 1.0)
    engine.close()


def test_any_option_where_the_class_takes_any() -> None:
    assert made({"engine": "karat_test_engines:Anything", "x": 1}).engine.options == {"x": 1}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("htpp", "no engine named 'htpp'; did you mean 'http'"),
        ("karat_test_engines:Mine(dpth=5)", "no option 'dpth'; did you mean 'depth'"),
        ("karat_test_engines:Mine(depth=many)", "depth: Input should be a valid integer"),
        ("karat_test_engines:Mine(5)", "'5' is not an option; expected name=value"),
        ("karat_test_engines:Mine(depth=1, depth=2)", "'depth' is given twice"),
        ("karat_test_engines:Gone", "cannot load engine 'karat_test_engines:Gone'"),
        ("karat_test_none:X", "cannot load engine"),
        ("bm25(k1=", "'bm25(k1=': ')' is missing; expected name(option=value"),
        ("bm25 k1=1)", "'(' is missing"),
        ("dense(model=nope)", "no embedder named 'nope'"),
        ("karat_test_engines:Nothing", "Nothing is not an engine; expected index"),
        ({"url": "x"}, "'engine' is missing; add engine: http"),
        ('{"engine": 7}', "no engine is named"),
        ('{"engine": "http", "engine": "mcp"}', "key 'engine' appears twice"),
        ("{oops", "not JSON"),
        ("missing.yaml", "missing.yaml: no such file"),
        ({"engine": "python", "class": "nowhere"}, "is not a class; expected module:Class"),
        ({"engine": "python", "klass": "a:b"}, "the option 'class' is missing"),
        (
            {"engine": "python", "class": "karat_test_engines:Mine", "use_reranker": True},
            "use_reranker is only for asynchronous stores",
        ),
        (
            {"engine": "python", "class": "karat_test_engines:Store", "use_reranker": True},
            "its search has no parameter use_reranker",
        ),
        ("karat_test_engines:Store(use_reranker=true)", "its search has no parameter use_reranker"),
        ("karat_test_engines:Store(use_reranker=perhaps)", "use_reranker: Input should be a valid"),
        ("karat_test_engines:Mine(use_reranker=true)", "is only for asynchronous stores"),
        ("karat_test_engines:Store(depth=3)", "no option 'depth'; it takes no options"),
        (
            "hybrid(model=tests.words:words, dense_weight=7)",
            "dense_weight=7.0; expected 0 to 1",
        ),
        (
            "hybrid(model=tests.words:words, dense_weight=-1)",
            "dense_weight=-1.0; expected 0 to 1",
        ),
        (
            "hybrid(model=tests.words:words, dense_weight=nan)",
            "dense_weight=nan; expected 0 to 1",
        ),
        (
            "hybrid(model=tests.words:words, rrf_k=-1)",
            "rrf_k=-1.0; expected a number from 0",
        ),
        (
            "hybrid(model=tests.words:words, rrf_k=inf)",
            "rrf_k=inf; expected a number from 0",
        ),
        (
            "hybrid(model=tests.words:words, fusion=min-max, rrf_k=20)",
            "rrf_k has no effect with fusion=min-max; remove one, or use fusion=rrf",
        ),
        (
            "hybrid(model=tests.words:words, fusion=sum)",
            "no fusion named 'sum'; known: rrf, min-max",
        ),
        (
            "hybrid(model=tests.words:words, header=-1)",
            "header=-1; expected a whole number from 0 to 1000",
        ),
        ("bm25(header=100000)", "header=100000; expected a whole number from 0 to 1000"),
        ("bm25(b=9)", "b=9.0; expected k1 from 0 and b from 0 to 1"),
        ("keyword(window=0)", "window is 0; expected a number of lines from 1 up"),
        (
            f"rerank(over=bm25, {OVERLAP}, depth=0)",
            "depth is 0; expected a number of hits from 1 up",
        ),
        (
            f"rerank(over=bm25, {OVERLAP}, weight=2)",
            "weight is 2.0; expected 0 to 1",
        ),
        ("sparse(k1=-1)", "k1=-1.0"),
        (
            "dense(model=tests.words:words, threshold=2)",
            "threshold 2.0 is not between 0 and 1",
        ),
    ],
)
def test_what_is_refused(spec: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        build(spec)
    assert message in str(caught.value)


def test_a_class_that_cannot_be_made() -> None:
    with pytest.raises(EngineError, match="Broken: cannot create the engine: KeyError: 'weights'"):
        build("karat_test_engines:Broken")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Agent", "Agent: OSError: no disk"),
        ("Odd", "retrieve returned str without a list of files; expected an object"),
        ("Scores", "2 files, but 1 scores"),
        ("Store", "search returned int; expected a list"),
    ],
)
def test_a_class_that_breaks(name: str, message: str) -> None:
    from karat.corpus import from_texts

    engine = made(f"karat_test_engines:{name}")
    engine.index(from_texts({"a": "x", "b": "y"}))
    with pytest.raises(EngineError, match=message):
        engine.search("x", 1)
    engine.close()


def test_reset_reaches_the_agent() -> None:
    with pytest.raises(EngineError, match="RuntimeError: cannot"):
        made("karat_test_engines:Agent").reset()


def test_files(tmp_path: Path) -> None:
    one = tmp_path / "one.yaml"
    one.write_text("engine: command\ncommand: [rg, --json, '{words}']\noutput: rg\ntimeout_s: 5\n")
    spec = parse_spec(str(one))
    assert (spec.name, spec.params["timeout_s"]) == ("command", "5")
    assert made(spec).name == "rg"
    many = tmp_path / "many.yaml"
    many.write_text(
        "engines:\n  mine: karat_test_engines:Mine\n"
        "  grep: {engine: command, command: [grep], output: jsonl}\n"
    )
    specs = read_specs(many)
    assert list(specs) == ["mine", "grep"]
    assert made(specs["grep"]).name == "grep"
    with pytest.raises(InputError, match=r"the file has 2 engines \(mine, grep\); expected one"):
        parse_spec(str(many))
    plain = tmp_path / "one.json"
    plain.write_text('{"engine": "command", "command": ["rg"], "timeout_s": 5}')
    assert parse_spec(str(plain)).params == {"command": ["rg"], "timeout_s": 5}


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("mysearch", "no engine named 'mysearch'; did you mean mysearch.yaml?"),
        (
            "./tools/find.py",
            "a script needs a YAML file, such as tools/find.yaml with these lines:\n"
            'engine: command\nname: find\ncommand: [python3, "{here}/find.py", "{query}"]',
        ),
        ("bm25,hybrid", "repeat --engine: -e bm25 -e hybrid"),
        ("bm25, mysearch.yaml", "repeat --engine: -e bm25 -e mysearch.yaml"),
        ("mysearc", "; known: "),
        ("x," * 5000 + "x", "repeat --engine"),
        ("x" * 5000, "; known: "),
        ("bm52", "did you mean 'bm25'?"),
    ],
)
def test_what_was_meant_by_an_unknown_name(
    text: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mysearch.yaml").write_text("engine: bm25\n")
    Path("bm52.txt").write_text("")
    with pytest.raises(UnknownName) as caught:
        parse_spec(text)
    assert hint in str(caught.value)
    Path("a,b.yaml").write_text("engine: bm25\n")
    assert parse_spec("a,b.yaml").name == "bm25"


@pytest.mark.parametrize("kind", ["command", "process"])
def test_here_is_the_folder_of_the_file(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ci").mkdir()
    monkeypatch.chdir(tmp_path)
    command = "command: ['{here}/run', '--in={here}/x', '{{here}}', '{root}']"
    Path("ci/own.yaml").write_text(f"engine: {kind}\n{command}\n")
    expected = [f"{tmp_path}/ci/run", f"--in={tmp_path}/ci/x", "{{here}}", "{root}"]
    assert parse_spec("ci/own.yaml").params["command"] == expected
    made("ci/own.yaml")
    over = "a: {engine: rerank, over: {engine: command, command: [sh, '{here}/x']}}\n"
    Path("ci/many.yaml").write_text(over)
    nested = read_specs("ci/many.yaml")["a"].params["over"]
    assert nested == {"engine": "command", "command": ["sh", f"{tmp_path}/ci/x"]}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("- a\n", InputError),
        ("a: 7\nb: [x]\n", UnknownName),
        ("a: [x]\n", InputError),
        ("a: &x {engine: http}\nb: *x\n", FormatError),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str, error: type[InputError]) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(error):
        read_specs(path)


def test_commas_within_brackets_belong_to_the_value() -> None:
    spec = "http(url=http://h/?q={query}&f=(a,b=1), body=x(y(z=1, w=2)), timeout_s=3)"
    assert parse_spec(spec).params == {
        "url": "http://h/?q={query}&f=(a,b=1)",
        "body": "x(y(z=1, w=2))",
        "timeout_s": "3",
    }


def test_the_digest_does_not_depend_on_the_order_of_options() -> None:
    first = parse_spec({"engine": "http", "url": "http://h/{query}", "timeout_s": 3})
    second = parse_spec({"timeout_s": 3, "url": "http://h/{query}", "engine": "HTTP"})
    assert first.digest == second.digest


def test_a_profile_is_a_name_for_an_engine_with_options() -> None:
    assert parse_spec("balanced") == parse_spec("hybrid")
    assert parse_spec("quality(unit=file)").params == {"windows": "all", "unit": "file"}
    assert parse_spec({"engine": "fast", "dense_weight": 0.4}).params["dense_weight"] == 0.4


def test_where_an_engine_has_the_name_of_a_profile_the_engine_is_meant() -> None:
    assert parse_spec("keyword").name == "keyword"


def test_a_label_of_what_is_no_engine(tmp_path: Path) -> None:
    (tmp_path / "engine.yaml").write_text("foo: 1\n")
    with pytest.raises(InputError, match="foo: expected an engine's name or a mapping: no engine"):
        read_specs(tmp_path / "engine.yaml")
