"""What holds for every format, of Parquet."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.extensions.parquet.extension import EXTENSION
from karat.formats import FORMATS
from karat.formats.base import losses
from karat.model import Run
from tests.docs.pages import page
from tests.formats.roundtrip import again, check_order_survives, runs

pytest.importorskip("polars")


def test_the_format_has_a_page() -> None:
    assert list(EXTENSION.adds["format"]) == ["parquet"]
    assert page("parquet").read_text(encoding="utf-8").startswith("# Parquet\n")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_run_survives(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    before = data.draw(runs("parquet"))
    assert losses(before, FORMATS.get("parquet")) == ()
    after = again(before, "parquet", tmp_path_factory.mktemp("trip"))
    assert isinstance(after, Run)
    assert list(after.answers()) == list(before.answers())


@pytest.mark.parametrize("ties", [None, "trec10", "trec9", "order", "best", "worst"])
def test_a_file_scores_like_the_run(tmp_path: Path, ties: str | None) -> None:
    check_order_survives(tmp_path / "live.parquet", ties)
