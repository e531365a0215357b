"""Every record of the model can be sent to another process, and equals the original there."""

import copy
import math
import multiprocessing
import operator
import pickle
import warnings
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import FrozenInstanceError, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import partial
from importlib import import_module
from inspect import getmembers, isabstract, isclass
from multiprocessing import resource_tracker
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType, NoneType, UnionType
from typing import Any, Generic, TypeVar, Union, get_args, get_origin, get_type_hints

import cloudpickle
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import karat
import karat.model
from karat.model import Answer, Credits, Dataset, Hit, JudgedQuery, Query, Run, Sizes, Target
from karat.model.frozen import EMPTY, FrozenMapping
from karat.model.run import PackedHits, packed
from karat.model.settings import Setting
from karat.model.spec import Spec

ROOT = Path(__file__).resolve().parents[2]


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield *package* and every module below it."""
    yield package
    for info in walk_packages(package.__path__, f"{package.__name__}."):
        yield import_module(info.name)


def records_of(module: ModuleType) -> list[type]:
    """Return the classes that *module* defines, whether they are public or not."""
    return [
        member
        for _, member in getmembers(module, isclass)
        if member.__module__ == module.__name__ and not isabstract(member)
    ]


RECORDS = [record for module in modules(karat.model) for record in records_of(module)]
Number = TypeVar("Number")


class Column(Generic[Number]):
    """Stands for ``array[...]`` in type hints: Python 3.11 cannot evaluate that."""


# What type hints may name although their module does not import it at run time.
NAMES = {**{record.__name__: record for record in RECORDS}, "array": Column}

TEXT = st.text(max_size=4)
NUMBERS = st.integers(-(2**31), 2**31 - 1)
# Every second number is NaN, so that a few examples are enough to find a record that compares it
# by identity.
FLOATS = st.just(math.nan) | st.floats()
JSON: st.SearchStrategy[object] = st.just(math.nan) | st.recursive(
    st.none() | st.booleans() | NUMBERS | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)
ARRAYS = {int: "q", float: "d"}
SCALARS: dict[object, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: NUMBERS,
    float: FLOATS,
    bool: st.booleans(),
    NoneType: st.none(),
    object: JSON,
    datetime: st.datetimes(timezones=st.just(UTC)),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for values of the type *hint*."""
    if hint in SCALARS:
        return SCALARS[hint]
    if get_origin(hint) in CONTAINERS:
        return CONTAINERS[get_origin(hint)](*get_args(hint))
    return instances(hint)


def tuples(*hints: Any) -> st.SearchStrategy[Any]:
    if hints[-1] is ...:
        return lists(hints[0]).map(tuple)
    return st.tuples(*map(values, hints))


def lists(hint: Any) -> st.SearchStrategy[list[Any]]:
    return st.lists(values(hint), max_size=2)


def unions(*hints: Any) -> st.SearchStrategy[Any]:
    return st.one_of(*map(values, hints))


def mappings(key: Any, value: Any) -> st.SearchStrategy[Any]:
    # A NaN as a key can never be looked up.
    keys = st.floats(allow_nan=False) if key is float else values(key)
    return st.just(EMPTY) | st.dictionaries(keys, values(value), min_size=1, max_size=2)


CONTAINERS: dict[Any, Callable[..., st.SearchStrategy[Any]]] = {
    Union: unions,
    UnionType: unions,
    tuple: tuples,
    Sequence: lists,
    frozenset: lambda hint: lists(hint).map(frozenset),
    Column: lambda hint: lists(hint).map(partial(array, ARRAYS[hint])),
    Mapping: mappings,
}


def instances(record: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for instances of *record*, by :data:`STRATEGIES` or its type hints."""
    if record in STRATEGIES:
        return STRATEGIES[record]
    if isclass(record) and issubclass(record, Enum):
        return st.sampled_from(record)
    if is_dataclass(record) or hasattr(record, "_fields"):
        hints = get_type_hints(record, localns=NAMES)
        return st.builds(record, **{name: values(hint) for name, hint in hints.items()})
    raise LookupError(
        f"test_travel.py does not know how to build {record}; add a strategy for it to STRATEGIES, "
        "or, if it is a type of a field, to SCALARS or CONTAINERS"
    )


SMALL = st.lists(st.integers(1, 50), max_size=3)
GRADES = st.lists(FLOATS, max_size=3)
# How to build what its type hints do not say: classes with rules, or with an __init__ of their own.
STRATEGIES: dict[object, st.SearchStrategy[Any]] = {
    # Parameters are compared as JSON, which has no NaN.
    Spec: st.builds(Spec, TEXT, TEXT, st.dictionaries(TEXT, NUMBERS | TEXT | st.floats(0, 1))),
    # The type of an option is a class; its default and its form have no NaN.
    Setting: st.builds(
        Setting,
        st.just(("--k",)),
        TEXT,
        st.sampled_from([int, str]),
        NUMBERS | TEXT,
        st.just(EMPTY),
    ),
    FrozenMapping: st.just(EMPTY) | st.dictionaries(TEXT, FLOATS).map(FrozenMapping),
}
STRATEGIES[Hit] = TEXT.map(Hit) | instances(Hit)
STRATEGIES[PackedHits] = st.lists(instances(Hit), max_size=3).map(packed).map(PackedHits)
STRATEGIES[Run] = st.lists(
    instances(Answer), max_size=3, unique_by=lambda answer: answer.query_id
).map(Run.of)
STRATEGIES[Dataset] = st.lists(instances(Query), max_size=3, unique_by=lambda query: query.id).map(
    Dataset.of
)
STRATEGIES[JudgedQuery] = st.builds(
    JudgedQuery,
    ranks=SMALL | st.just(range(1, 4)),
    grades=GRADES | GRADES.map(partial(array, "d")),
    ideal=GRADES,
    retrieved=NUMBERS,
    spans=st.none() | st.lists(st.tuples(NUMBERS, NUMBERS), max_size=2),
    tied=st.booleans(),
    found=st.none() | st.tuples(SMALL, GRADES),
    sizes=st.none() | instances(Sizes),
    credits=st.none() | st.dictionaries(st.floats(1, 3), instances(Credits), max_size=2),
)

FEW = settings(
    max_examples=15,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def unpickled(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301


def hashed(value: object) -> int | None:
    """Return the hash of *value*, None where it has none."""
    try:
        return hash(value)
    except TypeError:
        return None


def check_same(original: Any, copied: Any) -> None:
    assert type(copied) is type(original)
    assert copied == original, "decorate the class with karat.model.frozen.by_value"
    assert not operator.ne(copied, original)
    assert hashed(copied) == hashed(original)
    if is_dataclass(copied):
        for field in fields(copied):
            with pytest.raises(FrozenInstanceError):
                setattr(copied, field.name, None)
            check_type(getattr(original, field.name), getattr(copied, field.name))


def check_type(original: object, copied: object) -> None:
    """Fail where a column has become a list, or a number type has changed."""
    assert type(copied) is type(original)
    if isinstance(original, array):
        assert isinstance(copied, array)
        assert copied.typecode == original.typecode


def named(record: type) -> str:
    return f"{record.__module__.removeprefix('karat.model.')}.{record.__name__}"


def check_copies(original: object) -> None:
    """Fail if a copy of *original*, made in any way, differs from it."""
    for protocol in range(4, pickle.HIGHEST_PROTOCOL + 1):
        check_same(original, unpickled(pickle.dumps(original, protocol)))
    check_same(original, copy.deepcopy(original))
    check_same(original, copy.copy(original))
    check_same(original, unpickled(cloudpickle.dumps(original)))


@pytest.mark.parametrize("record", RECORDS, ids=named)
def test_a_record_equals_its_copies(record: type) -> None:
    @FEW
    @given(instances(record))
    def check(original: object) -> None:
        check_copies(original)

    check()


def test_every_record_comes_back_from_another_process() -> None:
    spawn = multiprocessing.get_context("spawn")
    with warnings.catch_warnings():
        # It may have ended with a cluster of another test; the pool would then warn.
        warnings.simplefilter("ignore")
        resource_tracker.ensure_running()
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:

        @settings(FEW, max_examples=3)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            originals = [data.draw(instances(record)) for record in RECORDS]
            returned = pool.submit(copy.copy, originals).result()
            for original, copied in zip(originals, returned, strict=True):
                check_same(original, copied)

        check()


def test_a_class_without_a_strategy_is_reported() -> None:
    class Unknown:
        """Neither a dataclass nor a NamedTuple."""

    with pytest.raises(LookupError, match=r"how to build .*Unknown.*; add a strategy"):
        instances(Unknown)


def test_reflection_finds_public_and_private_records_of_all_kinds() -> None:
    names = {named(record) for record in RECORDS}
    assert {"run.Hit", "dataset.Dataset", "judged._More", "evaluation.QueryStatus"} <= names
    assert {getattr(karat.model, name) for name in karat.model.__all__} <= set(RECORDS)


GRADES_BY_FILE = {"q1": {"auth.py": 2.0, "session.py": 1.0}, "q2": {"cache.py": 0.0}}
SCORES_BY_FILE = {"q1": {"login.py": 0.9, "auth.py": 0.8}}


@pytest.mark.parametrize(
    "original",
    [
        karat.load(ROOT / "examples" / "demo" / "bm25.run"),
        Dataset.of([Query("1", "where is login", (Target("auth.py"),))]),
        Dataset.of([]),
        karat.evaluate(GRADES_BY_FILE, SCORES_BY_FILE, ["mrr", "ndcg@10"]),
        karat.compare(GRADES_BY_FILE, {"old": SCORES_BY_FILE, "new": SCORES_BY_FILE}),
        Query("1", "x"),
        Answer("1"),
        Answer("1", (Hit("a.py"), Hit("b.py", float("nan")))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_users_hold_travels(original: object) -> None:
    check_same(original, unpickled(pickle.dumps(original)))
    check_same(original, unpickled(cloudpickle.dumps(original)))
    check_same(original, copy.deepcopy(original))


def test_a_function_that_uses_a_dataset_travels() -> None:
    gold = Dataset.of([Query("1", "where is login", (Target("auth.py", math.nan),))])

    def relevant(index: int) -> list[Target]:
        return gold.targets(index)

    assert unpickled(cloudpickle.dumps(relevant))(0) == relevant(0)


def test_a_pickled_run_holds_columns() -> None:
    hits = tuple(Hit(f"src/{row}.py", row / 7, row, row + 9) for row in range(100))
    run = Run.of(Answer(f"q{row}", hits) for row in range(100))
    # Score, first and last line, tokens, code of the path and of the symbol: 28 bytes a hit.
    assert len(pickle.dumps(run)) < 30 * 100 * 100
