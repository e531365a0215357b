"""Views of results in a notebook: data frames, HTML and plots.

The renderers are in ``karat.report``, a layer above the records; they are found by name and loaded
on first use, so that a record that nobody looks at loads nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from karat.registry import Registry

__all__ = ["VIEWS", "ResultViews"]

VIEWS: Registry[Callable[..., Any]] = Registry(
    "view",
    {
        "frame": "karat.report.notebook:as_frame",
        "html": "karat.report.notebook:as_html",
        "latex": "karat.report.latex:latex_table",
        "plot": "karat.report.figures:plot",
    },
    closed=True,
)


class ResultViews(ABC):
    """The views that an evaluation and a comparison share."""

    __slots__ = ()

    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """Return the names by which parts of the result are looked up."""

    def to_pandas(self, *, summary: bool = False) -> Any:
        """Return a pandas frame: a row per run, query and measure; or per mean with *summary*."""
        return VIEWS.get("frame")(self, "pandas", summary=summary)

    def to_polars(self, *, summary: bool = False) -> Any:
        """Return a polars frame: a row per run, query and measure; or per mean with *summary*."""
        return VIEWS.get("frame")(self, "polars", summary=summary)

    def to_arrow(self, *, summary: bool = False) -> Any:
        """Return a pyarrow table: a row per run, query and measure; or per mean with *summary*."""
        return VIEWS.get("frame")(self, "pyarrow", summary=summary)

    def to_latex(self, **options: Any) -> str:
        """Return a LaTeX table for a paper; the options are those of `karat report --latex`."""
        text: str = VIEWS.get("latex")(self, **options)
        return text

    def plot(self, measure: str | None = None, *, kind: str = "", ax: Any = None) -> Any:
        """Draw with matplotlib in the colours of the report, and return the axes.

        *kind* is ``means`` (with intervals), ``queries`` (sorted scores), or for two runs
        ``differences`` (a bar per query, sorted).
        """
        return VIEWS.get("plot")(self, measure, kind=kind, ax=ax)

    def _repr_html_(self) -> str:
        text: str = VIEWS.get("html")(self)
        return text
