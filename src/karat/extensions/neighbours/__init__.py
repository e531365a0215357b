"""Files and gates of other benchmarks: Akashic, Octocode, Semantik, semble, Ragas, DeepEval."""
