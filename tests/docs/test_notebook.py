"""The notebook in the examples runs from its first cell to its last, in a real kernel."""

import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples" / "notebook" / "first_look.ipynb"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the executed code cells."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    for package in ("ipykernel", "pandas", "matplotlib"):
        pytest.importorskip(package)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        # The kernel writes its files elsewhere.
        for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        patch.setenv(
            "PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        )
        client = nbclient.NotebookClient(
            notebook,
            timeout=120,
            kernel_name="python3",
            resources={"metadata": {"path": str(NOTEBOOK.parent)}},
        )
        client.execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cells: list[Any], source: str) -> dict[str, str]:
    """Return what the cell with *source* shows, by its type."""
    (cell,) = [cell for cell in cells if cell.source.startswith(source)]
    return {kind: text for out in cell.outputs for kind, text in out.get("data", {}).items()}


def test_results_show_as_tables_and_print_as_one_line(cells: list[Any]) -> None:
    evaluation = shown(cells, "evaluation = ")
    assert evaluation["text/plain"].startswith("<Evaluation bm25: 6 queries, nDCG@10 ")
    assert "<details>" in evaluation["text/html"]
    comparison = shown(cells, "comparison = ")
    assert comparison["text/plain"].startswith("<ComparisonResult 6 queries, nDCG@10: count_words ")
    assert comparison["text/html"].startswith("<div><p><strong>")


def test_frames_and_pictures_are_shown(cells: list[Any]) -> None:
    assert "<table" in shown(cells, "comparison.to_pandas")["text/html"]
    assert "image/png" in shown(cells, "comparison.plot")


def test_the_stored_outputs_are_those_of_these_cells(cells: list[Any]) -> None:
    """Whoever reads the notebook without a kernel sees what it shows."""
    nbformat = pytest.importorskip("nbformat")
    stored = [c for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"]
    kinds = [
        [[sorted(out.get("data", ())) for out in cell.outputs] for cell in group]
        for group in (stored, cells)
    ]
    assert kinds[0] == kinds[1]
