"""Charts as files."""

import sys
from pathlib import Path

import pytest

from karat.errors import InputError, MissingExtra
from karat.report.figures import CHARTS, write_figures
from karat.report.findings import Findings

PNG = b"\x89PNG\r\n\x1a\n"


def test_each_chart_is_a_picture(findings: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_figures(findings, tmp_path / "charts")
    names = ["f1_distribution", "latency_distribution", "accuracy_vs_latency"]
    assert list(CHARTS) == names
    assert [path.name for path in written] == [
        f"{name}.{suffix}" for name in names for suffix in ("png", "svg")
    ]
    for path in written:
        content = path.read_bytes()
        assert content.startswith(PNG if path.suffix == ".png" else b"<?xml")


def test_without_times_only_f1_is_drawn(alone: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written = write_figures(alone, tmp_path)
    assert {path.stem for path in written} == {"f1_distribution"}


def test_a_file_is_no_folder(alone: Findings, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    place = tmp_path / "file"
    place.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="no folder for charts"):
        write_figures(alone, place)


def test_without_matplotlib_the_extra_is_named(
    alone: Findings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[charts\]"):
        write_figures(alone, tmp_path)
