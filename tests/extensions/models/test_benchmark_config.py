"""Models of a benchmark's configuration."""

from pathlib import Path

import pytest

from karat.app.benchmark_config import read_benchmark_config


def test_packaged_weights_by_the_name_of_the_hub(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    config = tmp_path / "benchmark.yaml"
    config.write_text(
        "agents: [{name: a, class: SemanticSearchAgent, "
        "config: {model: sentence-transformers/all-MiniLM-L6-v2, top_k: 10}}]\n"
    )
    (agent,) = read_benchmark_config(config).agents
    assert (agent.spec.name, agent.spec.params["model"], agent.k) == ("dense", "minilm", 10)
